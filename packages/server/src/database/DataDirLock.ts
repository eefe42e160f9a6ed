import { Effect, Schema, type Scope } from "effect"
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { isLocked, lockFile } from "./FileLock.ts"

/** A data directory that cannot be had. The message is one line and names it. */
export class DataDirError extends Schema.TaggedError<DataDirError>()("DataDirError", {
  message: Schema.String,
  cause: Schema.Defect()
}) {}

/** Two that start at once can collide; within this time one of them has the lock. */
const collisionMillis = 500

const lock = (dataDir: string) => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  return lockFile(join(dataDir, "server.lock"), collisionMillis)
}

const acquire = Effect.fnUntraced(function* (dataDir: string): Effect.fn.Return<void, DataDirError, Scope.Scope> {
  const path = resolve(dataDir)
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => lock(path),
      catch: (cause) =>
        new DataDirError({
          message: isLocked(cause)
            ? `DATA_DIR ${path} is used by another server: stop that one, or give this one another DATA_DIR.`
            : `DATA_DIR ${path} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
          cause
        })
    }),
    (file) => Effect.sync(() => file.close())
  )
})

/** Sole use of a data directory, made if it is missing, until the scope closes or the process ends. */
export const DataDirLock = { acquire }
