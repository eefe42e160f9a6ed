import { Effect, Layer, Option } from "effect"
import { join } from "node:path"
import { Settings } from "../Config.ts"
import * as DiskFiles from "./DiskFiles.ts"
import * as KeptBlobs from "./KeptBlobs.ts"
import * as MemoryFiles from "./MemoryFiles.ts"
import * as PendingBlobsMemory from "./PendingBlobsMemory.ts"
import { pendingBlobs } from "./PendingBlobsRepo.ts"
import * as PendingBlobsSql from "./PendingBlobsSql.ts"
import { Uploads } from "./Uploads.ts"

/** The store of files, and how they get into it. */

export const tables = [pendingBlobs]

/** Which blobs no file has, over each storage. */
export const layerBlobsSql = PendingBlobsSql.layer
export const layerBlobsMemory = PendingBlobsMemory.layer

/** The uploads of a server. Each room whose things have files provides itself with it: it is built once. */
export const layerUploads = Uploads.layer

/** Lets a back-up keep blobs from being deleted. */
export const layerKeptBlobs = KeptBlobs.layer

/** Files of a directory, whatever the settings say. */
export const layerIn = DiskFiles.layer

/** Where `FILES_URL` says; without it, the directory `files` of `DATA_DIR`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dataDir, filesUrl } = yield* Settings
    if (Option.isNone(filesUrl)) return DiskFiles.layer(join(dataDir, "files"))
    // Loaded only when it is used: the client of S3 is larger than the rest of the server.
    const S3Files = yield* Effect.promise(() => import("./S3Files.ts"))
    return S3Files.layer(filesUrl.value)
  })
)

export const layerMemory = MemoryFiles.layer
