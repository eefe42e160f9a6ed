import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { EmbeddedDatabase } from "../../src/database/EmbeddedDatabase.ts"
import { maxMessageSize } from "../../src/storage/Sql.ts"

/** What globalSetup.ts provides. */
declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

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

/** A new, empty database on the PostgreSQL at `url`. */
export const createDatabase = (url: string) => {
  const name = `test_${randomBytes(6).toString("hex")}`
  return Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`create database ${sql(name)}`
    return { name, url: named(url, name) }
  }).pipe(Effect.provide(client(url, 1)), Effect.orDie)
}

/** A new, empty database on the suites' PostgreSQL, dropped with the scope. */
export const makeDatabase = Effect.acquireRelease(
  Effect.suspend(() => createDatabase(inject("postgresUrl"))),
  ({ name }) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`drop database if exists ${sql(name)} with (force)`
    }).pipe(Effect.provide(client(inject("postgresUrl"), 1)), Effect.orDie)
)

/** The same for tests that are no effects, dropped by `drop`. */
export const openDatabase = async (): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> => {
  const scope = Scope.makeUnsafe()
  const { url } = await Effect.runPromise(Scope.provide(makeDatabase, scope))
  return { url, drop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** A client of a new database on real PostgreSQL. */
export const layerPostgres = Layer.unwrap(Effect.map(makeDatabase, ({ url }) => client(url)))

/** A client of a new embedded database in memory. */
export const layerEmbedded = EmbeddedDatabase.layer({ dataDir: undefined })
