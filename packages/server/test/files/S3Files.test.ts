import { assert, layer } from "@effect/vitest"
import type { FileId, TestRunId } from "@delivery/domain/Ids"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { randomBytes } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Settings } from "../../src/Config.ts"
import type { BlobRef } from "../../src/files/Blob.ts"
import * as Files from "../../src/files/Files.ts"
import { FileStore } from "../../src/files/FileStore.ts"
import { newId } from "../identity/Scene.ts"
import { eventually } from "../support/Eventually.ts"
import { makeS3, type S3Server } from "../support/S3Server.ts"

/** What S3 alone can do to a store; what every store has to do is in FileStore.test.ts. */

class S3 extends Context.Service<S3, S3Server>()("test/S3") {}

const layerS3 = Layer.provideMerge(
  Layer.unwrap(
    Effect.map(S3, (s3) => Layer.provide(Files.layer, Settings.layer({ FILES_URL: s3.filesUrl("kept/here") })))
  ),
  Layer.effect(S3, makeS3)
)

const mebibyte = 1024 * 1024

const newBlob = (): BlobRef => ({ id: newId<FileId>(), ownerId: newId<TestRunId>() })

/** A body of that many chunks of 100,000 bytes. */
const chunks = (count: number) =>
  Stream.fromIterable(Array.from({ length: count }, () => new Uint8Array(randomBytes(100_000))))

const writeLarge = (blob: BlobRef) => Effect.flatMap(FileStore, (store) => store.write(blob, chunks(30), 3_000_000))

const readAll = (blob: BlobRef, length: number) =>
  Effect.flatMap(FileStore, (store) =>
    Effect.scoped(Effect.flatMap(store.read(blob, { offset: 0, length }), Stream.runCollect))
  )

/** Answers the next requests with 503 before they reach the server, whose number is counted. */
const failNext = (s3: S3Server, event: "request" | "checkContinue", count: number) => {
  const seen = { requests: 0 }
  const listeners = s3.server.httpServer.listeners(event)
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    seen.requests++
    if (seen.requests === count) {
      s3.server.httpServer.removeListener(event, answer)
      for (const listener of listeners) s3.server.httpServer.on(event, listener as never)
    }
    response.writeHead(503, { "content-type": "application/xml", connection: "close" })
    response.end("<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
  }
  s3.server.httpServer.removeAllListeners(event)
  s3.server.httpServer.on(event, answer)
  return seen
}

const faultOf = <A, E>(exit: Exit.Exit<A, E>): string =>
  Exit.isFailure(exit) && Cause.hasDies(exit.cause) ? String(Cause.squash(exit.cause)) : "none"

const until = (isSo: () => boolean) => eventually(Effect.sync(isSo), (is) => is)

