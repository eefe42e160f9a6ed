import type { FileId } from "@delivery/domain/Ids"
import { Effect, Layer, Stream } from "effect"
import { hash } from "node:crypto"
import { BlobNotFound, type BlobStore } from "./Blob.ts"
import { FileStore } from "./FileStore.ts"

/** Blobs in the memory of the process, for tests and for trying the service out. */
export const layer = Layer.sync(FileStore, (): BlobStore => {
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
    size: (blob) =>
      Effect.suspend(() => {
        const bytes = blobs.get(blob.id)
        return bytes === undefined ? Effect.fail(new BlobNotFound({ blob })) : Effect.succeed(bytes.length)
      }),
    delete: (blob) => Effect.sync(() => void blobs.delete(blob.id))
  }
})
