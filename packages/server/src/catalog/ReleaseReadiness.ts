import type { WorkspaceId } from "@delivery/domain/Ids"
import type { ReleaseReadiness as Found } from "@delivery/domain/catalog/ReleaseReadiness"
import { Context, type Effect } from "effect"
import type { DeployablePair } from "./DeploymentsRepo.ts"

/** What readiness says of a version that is about to be recorded. The room of flow supplies it. */
export class ReleaseReadiness extends Context.Service<
  ReleaseReadiness,
  {
    /**
     * Null where the pair has no policy, or it could not be told in time: nothing is kept from going out by it. Called in no
     * transaction, so that no lock is held meanwhile.
     */
    readonly find: (workspace: WorkspaceId, pair: DeployablePair, version: string) => Effect.Effect<Found | null>
  }
>()("@delivery/server/catalog/ReleaseReadiness") {}