layer(layerS3, { excludeTestServices: true })("FileStore on S3 alone", (it) => {
  it.effect("verifies the bucket and leaves nothing in it; keys are prefix, run and blob", () =>
    Effect.gen(function* () {
      const [s3, store] = [yield* S3, yield* FileStore]
      assert.deepStrictEqual(s3.keys(), [])
      const [small, large] = [newBlob(), newBlob()]
      yield* store.write(small, Stream.make(new Uint8Array(3)), 3)
      yield* writeLarge(large)
      const expected = [small, large].map(({ id, ownerId }) => `kept/here/${ownerId}/${id}`)
      assert.deepStrictEqual(s3.keys(), expected.toSorted())
      yield* store.delete(small)
      yield* store.delete(large)
      assert.deepStrictEqual(s3.keys(), [])
    })
  )

  it.effect("fails to start with a bucket that cannot be used, and gives the reason", () =>
    Effect.gen(function* () {
      const s3 = yield* S3
      const failure = (FILES_URL: string) =>
        Effect.map(
          Effect.flip(
            Effect.scoped(Layer.build(Layer.provide(Layer.fresh(Files.layer), Settings.layer({ FILES_URL }))))
          ),
          (error) => error.message
        )
      const { hostname } = new URL(s3.endpoint)
      const because = (problem: string) => `FILES_URL: the bucket files cannot be used: ${problem}.`
      assert.strictEqual(
        yield* failure(`s3://files?endpoint=http://${hostname}:1`),
        because(`http://${hostname}:1 does not answer (ECONNREFUSED)`)
      )
      assert.strictEqual(
        yield* failure("s3://files"),
        because("its region is missing: add region=... to FILES_URL or set AWS_REGION")
      )
      assert.strictEqual(
        yield* failure(`s3://others?endpoint=${s3.endpoint}`),
        "FILES_URL: the bucket others cannot be used: it does not exist."
      )
      const { getObject } = s3.server.store
      s3.server.store.getObject = () => Promise.resolve(null)
      const unreadable = yield* failure(s3.filesUrl("a"))
      s3.server.store.getObject = getObject
      assert.strictEqual(unreadable, because("an object that was written to it cannot be read"))
      assert.deepStrictEqual(s3.keys(), [])
    })
  )

  it.effect("retries what S3 was too busy for, if the body can be sent again", () =>
    Effect.gen(function* () {
      const [s3, store] = [yield* S3, yield* FileStore]
      const bytes = new Uint8Array(randomBytes(1000))
      const small = newBlob()
      const held = failNext(s3, "request", 2)
      yield* store.write(small, Stream.make(bytes), bytes.length)
      assert.strictEqual(held.requests, 2)
      assert.deepStrictEqual(new Uint8Array((yield* readAll(small, 1000))[0]!), bytes)

      const large = newBlob()
      const streamed = failNext(s3, "checkContinue", 2)
      yield* writeLarge(large)
      assert.strictEqual(streamed.requests, 2)
      assert.strictEqual(Buffer.concat(yield* readAll(large, 3_000_000)).length, 3_000_000)

      const busy = failNext(s3, "checkContinue", 3)
      const refused = yield* Effect.exit(writeLarge(newBlob()))
      assert.match(faultOf(refused), /^S3Error: PutObject: SlowDown: Please reduce your request rate\./)
      assert.strictEqual(busy.requests, 3)

      // It has begun to read the body, which cannot be had again.
      const { putObject } = s3.server.store
      let tries = 0
      s3.server.store.putObject = () => {
        tries++
        return Promise.reject(new Error("broken"))
      }
      const begun = yield* Effect.exit(writeLarge(newBlob()))
      s3.server.store.putObject = putObject
      assert.match(faultOf(begun), /^S3Error: PutObject: InternalError: /)
      assert.strictEqual(tries, 1)
      for (const blob of [small, large]) yield* store.delete(blob)
      assert.deepStrictEqual(s3.keys(), [])
    })
  )

  it.effect("releases its connection when the writer is interrupted or its body fails", () =>
    Effect.gen(function* () {
      const [s3, store] = [yield* S3, yield* FileStore]
      const outcomes: Array<string> = []
      const { putObject } = s3.server.store
      s3.server.store.putObject = (object) => {
        const outcome = putObject.call(s3.server.store, object)
        outcome.then(
          () => outcomes.push("stored"),
          () => outcomes.push("broken off")
        )
        return outcome
      }
      const blob = newBlob()
      const begun = yield* Deferred.make<void>()
      const pausing = Stream.concat(
        chunks(20),
        Stream.fromEffect(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
      )
      const fiber = yield* Effect.forkChild(store.write(blob, pausing, 3_000_000))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      yield* until(() => outcomes.length === 1)
      yield* Effect.flip(store.write(blob, Stream.concat(chunks(20), Stream.fail("broken")), 3_000_000))
      yield* until(() => outcomes.length === 2)
      s3.server.store.putObject = putObject
      assert.deepStrictEqual(outcomes, ["broken off", "broken off"])
      yield* store.delete(blob)
      assert.deepStrictEqual(s3.keys(), [])
    })
  )

  it.effect("requests no more of a blob than is read, and more blobs at once than the client's 50", () =>
    Effect.gen(function* () {
      const [s3, store] = [yield* S3, yield* FileStore]
      const blob = newBlob()
      const size = 32 * mebibyte
      yield* store.write(blob, Stream.fromIterable(Array.from({ length: 32 }, () => new Uint8Array(mebibyte))), size)
      let [open, closed, sent] = [0, 0, 0]
      const count = ({ socket }: IncomingMessage, response: ServerResponse) => {
        response.once("close", () => {
          closed++
          sent += socket.bytesWritten
        })
      }
      s3.server.httpServer.prependListener("request", count)
      const firsts = yield* Effect.forEach(
        Array.from({ length: 64 }),
        () =>
          Effect.scoped(
            Effect.gen(function* () {
              const stream = yield* store.read(blob, { offset: 5, length: size - 5 })
              open++
              yield* until(() => open === 64)
              return yield* Stream.runHead(stream)
            })
          ),
        { concurrency: "unbounded" }
      )
      s3.server.httpServer.removeListener("request", count)
      assert.strictEqual(firsts.filter(({ _tag }) => _tag === "Some").length, 64)
      yield* until(() => closed === 64)
      assert.isBelow(sent, 64 * 16 * mebibyte)
      yield* store.delete(blob)
    })
  )
  it.effect("dies if S3 has less than was stored", () =>
    Effect.gen(function* () {
      const store = yield* FileStore
      const blob = newBlob()
      yield* store.write(blob, Stream.make(new Uint8Array(10)), 10)
      assert.match(faultOf(yield* Effect.exit(readAll(blob, 11))), /shorter than it was/)
      yield* store.delete(blob)
    })
  )
})
