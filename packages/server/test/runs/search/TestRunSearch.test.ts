import { assert, layer } from "@effect/vitest"
import { emptyTally } from "@delivery/domain/runs/TestResults"
import { timestamp } from "@delivery/domain/Timestamp"
import { Effect, Exit, Layer } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as Catalog from "../../../src/catalog/Catalog.ts"
import * as Identity from "../../../src/identity/Identity.ts"
import * as Migrations from "../../../src/storage/Migrations.ts"
import { Storage } from "../../../src/storage/Storage.ts"
import * as StorageRoom from "../../../src/storage/StorageRoom.ts"
import { resultTerms } from "../../../src/runs/search/SearchTerms.ts"
import { SearchBlocks } from "../../../src/runs/search/SearchBlocks.ts"
import { type FinishedTestRun, type TestRunFilter, TestRunsRepo } from "../../../src/runs/TestRunsRepo.ts"
import * as Runs from "../../../src/runs/Runs.ts"
import { Retries } from "../../../src/runs/Retries.ts"
import { searchGrams } from "../../../src/storage/migrations/0015_retries.ts"
import { TestRuns } from "../../../src/runs/TestRuns.ts"
import { as } from "../../identity/Scene.ts"
import { layerEmbedded, layerEmptyPostgres } from "../../support/Databases.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Repositories, newStorages } from "../../support/Storages.ts"
import { finishedRun, finishOf, layerServices, retried, startOf } from "../RetriesScene.ts"
import { actorOf, makeDeployed, newEvent, newRun, startBody } from "../Scene.ts"

/** The list with `q` or several filters, beside a plain filter over every run: with blocks of the index that few runs fill. */

interface Planned {
  readonly branch: string
  readonly subject: string
  readonly sha: string
  readonly product: number
  readonly environment: number
  readonly publisher: number
  readonly end: "running" | "passed" | "failed" | "flaky" | "interrupted"
}

interface Asked {
  readonly q: string | undefined
  readonly product: number | undefined
  readonly environment: number | undefined
  readonly publisher: number | undefined
  readonly result: "passed" | "failed" | "flaky" | undefined
  readonly commit: string | undefined
  readonly below: number | undefined
  readonly limit: number
}

const characters = [
  "a",
  "a",
  "b",
  "B",
  "c",
  "%",
  "_",
  "\\",
  " ",
  "\n",
  "ß",
  "ẞ",
  "İ",
  "i",
  "ı",
  "Σ",
  "ς",
  "é",
  "e\u0301"
]
const character = fc.constantFrom(...characters, "\u{1F600}", "\u{1F601}", "\uFFFD", "'")
const text = fc.array(character, { maxLength: 8 }).map((parts) => parts.join(""))
const sha = fc.constantFrom("abcdef01", "ABCDEF02", "abca", "ab", "fedcba98", "a", "cafe_%\\")
const one = fc.nat(1)

const planned: fc.Arbitrary<Planned> = fc.record({
  branch: text,
  subject: text,
  sha,
  product: one,
  environment: one,
  publisher: one,
  end: fc.constantFrom("passed", "passed", "failed", "failed", "flaky", "interrupted", "running")
})

