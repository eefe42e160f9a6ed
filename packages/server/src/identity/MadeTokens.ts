import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import type { WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/** The tokens of deployments that were made with credentials. The room of deploy supplies it: such a token outlives its maker. */
export class MadeTokens extends Context.Service<
  MadeTokens,
  {
    /** Has the audit tell of each token that goes on after its maker. Called in the transaction that ends the makers. */
    readonly makersEnded: (makers: ReadonlyArray<string>, by: ActorRef) => Effect.Effect<void>
    /** The tokens that these credentials made. */
    readonly madeBy: (makers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
    /** The tokens that work in the workspace at a time, in no order. */
    readonly list: (
      workspaceId: WorkspaceId,
      now: Timestamp
    ) => Effect.Effect<ReadonlyArray<Omit<WorkspaceCredential, "blocked">>>
    /** Ends the token, and has the audit tell it. Called in a transaction. */
    readonly endByToken: (tokenHash: string) => Effect.Effect<void>
  }
>()("@delivery/server/identity/MadeTokens") {}
