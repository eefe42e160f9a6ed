import { PgClient, PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Queue, Scope, Stream } from "effect"
import { setImmediate } from "node:timers/promises"
import type { SqlError } from "effect/sql/SqlError"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"
import { EmbeddedBackend } from "../../src/database/EmbeddedBackend.ts"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import * as Migrations from "../../src/storage/Migrations.ts"
import * as StorageRoom from "../../src/storage/StorageRoom.ts"

const reasonOf = <A, R>(effect: Effect.Effect<A, SqlError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason._tag)

/** Many turns of the event loop: what began has reached the database, which is in this process, and waits there. */
const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 100; turn++) await setImmediate()
})

const patienceMillis = 500

layer(EmbeddedDatabase.layer({ dataDir: undefined, maintenanceMillis: 50 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("EmbeddedDatabase in memory", (it) => {
  /** A table of its own for each test. */
  const table = (columns: string) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const name = sql(`t_${Math.random().toString(36).slice(2)}`)
      yield* sql`CREATE TABLE ${name} (${sql.literal(columns)})`
      return name
    })

  it.effect("keeps values of every type", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("j jsonb, b bigint, i int[], s text[], at timestamptz, bytes bytea, ok boolean, f float8")
      const json = { nested: { list: [1, "zwei", null, true], text: 'ä\u{1F600}"\\' } }
      const at = new Date("2026-02-03T04:05:06.789Z")
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
      const big = 2n ** 62n + 1n
      yield* sql`INSERT INTO ${t} VALUES
        (${sql.json(json)}, ${big}, ${[1, -2, 3]}, ${["a", 'b,"c"']}, ${at}, ${bytes}, ${true}, ${1.5})`
      const [row] = yield* sql`SELECT * FROM ${t}`
      assert.deepStrictEqual(row, { j: json, b: big, i: [1, -2, 3], s: ["a", 'b,"c"'], at, bytes, ok: true, f: 1.5 })
      yield* sql`INSERT INTO ${t} (j) VALUES (NULL)`
      const [nulls] = yield* sql`SELECT j, b, i, at, bytes FROM ${t} WHERE j IS NULL`
      assert.deepStrictEqual(nulls, { j: null, b: null, i: null, at: null, bytes: null })
    })
  )

  it.effect("rolls back a transaction and, inside one, a savepoint", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("n int")
      const insert = (n: number) => sql`INSERT INTO ${t} VALUES (${n})`
      yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(1), Effect.fail("no"))))
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert(2)
          yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(3), Effect.fail("no"))))
          yield* sql.withTransaction(insert(4))
        })
      )
      assert.deepStrictEqual(yield* sql`SELECT n FROM ${t} ORDER BY n`, [{ n: 2 }, { n: 4 }])
    })
  )

  it.effect("reports a unique violation and its constraint", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("n int CONSTRAINT the_key PRIMARY KEY")
      yield* sql`INSERT INTO ${t} VALUES (1)`
      const error = yield* Effect.flip(sql`INSERT INTO ${t} VALUES (1)`)
      assert.strictEqual(error.reason._tag, "UniqueViolation")
      assert.strictEqual(error.reason._tag === "UniqueViolation" && error.reason.constraint, "the_key")
    })
  )

  it.effect("runs transactions one after another", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("n int NOT NULL")
      yield* sql`INSERT INTO ${t} VALUES (0)`
      const increment = sql.withTransaction(
        Effect.gen(function* () {
          const [row] = yield* sql<{ n: number }>`SELECT n FROM ${t}`
          yield* Effect.yieldNow
          yield* sql`UPDATE ${t} SET n = ${row!.n + 1}`
        })
      )
      yield* Effect.all(
        Array.from({ length: 64 }, () => increment),
        { concurrency: "unbounded", discard: true }
      )
      assert.deepStrictEqual(yield* sql`SELECT n FROM ${t}`, [{ n: 64 }])
    })
  )

  it.effect("keeps the prepared statements of connections apart", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("n int PRIMARY KEY, text text")
      yield* sql`INSERT INTO ${t} SELECT g, 'text ' || g FROM generate_series(1, 200) g`
      // More statements than a connection keeps, so that some are closed and parsed anew.
      const read = (n: number) =>
        Effect.map(sql`SELECT text, ${sql.literal(String(n % 130))} AS kind FROM ${t} WHERE n = ${n}`, ([row]) =>
          assert.deepStrictEqual(row, { text: `text ${n}`, kind: n % 130 })
        )
      const reads = Array.from({ length: 1500 }, (_, index) => read(1 + ((index * 7) % 200)))
      const transactions = Array.from({ length: 30 }, (_, index) => sql.withTransaction(read(1 + index)))
      yield* Effect.all([...reads, ...transactions], { concurrency: 64, discard: true })
    })
  )

  it.effect("delivers notifications to every connection that listens, when the transaction commits", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const first = yield* sql.listen("one channel")
      const other = yield* sql.listen("other")
      const briefScope = yield* Scope.make()
      const brief = yield* Scope.provide(sql.listen("one channel"), briefScope)

      yield* sql.notify("one channel", "plain")
      yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`SELECT pg_notify('one channel', 'undone')`, Effect.fail("no")))
      )
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT pg_notify('one channel', 'committed')`
          // What the database had sent before its answer would have come before it.
          yield* sql`SELECT 1`
          assert.strictEqual(yield* Queue.size(first), 1)
        })
      )
      for (const queue of [first, brief]) {
        assert.strictEqual((yield* Queue.take(queue)).payload, "plain")
        assert.strictEqual((yield* Queue.take(queue)).payload, "committed")
      }
      assert.strictEqual(yield* Queue.size(other), 0)

      // Its UNLISTEN is the backend's, which both share.
      yield* Scope.close(briefScope, Exit.void)
      yield* sql.notify("one channel", "still")
      yield* sql.notify("other", "too")
      assert.strictEqual((yield* Queue.take(first)).payload, "still")
      assert.strictEqual((yield* Queue.take(other)).payload, "too")
    }).pipe(Effect.scoped)
  )

  it.effect("rolls back a transaction whose fiber is interrupted, also in a statement", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("n int")
      for (const inside of [Effect.never, sql`SELECT pg_sleep(0.1)`]) {
        const inserted = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`INSERT INTO ${t} VALUES (1)`
              yield* Deferred.succeed(inserted, undefined)
              return yield* Effect.andThen(inside, Effect.never)
            })
          )
        )
        yield* Deferred.await(inserted)
        yield* turns
        yield* Fiber.interrupt(fiber)
        yield* sql.withTransaction(sql`INSERT INTO ${t} VALUES (2)`)
      }
      assert.deepStrictEqual(yield* sql`SELECT n FROM ${t}`, [{ n: 2 }, { n: 2 }])
    })
  )

  it.effect("lets a fiber that waits for a transaction be interrupted at once", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const open = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT 1`
            yield* Deferred.succeed(open, undefined)
            yield* Deferred.await(end)
          })
        )
      )
      yield* Deferred.await(open)
      // A BEGIN cannot be interrupted, what reads a stream can.
      const waiting = yield* Effect.forkChild(Stream.runDrain(sql`SELECT 2`.stream))
      yield* turns
      yield* Fiber.interrupt(waiting)
      // The transaction ends after that alone.
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(holder)
      assert.deepStrictEqual(yield* sql.withTransaction(sql`SELECT 3 AS n`), [{ n: 3 }])
    })
  )

  it.effect("fails a transaction with a statement that fails, and recovers at a savepoint", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("n int PRIMARY KEY")
      const insert = (n: number) => sql`INSERT INTO ${t} VALUES (${n})`
      yield* insert(1)
      assert.strictEqual(yield* reasonOf(sql.withTransaction(Effect.andThen(insert(2), insert(1)))), "UniqueViolation")
      // The error is caught too late: PostgreSQL rolls back at COMMIT.
      assert.isTrue(
        Exit.isFailure(yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(3), Effect.exit(insert(1))))))
      )
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert(4)
          yield* Effect.exit(sql.withTransaction(insert(1)))
          yield* insert(5)
        })
      )
      assert.strictEqual(yield* reasonOf(sql`SELECT FROM nowhere WHERE`), "SqlSyntaxError")
      assert.deepStrictEqual(yield* sql`SELECT n FROM ${t} ORDER BY n`, [{ n: 1 }, { n: 4 }, { n: 5 }])
    })
  )

  it.effect("accepts and returns 5 MB", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("text text, bytes bytea")
      const text = "0123456789abcdef".repeat(5 * 65_536)
      const bytes = new Uint8Array(Buffer.from(text))
      yield* sql`INSERT INTO ${t} VALUES (${text}, ${bytes})`
      const [row] = yield* sql<{ text: string; bytes: Uint8Array }>`SELECT * FROM ${t}`
      assert.isTrue(row!.text === text)
      assert.isTrue(Buffer.from(row!.bytes).equals(bytes))
    })
  )

  it.effect("streams 20,000 rows, and stops when the reader does", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const rows = sql<{ n: number }>`SELECT n, repeat('x', 100) AS text FROM generate_series(1, 20000) n`.stream
      const sum = yield* Stream.runFold(
        rows,
        () => 0,
        (sum, { n }) => sum + n
      )
      assert.strictEqual(sum, 200_010_000)
      assert.strictEqual((yield* Stream.runCollect(Stream.take(rows, 10))).length, 10)
      assert.deepStrictEqual(yield* sql`SELECT 1 AS n`, [{ n: 1 }])
    })
  )

  it.effect("survives a value nested too deep", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const deep = (n: number) => sql`SELECT jsonb_typeof(${"[".repeat(n) + "]".repeat(n)}::jsonb) AS type`
      assert.deepStrictEqual(yield* deep(5000), [{ type: "array" }])
      for (const n of [50_000, 1_000_000]) assert.strictEqual(yield* reasonOf(deep(n)), "UnknownError")
      assert.deepStrictEqual(yield* sql`SELECT 1 AS n`, [{ n: 1 }])
    })
  )

  it.effect("makes checkpoints and vacuums", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const t = yield* table("n int PRIMARY KEY, text text")
      yield* sql`INSERT INTO ${t} SELECT g, repeat('x', 500) FROM generate_series(1, 20000) g`
      for (let round = 0; round < 4; round++) yield* sql`UPDATE ${t} SET text = text || 'y'`
      const state = sql<{ dead: number; analyzed: boolean; wal: number }>`
        SELECT
          (SELECT sum(n_dead_tup)::int FROM pg_stat_user_tables) AS dead,
          (SELECT bool_or(reltuples = 20000) FROM pg_class) AS analyzed,
          (SELECT (pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) / 1e6)::int FROM pg_control_checkpoint()) AS wal`
      yield* Effect.repeat(Effect.delay(state, 50), {
        until: ([now]) => now!.dead < 20_000 && now!.analyzed && now!.wal < 33
      })
    })
  )
})

