import { Context, type Effect } from "effect"

/** The tokens of runs and retries. The runs supply it, for tokens that are reported (docs/contract.md, Reported tokens). */
export class RunTokens extends Context.Service<
  RunTokens,
  {
    /** Makes the token useless. Its run goes on, without leases. */
    readonly end: (tokenHash: string) => Effect.Effect<void>
  }
>()("@delivery/server/auth/RunTokens") {}
