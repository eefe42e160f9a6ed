import { Context, type Effect } from "effect"

/** The sign-ins of agents that were made with credentials. The agents supply it: such a sign-in ends with its maker. */
export class MadeSignIns extends Context.Service<
  MadeSignIns,
  {
    /** Ends what these credentials made. Called in the transaction that ends them. */
    readonly end: (makers: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("@delivery/server/identity/MadeSignIns") {}
