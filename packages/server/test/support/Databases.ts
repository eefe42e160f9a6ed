import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import * as StorageRoom from "../../src/storage/StorageRoom.ts"
import { maxMessageSize } from "../../src/database/MessageSize.ts"

/** What globalSetup.ts provides. */
declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
    /** The name of the database that others are copied from. */
    readonly templateDatabase: string
    /** A new embedded database with the tables of the service. */
    readonly embeddedDatabase: string
  }
}

export type StorageName = "memory" | "the embedded database" | "PostgreSQL"

/** The storages that suites run on, by name, if not on all (vitest.workspace.ts). */
const names = process.env["TEST_STORAGES"]?.split(",")

export const isUsed = (name: StorageName): boolean => names?.includes(name) ?? true

const client = (url: string, maxConnections = 10) =>
  PgClient.layer({
    url: Redacted.make(url),
    maxConnections,
    maxMessageSize,
    multiplex: true,
    multiplexConcurrency: 2
  })

const named = (url: string, database: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** A new database on the PostgreSQL at `url`: empty, or a copy of another. */
export const createDatabase = (url: string, template?: string) => {
  const name = `test_${randomBytes(6).toString("hex")}`
  return Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* template === undefined
      ? sql`create database ${sql(name)}`
      : // By files, not through the log: half the time.
        sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`
    return { name, url: named(url, name) }
  }).pipe(Effect.provide(client(url, 1)), Effect.orDie)
}

const dropDatabase = ({ name }: { readonly name: string }) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`drop database if exists ${sql(name)} with (force)`
  }).pipe(Effect.provide(client(inject("postgresUrl"), 1)), Effect.orDie)

const lockOfTemplate = 20_261_122

/** The migrated database that others are copied from, made by whoever needs it first: migrating takes longer. */
const template = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const name = inject("templateDatabase")
  yield* sql`select pg_advisory_lock(${lockOfTemplate})`
  if ((yield* sql`select 1 from pg_database where datname = ${name}`).length > 0) return name
  const draft = yield* createDatabase(inject("postgresUrl"))
  yield* Layer.build(StorageRoom.layerMigrations).pipe(Effect.provide(client(draft.url)), Effect.scoped)
  yield* sql`alter database ${sql(draft.name)} rename to ${sql(name)}`
  return name
}).pipe(
  // The lock goes with its connection.
  Effect.provide([Layer.unwrap(Effect.sync(() => client(inject("postgresUrl"), 1))), Logger.layer([])]),
  Effect.orDie
)

let templateOfWorker: Promise<string> | undefined

/** A new database on the suites' PostgreSQL with the tables of the service, dropped with the scope. */
export const makeDatabase = Effect.acquireRelease(
  Effect.flatMap(
    Effect.promise(() => (templateOfWorker ??= Effect.runPromise(template))),
    (template) => createDatabase(inject("postgresUrl"), template)
  ),
  dropDatabase
)

/** The same, and empty: the first server migrates it. */
export const makeEmptyDatabase = Effect.acquireRelease(
  Effect.suspend(() => createDatabase(inject("postgresUrl"))),
  dropDatabase
)

/** `makeDatabase` for tests that are no effects, dropped by `drop`. */
export const openDatabase = async (): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> => {
  const scope = Scope.makeUnsafe()
  const { url } = await Effect.runPromise(Scope.provide(makeDatabase, scope))
  return { url, drop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** A client of a new database on real PostgreSQL. */
export const layerPostgres = Layer.unwrap(Effect.map(makeDatabase, ({ url }) => client(url)))

/** The same, and empty. */
export const layerEmptyPostgres = Layer.unwrap(Effect.map(makeEmptyDatabase, ({ url }) => client(url)))

/** A client of a database on real PostgreSQL that the test knows the address of. */
export const layerPostgresAt = (url: string) => client(url)

/** A client of a new embedded database in memory. */
export const layerEmbedded = Layer.unwrap(
  Effect.sync(() => EmbeddedDatabase.layer({ dataDir: undefined, migrated: inject("embeddedDatabase") }))
)

/** The rows of a statement, for tests that are no effects. */
export const query = (url: string, statement: string): Promise<ReadonlyArray<object>> =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<object>(statement)),
      client(url, 1)
    )
  )
