import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/** Whose token it was: of a run of this publisher, also where it was a retry's. */
export interface EndedRunToken {
  readonly workspaceId: WorkspaceId
  readonly publisher: ActorRef
  readonly run: { readonly type: string; readonly id: string; readonly label: string }
}

/** The tokens of runs and retries. The runs supply it, for tokens that are reported (docs/contract.md, Reported tokens). */
export class RunTokens extends Context.Service<
  RunTokens,
  {
    /** Makes the token useless. Its run goes on, without leases. Undefined where no run that is running has it. */
    readonly end: (tokenHash: string) => Effect.Effect<EndedRunToken | undefined>
  }
>()("@delivery/server/auth/RunTokens") {}
