import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as AuditRoom from "../../src/audit/AuditRoom.ts"
import * as Catalog from "../../src/catalog/Catalog.ts"
import { Settings } from "../../src/Config.ts"
import * as Deploy from "../../src/deploy/Deploy.ts"
import * as EventsRoom from "../../src/events/EventsRoom.ts"
import * as DiskFiles from "../../src/files/DiskFiles.ts"
import * as Flow from "../../src/flow/Flow.ts"
import * as Http from "../../src/http/Http.ts"
import * as Ids from "../../src/ids/Ids.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { RunEnds } from "../../src/runs/RunEnds.ts"
import * as Runs from "../../src/runs/Runs.ts"
import * as VaultRoom from "../../src/vault/VaultRoom.ts"
import { layerKeyring, layerLiveClock } from "../support/Storages.ts"

/**
 * The services of runs and of the catalog below them, over repositories. A suite brings its signing keys, its store of
 * files and its settings. Time is the test's; what runs in the background does so when the test says so.
 */
export const layerRuns = Runs.layerServices.pipe(
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge([VaultRoom.layerSecretHoldings, Runs.layerDeploymentLocks, Deploy.layerDeploymentEnds]),
  // Rules need the rooms of planning and agents.
  Layer.provideMerge([
    Flow.layerPorts,
    Layer.succeed(RunEnds, { isWatched: () => Effect.succeed(false), finished: () => Effect.void })
  ]),
  Layer.provideMerge(AuditRoom.layer),
  Layer.provideMerge(EventsRoom.layer),
  Layer.provideMerge([Ids.layer, Layer.provide(Http.layer, layerLiveClock)])
)

/** A directory for files, which is gone when the process ends. */
export const newFilesDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-runs-"))
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A server of a database that several share: services of its own, and files on the disk. */
export const layerServer = (directory: string) =>
  layerRuns.pipe(
    Layer.provide(Keys.layer),
    Layer.provide(layerKeyring),
    Layer.provide(Settings.layer({})),
    Layer.provide([NodeFileSystem.layer, NodePath.layer]),
    Layer.provide(DiskFiles.layer(directory))
  )
