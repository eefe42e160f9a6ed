import type { FileId } from "@delivery/domain/Ids"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { hash } from "node:crypto"
import { join } from "node:path"
import { Settings } from "../Config.ts"
import { BlobNotFound, type BlobStore } from "./Blob.ts"
import { makeDiskFiles } from "./DiskFiles.ts"

/** Where the bytes of files are. */
export class FileStore extends Context.Service<FileStore, BlobStore>()("@delivery/server/files/FileStore") {
  /** Files of a directory. */
  static readonly layerDisk = (directory: string) => Layer.effect(FileStore, makeDiskFiles(directory))

  /** In the memory of the process, for tests and for trying the service out. */
  static readonly layerMemory = Layer.sync(FileStore, () => memory())

  /** What `FILES_URL` says; the directory `files` of `DATA_DIR` where it says nothing. */
  static readonly layer = Layer.effect(
    FileStore,
    Effect.gen(function* () {
      const { dataDir, filesUrl } = yield* Settings
      if (Option.isNone(filesUrl)) return yield* makeDiskFiles(join(dataDir, "files"))
      // Loaded where it is used: the client of S3 is larger than the rest of the server.
      const { makeS3Files } = yield* Effect.promise(() => import("./S3Files.ts"))
      return yield* makeS3Files(filesUrl.value)
    })
  )
}

const memory = (): BlobStore => {
  const blobs = new Map<FileId, Buffer>()
  return {
    endsFailedWrites: true,
    write: (blob, body) =>
      Effect.map(Stream.runCollect(body), (chunks) => {
        const bytes = Buffer.concat(chunks)
        blobs.set(blob.id, bytes)
        return { size: bytes.length, sha256: hash("sha256", bytes, "hex") }
      }),
    read: (blob, { length, offset }) =>
      Effect.suspend(() => {
        const bytes = blobs.get(blob.id)
        return bytes === undefined
          ? Effect.fail(new BlobNotFound({ blob }))
          : Effect.succeed(Stream.make(new Uint8Array(bytes.subarray(offset, offset + length))))
      }),
    delete: (blob) => Effect.sync(() => void blobs.delete(blob.id))
  }
}
