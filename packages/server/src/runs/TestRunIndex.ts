import type { WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Array, Context, Effect } from "effect"
import type { Statement } from "effect/sql"
import { integers, texts } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import {
  allResults,
  type filterTerms,
  type RunEnd,
  resultTerms,
  runTerms,
  type SearchedRun,
  termCount
} from "./SearchTerms.ts"

/**
 * The index of the run search: for each term, which runs have it, as bits of blocks of runs. The newest runs, which do
 * not yet fill a block, are in none; blocks are joined to larger ones when there are enough of them.
 */
export interface BlockSizes {
  /** Runs of a block; a multiple of 8. */
  readonly runs: number
  /** Blocks that are joined to one. */
  readonly joined: number
}

/**
 * As many runs as a list compares one by one in two milliseconds, and as many bits in a joined block as a row still
 * holds. Stored, like the terms.
 */
export const SearchBlocks = Context.Reference<BlockSizes>("@delivery/server/runs/SearchBlocks", {
  defaultValue: () => ({ runs: 1_024, joined: 32 })
})

export const makeTestRunIndex = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sizes = yield* SearchBlocks
  const joinedRuns = sizes.runs * sizes.joined
  const bits = sql.literal(`bit(${sizes.runs})`)
  const joinedBits = sql.literal(`bit(${joinedRuns})`)

  /** Selects `indexed`: up to which number the runs of the workspace are. */
  const indexedRuns = (workspaceId: WorkspaceId): Statement.Fragment =>
    sql`select coalesce((select indexed_runs from test_run_search where workspace_id = ${workspaceId}), 0) as indexed`

  /**
   * Selects `blocks`, as `readBlocks` reads them: bits of the runs that have all terms of `always` and all of one of the
   * sets, and may have them in the blocks that start from `bounds.from` to below `bounds.below`; and `from`: they are all
   * from there on, which is `bounds.from` unless there are many. `bounds` is a table of one row. None unless `where`.
   */
  const candidates = (
    workspaceId: WorkspaceId,
    { always, sets }: ReturnType<typeof filterTerms>,
    where: Statement.Fragment
  ): Statement.Fragment => {
    const list = (terms: ReadonlyArray<number>) => sql`array[${sql.csv(terms.map((term) => sql`${term}::int`))}]::int[]`
    // At first few terms, which mostly leave none to look for in the others: of those of the text not the two that fewest
    // runs have, which mostly are of one word, but the first and the third.
    const having = sets.map((terms) => {
      const all = [...always, ...terms]
      const held = sql`
          select first_run, array_agg(term order by run_count) filter (where term <> all(${list(always)})) as terms
          from test_run_postings
          where workspace_id = ${workspaceId} and term = any(${list(all)})
            and first_run >= (select "from" from bounds) and first_run < (select below from bounds) and ${where}
          group by first_run having count(*) = ${sql.literal(String(all.length))}`
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
    })
    const isShown = sql.literal(`newer < ${maxCandidates}`)
    return sql`select
        string_agg(int4send(first_run) || bit_send(runs), '' order by first_run desc) filter (where ${isShown}) as blocks,
        case when bool_and(${isShown}) is not false then (select "from" from bounds)
          else min(first_run) filter (where ${isShown}) end as "from"
      from (
        select first_run, runs, sum(bit_count(runs)) over (order by first_run desc) - bit_count(runs) as newer
        from (
          select first_run, bit_or(runs) as runs from (${having.reduce((all, one) => sql`${all} union all ${one}`)}) of_sets
          group by first_run having bit_count(bit_or(runs)) > 0
        ) having_all
      ) counted`
  }

  /** A block of a workspace that has one to index; held until the transaction ends. */
  const claim = Effect.gen(function* () {
    yield* sql`insert into test_run_search (workspace_id, indexed_runs)
      select id, 0 from workspaces w where last_run_number >= ${sizes.runs}
        and not exists (select from test_run_search s where s.workspace_id = w.id)
      order by id
      on conflict do nothing`
    // Any: one that has much to index, or fails to, keeps the others waiting for no more than its turn.
    const [claimed] = yield* sql<{ readonly workspaceId: WorkspaceId; readonly indexed: number }>`
      select s.workspace_id as "workspaceId", s.indexed_runs as indexed
      from test_run_search s join workspaces w on w.id = s.workspace_id
      where w.last_run_number - s.indexed_runs >= ${sizes.runs}
      order by random() limit 1 for update of s skip locked`
    return claimed
  })

  /** Indexes the next full block of any workspace, in a transaction. Answers whether there was one. */
  const indexBlock: Effect.Effect<boolean> = Effect.gen(function* () {
    const claimed = yield* claim
    if (claimed === undefined) return false
    const { indexed, workspaceId } = claimed
    const end = indexed + sizes.runs
    const runs = yield* sql<SearchedRun & { readonly number: number }>`select number, search, git_sha as sha,
        product_id as "productId", environment_id as "environmentId", publisher_id as "publisherId", state, result,
        flaky
      from test_runs where workspace_id = ${workspaceId} and number > ${indexed} and number <= ${end}`
    // Texts that are made of many terms are taken in parts, so that memory stays flat.
    const characters = runs.reduce((sum, run) => sum + run.search.length, 0)
    const parts = Math.ceil(characters / maxCharacters)
    for (let part = 0; part < parts; part++) {
      const postings = new Map<number, Uint8Array>()
      for (const run of runs) {
        const at = run.number - indexed - 1
        runTerms(run, (term) => {
          if (term % parts !== part) return
          let bytes = postings.get(term)
          if (bytes === undefined) postings.set(term, (bytes = new Uint8Array(sizes.runs / 8)))
          bytes[at >> 3]! |= firstBit >> (at & 7)
        })
      }
      for (const rows of Array.chunksOf([...postings], maxRows)) {
        yield* sql`insert into test_run_postings (workspace_id, term, first_run, run_count, runs)
          select ${workspaceId}::uuid, term, ${indexed + 1}::int, run_count, runs::${bits}
          from unnest(${integers(rows.map(([term]) => term))}, ${integers(rows.map(([, bytes]) => countBits(bytes)))},
            ${texts(rows, ([, bytes]) => `x${Buffer.from(bytes).toString("hex")}`)}) as t (term, run_count, runs)`
      }
    }
    if (end % joinedRuns === 0) {
      // In parts, each of which the database joins well within the time of a statement, whatever the runs are of.
      for (let from = 0; from < termCount; from += joinedTerms) {
        yield* sql`with taken as (
            delete from test_run_postings where workspace_id = ${workspaceId} and first_run > ${end - joinedRuns}
              and term >= ${from} and term < ${from + joinedTerms}
            returning term, first_run, run_count, runs
          )
          insert into test_run_postings (workspace_id, term, first_run, run_count, runs)
          select ${workspaceId}::uuid, term, ${end - joinedRuns + 1}::int, sum(run_count),
            bit_or(runs::${joinedBits} >> (first_run - ${end - joinedRuns + 1}::int))
          from taken group by term`
      }
    }
    const running = runs.filter(({ state }) => state === "running").map(({ number }) => number)
    yield* sql`insert into test_run_reindex (workspace_id, number, retried)
      select ${workspaceId}::uuid, number, false from unnest(${integers(running)}) as t (number)
      on conflict do nothing`
    yield* sql`update test_run_search set indexed_runs = ${end} where workspace_id = ${workspaceId}`
    return true
  }).pipe(dieOnSqlError)

  /**
   * Writes again which results runs of a block have, in a transaction: of those that have ended since the block was
   * indexed, and of those that were retried. Answers whether there were some.
   */
  const indexResults: Effect.Effect<boolean> = Effect.gen(function* () {
    const ended = (workspaceId: Statement.Fragment) => sql`from test_run_reindex c
      join test_runs r on r.workspace_id = c.workspace_id and r.number = c.number
      where c.workspace_id = ${workspaceId} and r.state <> 'running'`
    const [claimed] = yield* sql<{
      readonly workspaceId: WorkspaceId
      readonly indexed: number
      readonly some: number
    }>`
      select s.workspace_id as "workspaceId", s.indexed_runs as indexed, due.number as some
      from test_run_search s, lateral (
        select c.number ${ended(sql`s.workspace_id`)} and c.number <= s.indexed_runs order by random() limit 1
      ) due
      order by random() limit 1 for update of s skip locked`
    if (claimed === undefined) return false
    const { indexed, some, workspaceId } = claimed
    const size = some <= indexed - (indexed % joinedRuns) ? joinedRuns : sizes.runs
    const first = some - ((some - 1) % size)
    // Held, so that a retry that ends meanwhile says so afterwards.
    const runs = yield* sql<RunEnd & { readonly number: number }>`select r.number, r.state, r.result, r.flaky
      ${ended(sql`${workspaceId}`)} and c.number >= ${first} and c.number < ${first + size}
      for no key update of r skip locked`
    if (runs.length === 0) return false
    const bytesOf = (some: ReadonlyArray<{ readonly number: number }>) => {
      const bytes = Buffer.alloc(size / 8)
      for (const { number } of some) bytes[(number - first) >> 3]! |= firstBit >> ((number - first) & 7)
      return `x${bytes.toString("hex")}`
    }
    const type = sql.literal(`bit(${size})`)
    const rows = allResults.map(
      (term) => [term, bytesOf(runs.filter((run) => resultTerms(run).includes(term)))] as const
    )
    const changed = sql`(p.runs::${type} & (~ ${bytesOf(runs)}::text::${type})) | excluded.runs::${type}`
    yield* sql`insert into test_run_postings as p (workspace_id, term, first_run, run_count, runs)
      select ${workspaceId}::uuid, term, ${first}::int, bit_count(runs::${type}), runs::${type}
      from unnest(${integers(rows.map(([term]) => term))}, ${texts(rows, ([, bytes]) => bytes)}) as t (term, runs)
      on conflict on constraint test_run_postings_key do update set
        run_count = bit_count(${changed}), runs = ${changed}`
    yield* sql`delete from test_run_reindex where workspace_id = ${workspaceId}
      and number = any(${integers(runs.map(({ number }) => number))})`
    return true
  }).pipe(dieOnSqlError)

  return {
    sizes,
    indexedRuns,
    indexBlock,
    indexResults,
    candidates,
    /** The first run of the block that has the run and is as large as any. */
    firstOfJoined: (number: Statement.Fragment): Statement.Fragment =>
      sql`${number} - (${number} - 1) % ${sql.literal(String(joinedRuns))}`
  }
})

