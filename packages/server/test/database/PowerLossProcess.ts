import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import { bodyOf, type Change, changeOf, writers } from "./PowerLossChanges.ts"
import { mark } from "./RecordedDisk.ts"

/**
 * A process that changes an embedded database, for `PowerLoss.test.ts`: `node PowerLossProcess.ts <data dir> <first> <changes>
 * <close|kill>`, in which each writer makes `changes` of them from its number `first` on.
 */
const [, , dataDir, first, changes, end] = process.argv

const create = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE TABLE IF NOT EXISTS changes (id int PRIMARY KEY, kind text NOT NULL, target int)`
  yield* sql`CREATE TABLE IF NOT EXISTS entries (id int PRIMARY KEY, body text NOT NULL)`
  yield* sql`CREATE INDEX IF NOT EXISTS entries_start ON entries (left(body, 40))`
  yield* sql`CREATE TABLE IF NOT EXISTS accounts (id int PRIMARY KEY, amount int NOT NULL)`
  yield* sql`INSERT INTO accounts SELECT n, 0 FROM generate_series(0, 9) n ON CONFLICT DO NOTHING`
})

const note = Effect.fnUntraced(function* ({ id, kind, target }: Change) {
  const sql = yield* PgClient.PgClient
  yield* sql`INSERT INTO changes VALUES (${id}, ${kind}, ${target})`
})

/** One statement, so that its answer says that it was committed. */
const inOneStatement = Effect.fnUntraced(function* ({ id, kind, target }: Change) {
  const sql = yield* PgClient.PgClient
  const noted = sql`WITH noted AS (INSERT INTO changes VALUES (${id}, ${kind}, ${target}))`
  const answer = sql`RETURNING ${`acknowledged-${id}`}::text`
  if (kind === "insert") yield* sql`${noted} INSERT INTO entries VALUES (${id}, ${bodyOf(id)}) ${answer}`
  else if (kind === "delete") yield* sql`${noted} DELETE FROM entries WHERE id = ${target} ${answer}`
  else yield* sql`${noted} UPDATE entries SET body = ${bodyOf(id)} WHERE id = ${target} ${answer}`
})

const inTransaction = Effect.fnUntraced(function* (change: Change) {
  const sql = yield* PgClient.PgClient
  const { id, kind, target } = change
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* note(change)
      switch (kind) {
        case "transfer":
          yield* sql`UPDATE accounts SET amount = amount - ${id} WHERE id = ${id % 10}`
          yield* sql`UPDATE accounts SET amount = amount + ${id} WHERE id = ${(id + 1 + (id % 7)) % 10}`
          return
        case "make":
          yield* sql`CREATE TABLE ${sql(`made_${id}`)} (id int PRIMARY KEY, body text)`
          // Some stay empty: such a table has files without a byte.
          if (id % 2 === 0)
            yield* sql`INSERT INTO ${sql(`made_${id}`)} SELECT n, repeat(n::text, 50) FROM generate_series(1, 40) n`
          return
        case "drop":
          yield* sql`DROP TABLE ${sql(`made_${target}`)}`
          return
        case "rewrite":
          yield* sql`CREATE TABLE rewritten (LIKE entries INCLUDING ALL)`
          yield* sql`INSERT INTO rewritten SELECT * FROM entries`
          yield* sql`DROP TABLE entries`
          yield* sql`ALTER TABLE rewritten RENAME TO entries`
      }
    })
  )
  mark(`acknowledged-${id}`)
})

const maintain = Effect.fnUntraced(function* (change: Change) {
  const sql = yield* PgClient.PgClient
  yield* note(change)
  mark(`acknowledged-${change.id}`)
  switch (change.kind) {
    case "checkpoint":
      mark("checkpoint")
      yield* sql`CHECKPOINT`
      return mark("checkpointed")
    case "switch":
      return yield* sql`SELECT pg_switch_wal()::text`
    case "vacuum":
      return yield* sql`VACUUM (ANALYZE) entries`
    case "full vacuum":
      return yield* sql`VACUUM FULL entries`
  }
})

const write = (writer: number) =>
  Effect.gen(function* () {
    for (let n = Number(first); n < Number(first) + Number(changes); n++) {
      const change = changeOf(writer, n)
      if (["insert", "delete", "update"].includes(change.kind)) yield* inOneStatement(change)
      else if (["transfer", "make", "drop", "rewrite"].includes(change.kind)) yield* inTransaction(change)
      else yield* maintain(change)
    }
  })

mark("started")
await Effect.runPromise(
  Effect.gen(function* () {
    mark("opened")
    yield* create
    mark("created")
    yield* Effect.all(
      Array.from({ length: writers }, (_, writer) => write(writer)),
      { concurrency: "unbounded" }
    )
    if (end === "kill") process.kill(process.pid, "SIGKILL")
    mark("closing")
  }).pipe(Effect.provide(EmbeddedDatabase.layer({ dataDir, maintenanceMillis: 200 })))
)
mark("closed")
