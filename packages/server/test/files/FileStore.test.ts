import { NodeFileSystem } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import type { FileId, TestRunId } from "@delivery/domain/Ids"
import { Cause, Deferred, Effect, Exit, Fiber, FileSystem, Layer, Stream } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Settings } from "../../src/Config.ts"
import type { BlobRef } from "../../src/files/Blob.ts"
import * as DiskFiles from "../../src/files/DiskFiles.ts"
import * as Files from "../../src/files/Files.ts"
import { FileStore } from "../../src/files/FileStore.ts"
import { newId } from "../identity/Scene.ts"
import { isUsed } from "../support/Databases.ts"
import { makeS3 } from "../support/S3Server.ts"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const newBlob = (ownerId: BlobRef["ownerId"] = newId<TestRunId>()): BlobRef => ({ id: newId<FileId>(), ownerId })

const random = (size: number) => new Uint8Array(randomBytes(size))

/** The bytes in chunks of their own, which a store may take over. */
const inChunks = (bytes: Uint8Array, length: number): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) => bytes.slice(i * length, (i + 1) * length))
  )

const write = Effect.fnUntraced(function* (blob: BlobRef, bytes: Uint8Array, chunk = 50_000) {
  return yield* (yield* FileStore).write(blob, inChunks(bytes, chunk), bytes.length)
})

const read = Effect.fnUntraced(function* (blob: BlobRef, offset: number, length: number) {
  const chunks = yield* Effect.scoped(
    Effect.flatMap((yield* FileStore).read(blob, { offset, length }), Stream.runCollect)
  )
  return new Uint8Array(Buffer.concat(chunks))
})

const directory = mkdtempSync(join(tmpdir(), "delivery-files-"))
const layerDisk = Layer.merge(
  DiskFiles.layer(join(directory, "files")),
  Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true }))))
)
/** On a server of its own, that of the store. */
const layerS3 = Layer.unwrap(
  Effect.map(makeS3, (s3) => Layer.provide(Files.layer, Settings.layer({ FILES_URL: s3.filesUrl("a/prefix") })))
)
const onDisk = () => readdirSync(join(directory, "files"), { recursive: true }).map(String)

const stores = [
  ["disk", layerDisk],
  ["memory", Files.layerMemory],
  ["S3", layerS3]
] as const

for (const [name, store] of stores.filter(([name]) => name !== "S3" || isUsed("PostgreSQL"))) {
  layer(Layer.merge(store, NodeFileSystem.layer), { excludeTestServices: true })(`FileStore on ${name}`, (it) => {
    it.effect("returns what was written, whole and in parts", () =>
      Effect.gen(function* () {
        for (const size of [0, 1, 65_536, 1_048_576, 3_000_001]) {
          const [blob, bytes] = [newBlob(), random(size)]
          assert.deepStrictEqual(yield* write(blob, bytes), { size, sha256: sha256(bytes) })
          assert.deepStrictEqual(yield* read(blob, 0, size), bytes)
          for (const [start, end] of [
            [size, size],
            [size - 1, size],
            [0, 1],
            [size / 3, size / 2]
          ] as const) {
            const [from, to] = [Math.max(0, Math.floor(start)), Math.min(size, Math.floor(end))]
            assert.deepStrictEqual(yield* read(blob, from, to - from), bytes.slice(from, to))
          }
        }
      })
    )

    it.effect("fails if the blob does not exist", () =>
      Effect.gen(function* () {
        const blob = newBlob()
        assert.strictEqual((yield* Effect.flip(read(blob, 0, 1)))._tag, "BlobNotFound")
        yield* write(blob, random(10))
        const store = yield* FileStore
        assert.strictEqual(yield* store.size(blob), 10)
        yield* store.delete(blob)
        assert.strictEqual((yield* Effect.flip(store.size(blob)))._tag, "BlobNotFound")
        assert.strictEqual((yield* Effect.flip(read(blob, 0, 1)))._tag, "BlobNotFound")
        yield* store.delete(blob)
      })
    )

    it.effect("reads a blob to its end while it is deleted", () =>
      Effect.gen(function* () {
        const store = yield* FileStore
        const [blob, bytes] = [newBlob(), random(1_000_000)]
        yield* write(blob, bytes)
        const chunks = yield* Effect.scoped(
          Effect.gen(function* () {
            const stream = yield* store.read(blob, { offset: 0, length: bytes.length })
            yield* store.delete(blob)
            return yield* Stream.runCollect(stream)
          })
        )
        assert.deepStrictEqual(new Uint8Array(Buffer.concat(chunks)), bytes)
      })
    )

    it.effect("propagates a failure of the body", () =>
      Effect.gen(function* () {
        const store = yield* FileStore
        for (const size of [200_000, 3_000_000]) {
          const blob = newBlob()
          const body = Stream.concat(inChunks(random(size / 2), 1_000), Stream.fail("broken" as const))
          assert.strictEqual(yield* Effect.flip(store.write(blob, body, size)), "broken")
          const fault = Stream.concat(inChunks(random(size / 2), 1_000), Stream.die("fault"))
          const exit = yield* Effect.exit(store.write(newBlob(), fault, size))
          assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
          yield* store.delete(blob)
          assert.strictEqual((yield* Effect.flip(read(blob, 0, 1)))._tag, "BlobNotFound")
        }
      })
    )

    it.effect("supports concurrent writes and deletions", () =>
      Effect.gen(function* () {
        const store = yield* FileStore
        const run = newId<TestRunId>()
        yield* Effect.forEach(
          Array.from({ length: 200 }),
          () =>
            Effect.gen(function* () {
              const [blob, bytes] = [newBlob(run), random(100)]
              yield* write(blob, bytes)
              assert.deepStrictEqual(yield* read(blob, 0, 100), bytes)
              yield* store.delete(blob)
            }),
          { concurrency: 16, discard: true }
        )
      })
    )
  })
}

layer(Layer.merge(layerDisk, NodeFileSystem.layer), { excludeTestServices: true })("FileStore on disk alone", (it) => {
  it.effect("leaves nothing of a deleted blob", () =>
    Effect.gen(function* () {
      const store = yield* FileStore
      const [blob, beside] = [newBlob(), newBlob()]
      const together = newBlob(blob.ownerId)
      yield* Effect.forEach([blob, beside, together], (blob) => write(blob, random(10)))
      assert.strictEqual(statSync(join(directory, "files", blob.ownerId, blob.id)).mode & 0o777, 0o600)
      yield* store.delete(blob)
      assert.isTrue(onDisk().includes(join(blob.ownerId, together.id)))
      yield* Effect.forEach([beside, together], store.delete)
      assert.deepStrictEqual(onDisk(), [])
    })
  )

  it.effect(
    "closes its file when the writer is interrupted",
    () =>
      Effect.gen(function* () {
        const store = yield* FileStore
        const fs = yield* FileSystem.FileSystem
        const blob = newBlob()
        const begun = yield* Deferred.make<void>()
        const body = Stream.concat(
          inChunks(random(100_000), 1_000),
          Stream.fromEffect(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
        )
        const fiber = yield* Effect.forkChild(store.write(blob, body, 200_000))
        yield* Deferred.await(begun)
        const open = () => Effect.map(fs.readDirectory("/proc/self/fd"), (files) => files.length)
        const before = yield* open()
        yield* Fiber.interrupt(fiber)
        assert.isBelow(yield* open(), before)
        yield* store.delete(blob)
        assert.deepStrictEqual(onDisk(), [])
      }),
    { skip: process.platform !== "linux" }
  )
})
