import { Context, DateTime, Effect, FileSystem, Layer, Path, type Scope, Stream } from "effect"
import { version } from "../Config.ts"
import * as EmbeddedDatabase from "../database/EmbeddedDatabase.ts"
import * as Files from "../files/Files.ts"
import { FileStore } from "../files/FileStore.ts"
import {
  BackupError,
  databaseDirectory,
  filesDirectory,
  sha256Of,
  sumsFile,
  sync,
  writeManifest
} from "./BackupFormat.ts"
import { knownFiles, nameOf, verifyTables, wrongBytes } from "./Verification.ts"
import { type KnownFile, lastMigration } from "./VerificationSql.ts"

/** How many damaged files a refusal names. */
const namedFiles = 10

/**
 * Makes a back-up in a directory that is not there yet. It is there once it is whole: until then it has another name.
 * `copyDatabase` copies the files of the database, and keeps stored files from being deleted until the scope closes.
 */
export const backUp = <E, R>(
  directory: string,
  copyDatabase: (directory: string) => Effect.Effect<void, E, R | Scope.Scope>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const target = path.resolve(directory)
    if (yield* fs.exists(target)) {
      return yield* new BackupError({
        message: `${target} is there already. A back-up overwrites nothing: name a directory that is not there.`
      })
    }
    const draft = yield* makeDraft(target)
    return yield* Effect.gen(function* () {
      yield* copyDatabase(path.join(draft, databaseDirectory))
      const made = yield* fill(draft)
      yield* fs.rename(draft, target)
      yield* sync(path.dirname(target))
      return { ...made, target }
    }).pipe(
      Effect.scoped,
      Effect.onError(() => Effect.ignore(fs.remove(draft, { recursive: true, force: true })))
    )
  })

const whyNot: Readonly<Record<string, string>> = {
  NotFound: "that directory does not exist, make it first",
  PermissionDenied: "you may not write to it"
}

const makeDraft = Effect.fnUntraced(function* (target: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.mapError(
    fs.makeTempDirectory({ directory: path.dirname(target), prefix: `${path.basename(target)}.partial-` }),
    ({ reason }) =>
      new BackupError({
        message: `No back-up can be made in ${path.dirname(target)}: ${whyNot[reason._tag] ?? reason.message}.`
      })
  )
})

/** Adds the stored files to the copy of a database, the list of all files, and what the whole has in it. */
const fill = Effect.fnUntraced(function* (draft: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const sums = path.join(draft, sumsFile)
  const copied = yield* Effect.provide(copyFiles(draft, sums), EmbeddedDatabase.layer({ dataDir: draft }), {
    local: true
  })
  yield* fs.remove(path.join(draft, "server.lock"))
  const directories = yield* listDatabase(draft, sums)
  yield* sync(sums)
  yield* writeManifest(draft, {
    format: 1,
    version,
    at: DateTime.formatIso(yield* DateTime.now),
    directories,
    sums: yield* sha256Of(fs.stream(sums)),
    ...copied
  })
  return copied
})

const storeIn = (directory: string) =>
  Effect.map(Layer.build(Files.layerIn(directory)), (context) => Context.get(context, FileStore))

/** Opens the copy of the database, which recovers it, and copies the files that it knows of. */
const copyFiles = Effect.fnUntraced(function* (draft: string, sums: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const checked = yield* verifyTables
  if (checked.problemCount > 0) {
    return yield* new BackupError({
      message: `The database is damaged: ${checked.problems[0]} \`verify\` lists all that is wrong.`
    })
  }
  const source = yield* FileStore
  const target = yield* storeIn(path.join(draft, filesDirectory))
  const damaged: Array<string> = []
  let [files, bytes] = [0, 0]
  yield* knownFiles.pipe(
    Stream.mapEffect((file) =>
      Effect.gen(function* () {
        files++
        bytes += file.size
        const problem = yield* copyFile(source, target, file)
        if (problem === undefined) return `${file.sha256}  ${filesDirectory}/${file.ownerId}/${file.id}\n`
        damaged.push(`${nameOf(file)} ${problem}`)
        return ""
      })
    ),
    Stream.encodeText,
    Stream.run(fs.sink(sums, { flag: "wx", mode: 0o600 }))
  )
  if (damaged.length > 0) {
    const named = damaged.slice(0, namedFiles).join("; ")
    return yield* new BackupError({
      message: `${damaged.length} stored files are damaged, so the back-up would not be whole: ${named}. \`verify\` lists them.`
    })
  }
  return { migration: yield* lastMigration, tables: checked.tables, files, bytes }
}, Effect.scoped)

/** What is wrong with it; undefined where the copy has the bytes that were uploaded. */
const copyFile = (source: FileStore["Service"], target: FileStore["Service"], file: KnownFile) =>
  wrongBytes(source, file, (bytes, size) => Effect.map(target.write(file, bytes, size), ({ sha256 }) => sha256))

/** Adds the files of the database to the list, and answers its directories. */
const listDatabase = Effect.fnUntraced(function* (draft: string, sums: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directories = [databaseDirectory]
  const lines = Effect.fnUntraced(function* (name: string) {
    const file = path.join(draft, databaseDirectory, name)
    yield* sync(file)
    if ((yield* fs.stat(file)).type !== "Directory") {
      return `${yield* sha256Of(fs.stream(file))}  ${databaseDirectory}/${name}\n`
    }
    directories.push(`${databaseDirectory}/${name}`)
    return ""
  })
  const names = yield* fs.readDirectory(path.join(draft, databaseDirectory), { recursive: true })
  yield* Stream.fromIterable(names).pipe(
    Stream.mapEffect(lines),
    Stream.encodeText,
    Stream.run(fs.sink(sums, { flag: "a" }))
  )
  yield* sync(path.join(draft, databaseDirectory))
  return directories
})