layer(EmbeddedDatabase.layer({ dataDir: undefined, patienceMillis }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("EmbeddedDatabase with little patience", (it) => {
  it.effect("fails a statement that waits for the transaction it is in", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`CREATE TABLE t (n int)`
      const reason = yield* reasonOf(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (1)`, sql.notify("channel", "outside")))
      )
      assert.strictEqual(reason, "LockTimeoutError")
      assert.deepStrictEqual(yield* sql`SELECT n FROM t`, [])
    })
  )
})

describe("EmbeddedBackend", () => {
  it.live("leaves nothing of a closed connection", () =>
    Effect.gen(function* () {
      const backend = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new EmbeddedBackend(
              { dataDir: undefined, migrated: undefined, patienceMillis, maintenanceMillis: 10_000 },
              { broken: () => {}, warning: () => {} }
            )
        ),
        (backend) => Effect.promise(() => backend.close())
      )
      let last = backend.connect()
      // The first waits until the database is there.
      const connectTimeout = "1 minute"
      const connect = PgConnection.make({
        stream: () => (last = backend.connect()),
        username: "postgres",
        connectTimeout
      })
      const observer = yield* connect
      yield* observer.query("CREATE TABLE t (n int)")
      for (const end of ["politely", "abruptly"]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* connect
            yield* connection.query("LISTEN channel")
            yield* connection.query("BEGIN")
            yield* connection.query("INSERT INTO t VALUES (1)")
            if (end === "abruptly") last.destroy()
          })
        )
        const { rows } = yield* observer.query("SELECT n FROM t")
        assert.deepStrictEqual(rows, [])
      }
      const left = yield* observer.query(
        "SELECT (SELECT count(*) FROM pg_prepared_statements)::int AS prepared, " +
          "(SELECT count(*) FROM pg_listening_channels())::int AS listening"
      )
      // The observer's own three.
      assert.deepStrictEqual(left.rows, [{ prepared: 3, listening: 0 }])
    })
  )

  // The backend exits at the first and overflows its stack at the second; PGlite would call it again and again.
  for (const breaking of ["COPY t FROM STDIN", "SELECT (repeat('[', 5000000) || repeat(']', 5000000))::jsonb"]) {
    it.live(`fails what comes after the database broke: ${breaking}`, () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql`CREATE TABLE t (n int)`
        const waiting = yield* Effect.forkChild(Effect.exit(sql`SELECT pg_sleep(0.2)`))
        assert.strictEqual(yield* reasonOf(sql`${sql.literal(breaking)}`), "ConnectionError")
        yield* Fiber.join(waiting)
        assert.strictEqual(yield* reasonOf(sql`SELECT 1`), "ConnectionError")
        assert.strictEqual(yield* reasonOf(sql.withTransaction(sql`SELECT 1`)), "ConnectionError")
      }).pipe(Effect.provide(EmbeddedDatabase.layer({ dataDir: undefined })))
    )
  }
})

describe("EmbeddedDatabase in a directory", () => {
  let root = ""
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "embedded-database-"))
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  let count = 0
  const directory = () => join(root, String(++count))

  const within = <A, E>(dataDir: string, effect: Effect.Effect<A, E, PgClient.PgClient>) =>
    Effect.provide(effect, EmbeddedDatabase.layer({ dataDir }))

  const run = (mode: "open" | "write", dataDir: string) => {
    const file = fileURLToPath(new URL("./EmbeddedDatabaseProcess.ts", import.meta.url))
    const child = spawn(process.execPath, [file, mode, dataDir], { stdio: ["ignore", "pipe", "inherit"] })
    const lines: Array<string> = []
    const reader = createInterface({ input: child.stdout })
    reader.on("line", (line) => lines.push(line))
    const exit = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)))
    return { child, lines, exit }
  }

  const message = (dataDir: string) =>
    Effect.map(Effect.flip(within(dataDir, Effect.void)), (error) => {
      assert.instanceOf(error, EmbeddedDatabase.EmbeddedDatabaseError)
      assert.isFalse(error.message.includes("\n"), error.message)
      assert.include(error.message, `DATA_DIR ${dataDir} `)
      return error.message
    })

  it.live("keeps its rows, and an interrupted start leaves no partial database", () =>
    Effect.gen(function* () {
      const dataDir = directory()
      mkdirSync(join(dataDir, "postgres.new"), { recursive: true })
      writeFileSync(join(dataDir, "postgres.new", "PG_VERSION"), "18\n")
      yield* within(
        dataDir,
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          yield* sql`CREATE TABLE t (n int)`
          yield* sql`INSERT INTO t VALUES (1)`
          assert.include(yield* message(dataDir), "is used by another server")
        })
      )
      assert.deepStrictEqual(readdirSync(dataDir).toSorted(), ["postgres", "server.lock"])
      const rows = within(
        dataDir,
        Effect.flatMap(PgClient.PgClient, (sql) => sql`SELECT n FROM t`)
      )
      assert.deepStrictEqual(yield* rows, [{ n: 1 }])
    })
  )

  it.live("begins with the tables that the package brings along, as migrations make them", () =>
    Effect.gen(function* () {
      const shape = Effect.gen(function* () {
        yield* Layer.build(StorageRoom.layerMigrations)
        const sql = yield* PgClient.PgClient
        return {
          columns: yield* sql`SELECT table_name, column_name, data_type, is_nullable, column_default
            FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`,
          indexes: yield* sql`SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname`,
          constraints:
            yield* sql`SELECT conrelid::regclass::text AS "table", conname, pg_get_constraintdef(oid) AS definition
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
          functions: yield* sql`SELECT pg_get_functiondef(oid) AS definition FROM pg_proc
            WHERE pronamespace = 'public'::regnamespace ORDER BY proname`
        }
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
      const shapeOf = (migrated: string | undefined) =>
        Effect.provide(shape, EmbeddedDatabase.layer({ dataDir: directory(), migrated }))
      const brought = EmbeddedDatabase.layer({ dataDir: directory(), migrated: inject("embeddedDatabase") })
      assert.isTrue(yield* Effect.provide(Migrations.isUpToDate, brought))
      const migrated = yield* shapeOf(undefined)
      assert.isNotEmpty(migrated.columns)
      assert.deepStrictEqual(yield* shapeOf(inject("embeddedDatabase")), migrated)
      const damaged = join(root, "damaged.tar.gz")
      writeFileSync(damaged, readFileSync(inject("embeddedDatabase")).subarray(0, 1_000_000))
      assert.deepStrictEqual(yield* shapeOf(damaged), migrated)
    })
  )

  it.live("opens again after it broke", () =>
    within(
      directory(),
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql`CREATE TABLE t (n int)`
        yield* sql`INSERT INTO t VALUES (1)`
        yield* Effect.exit(sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (2)`, sql`COPY t FROM STDIN`)))
        assert.deepStrictEqual(yield* sql`SELECT n FROM t`, [{ n: 1 }])
      })
    )
  )

  it.live("rejects files that are not its own database", () =>
    Effect.gen(function* () {
      const dataDir = directory()
      mkdirSync(join(dataDir, "postgres"), { recursive: true })
      writeFileSync(join(dataDir, "postgres", "PG_VERSION"), "12\n")
      assert.include(yield* message(dataDir), "cannot be opened")
      assert.isFalse(existsSync(join(dataDir, "postgres", "base")))
      const file = join(root, "file")
      writeFileSync(file, "")
      assert.include(yield* message(file), "cannot be used")
    })
  )

  it.live("refuses a second process, and lets the first one exit", () =>
    Effect.gen(function* () {
      const dataDir = directory()
      yield* within(
        dataDir,
        Effect.promise(async () => {
          const second = run("open", dataDir)
          assert.strictEqual(await second.exit, 3)
          assert.strictEqual(second.lines.length, 1)
          assert.include(second.lines[0], `DATA_DIR ${dataDir} is used by another server`)
        })
      )
      const alone = run("open", dataDir)
      assert.strictEqual(yield* Effect.promise(() => alone.exit), 0)
      assert.deepStrictEqual(alone.lines, ["opened"])
    })
  )

  it.live("has every acknowledged commit after kill -9", () =>
    Effect.gen(function* () {
      const dataDir = directory()
      for (const enough of [200, 700]) {
        const writer = run("write", dataDir)
        yield* Effect.repeat(Effect.sleep(5), { until: () => writer.lines.length >= enough })
        writer.child.kill("SIGKILL")
        yield* Effect.promise(() => writer.exit)
        yield* within(
          dataDir,
          Effect.gen(function* () {
            const sql = yield* PgClient.PgClient
            const rows = yield* sql<{ n: number }>`SELECT n FROM commits`
            const found = new Set(rows.map(({ n }) => n))
            assert.deepStrictEqual(
              writer.lines.filter((line) => !found.has(Number(line))),
              []
            )
            assert.deepStrictEqual(yield* sql`SELECT n FROM counter`, [{ n: rows.length }])
          })
        )
      }
    })
  )
})
