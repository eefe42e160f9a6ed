import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client
} from "@aws-sdk/client-s3"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Data, Deferred, Effect, Layer, Schedule, type Scope, Stream } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { Readable } from "node:stream"
import { type S3Location, SettingsError } from "../Config.ts"
import { BlobNotFound, type BlobRef, type BlobStore } from "./Blob.ts"
import { FileStore } from "./FileStore.ts"

/**
 * Blobs as objects of a bucket: `prefix`/{owner}/{blob}. Fails unless objects can be written, read and deleted there.
 *
 * A blob is one `PutObject` of known length, which S3 makes visible whole or not at all: nothing is ever left of one that
 * was broken off, as parts of a multipart upload would be.
 */
export const layer = (location: S3Location) => Layer.effect(FileStore, make(location))

const make = Effect.fnUntraced(function* (
  location: S3Location
): Effect.fn.Return<BlobStore, SettingsError, Scope.Scope> {
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => newClient(location)),
    (client) => Effect.sync(() => client.destroy())
  )
  const store = s3(client, location)
  yield* prove(store).pipe(
    Effect.catchDefect((defect) => (defect instanceof S3Error ? Effect.fail(defect) : Effect.die(defect))),
    Effect.mapError((error) => {
      const problem =
        error._tag === "S3Error" ? problemOf(error, location) : "an object that was written to it cannot be read"
      return new SettingsError({ message: `FILES_URL: the bucket ${location.bucket} cannot be used: ${problem}.` })
    })
  )
  return store
})

/** The largest body that is held in memory, in bytes: it can be sent again. */
const maxHeldBytes = 1024 * 1024

const newClient = ({ endpoint, region }: S3Location): S3Client =>
  new S3Client({
    ...(endpoint === undefined
      ? region === undefined
        ? {}
        : { region }
      : { endpoint, forcePathStyle: true, region: region ?? "us-east-1" }),
    // Checksums of streams need trailers, which many services with S3's interface do not know. A body in memory is
    // checked by its signature, any body by its length.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // It would write warnings to the console; errors are reported by this module.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    // Nothing of a stream is sent before S3 accepts it, so that the request can be sent again.
    expectContinueHeader: maxHeldBytes + 1,
    requestHandler: {
      connectionTimeout: 5_000,
      // A client that uploads slowly is slow here too, up to the limit of its own connection.
      socketTimeout: 60_000,
      httpAgent: { maxSockets: Number.POSITIVE_INFINITY },
      httpsAgent: { maxSockets: Number.POSITIVE_INFINITY }
    }
  })

const s3 = (client: S3Client, { bucket, prefix }: S3Location): BlobStore => {
  const store: Bucket = {
    client,
    objectOf: (blob) => ({
      Bucket: bucket,
      Key: `${prefix === "" ? "" : `${prefix}/`}${blob.ownerId}/${blob.id}`
    })
  }
  return { endsFailedWrites: false, write: write(store), read: read(store), size: size(store), delete: remove(store) }
}

interface Bucket {
  readonly client: S3Client
  readonly objectOf: (blob: BlobRef) => { readonly Bucket: string; readonly Key: string }
}

const write = (bucket: Bucket): BlobStore["write"] =>
  Effect.fnUntraced(function* (blob, body, declared) {
    const digest = createHash("sha256")
    let size = 0
    const seen = Stream.map(body, (chunk) => {
      digest.update(chunk)
      size += chunk.length
      return chunk
    })
    yield* declared <= maxHeldBytes ? putHeld(bucket, blob, seen) : putStream(bucket, blob, seen, declared)
    return { size, sha256: digest.digest("hex") }
  })

const put = ({ client, objectOf }: Bucket, blob: BlobRef, body: Uint8Array | Readable, size: number) => {
  const command = new PutObjectCommand({ ...objectOf(blob), Body: body, ContentLength: size })
  return call("PutObject", (abortSignal) => client.send(command, { abortSignal }))
}

const putHeld = Effect.fnUntraced(function* <E, R>(
  bucket: Bucket,
  blob: BlobRef,
  body: Stream.Stream<Uint8Array, E, R>
) {
  const bytes = Buffer.concat(yield* Stream.runCollect(body))
  yield* Effect.orDie(inTime(put(bucket, blob, bytes, bytes.length)))
})

const putStream = Effect.fnUntraced(function* <E, R>(
  bucket: Bucket,
  blob: BlobRef,
  body: Stream.Stream<Uint8Array, E, R>,
  size: number
) {
  const broken = yield* Deferred.make<never, E>()
  let isBegun = false
  const bytes = Stream.suspend(() => {
    isBegun = true
    return body
  }).pipe(
    // The client of S3 would wait for the rest of a body that failed.
    Stream.catchCause((cause) => Stream.fromEffect(Effect.andThen(Deferred.failCause(broken, cause), Effect.never)))
  )
  yield* Effect.scoped(
    Effect.flatMap(Effect.acquireRelease(NodeStream.toReadable(bytes), destroy), (readable) =>
      put(bucket, blob, readable, size)
    )
  ).pipe(
    // The client of S3 does this only for bodies in memory.
    Effect.retry({
      while: (error) => !isBegun && isTransient(error),
      schedule: Schedule.exponential("100 millis"),
      times: 2
    }),
    Effect.orDie,
    Effect.raceFirst(Deferred.await(broken))
  )
})

const found = <A>(blob: BlobRef, effect: Effect.Effect<A, S3Error>) =>
  Effect.catchTag(effect, "S3Error", (error) =>
    error.code === "NoSuchKey" || error.code === "NotFound"
      ? Effect.fail(new BlobNotFound({ blob }))
      : Effect.die(error)
  )

