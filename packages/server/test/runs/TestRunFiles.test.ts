import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, References, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash, randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll } from "vitest"
import { PendingBlobsRepo } from "../../src/files/PendingBlobsRepo.ts"
import { Settings } from "../../src/Config.ts"
import * as Keys from "../../src/keys/Keys.ts"
import type { BlobRef } from "../../src/files/Blob.ts"
import * as DiskFiles from "../../src/files/DiskFiles.ts"
import * as Files from "../../src/files/Files.ts"
import { FileStore } from "../../src/files/FileStore.ts"
import { TestRunFiles } from "../../src/runs/TestRunFiles.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { isUsed } from "../support/Databases.ts"
import { eventually } from "../support/Eventually.ts"
import { startS3 } from "../support/S3Server.ts"
import { layerSigningKeys, sharedStorages } from "../support/Storages.ts"
import { answer, as, type CallerOf, everyRole, membersAndUp, newId, refusal, whoMay } from "../identity/Scene.ts"
import { blobsBelow, type Deployed, finishBody, makeDeployed, startBody } from "./Scene.ts"
import { layerRuns } from "./Services.ts"

const directory = mkdtempSync(join(tmpdir(), "delivery-files-"))
process.once("exit", () => rmSync(directory, { recursive: true, force: true }))

const s3 = await startS3()
afterAll(s3.stop)

/** What is written, newest last. */
const written: Array<BlobRef> = []

const layerRecording = (store: Layer.Layer<FileStore>) =>
  Layer.effect(
    FileStore,
    Effect.map(FileStore, (store) =>
      FileStore.of({
        ...store,
        // Whatever time it is for the tests, S3 has its own.
        delete: (blob) => TestClock.withLive(store.delete(blob)),
        write: (blob, body, size) => {
          written.push(blob)
          return TestClock.withLive(store.write(blob, body, size))
        }
      })
    )
  ).pipe(Layer.provide(store))

const disk = {
  name: "disk",
  layer: layerRecording(Layer.orDie(DiskFiles.layer(directory))),
  blobs: () => blobsBelow(directory),
  /** The directories of runs that have any blobs. */
  directories: () => readdirSync(directory).length,
  /** How many blobs an upload is that has begun. */
  begun: 1,
  /** Keeps a blob from being deleted. */
  obstruct: (blob: BlobRef) => {
    // A directory where its file should be.
    mkdirSync(join(directory, blob.ownerId, blob.id), { recursive: true })
    return () => rmSync(join(directory, blob.ownerId), { recursive: true })
  }
}

const bucket: typeof disk = {
  name: "S3",
  layer: layerRecording(
    Layer.provide(Layer.orDie(Files.layer), Layer.orDie(Settings.layer({ FILES_URL: s3.filesUrl("runs") })))
  ),
  blobs: s3.keys,
  directories: () => new Set(s3.keys().map(dirname)).size,
  begun: 0,
  obstruct: (blob) => {
    const { store } = s3.server
    const { existsObject } = store
    store.existsObject = (bucket, key) =>
      key.endsWith(blob.id) ? Promise.reject(new Error("obstructed")) : existsObject.call(store, bucket, key)
    return () => {
      store.existsObject = existsObject
    }
  }
}

const layerServicesOver = (store: typeof disk) =>
  layerRuns.pipe(
    Layer.provide(layerSigningKeys),
    Layer.provide(Keys.layerKeyring),
    Layer.provide(Settings.layer({ RUN_LIMIT_MS: "600000", VAULT_KEYS: `k:${randomBytes(32).toString("base64")}` })),
    Layer.provide([NodeFileSystem.layer, NodePath.layer]),
    Layer.provideMerge(store.layer)
  )

const suites = [
  ...sharedStorages.map((storage) => ({ storage, store: disk })),
  ...(isUsed("PostgreSQL") ? [{ storage: sharedStorages[0]!, store: bucket }] : [])
]

const text = "Hello, files!"
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex")

/** Lets the sweeper begin another round, unless it is still in one. */
const sweepAgain = TestClock.adjust("10 seconds")

/** The bytes as the chunks of a body. */
const bodyOf = (bytes: Uint8Array | string): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    const copy = new Uint8Array(Buffer.from(bytes))
    const chunks: Array<Uint8Array> = []
    for (let i = 0; i < copy.length; i += 100_000) chunks.push(copy.slice(i, i + 100_000))
    return Stream.fromIterable(chunks)
  })

