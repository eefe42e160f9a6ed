import type { EnvironmentId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"

/** What becomes of the secret values of an environment whose class changes (docs/contract.md, Catalog). The vault supplies it. */
export class SecretHoldings extends Context.Service<
  SecretHoldings,
  {
    /** Whether a current version in the environment has a value. Called while the environment is locked. */
    readonly holdsValues: (environmentId: EnvironmentId) => Effect.Effect<boolean>
    /** Erases the values of all versions in the environment for good. Called in the transaction that has it locked. */
    readonly eraseValues: (environmentId: EnvironmentId) => Effect.Effect<void>
  }
>()("@delivery/server/catalog/SecretHoldings") {}
