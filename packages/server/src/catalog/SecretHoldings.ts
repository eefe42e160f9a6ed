import type { EnvironmentId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"

/**
 * What the catalog asks of whoever keeps secret values, before an environment's class may change (contract, section 4).
 * The vault answers; the catalog knows no more of it than this.
 */
export class SecretHoldings extends Context.Service<
  SecretHoldings,
  {
    /** Whether a current version in the environment has a value. Called while the environment is held. */
    readonly holdsValues: (environmentId: EnvironmentId) => Effect.Effect<boolean>
  }
>()("@delivery/server/catalog/SecretHoldings") {}
