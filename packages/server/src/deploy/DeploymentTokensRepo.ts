import type { DeploymentId, DeploymentTokenId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { DeploymentTokenRow } from "../access/ActorRows.ts"
import type { Pair } from "../catalog/DeploymentsRepo.ts"
import { instant, type Row, table, text, uuid } from "../storage/Table.ts"

/** The networks that each token came from. In memory by `${tokenId}/${network}`. */
export const tokenNetworks = table("deployment_token_networks", {
  workspaceId: uuid<WorkspaceId>(),
  tokenId: uuid<DeploymentTokenId>(),
  network: text(),
  firstUsedAt: instant()
})

export type TokenNetworkRow = Row<typeof tokenNetworks>

/** A token, its deployment, and what is to be told of who made it. */
export interface TokenWithMaker extends DeploymentTokenRow, Pick<TokenWithPair, "product" | "environment"> {
  readonly maker: {
    readonly id: PersonId
    readonly name: string
    readonly email: string
    /** Whether they are an active member of the workspace. */
    readonly active: boolean
  }
  /** When the key ended that it was made with. */
  readonly makerEndedAt: Timestamp | null
}

/** A token with the product and the environment of its deployment, as the audit and events name them. */
export interface TokenWithPair extends Pick<DeploymentTokenRow, "id" | "workspaceId" | "name" | "expiresAt"> {
  readonly product: Pick<Pair["product"], "slug" | "name">
  readonly environment: Pick<Pair["environment"], "slug" | "name">
}

/** When and from where a token was used last. */
export interface TokenUse {
  readonly at: Timestamp
  readonly from: string
}

/**
 * Stores the tokens of deployments. A transaction locks the deployment before its tokens, and these in the order of their
 * ids. What does not work at a time is left out, unless it is said otherwise: revoked and expired tokens, and those of
 * deployments that were deleted.
 */
export class DeploymentTokensRepo extends Context.Service<
  DeploymentTokensRepo,
  {
    readonly insert: (token: DeploymentTokenRow) => Effect.Effect<void>
    /** Whether the deployment is there, and stays so until the transaction ends. */
    readonly holdDeployment: (id: DeploymentId) => Effect.Effect<boolean>
    /** Whether the token works, and whether it and its deployment stay as they are until the transaction ends. */
    readonly hold: (token: DeploymentTokenId, deployment: DeploymentId, now: Timestamp) => Effect.Effect<boolean>
    /** Newest first. */
    readonly ofDeployment: (id: DeploymentId, now: Timestamp) => Effect.Effect<ReadonlyArray<TokenWithMaker>>
    /** In no order. */
    readonly ofWorkspace: (id: WorkspaceId, now: Timestamp) => Effect.Effect<ReadonlyArray<TokenWithMaker>>
    /** The token of the deployment, whether it works or not, locked until the transaction ends. */
    readonly lock: (deployment: DeploymentId, id: string) => Effect.Effect<DeploymentTokenRow | undefined>
    /** Ends the locked token at a time at the latest, and gives the networks that it came from to the one that replaces it. */
    readonly replace: (token: DeploymentTokenRow, by: DeploymentTokenId, until: Timestamp) => Effect.Effect<void>
    readonly revoke: (id: DeploymentTokenId, at: Timestamp) => Effect.Effect<void>
    /** Revokes the tokens of a deployment, which is locked and may be deleted, and answers them. */
    readonly revokeAll: (id: DeploymentId, at: Timestamp) => Effect.Effect<ReadonlyArray<TokenWithPair>>
    /** Revokes the token, if it works. */
    readonly revokeByToken: (tokenHash: string, at: Timestamp) => Effect.Effect<TokenWithPair | undefined>
    /** Marks tokens as ended that have expired by a time, some at once, and answers them: each once. */
    readonly endExpired: (by: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<TokenWithPair>>
    /** What was made with these credentials. */
    readonly madeBy: (makers: ReadonlyArray<string>, now: Timestamp) => Effect.Effect<ReadonlyArray<TokenWithPair>>
    /** Moves `lastUsedAt` forward, never back, with the address. */
    readonly touch: (uses: ReadonlyMap<DeploymentTokenId, TokenUse>) => Effect.Effect<void>
    /**
     * Notes that the token came from a network. `first` if it never came from anywhere, `other` if it never came from this one,
     * else `known`. Of several at once that are new, one at most is the first.
     */
    readonly cameFrom: (network: TokenNetworkRow) => Effect.Effect<"first" | "other" | "known">
  }
>()("@delivery/server/deploy/DeploymentTokensRepo") {}
