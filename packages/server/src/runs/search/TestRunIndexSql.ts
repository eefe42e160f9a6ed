import type { WorkspaceId } from "@delivery/domain/Ids"
import type { PgClient } from "@effect/sql-pg"
import { Array, Effect } from "effect"
import type { Statement } from "effect/sql"
import { integers, texts } from "../../storage/Columns.ts"
import { dieOnSqlError } from "../../storage/Sql.ts"
import { bitText, type BlockSizes, countBits, joinedRuns, setBit } from "./SearchBlocks.ts"
import { allResults, type RunEnd, resultTerms, runTerms, type SearchedRun, termCount } from "./SearchTerms.ts"

/**
 * Writes the index of the run search: for each term, which runs have it, as bits of blocks of runs. The newest runs,
 * which do not fill a block yet, are not in it. Why we have an index of our own: docs/decisions/search-of-runs.md.
 */
interface Dependencies {
  readonly sql: PgClient.PgClient
  readonly sizes: BlockSizes
}

interface NumberedRun extends SearchedRun {
  readonly number: number
}

/** Indexes the next full block of any workspace, in a transaction. Returns whether there was one. */
export const indexBlock = (dependencies: Dependencies): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const { sizes, sql } = dependencies
    const claimed = yield* claimBlock(dependencies)
    if (claimed === undefined) return false
    const { indexed, workspaceId } = claimed
    const end = indexed + sizes.runs
    const runs = yield* sql<NumberedRun>`select number, search, git_sha as sha,
        product_id as "productId", environment_id as "environmentId", publisher_id as "publisherId", state, result,
        flaky
      from test_runs where workspace_id = ${workspaceId} and number > ${indexed} and number <= ${end}`
    // Long texts have many terms. They are written in parts, so that the memory that this takes stays small.
    const characters = runs.reduce((sum, run) => sum + run.search.length, 0)
    const parts = Math.ceil(characters / maxCharacters)
    for (let part = 0; part < parts; part++) {
      yield* insertPostings(dependencies, claimed, postingsOf(runs, indexed + 1, sizes.runs, { part, parts }))
    }
    if (end % joinedRuns(sizes) === 0) yield* joinBlocks(dependencies, workspaceId, end)
    const running = runs.filter(({ state }) => state === "running").map(({ number }) => number)
    yield* sql`insert into test_run_reindex (workspace_id, number, retried)
      select ${workspaceId}::uuid, number, false from unnest(${integers(running)}) as t (number)
      on conflict do nothing`
    yield* sql`update test_run_search set indexed_runs = ${end} where workspace_id = ${workspaceId}`
    return true
  }).pipe(dieOnSqlError)

interface ClaimedBlock {
  readonly workspaceId: WorkspaceId
  readonly indexed: number
}

/** A workspace that has a full block to index. Holds its row of `test_run_search` until the transaction ends. */
const claimBlock = Effect.fnUntraced(function* ({ sizes, sql }: Dependencies) {
  yield* sql`insert into test_run_search (workspace_id, indexed_runs)
    select id, 0 from workspaces w where last_run_number >= ${sizes.runs}
      and not exists (select from test_run_search s where s.workspace_id = w.id)
    order by id
    on conflict do nothing`
  // In random order, so that a workspace with many runs or failing blocks does not block the others.
  const [claimed] = yield* sql<ClaimedBlock>`
    select s.workspace_id as "workspaceId", s.indexed_runs as indexed
    from test_run_search s join workspaces w on w.id = s.workspace_id
    where w.last_run_number - s.indexed_runs >= ${sizes.runs}
    order by random() limit 1 for update of s skip locked`
  return claimed
})

/** Of the terms of one part (a term is in the part of its remainder) the bits of the runs that have them. */
const postingsOf = (
  runs: ReadonlyArray<NumberedRun>,
  firstRun: number,
  blockSize: number,
  { part, parts }: { readonly part: number; readonly parts: number }
): ReadonlyMap<number, Uint8Array> => {
  const postings = new Map<number, Uint8Array>()
  for (const run of runs) {
    runTerms(run, (term) => {
      if (term % parts !== part) return
      let bytes = postings.get(term)
      if (bytes === undefined) postings.set(term, (bytes = new Uint8Array(blockSize / 8)))
      setBit(bytes, run.number - firstRun)
    })
  }
  return postings
}

const insertPostings = Effect.fnUntraced(function* (
  { sizes, sql }: Dependencies,
  { indexed, workspaceId }: ClaimedBlock,
  postings: ReadonlyMap<number, Uint8Array>
) {
  const bits = sql.literal(`bit(${sizes.runs})`)
  for (const rows of Array.chunksOf([...postings], maxRows)) {
    yield* sql`insert into test_run_postings (workspace_id, term, first_run, run_count, runs)
      select ${workspaceId}::uuid, term, ${indexed + 1}::int, run_count, runs::${bits}
      from unnest(${integers(rows.map(([term]) => term))}, ${integers(rows.map(([, bytes]) => countBits(bytes)))},
        ${texts(rows, ([, bytes]) => bitText(bytes))}) as t (term, run_count, runs)`
  }
})

