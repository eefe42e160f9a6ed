import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { writeSync } from "node:fs"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"

/** A process with an embedded database, for the tests: `node EmbeddedDatabaseProcess.ts <open|write> <data dir>`. */
const [, , mode, dataDir] = process.argv

const print = (line: string) => writeSync(1, `${line}\n`)

/** Commits without end, and prints each commit after it is acknowledged. */
const write = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE TABLE IF NOT EXISTS counter (id int PRIMARY KEY, n int NOT NULL)`
  yield* sql`CREATE TABLE IF NOT EXISTS commits (n int PRIMARY KEY, filler text NOT NULL)`
  yield* sql`INSERT INTO counter VALUES (1, 0) ON CONFLICT DO NOTHING`
  const commit = sql.withTransaction(
    Effect.gen(function* () {
      const [row] = yield* sql<{ n: number }>`UPDATE counter SET n = n + 1 WHERE id = 1 RETURNING n`
      yield* sql`INSERT INTO commits VALUES (${row!.n}, ${"x".repeat(500)})`
      return row!.n
    })
  )
  const writer = Effect.forever(Effect.flatMap(commit, (n) => Effect.sync(() => print(String(n)))))
  yield* Effect.all([writer, writer, writer, writer], { concurrency: "unbounded" })
})

const open = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`SELECT 1`
  print("opened")
})

await Effect.runPromise(
  (mode === "write" ? write : open).pipe(
    Effect.provide(EmbeddedDatabase.layer({ dataDir })),
    Effect.catchTag("EmbeddedDatabaseError", ({ message }) =>
      Effect.sync(() => {
        print(message)
        process.exitCode = 3
      })
    )
  )
)
