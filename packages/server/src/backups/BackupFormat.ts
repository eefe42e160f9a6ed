import { Data, Effect, FileSystem, Path, Schema, Stream } from "effect"
import { createHash } from "node:crypto"

/**
 * A back-up is a directory: the files of the database in `postgres`, the stored ones in `files`, a line for each of them in
 * `SHA256SUMS`, as `sha256sum -c` reads it, and `backup.json`, which is written last. Vault keys are in none.
 */
export const Manifest = Schema.Struct({
  format: Schema.Literal(1),
  /** The version of the service. */
  version: Schema.String,
  /** The number of the last migration. */
  migration: Schema.Int,
  at: Schema.String,
  /** How many rows each table has. */
  tables: Schema.Record(Schema.String, Schema.Int),
  files: Schema.Int,
  bytes: Schema.Number,
  /** The database needs these, also where they are empty. */
  directories: Schema.Array(Schema.String.check(Schema.isPattern(/^postgres(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/))),
  /** The SHA-256 of `SHA256SUMS`. */
  sums: Schema.String
})

export type Manifest = typeof Manifest.Type

const manifestFile = "backup.json"
export const sumsFile = "SHA256SUMS"
export const databaseDirectory = "postgres"
export const filesDirectory = "files"

const encode = Schema.encodeEffect(Schema.fromJsonString(Manifest))
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Manifest))

/** A back-up or a restore that was not done. The message is one line. */
export class BackupError extends Data.TaggedError("BackupError")<{ readonly message: string }> {}

export const writeManifest = Effect.fnUntraced(function* (directory: string, manifest: Manifest) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(directory, manifestFile)
  yield* fs.writeFileString(file, `${yield* Effect.orDie(encode(manifest))}\n`, { mode: 0o600 })
  yield* sync(file)
  yield* sync(directory)
})

/** The manifest of a whole back-up whose list of files is what it was. */
export const readManifest = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(directory, manifestFile)
  if (!(yield* fs.exists(file))) {
    return yield* new BackupError({ message: `${directory} is no whole back-up: it has no ${manifestFile}.` })
  }
  const manifest = yield* Effect.mapError(
    Effect.flatMap(fs.readFileString(file), decode),
    () => new BackupError({ message: `${file} is damaged, or of another version of the service.` })
  )
  const sums = path.join(directory, sumsFile)
  if (!(yield* fs.exists(sums)) || (yield* sha256Of(fs.stream(sums))) !== manifest.sums) {
    return yield* new BackupError({ message: `The back-up is damaged: ${sums} is missing, or not what it was.` })
  }
  return manifest
})

/** The hash of all bytes, without keeping them. */
export const sha256Of = Effect.fnUntraced(function* <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) {
  const digest = createHash("sha256")
  yield* Stream.runForEach(bytes, (chunk) => Effect.sync(() => digest.update(chunk)))
  return digest.digest("hex")
})

/** Makes what was written to a file or a directory survive a power cut. */
export const sync = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.scoped(Effect.flatMap(fs.open(path), (opened) => opened.sync))
})

const line = /^([0-9a-f]{64}) {2}((?:postgres|files)(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+)$/

/** A file of the list, by its path in the back-up. */
export interface Listed {
  readonly sha256: string
  readonly path: string
}

/** The list, a line at a time. */
export const listed = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return fs.stream(path.join(directory, sumsFile)).pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.mapEffect((text) => {
      const [, sha256, path] = line.exec(text) ?? []
      return sha256 === undefined || path === undefined
        ? Effect.fail(new BackupError({ message: `The back-up is damaged: ${sumsFile} has a line that is none.` }))
        : Effect.succeed<Listed>({ sha256, path })
    })
  )
})
