import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client
} from "@aws-sdk/client-s3"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Data, Deferred, Effect, Schedule, type Scope, Stream } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { Readable } from "node:stream"
import { type S3Location, SettingsError } from "../Config.ts"
import { BlobNotFound, type BlobRef, type BlobStore } from "./Blob.ts"

/**
 * Blobs as objects of a bucket: `prefix`/{run}/{blob}. Fails unless objects can be written, read and deleted there.
 *
 * A blob is one `PutObject` of known length, which S3 makes visible whole or not at all: nothing is ever left of one that
 * was broken off, as parts of a multipart upload would be.
 */
export const makeS3Files = Effect.fnUntraced(function* (
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
      const problem = error._tag === "S3Error" ? problemOf(error, location) : "what was written to it cannot be read"
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
    // It would warn on the console of what is told here.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    // Nothing of a stream is sent before S3 wants it, so that it can be sent elsewhere.
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
  const objectOf = (blob: BlobRef) => ({
    Bucket: bucket,
    Key: `${prefix === "" ? "" : `${prefix}/`}${blob.runId}/${blob.id}`
  })

  const put = (blob: BlobRef, body: Uint8Array | Readable, size: number) => {
    const command = new PutObjectCommand({ ...objectOf(blob), Body: body, ContentLength: size })
    return call("PutObject", (abortSignal) => client.send(command, { abortSignal }))
  }

  const putHeld = Effect.fnUntraced(function* <E, R>(blob: BlobRef, body: Stream.Stream<Uint8Array, E, R>) {
    const bytes = Buffer.concat(yield* Stream.runCollect(body))
    yield* Effect.orDie(inTime(put(blob, bytes, bytes.length)))
  })

  const putStream = Effect.fnUntraced(function* <E, R>(
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
        put(blob, readable, size)
      )
    ).pipe(
      // What S3's client does for bodies in memory alone.
      Effect.retry({
        while: (error) => !isBegun && isTransient(error),
        schedule: Schedule.exponential("100 millis"),
        times: 2
      }),
      Effect.orDie,
      Effect.raceFirst(Deferred.await(broken))
    )
  })

  return {
    endsFailedWrites: false,

    write: Effect.fnUntraced(function* (blob, body, declared) {
      const digest = createHash("sha256")
      let size = 0
      const seen = Stream.map(body, (chunk) => {
        digest.update(chunk)
        size += chunk.length
        return chunk
      })
      yield* declared <= maxHeldBytes ? putHeld(blob, seen) : putStream(blob, seen, declared)
      return { size, sha256: digest.digest("hex") }
    }),

    read: Effect.fnUntraced(function* (blob, { length, offset }) {
      const found = <A>(effect: Effect.Effect<A, S3Error>) =>
        Effect.catchTag(effect, "S3Error", (error) =>
          error.code === "NoSuchKey" || error.code === "NotFound"
            ? Effect.fail(new BlobNotFound({ blob }))
            : Effect.die(error)
        )
      if (length === 0) {
        const command = new HeadObjectCommand(objectOf(blob))
        yield* found(inTime(call("HeadObject", (abortSignal) => client.send(command, { abortSignal }))))
        return Stream.empty
      }
      const command = new GetObjectCommand({ ...objectOf(blob), Range: `bytes=${offset}-${offset + length - 1}` })
      const get = call("GetObject", (abortSignal) =>
        client.send(command, { abortSignal }).then(({ Body, ContentRange }) => {
          if (!(Body instanceof Readable)) throw new Error("The answer has no body.")
          if (ContentRange?.startsWith(`bytes ${offset}-`) === true) return Body
          Body.destroy()
          throw new Error("The answer is not the range that was asked for.")
        })
      )
      const body = yield* Effect.acquireRelease(found(inTime(get)), destroy, { interruptible: true })
      return exactly(NodeStream.fromReadable({ evaluate: () => body }), length)
    }),

    delete: (blob) => {
      const command = new DeleteObjectCommand(objectOf(blob))
      const remove = call("DeleteObject", (abortSignal) => client.send(command, { abortSignal }))
      return Effect.orDie(Effect.asVoid(inTime(remove)))
    }
  }
}

/** A call of S3 that failed. `code` is S3's word for it, or the system's; `status` is undefined where S3 did not answer. */
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
      const word = $metadata?.httpStatusCode === undefined ? (code ?? name) : name
      const said = $metadata?.requestId === undefined ? message : `${message} (S3 request ${$metadata.requestId})`
      return new S3Error({
        message: `${operation}: ${word}: ${said}`.replaceAll(/\s+/g, " "),
        code: word,
        status: $metadata?.httpStatusCode
      })
    }
  })

/** A call that takes no longer for a slow client. */
const inTime = <A>(called: Effect.Effect<A, S3Error>): Effect.Effect<A, S3Error> =>
  Effect.timeoutOrElse(called, { duration: "20 seconds", orElse: () => Effect.fail(notAnswering) })

const isTransient = ({ status }: S3Error): boolean => status === undefined || status === 429 || status >= 500

const notAnswering = new S3Error({ message: "No answer came in time.", code: "TimeoutError", status: undefined })

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

/** Writes, reads and deletes an object: that the bucket is there does not say that this may be done. */
const prove = (store: BlobStore) => {
  const blob = { runId: "start-check", id: randomUUID() } as unknown as BlobRef
  const bytes = new TextEncoder().encode("delivery")
  const read = Effect.scoped(
    Effect.flatMap(store.read(blob, { offset: 0, length: bytes.length }), (stream) => Stream.runDrain(stream))
  )
  const written = Effect.acquireRelease(store.write(blob, Stream.make(bytes), bytes.length), () => store.delete(blob), {
    interruptible: true
  })
  return Effect.gen(function* () {
    yield* Effect.scoped(Effect.andThen(written, read))
    // Who may not list a bucket is not told that an object is missing.
    yield* Effect.catchTag(read, "BlobNotFound", () => Effect.void)
  })
}

/** What an operator can mend, in words. */
const problemOf = ({ code, message, status }: S3Error, { endpoint }: S3Location): string => {
  if (code === "NoSuchBucket") return "it does not exist"
  if (code === "CredentialsProviderError")
    return "no AWS credentials were found in the environment, a profile or a role"
  if (message.includes("Region is missing")) return "its region is not known: add region=... or set AWS_REGION"
  if (status === undefined) return `${endpoint ?? "S3"} does not answer (${code})`
  return message
}
