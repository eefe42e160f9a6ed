import type { WorkspaceId } from "@delivery/domain/Ids"
import { maxNumber } from "@delivery/domain/Numbers"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { integers } from "../../storage/Columns.ts"
import { dieOnSqlError } from "../../storage/Sql.ts"
import type { TestRunFilter } from "../TestRunsRepo.ts"
import { hasFailedSql, hasTestedSql, isWholeSql, provesSql } from "../RunScope.ts"
import { mostElsewhere, mostTelling, testsDeploymentNow } from "../TestedAddress.ts"
import { foldSha } from "../TestRunState.ts"
import { type BlockSizes, joinedRuns, numbersOf, readBlocks } from "./SearchBlocks.ts"
import { filterTerms } from "./SearchTerms.ts"
import { searchPart } from "./SearchText.ts"

/**
 * Finds the runs of a list. A plain filter has an index of PostgreSQL in the order of the list. `q`, and several filters
 * together, are searched: the newest runs, which are not in the index of `TestRunIndexSql.ts` yet, are compared one by one;
 * the index tells which older runs may match, and these are compared, newest first, until the page is full.
 */
export interface Dependencies<Run> {
  readonly sql: PgClient.PgClient
  readonly sizes: BlockSizes
  /** The runs whose numbers `numbers` selects as `number`, newest first. */
  readonly readRuns: (workspaceId: WorkspaceId, numbers: Statement.Fragment) => Effect.Effect<ReadonlyArray<Run>>
}

/** A page of a workspace's runs. */
interface Page {
  readonly workspaceId: WorkspaceId
  readonly filter: TestRunFilter
  readonly limit: number
}

/** The runs that match the filter, newest first, at most `limit`. */
export const list =
  <Run>(dependencies: Dependencies<Run>) =>
  (workspaceId: WorkspaceId, filter: TestRunFilter, limit: number): Effect.Effect<ReadonlyArray<Run>> => {
    const { readRuns, sql } = dependencies
    const page = { workspaceId, filter, limit }
    if (filter.latest === true) {
      const which = [...conditions(sql, page), ...matchesQ(sql, filter), isLatest(sql, workspaceId)]
      return readRuns(workspaceId, selectNumbers(sql, which, limit))
    }
    return (filter.q ?? "") === "" && !hasSeveral(filter)
      ? readRuns(workspaceId, selectNumbers(sql, conditions(sql, page), limit))
      : search(dependencies, page)
  }

/**
 * Whether the run `r` tells how its deployment fares: of its newest runs that tested it (`mostTelling`), that which finished last. Those in which nothing
 * passed or failed come after all others, with those during which it changed, those with uncommitted changes and those of agents; so do
 * those that passed a part of the tests, where others ran all. There are few deployments, and many runs.
 */
const isLatest = (sql: PgClient.PgClient, workspaceId: WorkspaceId): Statement.Fragment =>
  sql`r.number = any(array(
    select (
      select n.number from (
        select number, finished_at, has_failed, has_tested, is_whole, bool_or(is_whole and has_tested) over () as has_whole
        from (
          select newest.*, ${sql.literal(hasFailedSql)} as has_failed, (${sql.literal(hasTestedSql)}
              and ${sql.literal(provesSql)}) as has_tested,
            ${sql.literal(isWholeSql)} as is_whole
          from (
            select number, finished_at, product_id, environment_id, base_url, deployment_base_url, gate_result, result, passed,
              flaky, selection, deployment_changed, git_dirty, publisher_kind
            from test_runs
            where workspace_id = ${workspaceId} and product_id = d.product_id and environment_id = d.environment_id
              and result is not null
            order by number desc limit ${sql.literal(String(mostElsewhere))}
          ) newest
          where ${testsDeploymentNow(sql, "newest")}
          order by number desc limit ${sql.literal(String(mostTelling))}
        ) tested
      ) n
      order by n.has_tested desc, (n.is_whole or n.has_failed or not n.has_whole) desc, n.finished_at desc, n.number desc
      limit 1
    )
    from deployments d
    join products p on p.id = d.product_id and p.archived_at is null
    join environments e on e.id = d.environment_id and e.archived_at is null
    where d.workspace_id = ${workspaceId} and d.deleted_at is null
  ))`

/** Whether the list has several filters without an index for all of them. Few runs have one commit. */
const hasSeveral = ({ commit, environmentId, productId, publisher, result }: TestRunFilter): boolean =>
  commit === undefined &&
  [environmentId, productId, publisher, result].filter((condition) => condition !== undefined).length > 1

