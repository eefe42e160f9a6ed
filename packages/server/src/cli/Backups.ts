import { Console, Deferred, Effect, Fiber, FileSystem, Option, Path, Stream } from "effect"
import type { RpcClientError } from "effect/rpc"
import { backUp } from "../backups/Backup.ts"
import { BackupError } from "../backups/BackupFormat.ts"
import * as Restores from "../backups/Restore.ts"
import { counted, summary, type Verified, verify as verifyAll } from "../backups/Verification.ts"
import { Settings } from "../Config.ts"
import * as DataDirLock from "../database/DataDirLock.ts"
import { copyDatabase } from "../database/DatabaseFiles.ts"
import { isUpToDate } from "../storage/Migrations.ts"
import * as Host from "./Host.ts"
import type { HostRefusal } from "./HostOperations.ts"
import * as HostSocket from "./HostSocket.ts"

const stopped = new Host.HostError({ message: "The server that holds the database stopped answering. Try again." })

const refusePostgres = (what: string) =>
  Effect.flatMap(Settings, ({ databaseUrl }) =>
    Option.isNone(databaseUrl)
      ? Effect.void
      : new Host.HostError({
          message: `DATABASE_URL names a PostgreSQL server: ${what}. docs/operations.md, Back-up and restore, has the commands.`
        })
  )

type Server = Exclude<Effect.Success<typeof HostSocket.client>, undefined>

/** The call goes on until the scope closes: the server keeps stored files until then. */
const askForCopy = Effect.fnUntraced(function* (server: Server, directory: string) {
  const copied = yield* Deferred.make<void, HostRefusal | RpcClientError.RpcClientError>()
  const call = yield* Stream.runForEach(server.copyDatabase({ directory }), () =>
    Deferred.succeed(copied, undefined)
  ).pipe(
    Effect.onError((cause) => Deferred.failCause(copied, cause)),
    Effect.forkScoped
  )
  // The server answers that it has ended before the connection goes, unless it is gone itself.
  yield* Effect.addFinalizer(() =>
    Effect.ignore(Effect.timeout(Effect.andThen(server.endCopy({ directory }), Fiber.await(call)), "5 seconds"))
  )
  yield* Deferred.await(copied)
})

/** Has the server copy its database, which is in use; where none runs, keeps others away, and copies it here. */
const copy = Effect.fnUntraced(function* (directory: string) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const { dataDir } = yield* Settings
  const server = yield* HostSocket.client
  if (server !== undefined) {
    return yield* askForCopy(server, directory)
  }
  const from = path.join(path.resolve(dataDir), "postgres")
  if (!(yield* fs.exists(from))) {
    return yield* new Host.HostError({ message: `There is no database in DATA_DIR ${path.resolve(dataDir)}.` })
  }
  yield* DataDirLock.acquire(dataDir)
  yield* Effect.tryPromise({
    try: () => copyDatabase(from, directory, { inTurn: (task) => task(), checkpoint: () => Promise.resolve() }),
    catch: (error) => new BackupError({ message: `The database cannot be copied to ${directory}: ${String(error)}` })
  })
})

/** Failures that the operator can do something about, in a line. */
const asHostError = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(effect, (error) => {
    const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined
    if (tag === "RpcClientError") return stopped
    const message = error instanceof Error ? error.message : undefined
    return message !== undefined &&
      (tag === "BackupError" || tag === "HostRefusal" || tag === "DataDirError" || tag === "PlatformError")
      ? new Host.HostError({ message: message.replaceAll(/\s+/g, " ") })
      : error
  })

/** A command that is told to stop has succeeded, but for one whose caller needs what it did not make. */
const failedIfStopped = <A, E, R>(effect: Effect.Effect<A, E, R>, message: string) =>
  Effect.onInterrupt(effect, () =>
    Effect.andThen(
      Console.error(message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  )

/** `backup`: copies the embedded database and the stored files, while the server runs. */
export const backup = (directory: string) =>
  Effect.gen(function* () {
    yield* refusePostgres("back it up by pg_dump, and its files beside it")
    const { bytes, files, target } = yield* backUp(directory, copy)
    yield* Console.log(
      `Backed up the database and ${counted(files, "stored file", "stored files")} with ${bytes} bytes to ${target}. Vault keys are not in it: keep them elsewhere.`
    )
  }).pipe(asHostError, Effect.provide(Host.layerFiles), (made) =>
    failedIfStopped(made, "Stopped: there is no back-up.")
  )

/** `restore`: puts a back-up into an empty DATA_DIR, and checks all of it. */
export const restore = (directory: string) =>
  Effect.gen(function* () {
    yield* refusePostgres("restore it by pg_restore, and its files beside it")
    const { dataDir, filesUrl } = yield* Settings
    const restored = yield* Restores.restore(directory, dataDir)
    const { at } = restored.manifest
    yield* Console.log(
      `Restored the back-up of ${at} to ${restored.dataDir}. ${summary(restored.verified)} All is right.`
    )
    yield* Console.log("Put the vault keys in place, as they were at that time, and start the server.")
    if (Option.isSome(filesUrl)) yield* Console.log(`FILES_URL is set: copy ${restored.dataDir}/files to it first.`)
  }).pipe(asHostError, Effect.provide(Host.layerSettings), (restored) =>
    failedIfStopped(restored, "Stopped: nothing is restored. Remove what is in DATA_DIR, and restore again.")
  )

const printVerified = Effect.fnUntraced(function* (verified: Verified) {
  const { problemCount, problems } = verified
  if (problems.length > 0) yield* Console.log(problems.join("\n"))
  yield* Console.log(summary(verified))
  if (problemCount > 0) {
    return yield* new Host.HostError({
      message: `${counted(problemCount, "thing is", "things are")} wrong.`
    })
  }
  yield* Console.log("All is right.")
})

const verifyHere = Effect.gen(function* () {
  if (!(yield* isUpToDate)) {
    return yield* new Host.HostError({
      message: "The database has no tables yet, or not all of them. Start the server once, and try again."
    })
  }
  return yield* verifyAll
}).pipe(Effect.provide(Host.layerWhole))

/** `verify`: checks every row, reference, count and stored file. */
export const verify = Effect.gen(function* () {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const { dataDir, databaseUrl } = yield* Settings
  const server = yield* HostSocket.client
  if (server !== undefined) return yield* printVerified(yield* server.verify())
  if (Option.isNone(databaseUrl) && !(yield* fs.exists(path.join(dataDir, "postgres")))) {
    return yield* new Host.HostError({ message: `There is no database in DATA_DIR ${path.resolve(dataDir)}.` })
  }
  yield* printVerified(yield* verifyHere)
}).pipe(Effect.scoped, asHostError, Effect.provide(Host.layerSettings))
