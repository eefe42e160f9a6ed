import { Effect, Schema, type Scope } from "effect"
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** A data directory that cannot be had. The message is one line and names it. */
export class DataDirError extends Schema.TaggedError<DataDirError>()("DataDirError", {
  message: Schema.String,
  cause: Schema.Defect()
}) {}

const sqliteBusy = 5

/** Two that start at once can collide; within this time one of them has the lock. */
const collisionMillis = 500

const lock = (dataDir: string): DatabaseSync => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = new DatabaseSync(join(dataDir, "server.lock"), { timeout: collisionMillis })
  try {
    file.exec("BEGIN EXCLUSIVE")
    return file
  } catch (cause) {
    file.close()
    throw cause
  }
}

const acquire = Effect.fnUntraced(function* (dataDir: string): Effect.fn.Return<void, DataDirError, Scope.Scope> {
  const path = resolve(dataDir)
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => lock(path),
      catch: (cause) =>
        new DataDirError({
          message:
            cause instanceof Error && "errcode" in cause && cause.errcode === sqliteBusy
              ? `DATA_DIR ${path} is used by another server: stop that one, or give this one another DATA_DIR.`
              : `DATA_DIR ${path} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
          cause
        })
    }),
    (file) => Effect.sync(() => file.close())
  )
})

/**
 * Sole use of a data directory, made if it is missing, until the scope closes.
 *
 * The lock is an open SQLite transaction on an empty file, that is a record lock of the operating system: it needs no
 * clean-up, for it ends with the process however that ends, two that start at once cannot both have it, and it holds
 * between containers that mount the same directory. No other code of this process may open `server.lock`: closing
 * the file would end the lock.
 */
export const DataDirLock = { acquire }
