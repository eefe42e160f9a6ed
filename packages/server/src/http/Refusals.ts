import type { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Effect } from "effect"

/** A request of an operation with the scope `admin` that was refused with 403. */
export interface Refused {
  readonly caller: Caller["Service"]
  /** `group.endpoint`, as the API description names it. */
  readonly operation: string
  /** Whether its path names a workspace. */
  readonly isOfWorkspace: boolean
  /** What its path names, the workspace left out. */
  readonly params: Readonly<Record<string, unknown>>
}

/** Called with each refusal, before it is answered. The identity supplies it. */
export const Refusals = Context.Reference<(refused: Refused) => Effect.Effect<void>>("@delivery/server/http/Refusals", {
  defaultValue: () => () => Effect.void
})