interface Fields {
  readonly run?: number
  readonly path?: string
  readonly contentType?: string | undefined
  readonly contentLength?: string | undefined
  readonly body?: Stream.Stream<Uint8Array, unknown>
}

const upload = Effect.fnUntraced(function* (content: Uint8Array | string, fields: Fields = {}) {
  return yield* (yield* TestRunFiles).upload({
    run: 1,
    path: "a/b.txt",
    contentType: "text/plain",
    contentLength: String(Buffer.from(content).length),
    body: bodyOf(content),
    ...fields
  })
})

const startRun = Effect.fnUntraced(function* (at: Deployed, by: CallerOf = at.member) {
  return (yield* as(by)((yield* TestRuns).start(startBody(at)))).number
})

const makeRun = Effect.gen(function* () {
  const at = yield* makeDeployed()
  yield* startRun(at)
  return at
})

const download = Effect.fnUntraced(function* (path = "a/b.txt", run = 1) {
  const { etag, file, read } = yield* (yield* TestRunFiles).open(run, path)
  const chunks = yield* Effect.scoped(Effect.flatMap(read(0, file.size), Stream.runCollect))
  return { etag, file, bytes: Buffer.concat(chunks) }
})

/** A body that gives some bytes and then waits until it is told to go on. */
const makePausing = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  const body = bodyOf(text.slice(0, 5)).pipe(
    Stream.concat(
      Stream.drain(Stream.fromEffect(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go))))
    ),
    Stream.concat(bodyOf(text.slice(5)))
  )
  return { body, begun: Deferred.await(begun), go: Deferred.succeed(go, undefined) }
})

