import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import type { WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/** The sign-ins of agents that were made with credentials. The agents supply it: such a sign-in ends with its maker. */
export class MadeSignIns extends Context.Service<
  MadeSignIns,
  {
    /** Ends what these credentials made, and has the audit tell it. Called in the transaction that ends them. */
    readonly end: (makers: ReadonlyArray<string>, by: ActorRef) => Effect.Effect<void>
    /** The sign-ins that these credentials made. */
    readonly madeBy: (makers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
    /** The sign-ins that may act in the workspace at a time, in no order. */
    readonly list: (
      workspaceId: WorkspaceId,
      now: Timestamp
    ) => Effect.Effect<ReadonlyArray<Omit<WorkspaceCredential, "blocked">>>
    /** Has calls of these sign-ins that wait look at their access again. Called in the transaction that changes it. */
    readonly accessChanged: (signIns: ReadonlyArray<string>) => Effect.Effect<void>
    /** Ends the sign-in whose access or refresh token it is, and has the audit tell it. Called in a transaction. */
    readonly endByToken: (tokenHash: string) => Effect.Effect<void>
    /** Forgets a code that was not exchanged for a sign-in, and has the audit tell it. Called in a transaction. */
    readonly endCode: (codeHash: string) => Effect.Effect<void>
  }
>()("@delivery/server/identity/MadeSignIns") {}
