import type { ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { countedDays, dayOf, daysBefore } from "@delivery/domain/runs/CaseFigures"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { integers } from "../../storage/Columns.ts"
import { dieOnSqlError } from "../../storage/Sql.ts"
import { CaseCountingRepo, CountingSizes } from "./CaseCountingRepo.ts"
import { putIn, settle, takeOut } from "./CaseResultsSql.ts"
import { summarize } from "./CaseSummariesSql.ts"
import { writeDay } from "./ProductDaysSql.ts"

export const layer = Layer.effect(
  CaseCountingRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const dependencies = { sql, sizes: yield* CountingSizes }
    return CaseCountingRepo.of({
      countRuns: countRuns(dependencies),
      recount: recount(dependencies),
      refreshDay: refreshDay(sql),
      workspaces: workspaces(sql),
      recountAll: recountAll(sql),
      isBehind: isBehind(sql)
    })
  })
)

type Sql = PgClient.PgClient

interface Dependencies {
  readonly sql: Sql
  readonly sizes: CountingSizes
}

/** How many more days are kept than count: the clocks of servers differ. */
const spareDays = 2

/** Days before it are not kept. */
const keptFrom = (now: Timestamp): string => daysBefore(dayOf(now), countedDays + spareDays)

/** Whether a run is one of those that a step takes, in the order of `order`. */
const fits = ({ sizes, sql }: Dependencies, order: string) =>
  sql.literal(`sum(total) over (order by ${order}) - total < ${sizes.tests} as fits`)

const most = ({ sizes, sql }: Dependencies) => sql.literal(String(sizes.runs))

const countRuns = (dependencies: Dependencies) =>
  Effect.fnUntraced(function* (now: Timestamp) {
    const { sql } = dependencies
    const workspaceId = yield* claimRuns(sql)
    if (workspaceId === undefined) return false
    const queued = yield* takeQueued(dependencies, workspaceId)
    const seen = yield* takeNew(dependencies, workspaceId)
    const numbers = [...queued, ...seen.filter(({ isOver }) => isOver).map(({ number }) => number)]
    const changed = yield* countAgain(sql, workspaceId, numbers, keptFrom(now))
    yield* summarize(sql, workspaceId, changed, keptFrom(now))
    return true
  }, dieOnSqlError)

/** A workspace with runs that are to be looked at. Holds its row of `case_counting` until the transaction ends. */
const claimRuns = Effect.fnUntraced(function* (sql: Sql) {
  yield* sql`insert into case_counting (workspace_id, seen_runs)
    select id, 0 from workspaces w where last_run_number > 0
      and not exists (select from case_counting c where c.workspace_id = w.id)
    order by id
    on conflict do nothing`
  // In random order, so that a workspace with many runs or failing steps does not block the others.
  const [claimed] = yield* sql<{ readonly workspaceId: WorkspaceId }>`select c.workspace_id as "workspaceId"
    from case_counting c join workspaces w on w.id = c.workspace_id
    where w.last_run_number > c.seen_runs or exists (${dueRuns(sql, "c.workspace_id")})
    order by random() limit 1 for update of c skip locked`
  return claimed?.workspaceId
})

/** Of the queue of a workspace, the runs that do not run. */
const dueRuns = (sql: Sql, workspaceId: string) =>
  sql.literal(`select q.id, q.number, coalesce(r.total, p.total, 0) as total from case_queue q
    left join test_runs r on r.workspace_id = q.workspace_id and r.number = q.number
    left join past_runs p on p.workspace_id = q.workspace_id and p.number = q.number
    where q.workspace_id = ${workspaceId} and (r.id is null or r.state <> 'running')`)

/** Takes runs from the queue; what changes them from now on queues them again. */
const takeQueued = Effect.fnUntraced(function* (dependencies: Dependencies, workspaceId: WorkspaceId) {
  const { sql } = dependencies
  const taken = yield* sql<{ readonly number: number }>`with due as (
      select due.* from (select ${workspaceId}::uuid as workspace_id) w
        cross join lateral (${dueRuns(sql, "w.workspace_id")} order by q.id limit ${most(dependencies)}) due
    ), fitting as (
      select id from (select id, ${fits(dependencies, "id")} from due) due where fits
    ), taken as (
      delete from case_queue q using fitting where q.id = fitting.id returning q.number
    )
    select distinct number from taken`
  return taken.map(({ number }) => number)
})

interface SeenRun {
  readonly number: number
  /** Whether it has ended; else the queue has it until then. */
  readonly isOver: boolean
}