for (const { storage, store } of suites) {
  const layerServices = layerServicesOver(store)
  const { directories } = store
  const kept = () => store.blobs().length
  layer(Layer.provideMerge(layerServices, storage.layer))(`TestRunFiles on ${storage.name} and ${store.name}`, (it) => {
    it.effect("stores a file and returns it", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const before = kept()
        const stored = yield* as(at.member)(upload(text))
        assert.deepStrictEqual(stored, {
          file: {
            path: "a/b.txt",
            size: text.length,
            contentType: "text/plain",
            sha256: sha256(text),
            createdAt: stored.file.createdAt
          },
          etag: `"${sha256(text)}"`,
          created: true
        })
        const { created: _, ...rest } = stored
        assert.deepStrictEqual(yield* as(at.viewer)(download()), { ...rest, bytes: Buffer.from(text) })
        assert.strictEqual(kept(), before + 1)
      })
    )

    it.effect("stores empty and large files", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const large = randomBytes(3_000_001)
        assert.strictEqual((yield* as(at.member)(upload("", { path: "empty" }))).file.sha256, sha256(""))
        yield* as(at.member)(upload(large, { path: "large" }))
        assert.strictEqual((yield* as(at.member)(download("empty"))).bytes.length, 0)
        assert.isTrue(large.equals((yield* as(at.member)(download("large"))).bytes))
        const { read } = yield* as(at.member)((yield* TestRunFiles).open(1, "large"))
        const part = yield* Effect.scoped(Effect.flatMap(read(2_999_990, 5), Stream.runCollect))
        assert.isTrue(large.subarray(2_999_990, 2_999_995).equals(Buffer.concat(part)))
      })
    )

    it.effect("replaces a file and keeps nothing of the previous one", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        yield* as(at.member)(upload(text))
        const before = kept()
        const open = yield* as(at.member)((yield* TestRunFiles).open(1, "a/b.txt"))
        const stored = yield* as(at.member)(upload("another", { contentType: "text/html" }))
        assert.isFalse(stored.created)
        assert.deepInclude((yield* as(at.member)(download())).file, { contentType: "text/html", size: 7 })
        assert.strictEqual(kept(), before)
        // Who opened it before has to open it again.
        assert.strictEqual((yield* Effect.flip(Effect.scoped(open.read(0, 1))))._tag, "BlobNotFound")
      })
    )

    it.effect("keeps the content type of the request if it is valid", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const typeOf = (contentType: string | undefined) =>
          Effect.map(as(at.member)(upload(text, { contentType })), ({ file }) => file.contentType)
        for (const type of [
          "text/plain",
          'Text/HTML; charset="x"',
          "application/vnd.api+json;\tcharset=utf-8 ;; v=1;",
          String.raw`multipart/mixed; boundary="a \" b; c/d"`,
          "x-a.b!#$&^_`|~/*'%;q=0 ",
          `a/${"x".repeat(253)}`
        ]) {
          assert.strictEqual(yield* typeOf(type), type)
        }
        for (const none of [
          undefined,
          "",
          "text",
          "text/",
          "/plain",
          "text /plain",
          "text/plain/x",
          " text/plain",
          "text/plain, text/html",
          "text/plain charset=utf-8",
          "text/plain; charset",
          "text/plain; charset = utf-8",
          'text/plain; a="b',
          "<script>",
          "text/ü",
          "text/a\tb",
          "text/a\nb",
          "text/plain;\n",
          `a/${"x".repeat(254)}`,
          `a/b${"; ".repeat(120)}x`
        ]) {
          assert.strictEqual(yield* typeOf(none), "application/octet-stream", JSON.stringify(none))
        }
      })
    )

    it.effect("rejects a wrong path or length before anything else", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const refused = (fields: Fields) => answer(as(at.outsider)(upload(text, fields)))
        for (const path of ["", "/a", "a/", "a//b", ".", "a/../b", "a\\b", "a\0b", "a\nb", "\uD800", "x".repeat(513)]) {
          assert.strictEqual(yield* refused({ path }), "InvalidInput", path)
        }
        for (const contentLength of [
          undefined,
          "",
          "x",
          "-1",
          "1.5",
          "1e3",
          " 1",
          "0x1",
          "104857601",
          "9".repeat(400)
        ]) {
          assert.strictEqual(yield* refused({ contentLength }), "InvalidInput", String(contentLength))
        }
        assert.strictEqual(yield* refused({ path: "x".repeat(512) }), "NotFound")
        assert.strictEqual(yield* refused({ contentLength: "104857600" }), "NotFound")
        const messageOf = (contentLength: string | undefined) =>
          Effect.map(Effect.flip(as(at.member)(upload(text, { contentLength }))), (error) => error.message)
        assert.strictEqual(yield* messageOf(undefined), "Content-Length: The header is required.")
        assert.strictEqual(yield* messageOf("x"), "Content-Length: Expected a number of bytes")
        assert.strictEqual(yield* messageOf("104857601"), "Content-Length: Expected at most 104857600 bytes")
      })
    )

    it.effect("requires the roles of the contract", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        assert.deepStrictEqual(yield* whoMay(at, upload(text, { run: 99 })), membersAndUp)
        assert.deepStrictEqual(yield* whoMay(at, (yield* TestRunFiles).open(99, "a")), everyRole)
      })
    )

    it.effect("accepts files from the publisher only, while the run is running", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const answers = (by: CallerOf, fields: Fields = {}) => answer(as(by)(upload(text, fields)))
        assert.strictEqual(yield* answers(at.member, { run: 2 }), "NotFound")
        assert.strictEqual(yield* answers(at.member, { run: 0 }), "NotFound")
        assert.strictEqual(yield* answers(at.memberKey), "Forbidden not_publisher")
        assert.strictEqual(yield* answers(at.owner), "Forbidden not_publisher")
        assert.strictEqual(yield* answers(at.member), "ok")
        yield* as(at.member)((yield* TestRuns).finish(1, finishBody()))
        assert.strictEqual(yield* answers(at.owner), "Forbidden not_publisher")
        assert.strictEqual(yield* answers(at.member), "Conflict not_running")
        assert.strictEqual((yield* as(at.viewer)(download())).bytes.toString(), text)
      })
    )

    it.effect("answers NotFound for what does not exist", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const files = yield* TestRunFiles
        const open = (run: number, path: string) => refusal(as(at.viewer)(files.open(run, path)))
        assert.strictEqual(yield* open(1, "a/b.txt"), "NotFound")
        assert.strictEqual(yield* open(2, "a/b.txt"), "NotFound")
        assert.strictEqual(yield* open(0, "a/b.txt"), "NotFound")
        assert.strictEqual(yield* open(1, "../b.txt"), "InvalidInput")
        assert.strictEqual(yield* refusal(as(at.outsider)(files.open(1, "a/b.txt"))), "NotFound")
      })
    )

    it.effect("keeps nothing of an upload that fails", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const before = [kept(), directories()]
        const length = String(text.length)
        const fails = (fields: Fields) => answer(as(at.member)(upload(text, fields)))
        assert.strictEqual(yield* fails({ contentLength: String(text.length + 1) }), "InvalidInput")
        assert.strictEqual(yield* fails({ contentLength: String(text.length - 1) }), "InvalidInput")
        assert.strictEqual(yield* fails({ contentLength: length, body: Stream.empty }), "InvalidInput")
        assert.strictEqual(
          yield* fails({ contentLength: length, body: Stream.concat(bodyOf(text), Stream.fail("aborted")) }),
          "InvalidInput"
        )
        assert.strictEqual(
          yield* fails({ contentLength: length, body: Stream.concat(bodyOf("Hel"), Stream.fail("aborted")) }),
          "InvalidInput"
        )
        const died = yield* Effect.exit(as(at.member)(upload(text, { body: Stream.die("fault") })))
        assert.isTrue(Exit.isFailure(died) && Cause.hasDies(died.cause))
        assert.deepStrictEqual([kept(), directories()], before)
        assert.strictEqual(yield* refusal(as(at.viewer)((yield* TestRunFiles).open(1, "a/b.txt"))), "NotFound")
        const pending = yield* PendingBlobsRepo
        assert.deepStrictEqual(
          (yield* pending.lapsed(100)).filter((blob) => blob.workspaceId === at.workspace.id),
          []
        )
      })
    )

    it.effect("keeps nothing of an aborted upload, and leaves the previous file in place", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        yield* as(at.member)(upload("before"))
        const before = kept()
        const { begun, body } = yield* makePausing
        const fiber = yield* Effect.forkChild(as(at.member)(upload(text, { body })))
        yield* begun
        assert.strictEqual(kept(), before + store.begun)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(kept(), before)
        assert.strictEqual((yield* as(at.viewer)(download())).bytes.toString(), "before")
      })
    )

    it.effect("rejects a file if its run ended during the upload", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const before = [kept(), directories()]
        const { begun, body, go } = yield* makePausing
        const fiber = yield* Effect.forkChild(refusal(as(at.member)(upload(text, { body }))))
        yield* begun
        yield* as(at.member)((yield* TestRuns).finish(1, finishBody()))
        yield* go
        assert.strictEqual(yield* Fiber.join(fiber), "Conflict not_running")
        assert.deepStrictEqual([kept(), directories()], before)
      })
    )

    it.effect("rejects a file if its blob was swept during the upload, and leaves nothing", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const pending = yield* PendingBlobsRepo
        const files = yield* FileStore
        const before = [kept(), directories()]
        const { begun, body, go } = yield* makePausing
        const fiber = yield* Effect.forkChild(Effect.exit(as(at.member)(upload(text, { body }))))
        yield* begun
        // What another server's sweeper does once this one has been stopped for too long.
        assert.isTrue(yield* pending.lapse(written.at(-1)!.id))
        const blobs = (yield* pending.lapsed(100)).filter((blob) => blob.workspaceId === at.workspace.id)
        assert.strictEqual(blobs.length, 1)
        yield* Effect.forEach(blobs, files.delete)
        yield* pending.forget(blobs.map((blob) => blob.id))
        yield* go
        const exit = yield* Fiber.join(fiber)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.deepStrictEqual([kept(), directories()], before)
        assert.strictEqual(yield* refusal(as(at.viewer)((yield* TestRunFiles).open(1, "a/b.txt"))), "NotFound")
      })
    )

    it.effect("sweeps at start what a killed server left behind", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const pending = yield* PendingBlobsRepo
        const files = yield* FileStore
        const run = yield* as(at.member)((yield* TestRuns).get(1))
        const before = [kept(), directories()]
        // More than one transaction deletes; some were written in part, some not at all.
        const blobs = Array.from({ length: 120 }, () => ({
          id: newId<never>(),
          ownerId: run.id,
          workspaceId: at.workspace.id
        }))
        yield* Effect.forEach(blobs, (blob, i) =>
          Effect.gen(function* () {
            yield* pending.reserve(blob)
            if (i % 3 !== 0) yield* files.write(blob, bodyOf("part"), 4)
            if (i !== 1) yield* pending.lapse(blob.id)
          })
        )
        yield* Layer.build(Layer.fresh(layerServices))
        const now = Effect.sync(() => [kept(), directories()])
        const isLeft = (left: ReadonlyArray<number>) => (now: ReadonlyArray<number>) => String(now) === String(left)
        // One may still be in upload.
        yield* eventually(now, isLeft(before.map((count) => count + 1)))
        yield* pending.lapse(blobs[1]!.id)
        yield* eventually(Effect.andThen(sweepAgain, now), isLeft(before))
      })
    )

    it.effect("sweeps the rest when one blob cannot be deleted", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const pending = yield* PendingBlobsRepo
        const run = yield* as(at.member)((yield* TestRuns).get(1))
        const blobs = Array.from({ length: 3 }, () => ({
          id: newId<never>(),
          ownerId: run.id,
          workspaceId: at.workspace.id
        }))
        const files = yield* FileStore
        const [stuck, ...others] = blobs
        const before = kept()
        yield* Effect.forEach(others, (blob) => files.write(blob, bodyOf(text), text.length))
        const clear = store.obstruct(stuck!)
        yield* Effect.forEach(blobs, (blob) => Effect.andThen(pending.reserve(blob), pending.lapse(blob.id)))
        yield* eventually(Effect.andThen(sweepAgain, Effect.sync(kept)), (now) => now <= before)
        // Waits for the sweeper's transaction.
        assert.isTrue(yield* pending.lapse(stuck!.id))
        for (const blob of others) assert.isFalse(yield* pending.lapse(blob.id))
        clear()
        yield* pending.forget([stuck!.id])
      }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    )

    it.effect("keeps one file when many upload it at once", () =>
      Effect.gen(function* () {
        const at = yield* makeRun
        const before = kept()
        const contents = Array.from({ length: 20 }, (_, i) => `content ${i}`)
        const stored = yield* Effect.forEach(contents, (content) => as(at.member)(upload(content)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(stored.filter(({ created }) => created).length, 1)
        const { bytes, file } = yield* as(at.viewer)(download())
        assert.isTrue(contents.includes(bytes.toString()))
        assert.strictEqual(file.sha256, sha256(bytes))
        assert.strictEqual(kept(), before + 1)
        const pending = yield* PendingBlobsRepo
        assert.deepStrictEqual(
          (yield* pending.lapsed(100)).filter((blob) => blob.workspaceId === at.workspace.id),
          []
        )
      })
    )

    if (store === bucket) {
      it.effect("keeps nothing that S3 stores after the upload was aborted", () =>
        Effect.gen(function* () {
          const at = yield* makeRun
          const before = kept()
          // The bytes are all there, and S3 takes its time.
          const { putObject } = s3.server.store
          const [received, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const stored = yield* Deferred.make<void>()
          s3.server.store.putObject = async (object) => {
            const chunks: Array<Buffer> = []
            for await (const chunk of object.content as AsyncIterable<Buffer>) chunks.push(chunk)
            Deferred.doneUnsafe(received, Exit.void)
            await Effect.runPromise(Deferred.await(go))
            const put = await putObject.call(s3.server.store, { ...object, content: Buffer.concat(chunks) })
            Deferred.doneUnsafe(stored, Exit.void)
            return put
          }
          const fiber = yield* Effect.forkChild(as(at.member)(upload(randomBytes(2_000_000))))
          yield* Deferred.await(received)
          yield* Fiber.interrupt(fiber)
          assert.strictEqual(kept(), before)
          yield* Deferred.succeed(go, undefined)
          yield* Deferred.await(stored)
          s3.server.store.putObject = putObject
          assert.strictEqual(kept(), before + 1)
          // It is still known as garbage, and will be for a minute. What other tests left may be over that.
          const pending = yield* PendingBlobsRepo
          const { id } = written.at(-1)!
          assert.notInclude(
            (yield* pending.lapsed(100)).map((lapsed) => lapsed.id),
            id
          )
          assert.isTrue(yield* pending.lapse(id))
          yield* eventually(Effect.andThen(sweepAgain, Effect.sync(kept)), (now) => now <= before)
          assert.strictEqual(kept(), before)
          assert.strictEqual(yield* refusal(as(at.viewer)((yield* TestRunFiles).open(1, "a/b.txt"))), "NotFound")
        })
      )
    }

    if (storage.name === "memory" && store === disk) {
      it.effect("renews the lease of a blob for as long as its upload takes", () =>
        Effect.gen(function* () {
          const at = yield* makeRun
          const pending = yield* PendingBlobsRepo
          const { begun, body, go } = yield* makePausing
          const fiber = yield* Effect.forkChild(as(at.member)(upload(text, { body })))
          yield* begun
          yield* TestClock.adjust("2 minutes")
          assert.deepStrictEqual(yield* pending.lapsed(100), [])
          yield* go
          assert.isTrue((yield* Fiber.join(fiber)).created)
        })
      )
    }
  })
}
