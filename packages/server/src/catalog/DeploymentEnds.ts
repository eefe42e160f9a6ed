import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { DeployedPair } from "./DeploymentsRepo.ts"

/** Called when a deployment is deleted. The room of deploy supplies it: the tokens of the deployment end with it. */
export class DeploymentEnds extends Context.Service<
  DeploymentEnds,
  {
    /** Called in the transaction that deletes the deployment, which holds its row. */
    readonly ended: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      pair: DeployedPair
    ) => Effect.Effect<void>
  }
>()("@delivery/server/catalog/DeploymentEnds") {}