const sometimes = <A>(value: fc.Arbitrary<A>) => fc.option(value, { freq: 3, nil: undefined })
const asked: fc.Arbitrary<Asked> = fc.record({
  q: fc.oneof(
    { weight: 4, arbitrary: fc.array(character, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")) },
    { weight: 1, arbitrary: fc.constantFrom("ab", "ABC", "abcdef", "abcdef01", "caf", "cafe_", "f") },
    // Longer than what has terms of its own.
    { weight: 1, arbitrary: fc.constant("ab".repeat(30)) },
    { weight: 2, arbitrary: fc.constant(undefined) }
  ),
  product: sometimes(one),
  environment: sometimes(one),
  publisher: sometimes(one),
  result: sometimes(fc.constantFrom("passed", "failed", "flaky")),
  commit: fc.option(sha, { freq: 6, nil: undefined }),
  below: sometimes(fc.integer({ min: 1, max: 45 })),
  limit: fc.constantFrom(1, 3, 50)
})

const fold = (text: string) => text.toLowerCase().replaceAll("ς", "σ").replaceAll("\n", " ")

const wants = (run: Planned, number: number, asked: Asked): boolean =>
  asked.q === undefined ||
  [run.branch, run.subject].some((text) => fold(text).includes(fold(asked.q!))) ||
  run.sha.toLowerCase().startsWith(asked.q.toLowerCase())
    ? (asked.product ?? run.product) === run.product &&
      (asked.environment ?? run.environment) === run.environment &&
      (asked.publisher ?? run.publisher) === run.publisher &&
      (asked.commit ?? run.sha).toLowerCase() === run.sha.toLowerCase() &&
      (asked.below === undefined || number < asked.below) &&
      (asked.result === undefined || asked.result === run.end || (asked.result === "passed" && run.end === "flaky"))
    : false

const finished = ({ end }: Planned): FinishedTestRun => ({
  ...emptyTally,
  counts: { ...emptyTally.counts, flaky: end === "flaky" ? 1 : 0 },
  state: end === "interrupted" ? "interrupted" : "finished",
  result: end === "interrupted" ? null : end === "failed" ? "failed" : "passed",
  gateResult: end === "interrupted" ? null : end === "failed" ? "failed" : "passed",
  error: null,
  cleanup: null,
  durationMs: 1,
  finishedAt: timestamp(2_000)
})

const indexAll = Effect.gen(function* () {
  const repo = yield* TestRunsRepo
  const storage = yield* Storage
  let blocks = 0
  while (yield* storage.transaction(repo.indexBlock)) blocks++
  return blocks
})

const indexResults = Effect.gen(function* () {
  const repo = yield* TestRunsRepo
  const storage = yield* Storage
  let blocks = 0
  while (yield* storage.transaction(repo.indexResults)) blocks++
  return blocks
})

const makePlace = Effect.gen(function* () {
  const at = yield* makeDeployed()
  const beside = yield* makeDeployed({ workspace: at })
  return {
    at,
    products: [at.product.id, beside.product.id],
    environments: [at.environment.id, beside.environment.id],
    publishers: [actorOf(at.member), actorOf(at.memberKey)] as const
  }
})

type Place = Effect.Success<typeof makePlace>

const start = Effect.fnUntraced(function* (place: Place, planned: Planned) {
  const { branch, sha, subject } = planned
  const run = newRun(place.at, {
    productId: place.products[planned.product]!,
    environmentId: place.environments[planned.environment]!,
    publisher: place.publishers[planned.publisher]!,
    git: { branch, sha, subject, dirty: false }
  })
  yield* (yield* TestRunsRepo).start(run, newEvent(run, "run_started"))
  return run
})

const finish = Effect.fnUntraced(function* (run: Effect.Success<ReturnType<typeof start>>, planned: Planned) {
  if (planned.end === "running") return
  yield* (yield* TestRunsRepo).finish(run.id, finished(planned), [], newEvent(run, "run_finished"))
})

const numbersFor = Effect.fnUntraced(function* (place: Place, asked: Asked) {
  const { below, commit, environment, limit, product, publisher, q, result } = asked
  const filter: TestRunFilter = {
    q,
    result,
    commit,
    below,
    productId: product === undefined ? undefined : place.products[product],
    environmentId: environment === undefined ? undefined : place.environments[environment],
    publisher: publisher === undefined ? undefined : place.publishers[publisher]
  }
  const found = yield* (yield* TestRunsRepo).list(place.at.workspace.id, filter, limit)
  return found.map((run) => run.number)
})

const blocks = Layer.succeed(SearchBlocks, { runs: 8, joined: 2 })

for (const { layer: storage, name } of newStorages) {
  layer(Layer.provide(Layer.provideMerge(layerServices, storage), blocks))(`The search of runs on ${name}`, (it) => {
    it.effect("finds what a plain filter finds, with any part of the runs indexed", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Repositories>()
        const property = fc.asyncProperty(
          fc.array(planned, { minLength: 25, maxLength: 45 }),
          fc.array(asked, { minLength: 30, maxLength: 30 }),
          fc.array(fc.nat(44), { minLength: 1, maxLength: 4 }),
          fc.nat(45),
          fc.boolean(),
          (runs, questions, indexedAfter, finishedUntil, areResultsIndexed) =>
            Effect.gen(function* () {
              const place = yield* makePlace
              const started: Array<Effect.Success<ReturnType<typeof start>>> = []
              for (const [i, run] of runs.entries()) {
                started.push(yield* start(place, run))
                if (i < finishedUntil) yield* finish(started[i]!, run)
                if (indexedAfter.includes(i)) yield* indexAll
              }
              // The others end when they may be indexed already.
              yield* Effect.forEach(runs.slice(finishedUntil), (run, i) => finish(started[finishedUntil + i]!, run), {
                concurrency: "unbounded",
                discard: true
              })
              if (areResultsIndexed) yield* indexResults
              const ask = Effect.fnUntraced(function* (asked: Asked) {
                const wanted = runs.flatMap((run, i) => (wants(run, i + 1, asked) ? [i + 1] : []))
                assert.deepStrictEqual(
                  yield* numbersFor(place, asked),
                  wanted.toReversed().slice(0, asked.limit),
                  JSON.stringify(asked)
                )
              })
              yield* Effect.forEach(questions, ask, { concurrency: 8, discard: true })
            }).pipe(Effect.provideContext(context), Effect.runPromise)
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: name === "memory" ? 100 : 30, endOnFailure: true }))
      })
    )

    it.effect("loses and repeats nothing during starts and indexing", () =>
      Effect.gen(function* () {
        const place = yield* makePlace
        const plan = (n: number): Planned => ({
          branch: `branch-${n}`,
          subject: n % 5 === 0 ? "needle" : "hay",
          sha: "00",
          product: 0,
          environment: 0,
          publisher: 0,
          end: "running"
        })
        const limit = 3
        const asked = { q: "needle", limit } as Asked
        const total = 200
        let done = 0
        const starts = Effect.gen(function* () {
          for (let n = 1; n <= total; n++) {
            yield* start(place, plan(n))
            done = n
          }
        })
        const whileStarting = (work: Effect.Effect<unknown, never, Repositories>) =>
          Effect.suspend(() => (done < total ? Effect.as(work, true) : Effect.succeed(false))).pipe(
            Effect.repeat({ while: (more) => more })
          )
        const reads = Effect.gen(function* () {
          const before = done
          const found = yield* numbersFor(place, asked)
          const newest = before - (before % 5)
          const known = [newest, newest - 5, newest - 10].filter((number) => number > 0)
          // Of those that were there, the newest; only what started meanwhile may stand before them.
          const seen = found.filter((number) => number <= before)
          assert.deepStrictEqual(seen, known.slice(0, limit - (found.length - seen.length)))
          assert.deepStrictEqual(
            found,
            [...new Set(found)].toSorted((a, b) => b - a)
          )
        })
        yield* Effect.all([starts, ...[indexAll, indexAll, reads, reads, reads].map(whileStarting)], {
          concurrency: "unbounded"
        })
        yield* indexAll
        const all: Array<number> = []
        for (let below = total + 1; ;) {
          const page = yield* numbersFor(place, { ...asked, below })
          all.push(...page)
          if (page.length < limit) break
          below = page.at(-1)!
        }
        assert.deepStrictEqual(
          all,
          Array.from({ length: total / 5 }, (_, i) => total - 5 * i)
        )
      })
    )

    it.effect("finds an indexed run by the result that a retry gave it", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const retries = yield* Retries
        const at = yield* makeDeployed()
        const numbers = (result: "passed" | "failed" | "flaky") =>
          Effect.map(as(at.viewer)(runs.list({ q: "add", result })), ({ runs }) => runs.map((run) => run.number))
        const number = yield* finishedRun(at, ["a"])
        for (let n = 0; n < 16; n++) yield* finishedRun(at, [])
        assert.strictEqual(yield* indexAll, name === "memory" ? 0 : 2)
        assert.deepStrictEqual(yield* numbers("failed"), [number])
        assert.deepStrictEqual(yield* numbers("flaky"), [])
        const { retry } = yield* as(at.member)(retries.start(number, startOf()))
        yield* as(at.member)(retries.finish(number, retry, finishOf([retried("a", "passed", "passed")])))
        for (const isIndexed of [false, true]) {
          if (isIndexed && name !== "memory") assert.isAbove(yield* indexResults, 0)
          assert.deepStrictEqual(yield* numbers("failed"), [])
          assert.deepStrictEqual(yield* numbers("flaky"), [number])
          assert.strictEqual((yield* numbers("passed")).length, 17)
        }
      })
    )

    if (name !== "memory") {
      it.effect("indexes at start, as soon as runs started here fill a block, and each minute", () =>
        Effect.gen(function* () {
          const repo = yield* TestRunsRepo
          const runs = yield* TestRuns
          const at = yield* makeDeployed()
          const startRuns = Effect.forEach(Array.from({ length: 8 }), () => as(at.member)(runs.start(startBody(at))))
          let indexed = 0
          const counting = TestRunsRepo.of({
            ...repo,
            indexBlock: Effect.tap(repo.indexBlock, (found) => Effect.sync(() => void (indexed += found ? 1 : 0)))
          })
          const services = Layer.provide(Layer.fresh(Runs.layerServices), [
            Layer.succeed(TestRunsRepo, counting),
            blocks
          ])
          const found = Effect.sync(() => indexed)
          yield* indexAll
          yield* startRuns
          yield* Effect.gen(function* () {
            yield* Layer.build(Runs.layerIndexing)
            assert.strictEqual(yield* eventually(found, (count) => count >= 1), 1)
            const here = yield* TestRuns
            yield* Effect.forEach(Array.from({ length: 8 }), () => as(at.member)(here.start(startBody(at))))
            assert.strictEqual(yield* eventually(found, (count) => count >= 2), 2)
            // As another server would that died before it indexed them.
            yield* startRuns
            // The round that indexed the others may not be over yet.
            const aMinuteLater = Effect.andThen(TestClock.adjust("1 minute"), found)
            assert.strictEqual(yield* eventually(aMinuteLater, (count) => count >= 3), 3)
          }).pipe(Effect.provide(services))
        })
      )
    }
  })
}

