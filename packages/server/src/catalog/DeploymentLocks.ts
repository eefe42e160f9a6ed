import type { DeploymentId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"

/**
 * The runs that hold a deployment, asked before its version may change (docs/contract.md, Releases). The room of runs
 * supplies it.
 */
export class DeploymentLocks extends Context.Service<
  DeploymentLocks,
  {
    /** The numbers of the locked runs that are under way, lowest first. */
    readonly heldBy: (deployment: DeploymentId) => Effect.Effect<ReadonlyArray<number>>
  }
>()("@delivery/server/catalog/DeploymentLocks") {}
