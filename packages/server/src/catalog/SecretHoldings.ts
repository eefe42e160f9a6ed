import type { EnvironmentId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"

/**
 * Whether an environment holds secret values, asked before its class may change (docs/contract.md, Catalog). The vault
 * supplies it.
 */
export class SecretHoldings extends Context.Service<
  SecretHoldings,
  {
    /** Whether a current version in the environment has a value. Called while the environment is locked. */
    readonly holdsValues: (environmentId: EnvironmentId) => Effect.Effect<boolean>
  }
>()("@delivery/server/catalog/SecretHoldings") {}