/** Storage without its migrations: the test runs them. */
const layerOld = Layer.mergeAll(StorageRoom.layerSql, Identity.layerSql, Catalog.layerSql, Runs.layerSql).pipe(
  Layer.provide(blocks)
)

const migrateTo = (last: string) =>
  Migrator.make({})({
    loader: Migrator.fromRecord(
      Object.fromEntries(Object.entries(Migrations.migrations).filter(([name]) => name <= last))
    )
  })

/**
 * Replaces the database by one of an earlier version with the same rows. Repositories write the present tables, so the
 * rows are written first.
 */
const downgradeTo = (last: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = sql<{ readonly name: string; readonly columns: ReadonlyArray<string> }>`
      select table_name as name, json_agg(column_name) as columns
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE' and is_generated = 'NEVER' group by table_name`
    const rows = new Map<string, { readonly columns: ReadonlyArray<string>; readonly rows: string }>()
    for (const { columns, name } of yield* tables) {
      const [found] = yield* sql<{ readonly rows: string }>`select coalesce(json_agg(t), '[]')::text as rows
        from ${sql(name)} t`
      rows.set(name, { columns, rows: found!.rows })
    }
    yield* sql`drop schema public cascade`
    yield* sql`create schema public`
    yield* migrateTo(last)
    const filled = Effect.gen(function* () {
      // Without checks of references: tables come in any order.
      yield* sql`set local session_replication_role = replica`
      for (const { columns, name } of yield* tables) {
        const kept = rows.get(name)
        if (kept === undefined || name.endsWith("migrations")) continue
        const common = sql.csv(
          columns.filter((column) => kept.columns.includes(column)).map((column) => sql`${sql(column)}`)
        )
        yield* sql`insert into ${sql(name)} (${common}) overriding system value select ${common}
          from json_populate_recordset(null::${sql(name)}, ${kept.rows}::json) on conflict do nothing`
      }
    })
    yield* sql.withTransaction(filled)
  })

