import { Effect, Layer, Option } from "effect"
import { join } from "node:path"
import { Settings } from "../Config.ts"
import * as DiskFiles from "./DiskFiles.ts"
import * as MemoryFiles from "./MemoryFiles.ts"

/** The store of files. */

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