/** Makes one block of the last blocks, which end with the run `end`. */
const joinBlocks = Effect.fnUntraced(function* ({ sizes, sql }: Dependencies, workspaceId: WorkspaceId, end: number) {
  const before = end - joinedRuns(sizes)
  const bits = sql.literal(`bit(${joinedRuns(sizes)})`)
  // In parts, each of which stays well below the statement timeout, whatever texts the runs have.
  for (let from = 0; from < termCount; from += joinedTerms) {
    yield* sql`with taken as (
        delete from test_run_postings where workspace_id = ${workspaceId} and first_run > ${before}
          and term >= ${from} and term < ${from + joinedTerms}
        returning term, first_run, run_count, runs
      )
      insert into test_run_postings (workspace_id, term, first_run, run_count, runs)
      select ${workspaceId}::uuid, term, ${before + 1}::int, sum(run_count),
        bit_or(runs::${bits} >> (first_run - ${before + 1}::int))
      from taken group by term`
  }
})

/**
 * Writes again which results runs of a block have, in a transaction: of the runs that have ended since the block was
 * indexed, and of those that were retried. Returns whether there were any.
 */
export const indexResults = (dependencies: Dependencies): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const { sizes, sql } = dependencies
    const claimed = yield* claimEnded(dependencies)
    if (claimed === undefined) return false
    const { indexed, number, workspaceId } = claimed
    const joined = joinedRuns(sizes)
    const size = number <= indexed - (indexed % joined) ? joined : sizes.runs
    const first = number - ((number - 1) % size)
    // Locked, so that a retry that ends meanwhile asks for another round.
    const runs = yield* sql<RunEnd & { readonly number: number }>`select r.number, r.state, r.result, r.flaky
      ${endedRuns(sql, sql`${workspaceId}`)} and c.number >= ${first} and c.number < ${first + size}
      for no key update of r skip locked`
    if (runs.length === 0) return false
    const bitsOf = (some: typeof runs) => {
      const bytes = new Uint8Array(size / 8)
      for (const { number } of some) setBit(bytes, number - first)
      return bitText(bytes)
    }
    const type = sql.literal(`bit(${size})`)
    const rows = allResults.map(
      (term) => [term, bitsOf(runs.filter((run) => resultTerms(run).includes(term)))] as const
    )
    const changed = sql`(p.runs::${type} & (~ ${bitsOf(runs)}::text::${type})) | excluded.runs::${type}`
    yield* sql`insert into test_run_postings as p (workspace_id, term, first_run, run_count, runs)
      select ${workspaceId}::uuid, term, ${first}::int, bit_count(runs::${type}), runs::${type}
      from unnest(${integers(rows.map(([term]) => term))}, ${texts(rows, ([, bits]) => bits)}) as t (term, runs)
      on conflict on constraint test_run_postings_key do update set
        run_count = bit_count(${changed}), runs = ${changed}`
    yield* sql`delete from test_run_reindex where workspace_id = ${workspaceId}
      and number = any(${integers(runs.map(({ number }) => number))})`
    return true
  }).pipe(dieOnSqlError)

/** Selects from the runs of the workspace whose results are due to be written again. */
const endedRuns = (sql: PgClient.PgClient, workspaceId: Statement.Fragment): Statement.Fragment =>
  sql`from test_run_reindex c
    join test_runs r on r.workspace_id = c.workspace_id and r.number = c.number
    where c.workspace_id = ${workspaceId} and r.state <> 'running'`

/** A run whose results are due, of any workspace. Holds the workspace's row of `test_run_search` until the transaction ends. */
const claimEnded = Effect.fnUntraced(function* ({ sql }: Dependencies) {
  const [claimed] = yield* sql<ClaimedBlock & { readonly number: number }>`
    select s.workspace_id as "workspaceId", s.indexed_runs as indexed, due.number
    from test_run_search s, lateral (
      select c.number ${endedRuns(sql, sql`s.workspace_id`)} and c.number <= s.indexed_runs order by random() limit 1
    ) due
    order by random() limit 1 for update of s skip locked`
  return claimed
})

/** Characters of texts, each of up to three terms, that are written at once. */
const maxCharacters = 100_000
/** Rows of one statement. */
const maxRows = 8_192
/** Terms that are joined at once: where every block has each of them, half a million rows. */
const joinedTerms = Math.ceil(termCount / 64)