const databases = [
  { name: "the embedded database", layer: Layer.orDie(Layer.provideMerge(layerOld, layerEmbedded)) },
  { name: "PostgreSQL", layer: Layer.orDie(Layer.provideMerge(layerOld, layerEmptyPostgres)) }
] as const

for (const database of databases) {
  layer(database.layer)(`The upgrade of the search on ${database.name}`, (it) => {
    it.effect("finds runs from before an upgrade, also if servers upgrade and index at once and one fails", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const storage = yield* Storage
        const repo = yield* TestRunsRepo
        yield* Layer.build(Layer.fresh(StorageRoom.layerMigrations))

        const plan = (number: number): Planned => ({
          branch: number % 3 === 0 ? "ΟΔΟΣ" : "main",
          subject: `Nr ${number}`,
          sha: number % 5 === 0 ? "ABCDEF02" : "00",
          product: 0,
          environment: 0,
          publisher: 0,
          end: number % 2 === 0 ? "failed" : "passed"
        })
        const total = 43
        const place = yield* makePlace
        const runIds: Array<string> = []
        for (let number = 1; number <= total; number++) {
          const run = yield* start(place, plan(number))
          yield* finish(run, plan(number))
          runIds.push(run.id)
        }
        yield* downgradeTo("0055_messages")
        for (const [index, id] of runIds.entries()) {
          const number = index + 1
          // As servers of then wrote it.
          const search = `${plan(number).branch}\n${plan(number).subject}`.toLowerCase()
          yield* sql`update test_runs set search = ${search} where id = ${id}`
          yield* sql`insert into test_run_grams (run_id, grams) values
            (${id}, ${searchGrams(place.at.workspace.id, search)})`
        }
        assert.isNotEmpty(yield* sql`select 1 from test_runs where search like '%ς%'`)

        const upgrade = Layer.build(Layer.fresh(StorageRoom.layerMigrations))
        yield* Effect.all([upgrade, upgrade], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* sql`select to_regclass('test_run_grams')::text as grams`, [{ grams: null }])

        const findsAll = Effect.gen(function* () {
          const numbers = Array.from({ length: total }, (_, i) => total - i)
          const asked = { limit: 50 } as Asked
          for (const q of ["ΟΔΟΣ", "οδος", "οδοσ", "σ"]) {
            const found = numbers.filter((number) => number % 3 === 0)
            assert.deepStrictEqual(yield* numbersFor(place, { ...asked, q }), found, q)
            assert.deepStrictEqual(
              yield* numbersFor(place, { ...asked, q, result: "failed", below: 30 }),
              found.filter((number) => number % 2 === 0 && number < 30)
            )
          }
          const byCommit = numbers.filter((number) => number % 5 === 0)
          assert.deepStrictEqual(yield* numbersFor(place, { ...asked, q: "abcdef" }), byCommit)
          assert.deepStrictEqual(yield* numbersFor(place, { ...asked, q: "NR 4" }), [43, 42, 41, 40, 4])
        })
        yield* findsAll

        const stored = sql<{ readonly count: number }>`select count(*)::int as count from test_run_postings`
        const failing = storage.transaction(Effect.andThen(repo.indexBlock, Effect.die("It fails.")))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(failing)))
        assert.deepStrictEqual(yield* stored, [{ count: 0 }])
        yield* storage.transaction(repo.indexBlock)
        yield* findsAll
        assert.isTrue(Exit.isFailure(yield* Effect.exit(failing)))
        const counts = yield* Effect.all([indexAll, indexAll, indexAll], { concurrency: "unbounded" })
        assert.strictEqual(
          counts.reduce((sum, count) => sum + count),
          4
        )
        yield* findsAll
        assert.deepStrictEqual(
          yield* sql`select distinct first_run as "firstRun", length(runs) as runs from test_run_postings order by 1`,
          [
            { firstRun: 1, runs: 16 },
            { firstRun: 17, runs: 16 },
            { firstRun: 33, runs: 8 }
          ]
        )

        // Runs that run when they are indexed have any result there, until they have ended and are indexed again.
        const late: Array<Effect.Success<ReturnType<typeof start>>> = []
        for (let number = total + 1; number <= 48; number++) late.push(yield* start(place, plan(number)))
        assert.strictEqual(yield* indexAll, 1)
        assert.strictEqual(yield* indexResults, 0)
        const runsOf = (result: "passed" | "failed") => {
          const [term] = resultTerms({ state: "finished", result, flaky: 0 })
          return sql`select sum(run_count)::int as runs, sum(bit_count(runs))::int as bits from test_run_postings
            where term = ${term}`
        }
        assert.deepStrictEqual(yield* runsOf("passed"), [{ runs: 27, bits: 27 }])
        for (const [i, run] of late.entries()) yield* finish(run, plan(total + 1 + i))
        const again = yield* Effect.all([indexResults, indexResults, indexResults], { concurrency: "unbounded" })
        assert.strictEqual(
          again.reduce((sum, count) => sum + count),
          1
        )
        assert.deepStrictEqual(yield* runsOf("passed"), [{ runs: 24, bits: 24 }])
        assert.deepStrictEqual(yield* runsOf("failed"), [{ runs: 24, bits: 24 }])
        assert.deepStrictEqual(yield* sql`select * from test_run_reindex`, [])
      }).pipe(Effect.orDie)
    )
  })
}
