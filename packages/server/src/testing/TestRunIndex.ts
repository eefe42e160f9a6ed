import type { WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Array, Context, Effect } from "effect"
import type { Statement } from "effect/sql"
import { integers, texts } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { runTerms, type SearchedRun, termCount } from "./SearchTerms.ts"

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
export const SearchBlocks = Context.Reference<BlockSizes>("@delivery/server/testing/SearchBlocks", {
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

  /** Numbers of runs from `from` to below `below` that have all terms of one of the sets, newest first. */
  const candidates = (
    workspaceId: WorkspaceId,
    sets: ReadonlyArray<ReadonlyArray<number>>,
    { below, from }: { readonly below: number; readonly from: number }
  ): Effect.Effect<Iterable<number>> => {
    const having = sets.map(
      (terms) => sql`select first_run, bit_and(runs) as runs from test_run_postings
        where workspace_id = ${workspaceId} and term = any(${integers(terms)})
          and first_run >= ${from} and first_run < ${below}
        group by first_run having count(*) = ${terms.length}`
    )
    return sql<Block>`select first_run as "firstRun", bit_send(bit_or(runs)) as runs
      from (${having.reduce((all, one) => sql`${all} union all ${one}`)}) having_all
      group by first_run having bit_count(bit_or(runs)) > 0
      order by first_run desc`.pipe(
      Effect.map((blocks) => numbersOf(blocks, below)),
      dieOnSqlError
    )
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
        error, flaky
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
        yield* sql`insert into test_run_postings (workspace_id, term, first_run, runs)
          select ${workspaceId}::uuid, term, ${indexed + 1}::int, runs::${bits}
          from unnest(${integers(rows.map(([term]) => term))},
            ${texts(rows, ([, bytes]) => `x${Buffer.from(bytes).toString("hex")}`)}) as t (term, runs)`
      }
    }
    if (end % joinedRuns === 0) {
      // In parts, each of which the database joins well within the time of a statement, whatever the runs are of.
      for (let from = 0; from < termCount; from += joinedTerms) {
        yield* sql`with taken as (
            delete from test_run_postings where workspace_id = ${workspaceId} and first_run > ${end - joinedRuns}
              and term >= ${from} and term < ${from + joinedTerms}
            returning term, first_run, runs
          )
          insert into test_run_postings (workspace_id, term, first_run, runs)
          select ${workspaceId}::uuid, term, ${end - joinedRuns + 1}::int,
            bit_or(runs::${joinedBits} >> (first_run - ${end - joinedRuns + 1}::int))
          from taken group by term`
      }
    }
    yield* sql`update test_run_search set indexed_runs = ${end} where workspace_id = ${workspaceId}`
    return true
  }).pipe(dieOnSqlError)

  return {
    indexedRuns,
    indexBlock,
    candidates,
    /** The first run of the block that has the run and is as large as any. */
    firstOfJoined: (number: number): number => number - ((number - 1) % joinedRuns)
  }
})

/** Characters of texts, each of up to three terms, that are taken at once; and rows of one statement. */
const maxCharacters = 100_000
const maxRows = 8_192
/** Terms that are joined at once: where every block has each of them, half a million rows. */
const joinedTerms = termCount / 64

interface Block {
  readonly firstRun: number
  /** The bits as the database sends them: after their number, which is an int4. */
  readonly runs: Uint8Array
}

const firstBit = 0b1000_0000

const numbersOf = function* (blocks: Iterable<Block>, below: number): Generator<number> {
  for (const { firstRun, runs } of blocks) {
    for (let byte = runs.length - 1; byte >= 4; byte--) {
      const bits = runs[byte]!
      if (bits === 0) continue
      for (let bit = 7; bit >= 0; bit--) {
        const number = firstRun + (byte - 4) * 8 + bit
        if ((bits & (firstBit >> bit)) !== 0 && number < below) yield number
      }
    }
  }
}
