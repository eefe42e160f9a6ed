import { Effect, Schema, type Scope } from "effect"
import { join, resolve } from "node:path"
import { makeDirectory } from "./Flush.ts"
import { isLocked, lockFile } from "./FileLock.ts"

/** A data directory that cannot be used. The message is one line and names it. */
export class DataDirError extends Schema.TaggedError<DataDirError>()("DataDirError", {
  message: Schema.String,
  cause: Schema.Defect()
}) {}

/** Milliseconds. Two servers that start at once can collide; within this time one of them has the lock. */
const collisionMillis = 500

const lock = (dataDir: string) => {
  makeDirectory(dataDir)
  return lockFile(join(dataDir, "server.lock"), collisionMillis)
}

/** Sole use of a data directory, made if it is missing, until the scope closes or the process ends. */
export const acquire = Effect.fnUntraced(function* (
  dataDir: string
): Effect.fn.Return<void, DataDirError, Scope.Scope> {
  const path = resolve(dataDir)
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => lock(path),
      catch: (cause) =>
        new DataDirError({
          message: isLocked(cause)
            ? `DATA_DIR ${path} is used by another server. Stop that server, or set another DATA_DIR for this one.`
            : `DATA_DIR ${path} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
          cause
        })
    }),
    (file) => Effect.sync(() => file.close())
  )
})