const size =
  ({ client, objectOf }: Bucket): BlobStore["size"] =>
  (blob) => {
    const command = new HeadObjectCommand(objectOf(blob))
    const head = call("HeadObject", (abortSignal) => client.send(command, { abortSignal }))
    return Effect.map(found(blob, inTime(head)), ({ ContentLength }) => ContentLength ?? 0)
  }

const read = (bucket: Bucket): BlobStore["read"] =>
  Effect.fnUntraced(function* (blob, { length, offset }) {
    const { client, objectOf } = bucket
    if (length === 0) {
      yield* size(bucket)(blob)
      return Stream.empty
    }
    const command = new GetObjectCommand({ ...objectOf(blob), Range: `bytes=${offset}-${offset + length - 1}` })
    const get = call("GetObject", (abortSignal) =>
      client.send(command, { abortSignal }).then(({ Body, ContentRange }) => {
        if (!(Body instanceof Readable)) throw new Error("S3 answered without a body.")
        if (ContentRange?.startsWith(`bytes ${offset}-`) === true) return Body
        Body.destroy()
        throw new Error("S3 answered with another range than was requested.")
      })
    )
    const body = yield* Effect.acquireRelease(found(blob, inTime(get)), destroy, { interruptible: true })
    return exactly(NodeStream.fromReadable({ evaluate: () => body }), length)
  })

const remove =
  ({ client, objectOf }: Bucket): BlobStore["delete"] =>
  (blob) => {
    const command = new DeleteObjectCommand(objectOf(blob))
    const deleted = call("DeleteObject", (abortSignal) => client.send(command, { abortSignal }))
    return Effect.orDie(Effect.asVoid(inTime(deleted)))
  }

/** A failed call of S3. `code` is the error code of S3 or of the system; `status` is undefined if S3 did not answer. */
class S3Error extends Data.TaggedError("S3Error")<{
  readonly message: string
  readonly code: string
  readonly status: number | undefined
}> {}

const call = <A>(operation: string, send: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, S3Error> =>
  Effect.tryPromise({
    try: send,
    // Not the error itself: it holds the request, with its signature.
    catch: (cause) => {
      const { $metadata, code, message, name } = cause as Error & {
        readonly code?: string
        readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string }
      }
      const errorCode = $metadata?.httpStatusCode === undefined ? (code ?? name) : name
      const details = $metadata?.requestId === undefined ? message : `${message} (S3 request ${$metadata.requestId})`
      return new S3Error({
        message: `${operation}: ${errorCode}: ${details}`.replaceAll(/\s+/g, " "),
        code: errorCode,
        status: $metadata?.httpStatusCode
      })
    }
  })

/** For a call whose time does not depend on how fast the client is. */
const inTime = <A>(called: Effect.Effect<A, S3Error>): Effect.Effect<A, S3Error> =>
  Effect.timeoutOrElse(called, { duration: "20 seconds", orElse: () => Effect.fail(notAnswering) })

const isTransient = ({ status }: S3Error): boolean => status === undefined || status === 429 || status >= 500

const notAnswering = new S3Error({ message: "S3 did not answer in time.", code: "TimeoutError", status: undefined })

/** Ends a stream that may be in use, and waits until it is. */
const destroy = (readable: Readable): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (readable.closed) return resume(Effect.void)
    readable.on("error", () => {})
    readable.once("close", () => resume(Effect.void))
    readable.destroy()
  })

/** The first `length` bytes. Dies where there are fewer. */
const exactly = <E>(bytes: Stream.Stream<Uint8Array, E>, length: number): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    let left = length
    return bytes.pipe(
      Stream.map((chunk) => {
        const part = chunk.length > left ? chunk.subarray(0, left) : chunk
        left -= part.length
        return part
      }),
      Stream.takeUntil(() => left === 0),
      Stream.concat(
        Stream.drain(
          Stream.fromEffect(
            Effect.suspend(() =>
              left === 0 ? Effect.void : Effect.die(new Error("A stored file is shorter than it was."))
            )
          )
        )
      ),
      Stream.orDie
    )
  })

/** Writes, reads and deletes an object: a bucket that exists may still not allow it. */
const prove = (store: BlobStore) => {
  const blob = { ownerId: "start-check", id: randomUUID() } as unknown as BlobRef
  const bytes = new TextEncoder().encode("delivery")
  const read = Effect.scoped(
    Effect.flatMap(store.read(blob, { offset: 0, length: bytes.length }), (stream) => Stream.runDrain(stream))
  )
  const written = Effect.acquireRelease(store.write(blob, Stream.make(bytes), bytes.length), () => store.delete(blob), {
    interruptible: true
  })
  return Effect.gen(function* () {
    yield* Effect.scoped(Effect.andThen(written, read))
    // Without the permission to list a bucket, S3 does not say that an object is missing.
    yield* Effect.catchTag(read, "BlobNotFound", () => Effect.void)
  })
}

/** What is wrong, for the operator. */
const problemOf = ({ code, message, status }: S3Error, { endpoint }: S3Location): string => {
  if (code === "NoSuchBucket") return "it does not exist"
  if (code === "CredentialsProviderError") return "there are no AWS credentials in the environment, a profile or a role"
  if (message.includes("Region is missing"))
    return "its region is missing: add region=... to FILES_URL or set AWS_REGION"
  if (status === undefined) return `${endpoint ?? "S3"} does not answer (${code})`
  return message
}
