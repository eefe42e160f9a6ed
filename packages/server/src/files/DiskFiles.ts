import { Cause, Data, Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { dirname, join, resolve } from "node:path"
import { SettingsError } from "../Config.ts"
import { BlobNotFound, type BlobRef, type BlobStore } from "./Blob.ts"
import { FileStore } from "./FileStore.ts"
import { changedBy } from "../database/Flush.ts"

/** Blobs as files of a directory, which is made if it is missing: `directory`/{owner}/{blob}. */
export const layer = (directory: string) => Layer.effect(FileStore, make(resolve(directory)))

const make = (root: string): Effect.Effect<BlobStore, SettingsError> =>
  Effect.as(makeDirectory(root), disk(root)).pipe(
    Effect.catchTag("IoError", ({ cause }) =>
      Effect.fail(
        new SettingsError({
          message: `DATA_DIR: the server cannot store files in ${root} (${cause.message}). Set DATA_DIR to a directory that it may write to.`
        })
      )
    )
  )

const disk = (root: string): BlobStore => ({
  endsFailedWrites: true,
  write: write(root),
  read: read(root),
  size: size(root),
  delete: remove(root)
})

const pathOf = (root: string, blob: BlobRef) => join(root, blob.ownerId, blob.id)

const write = (root: string): BlobStore["write"] =>
  Effect.fnUntraced(function* (blob, body) {
    const path = pathOf(root, blob)
    const digest = createHash("sha256")
    let size = 0
    const writeChunk = (file: number, chunk: Uint8Array) =>
      Effect.map(writeAll(file, chunk), () => {
        digest.update(chunk)
        size += chunk.length
        release(chunk)
      })
    yield* Effect.acquireUseRelease(
      create(path),
      (file) =>
        Effect.andThen(
          Stream.runForEachArray(body, (chunks) =>
            Effect.forEach(chunks, (chunk) => writeChunk(file, chunk), { discard: true })
          ),
          Effect.orDie(io<void>((done) => fs.fdatasync(file, done)))
        ),
      close
    )
    yield* syncDirectory(dirname(path))
    yield* syncDirectory(root)
    return { size, sha256: digest.digest("hex") }
  })

/** The directory of an owner goes with its last file, also between being made and being used. */
const create = (path: string) =>
  open(path, "wx").pipe(
    Effect.tapErrorTag("IoError", (error) => (error.code === "ENOENT" ? makeDirectory(dirname(path)) : Effect.void)),
    Effect.retry({ while: (error) => error.code === "ENOENT", times: 100 }),
    Effect.orDie
  )

const read = (root: string): BlobStore["read"] =>
  Effect.fnUntraced(function* (blob, { length, offset }) {
    const file = yield* Effect.acquireRelease(open(pathOf(root, blob), "r"), close).pipe(
      Effect.catchTag("IoError", (error) =>
        error.code === "ENOENT" ? Effect.fail(new BlobNotFound({ blob })) : Effect.die(error)
      )
    )
    return Stream.suspend(() => {
      let position = offset
      const end = offset + length
      return Stream.fromPull(
        Effect.succeed(
          Effect.suspend(() => {
            if (position >= end) return Cause.done()
            const chunk = Buffer.allocUnsafeSlow(Math.min(readLength, end - position))
            return Effect.flatMap(
              Effect.orDie(io<number>((done) => fs.read(file, chunk, 0, chunk.length, position, done))),
              (count) => {
                if (count === 0) return Effect.die(new Error("A stored file is shorter than it was."))
                position += count
                return Effect.succeed([new Uint8Array(chunk.buffer, 0, count)] as const)
              }
            )
          })
        )
      )
    })
  })

const size =
  (root: string): BlobStore["size"] =>
  (blob) =>
    io<fs.Stats>((done) => fs.stat(pathOf(root, blob), done)).pipe(
      Effect.map((found) => found.size),
      Effect.catchTag("IoError", (error) =>
        error.code === "ENOENT" ? Effect.fail(new BlobNotFound({ blob })) : Effect.die(error)
      )
    )

const remove = (root: string): BlobStore["delete"] =>
  Effect.fnUntraced(function* (blob) {
    const path = pathOf(root, blob)
    yield* tolerate(
      io<void>((done) => fs.unlink(path, done)),
      "ENOENT"
    )
    yield* tolerate(
      io<void>((done) => fs.rmdir(dirname(path), done)),
      "ENOENT",
      "ENOTEMPTY",
      "EEXIST"
    )
  })

const readLength = 128 * 1024

/** A call of the file system that failed. */
class IoError extends Data.TaggedError("IoError")<{ readonly code: string | undefined; readonly cause: Error }> {}

/**
 * One call of the file system. An interruption waits for it, since it may still use its buffer and its file,
 * whose number may be another's once it is closed.
 */
const io = <A>(
  call: (done: (error: NodeJS.ErrnoException | null, value: A) => void) => void
): Effect.Effect<A, IoError> =>
  Effect.uninterruptible(
    Effect.callback<A, IoError>((resume) =>
      call((error, value) =>
        resume(error === null ? Effect.succeed(value) : Effect.fail(new IoError({ code: error.code, cause: error })))
      )
    )
  )

const open = (path: string, flags: string) => io<number>((done) => fs.open(path, flags, 0o600, done))

const close = (file: number) => Effect.orDie(io<void>((done) => fs.close(file, done)))

const makeDirectory = (path: string): Effect.Effect<void, IoError> =>
  Effect.flatMap(
    io<string | undefined>((done) => fs.mkdir(path, { recursive: true, mode: 0o700 }, done)),
    (first) => Effect.forEach(changedBy(path, first), syncDirectory, { discard: true })
  )

const tolerate = <A>(effect: Effect.Effect<A, IoError>, ...codes: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.catchTag(Effect.asVoid(effect), "IoError", (error) =>
    error.code !== undefined && codes.includes(error.code) ? Effect.void : Effect.die(error)
  )

const writeAll = (file: number, chunk: Uint8Array): Effect.Effect<void> => {
  const from = (start: number): Effect.Effect<void, IoError> =>
    Effect.flatMap(
      io<number>((done) => fs.write(file, chunk, start, chunk.length - start, null, done)),
      (count) => (start + count < chunk.length ? from(start + count) : Effect.void)
    )
  return Effect.orDie(from(0))
}

/** A new file survives a power cut once its directory does. */
const syncDirectory = (path: string) =>
  Effect.acquireUseRelease(open(path, "r"), (directory) => io<void>((done) => fs.fsync(directory, done)), close).pipe(
    Effect.orDie
  )

/**
 * Gives the memory of a chunk back at once. The garbage collector would wait until about 64 MiB of them are held, since
 * to it each is only a small object.
 */
const release = (chunk: Uint8Array): void => {
  const { buffer } = chunk
  // Smaller chunks may share their memory with others.
  if (buffer instanceof ArrayBuffer && chunk.byteLength === buffer.byteLength) buffer.transfer(0)
}
