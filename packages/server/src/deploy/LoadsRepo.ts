import type { AuditEntryId, DeploymentId, DeploymentTokenId, SecretId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { DeploymentTokenRow } from "../access/ActorRows.ts"
import type { Pair } from "../catalog/DeploymentsRepo.ts"
import { boolean, instant, json, type Row, table, text, uuid } from "../storage/Table.ts"
import type { VersionPlace } from "../vault/VaultRepo.ts"

/** The last entry of the audit about each thing that a token asks for from an address. In memory by the three. */
export const tokenReads = table("deployment_token_reads", {
  workspaceId: uuid<WorkspaceId>(),
  tokenId: uuid<DeploymentTokenId>(),
  address: text(),
  subjectId: uuid(),
  /** What was answered: equal requests have equal ones. */
  fingerprint: text(),
  entryId: uuid<AuditEntryId>(),
  /** When the entry was made. */
  beganAt: instant()
})

export type TokenReadRow = Row<typeof tokenReads>

/** Which versions the product has that is deployed: those that it read last, by the id of the secret. In memory by the deployment. */
export const deploymentLoads = table("deployment_loads", {
  workspaceId: uuid<WorkspaceId>(),
  deploymentId: uuid<DeploymentId>(),
  /** To within a minute. */
  loadedAt: instant(),
  versions: json<Readonly<Record<SecretId, number>>>(),
  /** Whether the product has ever read all at once. It has read one by one what it has else. */
  whole: boolean()
})

export type DeploymentLoadRow = Row<typeof deploymentLoads>

/** A token that works, with its deployment. */
export interface KnownToken extends Pair {
  readonly token: Pick<
    DeploymentTokenRow,
    "id" | "workspaceId" | "name" | "lastFour" | "allowedAddresses" | "expiresAt"
  >
  readonly deployment: {
    readonly id: DeploymentId
    readonly version: string | null
    readonly baseUrl: string | null
  }
}

/** A current version that has a value. */
export interface FoundSecret extends VersionPlace {
  readonly name: string
  readonly sealed: Uint8Array
}

/** What a token reads. */
export interface FoundSecrets extends KnownToken {
  /** In no order. None where the product or the environment is archived. */
  readonly secrets: ReadonlyArray<FoundSecret>
}

/** What a product is answered by its token, and what is kept of that. */
export class LoadsRepo extends Context.Service<
  LoadsRepo,
  {
    /**
     * The token with this hash: neither revoked, nor blocked by its workspace, nor of a deployment that was deleted. Whether it
     * has expired is for who asks. Requests of the same moment share the statement.
     */
    readonly authenticate: (tokenHash: string) => Effect.Effect<KnownToken | undefined>
    /**
     * The same with the secrets of the deployment, all or the one of a name, in one statement. Equal requests of the same moment
     * have the same object.
     */
    readonly read: (tokenHash: string, name: string | undefined) => Effect.Effect<FoundSecrets | undefined>
    /**
     * Takes an entry of the audit for a request: the last one, if it tells of an equal request and began after a time, else the
     * one given, which is then to be stored. In a transaction: others that ask for the same wait.
     */
    readonly claimEntry: (
      read: TokenReadRow,
      after: Timestamp
    ) => Effect.Effect<Pick<TokenReadRow, "entryId" | "beganAt">>
    /** Forgets which entries of the audit began before a time: no request is counted in them any more. */
    readonly eraseReads: (before: Timestamp) => Effect.Effect<void>
    /** Notes which versions were read, all of the deployment's or some of them. */
    readonly load: (load: Omit<DeploymentLoadRow, "whole">, extent: "all" | "some") => Effect.Effect<void>
    /** Which versions were read last in the deployment. */
    readonly loaded: (id: DeploymentId) => Effect.Effect<DeploymentLoadRow | undefined>
  }
>()("@delivery/server/deploy/LoadsRepo") {}