const search = Effect.fnUntraced(function* <Run>(dependencies: Dependencies<Run>, page: Page) {
  const { readRuns, sizes, sql } = dependencies
  const { filter, limit, workspaceId } = page
  const find = findRuns(dependencies, page)
  const runs: Array<Run> = []
  let below = Math.min(filter.below ?? maxNumber, maxNumber)
  // Several filters alone are compared in an index, which is quick: some indexed runs are compared so, too.
  let scanned = (filter.q ?? "") === "" ? sizes.runs * 2 : 0
  for (let span = firstSpan; below > 1; span = Math.min(span * 2, maxNumber)) {
    const found = (yield* find(below, scanned, span))[0]!
    let { newest } = found
    // It then asked the index for nothing. What it found may be erased before it is read: it goes on right below.
    const isFull = newest.length >= limit
    const next = isFull ? newest.at(-1)! : found.from
    if (!isFull) {
      const candidates = descending(
        numbersOf(readBlocks(found.blocks), found.below),
        found.retried.filter((number) => number >= found.from)
      )
      for (const batch of batches(candidates, limit * 2)) {
        const numbers = integers([...newest, ...batch])
        const which = [
          sql`r.workspace_id = ${workspaceId} and r.number = any(${numbers})`,
          sql`(r.number >= ${found.below} or ${sql.and([...conditions(sql, page), ...matchesQ(sql, filter)])})`
        ]
        runs.push(...(yield* readRuns(workspaceId, selectNumbers(sql, which, limit))))
        newest = []
        if (runs.length >= limit) return runs.slice(0, limit)
      }
    }
    if (newest.length > 0) {
      runs.push(...(yield* readRuns(workspaceId, sql`select number from unnest(${integers(newest)}) as t (number)`)))
    }
    if (runs.length >= limit) return runs.slice(0, limit)
    below = next
    scanned = 0
  }
  return runs
}, dieOnSqlError)

interface Found {
  /** Numbers of runs that match, newest first. */
  readonly newest: ReadonlyArray<number>
  /** Runs from `from` to below `below` that may match, as `readBlocks` reads them. */
  readonly blocks: Uint8Array | null
  /** Runs from `from` to below `below` that may match since they were retried, newest first. */
  readonly retried: ReadonlyArray<number>
  readonly from: number
  readonly below: number
}

/**
 * Compares one by one the runs that are not indexed yet, and `scanned` indexed ones. Unless these fill the page, finds
 * candidates among the `span` runs before. It is one statement, so that it finds a run once that is indexed meanwhile.
 */
const findRuns = ({ sizes, sql }: Pick<Dependencies<never>, "sizes" | "sql">, { filter, limit, workspaceId }: Page) => {
  const retried =
    filter.result === undefined
      ? sql.literal("'{}'::int[]")
      : sql`array(select number from test_run_reindex where workspace_id = ${workspaceId} and retried
          and number < (select below from bounds) order by number desc)`
  const terms = filterTerms(filter)
  return (below: number, scanned: number, span: number) => {
    const matching = [
      ...conditions(sql, { workspaceId, filter: { ...filter, below } }),
      ...matchesQ(sql, filter),
      sql`r.number > (select before from bounds)`
    ]
    return sql<Found>`with bounds as materialized (
        select newest_from - 1 as before, newest_from as below,
          ${firstOfJoined(sql, sizes, sql`greatest(1, newest_from - ${span}::int)`)} as "from"
        from (
          select least(indexed + 1, ${below}::int) - ${scanned}::int as newest_from
          from (
            select coalesce((select indexed_runs from test_run_search where workspace_id = ${workspaceId}), 0) as indexed
          ) i
          offset 0
        ) n
      ), newest as materialized (
        ${selectNumbers(sql, matching, limit)}
      )
      select older.blocks, older."from", bounds.below, ${retried} as retried,
        array(select number from newest order by number desc) as newest
      from bounds, (
        ${blocksOf(sql, workspaceId, terms, sql`(select count(*) from newest) < ${limit}::int`)}
      ) older`
  }
}

/** The first run of the block with the run, if that block is a joined one. */
const firstOfJoined = (sql: PgClient.PgClient, sizes: BlockSizes, number: Statement.Fragment): Statement.Fragment =>
  sql`${number} - (${number} - 1) % ${sql.literal(String(joinedRuns(sizes)))}`

/**
 * Selects `blocks`, as `readBlocks` reads them: the runs that have all terms of `always` and all terms of one of the
 * sets, in the blocks that start from `bounds.from` to below `bounds.below`. If these are many, the older ones are left
 * out. `from` is the first run of what is complete. `bounds` is a table with one row. Selects nothing unless `where`.
 */
const blocksOf = (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  { always, sets }: ReturnType<typeof filterTerms>,
  where: Statement.Fragment
): Statement.Fragment => {
  const ofSets = sets.map((terms) => blocksOfSet(sql, workspaceId, always, terms, where))
  const isTaken = sql.literal(`newer < ${maxCandidates}`)
  return sql`select
      string_agg(int4send(first_run) || bit_send(runs), '' order by first_run desc) filter (where ${isTaken}) as blocks,
      case when bool_and(${isTaken}) is not false then (select "from" from bounds)
        else min(first_run) filter (where ${isTaken}) end as "from"
    from (
      select first_run, runs, sum(bit_count(runs)) over (order by first_run desc) - bit_count(runs) as newer
      from (
        select first_run, bit_or(runs) as runs from (${ofSets.reduce((all, one) => sql`${all} union all ${one}`)}) of_sets
        group by first_run having bit_count(bit_or(runs)) > 0
      ) having_all
    ) counted`
}

