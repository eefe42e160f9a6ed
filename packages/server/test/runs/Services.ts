import { Layer } from "effect"
import * as AuditRoom from "../../src/audit/AuditRoom.ts"
import * as Catalog from "../../src/catalog/Catalog.ts"
import * as Deploy from "../../src/deploy/Deploy.ts"
import * as EventsRoom from "../../src/events/EventsRoom.ts"
import * as Http from "../../src/http/Http.ts"
import * as Ids from "../../src/ids/Ids.ts"
import * as Runs from "../../src/runs/Runs.ts"
import * as VaultRoom from "../../src/vault/VaultRoom.ts"
import { layerLiveClock } from "../support/Storages.ts"

/**
 * The services of runs and of the catalog below them, over repositories. A suite brings its signing keys, its store of
 * files and its settings. Time is the test's; what runs in the background does so when the test says so.
 */
export const layerRuns = Runs.layerServices.pipe(
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge([VaultRoom.layerSecretHoldings, Runs.layerDeploymentLocks, Deploy.layerDeploymentEnds]),
  Layer.provide(AuditRoom.layer),
  Layer.provideMerge(EventsRoom.layer),
  Layer.provideMerge([Ids.layer, Layer.provide(Http.layer, layerLiveClock)])
)
