import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schema, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as DataDirLock from "./DataDirLock.ts"
import { DatabaseCopy, DatabaseCopyError } from "./DatabaseCopy.ts"
import { EmbeddedBackend } from "./EmbeddedBackend.ts"
import { maxMessageSize } from "./MessageSize.ts"

/** The embedded database did not start. The message is one line and names the directory. */
export class EmbeddedDatabaseError extends Schema.TaggedError<EmbeddedDatabaseError>()("EmbeddedDatabaseError", {
  message: Schema.String,
  cause: Schema.Defect()
}) {}

export interface EmbeddedDatabaseOptions {
  /** The server's data directory, which is locked; the database is its folder `postgres`. Absent: in memory. */
  readonly dataDir: string | undefined
  /** A new database with its tables (`build/database.ts`). By default the one beside the built command, where it is there. */
  readonly migrated?: string | undefined
  /** 10 by default. All of them share one backend: with more, more fibers wait in the database. */
  readonly maxConnections?: number | undefined
  /** How long a statement waits for an idle transaction of another connection. 10,000 by default. */
  readonly patienceMillis?: number | undefined
  /** How often checkpoint and vacuum are considered. 10,000 by default. */
  readonly maintenanceMillis?: number | undefined
}

/** The name of a new database with its tables, beside the built command. */
export const migratedName = "database.tar.gz"

const besideCommand = fileURLToPath(new URL(migratedName, import.meta.url))

/** Where a restore puts what it has not checked yet, in `dataDir`. */
export const unfinishedRestore = "restore.partial"

/** A database made beside half of another would hide that the other one is missing. */
const refuseUnfinishedRestore = (dataDir: string): Effect.Effect<void, EmbeddedDatabaseError> =>
  Effect.suspend(() =>
    existsSync(join(dataDir, unfinishedRestore)) && !existsSync(join(dataDir, "postgres"))
      ? Effect.fail(
          new EmbeddedDatabaseError({
            message: `A restore into DATA_DIR ${dataDir} was not finished. Remove all but keys from it, and restore again.`,
            cause: undefined
          })
        )
      : Effect.void
  )

const failure = (where: string) => (cause: unknown) =>
  new EmbeddedDatabaseError({
    message: `The embedded database ${where} cannot be opened: ${(cause instanceof Error
      ? cause.message
      : String(cause)
    ).replaceAll(/\s+/g, " ")}`,
    cause
  })

const make = Effect.fnUntraced(function* (
  options: EmbeddedDatabaseOptions
): Effect.fn.Return<
  { readonly client: PgClient.PgClient; readonly copies: DatabaseCopy["Service"] },
  EmbeddedDatabaseError,
  Scope.Scope | Reactivity.Reactivity
> {
  const dataDir = options.dataDir === undefined ? undefined : resolve(options.dataDir)
  const where = dataDir === undefined ? "in memory" : `in DATA_DIR ${dataDir}`
  if (dataDir !== undefined) {
    yield* Effect.mapError(
      DataDirLock.acquire(dataDir),
      ({ cause, message }) => new EmbeddedDatabaseError({ message, cause })
    )
    yield* refuseUnfinishedRestore(dataDir)
  }
  const run = Effect.runForkWith(yield* Effect.context())
  const backend = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new EmbeddedBackend(
          {
            dataDir,
            migrated: options.migrated ?? besideCommand,
            patienceMillis: options.patienceMillis ?? 10_000,
            maintenanceMillis: options.maintenanceMillis ?? 10_000
          },
          {
            broken: (reason) => void run(Effect.logError(`The embedded database ${where} broke: ${reason}`)),
            warning: (text) => void run(Effect.logWarning(`The embedded database ${where}: ${text}`))
          }
        )
    ),
    (backend) => Effect.promise(() => backend.close())
  )
  yield* Effect.tryPromise({ try: () => backend.open(), catch: failure(where) })
  const client = yield* Effect.mapError(
    PgClient.make({
      stream: backend.connect,
      username: "postgres",
      database: "postgres",
      ssl: false,
      maxConnections: options.maxConnections ?? 10,
      multiplex: true,
      multiplexConcurrency: 4,
      maxMessageSize
    }),
    failure(where)
  )
  const copyTo = (directory: string) =>
    Effect.tryPromise({
      try: () => backend.copyTo(directory),
      catch: (error) =>
        new DatabaseCopyError({ message: `The embedded database cannot be copied to ${directory}: ${String(error)}` })
    })
  return { client, copies: DatabaseCopy.of({ copyTo }) }
})

/**
 * A PostgreSQL inside this process (PGlite, in a thread), behind the same client as a PostgreSQL server. A start in a new
 * directory takes seconds, any other half a second. Fails when another process uses the directory, or its files are
 * broken or of another PostgreSQL.
 *
 * An acknowledged commit survives the death of the process, also by kill -9, a power loss and a crash of the operating
 * system (docs/operations.md, The embedded database). Commits that are under way at once share a flush of the disk.
 *
 * One backend serves all connections. Transactions run one after another; a statement outside the transaction that its
 * own fiber has open fails after `patienceMillis` (`LockTimeoutError`), as `PgClient.notify` and `listen` would.
 * `SET`, temporary tables and advisory locks of the session affect all connections: use `SET LOCAL` and the locks of
 * transactions. `statement_timeout` has no effect and a running statement cannot be cancelled.
 */
export const layer = (
  options: EmbeddedDatabaseOptions
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient | DatabaseCopy, EmbeddedDatabaseError> =>
  Layer.unwrap(
    Effect.map(make(options), ({ client, copies }) =>
      Layer.merge(PgClient.layerFrom(Effect.succeed(client)), Layer.succeed(DatabaseCopy, copies))
    )
  ).pipe(Layer.provide(Reactivity.layer))
