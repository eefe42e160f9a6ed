import { Effect, Exit, FileSystem, Path, Stream } from "effect"
import * as DataDirLock from "../database/DataDirLock.ts"
import * as EmbeddedDatabase from "../database/EmbeddedDatabase.ts"
import { unfinishedRestore } from "../database/EmbeddedDatabase.ts"
import * as Files from "../files/Files.ts"
import { latest } from "../storage/Migrations.ts"
import {
  BackupError,
  databaseDirectory,
  filesDirectory,
  listed,
  type Listed,
  type Manifest,
  readManifest,
  sha256Of,
  sync
} from "./BackupFormat.ts"
import { verify } from "./Verification.ts"

/** What may be in a directory that a back-up is restored into. */
const mayBeThere = new Set(["keys", "server.lock", "lost+found"])

/**
 * Restores a back-up into the data directory, which has nothing but vault keys. The database is put in its place last, once all has been
 * checked; until then no server starts there.
 */
export const restore = (backup: string, dataDirectory: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const [from, dataDir] = [path.resolve(backup), path.resolve(dataDirectory)]
    const manifest = yield* readManifest(from)
    if (manifest.migration > latest) {
      return yield* new BackupError({
        message: `The back-up is of a newer version of the service (${manifest.version}): restore it with that version.`
      })
    }
    const there = (yield* fs.exists(dataDir)) ? yield* fs.readDirectory(dataDir) : []
    const others = there.filter((name) => !mayBeThere.has(name))
    if (others.length > 0) {
      return yield* new BackupError({
        message: `DATA_DIR ${dataDir} is not empty (${others.slice(0, 3).join(", ")}). A restore overwrites nothing: set another one.`
      })
    }
    yield* DataDirLock.acquire(dataDir)
    const draft = path.join(dataDir, unfinishedRestore)
    return yield* Effect.gen(function* () {
      yield* copyListed(from, draft, manifest)
      const verified = yield* check(draft, manifest)
      yield* fs.rename(path.join(draft, filesDirectory), path.join(dataDir, filesDirectory))
      yield* sync(dataDir)
      yield* fs.rename(path.join(draft, databaseDirectory), path.join(dataDir, databaseDirectory))
      yield* sync(dataDir)
      return { verified, manifest, dataDir }
    }).pipe(Effect.ensuring(Effect.ignore(fs.remove(draft, { recursive: true, force: true }))))
  }).pipe(Effect.scoped)

/** Copies what the list names, and compares it with its hashes. */
const copyListed = Effect.fnUntraced(function* (from: string, draft: string, manifest: Manifest) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const directory of [filesDirectory, ...manifest.directories]) {
    yield* fs.makeDirectory(path.join(draft, directory), { recursive: true, mode: 0o700 })
  }
  yield* Stream.runForEach(yield* listed(from), (file) => copyOne(from, draft, file))
  const owners = yield* fs.readDirectory(path.join(draft, filesDirectory))
  for (const owner of owners) yield* sync(path.join(draft, filesDirectory, owner))
  for (const directory of [...manifest.directories, filesDirectory]) yield* sync(path.join(draft, directory))
})

const copyOne = Effect.fnUntraced(function* (from: string, draft: string, file: Listed) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const source = path.join(from, file.path)
  if (!(yield* fs.exists(source))) {
    return yield* new BackupError({ message: `The back-up is damaged: ${source} is missing.` })
  }
  // What it leads to may be a device without an end.
  if (Exit.isSuccess(yield* Effect.exit(fs.readLink(source)))) {
    return yield* new BackupError({ message: `The back-up is damaged: ${source} is a link.` })
  }
  const target = path.join(draft, file.path)
  yield* fs.makeDirectory(path.dirname(target), { recursive: true, mode: 0o700 })
  yield* Stream.run(fs.stream(source), fs.sink(target, { flag: "wx", mode: 0o600 }))
  if ((yield* sha256Of(fs.stream(target))) !== file.sha256) {
    return yield* new BackupError({ message: `The back-up is damaged: ${source} is not what it was.` })
  }
  yield* sync(target)
})

/** Opens what was restored, and looks at all of it. */
const check = Effect.fnUntraced(function* (draft: string, manifest: Manifest) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const verified = yield* Effect.provide(
    verify,
    [EmbeddedDatabase.layer({ dataDir: draft }), Files.layerIn(path.join(draft, filesDirectory))],
    { local: true }
  )
  yield* fs.remove(path.join(draft, "server.lock"))
  const counts = Object.entries(manifest.tables).filter(([name, rows]) => verified.tables[name] !== rows)
  const problem =
    verified.problems[0] ??
    counts.map(([name, rows]) => `The table ${name} has ${verified.tables[name] ?? 0} rows instead of ${rows}.`)[0]
  if (problem !== undefined) return yield* new BackupError({ message: `The back-up is damaged: ${problem}` })
  return verified
})