/** Characters of texts, each of up to three terms, that are taken at once; and rows of one statement. */
const maxCharacters = 100_000
const maxRows = 8_192
/** Terms that are joined at once: where every block has each of them, half a million rows. */
const joinedTerms = Math.ceil(termCount / 64)

/** Runs that one statement finds before it leaves out older blocks. */
const maxCandidates = 512

interface Block {
  readonly firstRun: number
  readonly runs: Uint8Array
}

/** What `candidates` selects: of each block its first run and the number of its bits, as int4, and the bits. */
export const readBlocks = (bytes: Uint8Array | null): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  if (bytes === null) return blocks
  const { buffer, byteLength, byteOffset } = bytes
  const view = new DataView(buffer, byteOffset, byteLength)
  for (let at = 0; at < byteLength;) {
    const end = at + 8 + view.getInt32(at + 4) / 8
    blocks.push({ firstRun: view.getInt32(at), runs: bytes.subarray(at + 8, end) })
    at = end
  }
  return blocks
}

const firstBit = 0b1000_0000

const countBits = (bytes: Uint8Array): number => {
  let count = 0
  for (const byte of bytes) for (let bits = byte; bits !== 0; bits &= bits - 1) count++
  return count
}

/** The runs of the blocks that are numbered below `below`, newest first. */
export const numbersOf = function* (blocks: ReadonlyArray<Block>, below: number): Generator<number> {
  for (const { firstRun, runs } of blocks) {
    for (let byte = runs.length - 1; byte >= 0; byte--) {
      const bits = runs[byte]!
      if (bits === 0) continue
      for (let bit = 7; bit >= 0; bit--) {
        const number = firstRun + byte * 8 + bit
        if ((bits & (firstBit >> bit)) !== 0 && number < below) yield number
      }
    }
  }
}