/** Looks at runs that nobody has looked at: those up to the newest number are all there for a statement that sees that number. */
const takeNew = (dependencies: Dependencies, workspaceId: WorkspaceId) => {
  const { sql } = dependencies
  return sql<SeenRun>`with counting as (
      select c.seen_runs, w.last_run_number from case_counting c join workspaces w on w.id = c.workspace_id
      where c.workspace_id = ${workspaceId}
    ), looked_at as (
      select r.number, r.state, r.total from counting cross join lateral (
        select number, state, total from test_runs
        where workspace_id = ${workspaceId} and number > counting.seen_runs order by number
        limit ${most(dependencies)}
      ) r
    ), seen as materialized (
      select number, state from (
        select number, state, ${fits(dependencies, "number")} from looked_at
      ) looked_at where fits
    ), reached as (
      update case_counting c set seen_runs = case
        when looked_at.count < ${most(dependencies)} and looked_at.count = seen.count
        then counting.last_run_number else seen.last end
      from counting, (select count(*) from looked_at) looked_at, (select count(*), max(number) as last from seen) seen
      where c.workspace_id = ${workspaceId}
    ), queued as (
      insert into case_queue (workspace_id, number)
      select ${workspaceId}::uuid, number from seen where state = 'running'
    )
    select number, state <> 'running' as "isOver" from seen`
}

/** Replaces what was counted of the runs by what they have now. Answers the rows of `test_cases` whose results have changed. */
const countAgain = Effect.fnUntraced(function* (
  sql: Sql,
  workspaceId: WorkspaceId,
  numbers: ReadonlyArray<number>,
  keptFrom: string
) {
  if (numbers.length === 0) return []
  const before = yield* takeOut(sql, workspaceId, numbers)
  const runs = yield* sql<{ readonly id: TestRunId }>`select id from test_runs
    where workspace_id = ${workspaceId} and number = any(${integers(numbers)})
      and result is not null`
  const after = yield* putIn(
    sql,
    workspaceId,
    runs.map(({ id }) => id),
    keptFrom
  )
  return [...new Set([...before, ...after])]
})

interface ClaimedProduct {
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
}

const recount = (dependencies: Dependencies) =>
  Effect.fnUntraced(function* (now: Timestamp) {
    const { sql } = dependencies
    const [claimed] = yield* sql<ClaimedProduct>`select c.workspace_id as "workspaceId", due.product_id as "productId"
      from case_counting c cross join lateral (
        select r.product_id from case_recounts r where r.workspace_id = c.workspace_id order by random() limit 1
      ) due
      order by random() limit 1 for update of c skip locked`
    if (claimed === undefined) return false
    // Held, so that a change of the base branch waits, and has all counted again after this.
    const [state] = yield* sql<RecountState>`select before, settles, settled from case_recounts
      where workspace_id = ${claimed.workspaceId} and product_id = ${claimed.productId} for update`
    if (state !== undefined) {
      yield* state.before > 0
        ? recountRuns(dependencies, claimed, state, keptFrom(now))
        : settleCase(sql, claimed, state, keptFrom(now))
    }
    return true
  }, dieOnSqlError)

interface RecountState {
  readonly before: number
  readonly settles: boolean
  readonly settled: number
}

/**
 * Counts the next runs of the product again, newest first. The figures of cases that have some wait until all runs are counted,
 * since computing them costs several times as much as counting does.
 */
const recountRuns = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  { productId, workspaceId }: ClaimedProduct,
  { before, settles }: RecountState,
  keptFrom: string
) {
  const { sql } = dependencies
  const runs = yield* sql<{ readonly number: number }>`select number from (
      select number, ${fits(dependencies, "number desc")} from (
        select number, total from test_runs
        where workspace_id = ${workspaceId} and product_id = ${productId} and number < ${before} and result is not null
        order by number desc limit ${most(dependencies)}
      ) runs
    ) runs where fits`
  const numbers = runs.map(({ number }) => number)
  const changed = yield* countAgain(sql, workspaceId, numbers, keptFrom)
  yield* summarize(sql, workspaceId, yield* withoutFigures(sql, workspaceId, changed, numbers), keptFrom)
  const lowest = numbers.length === 0 ? 0 : Math.min(...numbers)
  yield* lowest === 0 && !settles
    ? endRecount(sql, { workspaceId, productId })
    : sql`update case_recounts set before = ${lowest} where workspace_id = ${workspaceId} and product_id = ${productId}`
})

/**
 * Of the rows of `test_cases` whose results have changed, those that have no figures yet. All, if one of the runs was erased
 * meanwhile: when its turn comes in the queue, none of its results is left to say whose figures have changed.
 */