/** Selects `first_run` and `runs` of the blocks that have all terms of `always` and of `terms`. */
const blocksOfSet = (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  always: ReadonlyArray<number>,
  terms: ReadonlyArray<number>,
  where: Statement.Fragment
): Statement.Fragment => {
  const list = (terms: ReadonlyArray<number>) => sql`array[${sql.csv(terms.map((term) => sql`${term}::int`))}]::int[]`
  const all = [...always, ...terms]
  const held = sql`
      select first_run, array_agg(term order by run_count) filter (where term <> all(${list(always)})) as terms
      from test_run_postings
      where workspace_id = ${workspaceId} and term = any(${list(all)})
        and first_run >= (select "from" from bounds) and first_run < (select below from bounds) and ${where}
      group by first_run having count(*) = ${sql.literal(String(all.length))}`
  // Reads the bits of two terms of `q` first. Mostly no run has both, and the others need not be read. These are the
  // rarest and the third: the rarest two are mostly parts of one word.
  const first = sql`
      select bit_and(p.runs) as runs from test_run_postings p
      where p.workspace_id = ${workspaceId} and p.first_run = held.first_run
        and p.term = any(${list(always)} || array[terms[1], terms[3]])`
  if (terms.length < 2) return sql`select first_run, runs from (${held}) held cross join lateral (${first}) first`
  return sql`select first_run, first.runs & coalesce(others.runs, first.runs) as runs
    from (${held}) held cross join lateral (${first}) first cross join lateral (
      select bit_and(p.runs) as runs from test_run_postings p
      where p.workspace_id = ${workspaceId} and p.first_run = held.first_run
        and p.term = any(terms[2:2] || terms[4:]) and bit_count(first.runs) > 0
    ) others`
}

/** The conditions of a filter on the runs `r`, except `q`. */
export const conditions = (
  sql: PgClient.PgClient,
  { filter, workspaceId }: Pick<Page, "filter" | "workspaceId">
): ReadonlyArray<Statement.Fragment> => {
  const { below, commit, environmentId, productId, publisher, result } = filter
  const conditions: Array<Statement.Fragment> = [sql`r.workspace_id = ${workspaceId}`]
  if (productId !== undefined) conditions.push(sql`r.product_id = ${productId}`)
  if (environmentId !== undefined) conditions.push(sql`r.environment_id = ${environmentId}`)
  // A run has a result exactly if it is finished.
  if (result === "flaky") conditions.push(sql`r.flaky > 0 and r.result is not null`)
  else if (result !== undefined) conditions.push(sql`r.result = ${result}`)
  if (commit !== undefined) conditions.push(sql`${sha(sql)} = ${foldSha(commit)}`)
  if (publisher !== undefined) {
    conditions.push(sql`r.publisher_id = ${publisher.id} and r.publisher_kind = ${publisher.kind}`)
  }
  if (below !== undefined && below <= maxNumber) conditions.push(sql`r.number < ${below}`)
  return conditions
}

/** The condition of `q` on the runs `r`, if there is one. */
const matchesQ = (sql: PgClient.PgClient, { q = "" }: TestRunFilter): ReadonlyArray<Statement.Fragment> => {
  if (q === "") return []
  return [sql`(strpos(r.search, ${searchPart(q)}) > 0 or ${startsSha(sql, q)})`]
}

/** Whether the commit of the run `r` starts with `q`. */
export const startsSha = (sql: PgClient.PgClient, q: string): Statement.Fragment =>
  sql`${sha(sql)} between ${foldSha(q)} and ${foldSha(q) + lastCharacter}`

/** As the index `test_runs_commit` has it. */
const sha = (sql: PgClient.PgClient) => sql.literal(`lower(r.git_sha collate "C") collate "C"`)

/** Selects the numbers of the newest runs `r` that meet all conditions. */
export const selectNumbers = (sql: PgClient.PgClient, conditions: ReadonlyArray<Statement.Fragment>, limit: number) =>
  sql<{ readonly number: number }>`select r.number from test_runs r where ${sql.and(conditions)}
    order by r.number desc limit ${sql.literal(String(limit))}`

/** The numbers of both, each newest first, as one list without repeats. */
const descending = function* (some: Iterable<number>, others: ReadonlyArray<number>): Generator<number> {
  let at = 0
  for (const number of some) {
    for (; at < others.length && others[at]! > number; at++) yield others[at]!
    if (others[at] === number) at++
    yield number
  }
  yield* others.slice(at)
}

/** The numbers in batches: the first has `size`, each next one four times as many. */
const batches = function* (numbers: Iterable<number>, size: number): Generator<ReadonlyArray<number>> {
  let batch: Array<number> = []
  for (const number of numbers) {
    batch.push(number)
    if (batch.length < size) continue
    yield batch
    batch = []
    size = Math.min(size * 4, maxBatch)
  }
  if (batch.length > 0) yield batch
}

const maxBatch = 32_768

/** How many runs the index is asked for at first, newest first; then twice as many each time. */
const firstSpan = 2 ** 20

/** A statement that has found this many runs leaves out older blocks. */
const maxCandidates = 512

/** The greatest character: a text that begins with another one is between that one and that one followed by this. */
const lastCharacter = "\u{10FFFF}"