const withoutFigures = Effect.fnUntraced(function* (
  sql: Sql,
  workspaceId: WorkspaceId,
  changed: ReadonlyArray<number>,
  numbers: ReadonlyArray<number>
) {
  if (changed.length === 0) return []
  const found = yield* sql<{ readonly id: number }>`select id from test_cases c
    where id = any(${integers(changed)}) and (newest_run = 0 or ${numbers.length} > (
      select count(*) from test_runs where workspace_id = ${workspaceId} and number = any(${integers(numbers)})))`
  return found.map(({ id }) => id)
})

const endRecount = (sql: Sql, { productId, workspaceId }: ClaimedProduct) =>
  sql`delete from case_recounts where workspace_id = ${workspaceId} and product_id = ${productId}`

/** Compares the next case of the product with its results. */
const settleCase = Effect.fnUntraced(function* (
  sql: Sql,
  claimed: ClaimedProduct,
  { settled }: RecountState,
  keptFrom: string
) {
  const { productId, workspaceId } = claimed
  const [next] = yield* sql<{ readonly id: number }>`select id from test_cases
    where workspace_id = ${workspaceId} and product_id = ${productId} and scope_id <> ${productId} and id > ${settled}
    order by id limit 1`
  if (next === undefined) {
    yield* sql`delete from test_cases w where w.workspace_id = ${workspaceId} and w.product_id = ${productId}
      and w.scope_id = ${productId} and not exists (select from test_cases s where s.whole_id = w.id)`
    return yield* endRecount(sql, claimed)
  }
  yield* settle(sql, workspaceId, next.id, keptFrom)
  yield* summarize(sql, workspaceId, [next.id], keptFrom)
  yield* sql`update case_recounts set settled = ${next.id}
    where workspace_id = ${workspaceId} and product_id = ${productId}`
  return undefined
})

/** Writing a day takes about a microsecond for each of its tests. So a large one waits for more runs, for twenty times as long. */
const waits = "case when d.counted < 20000 then 0 else d.counted / 50 end * interval '1 millisecond'"

const refreshDay =
  (sql: Sql): CaseCountingRepo["Service"]["refreshDay"] =>
  ({ isUrgent }) =>
    Effect.gen(function* () {
      const [stale] = yield* sql<ClaimedProduct & { readonly day: string }>`select c.workspace_id as "workspaceId",
        due.product_id as "productId", due.day::text as day
      from case_counting c cross join lateral (
        select s.product_id, s.day from stale_days s
        left join product_days d on d.workspace_id = s.workspace_id and d.product_id = s.product_id
          and d.scope_id = s.product_id and d.day = s.day
        where s.workspace_id = c.workspace_id
          and (${isUrgent}::boolean or d.day is null or s.since <= now() - ${sql.literal(waits)})
        order by random() limit 1
      ) due
      order by random() limit 1 for update of c skip locked`
      if (stale === undefined) return false
      const { day, productId, workspaceId } = stale
      yield* sql`delete from stale_days
      where workspace_id = ${workspaceId} and product_id = ${productId} and day = ${day}::date`
      yield* writeDay(sql, workspaceId, productId, day)
      return true
    }).pipe(dieOnSqlError)

const workspaces = (sql: Sql) =>
  sql<{ readonly id: WorkspaceId }>`select workspace_id as id from case_counting order by workspace_id`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const recountAll = (sql: Sql) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
    yield* sql`select from case_counting where workspace_id = ${workspaceId} for update`
    const products = yield* sql`insert into case_recounts (workspace_id, product_id, before, settles, settled)
      select p.workspace_id, p.id, 2147483647, true, 0 from products p
      where p.workspace_id = ${workspaceId} and (
        exists (select from test_runs r where r.workspace_id = p.workspace_id and r.product_id = p.id)
        or exists (select from test_cases c where c.workspace_id = p.workspace_id and c.product_id = p.id))
      on conflict (workspace_id, product_id) do update set before = excluded.before, settles = true, settled = 0
      returning product_id`
    yield* sql`insert into stale_days (workspace_id, product_id, day)
      select workspace_id, product_id, day from product_days where workspace_id = ${workspaceId}
      union select workspace_id, product_id, (finished_at at time zone 'UTC')::date from past_runs
      where workspace_id = ${workspaceId}
      on conflict do nothing`
    return products.length
  }, dieOnSqlError)

/** A workspace whose base branches change before it has runs is not counted yet: what is to be counted again waits for these. */
const isBehind = (sql: Sql) =>
  sql<{
    readonly isBehind: boolean
  }>`select exists (select from case_counting c join workspaces w on w.id = c.workspace_id
      where w.last_run_number > c.seen_runs or exists (${dueRuns(sql, "c.workspace_id")})
        or exists (select from case_recounts r where r.workspace_id = c.workspace_id)
        or exists (select from stale_days d where d.workspace_id = c.workspace_id)) as "isBehind"`.pipe(
    Effect.map(([row]) => row!.isBehind),
    dieOnSqlError
  )
