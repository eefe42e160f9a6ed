import type { EnvironmentId, PersonId, ProductId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Statement } from "effect/sql"
import type { TestRunFilter } from "../packages/server/src/runs/TestRunsRepo.ts"
import type { makeRuns } from "./Database.ts"

/** The lists of runs that `bench:list` and `bench:search` measure, in workspaces of `makeRuns`. */

/** Runs of a page. */
export const pageSize = 51

export type At = Effect.Success<ReturnType<typeof makeRuns>>

/** What the list of runs is asked for. */
export const filters: ReadonlyArray<readonly [name: string, filter: (at: At) => TestRunFilter]> = [
  ["no filter", () => ({})],
  ["cursor, in the middle", (at) => ({ below: at.runs / 2 })],
  ["product (1 of 10)", (at) => ({ productId: at.productId(1) as ProductId })],
  ["environment (1 of 4)", (at) => ({ environmentId: at.environmentId(1) as EnvironmentId })],
  ["result=passed", () => ({ result: "passed" })],
  ["result=failed", () => ({ result: "failed" })],
  ["result=flaky (1 in 50)", () => ({ result: "flaky" })],
  ["mine (1 of 2)", (at) => ({ publisher: { kind: "user", id: at.personId(1) as PersonId } })],
  ["commit", () => ({ commit: "e4da3b7fbbce2345d7772b0674a318d500000000" })],
  [
    "product, environment, result, mine",
    (at) => ({
      productId: at.productId(3) as ProductId,
      environmentId: at.environmentId(1) as EnvironmentId,
      result: "passed",
      publisher: { kind: "user", id: at.personId(1) as PersonId }
    })
  ],
  [
    "product, environment that never meet",
    (at) => ({ productId: at.productId(1) as ProductId, environmentId: at.environmentId(0) as EnvironmentId })
  ],
  ["product, result=flaky, never", (at) => ({ productId: at.productId(1) as ProductId, result: "flaky" })],
  [
    "commit, product, result",
    (at) => ({
      commit: "e4da3b7fbbce2345d7772b0674a318d500000000",
      productId: at.productId(7) as ProductId,
      result: "failed"
    })
  ],
  ["q: start of a commit", () => ({ q: "e4da3b7fbb" })],
  ["q: a commit of 1 in 14, none new", () => ({ q: "dadada" })],
  ["q: two digits of commits", () => ({ q: "fd" })],
  ["q: in 1 of 10 subjects", () => ({ q: "basket" })],
  ["q: in 1 of 100 subjects", () => ({ q: "orders" })],
  ["q: in 1 of 20 subjects, none new", () => ({ q: "hand" })],
  ["q: one letter, everywhere", () => ({ q: "e" })],
  ["q: one letter, in 5 old runs", () => ({ q: "+" })],
  ["q: two letters, in 5 old runs", () => ({ q: "-c" })],
  ["q: in 5 old runs", () => ({ q: "release-candidate" })],
  ["q: nowhere", () => ({ q: "zebra crossing" })],
  ["q: nowhere, its words everywhere", () => ({ q: "orders in the basket" })],
  ["q: nowhere, of a product", (at) => ({ q: "zebra crossing", productId: at.productId(1) as ProductId })],
  ["q: common, of another product", (at) => ({ q: "basket", productId: at.productId(1) as ProductId })],
  ["q: common, of another result", () => ({ q: "basket", result: "failed" })],
  ["q: common, passed by a retry", () => ({ q: "rename", result: "passed" })],
  ["q: common, cursor in the middle", (at) => ({ q: "orders", below: at.runs / 2 })]
]

export const percentile95 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]!

/** The page as a comparison of every run finds it. */
export const scan = Effect.fnUntraced(function* (at: At, filter: TestRunFilter) {
  const sql = yield* PgClient.PgClient
  const { q = "" } = filter
  const found = yield* sql<{
    readonly number: number
  }>`select number from test_runs where workspace_id = ${at.workspaceId}
      and (strpos(lower(git_branch), ${q}) > 0 or strpos(lower(git_subject), ${q}) > 0 or starts_with(git_sha, ${q}))
      and product_id = coalesce(${filter.productId ?? null}::uuid, product_id)
      and environment_id = coalesce(${filter.environmentId ?? null}::uuid, environment_id)
      and publisher_id = coalesce(${filter.publisher?.id ?? null}::uuid, publisher_id)
      and git_sha = coalesce(${filter.commit ?? null}, git_sha) and number < ${filter.below ?? 2 ** 31 - 1}
      and case ${filter.result ?? ""} when '' then true when 'flaky' then flaky > 0 else result = ${filter.result ?? ""} end
    order by number desc limit ${pageSize}`
  return found.map((run) => run.number)
})

/** How each statement of the work finds rows: the scans of its plan, of tables whose names begin so. */
export const explain = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>, tables = "test_run") {
  const sql = yield* PgClient.PgClient
  const statements: Array<ReturnType<Statement.Statement<unknown>["compile"]>> = []
  const capture: Statement.Transformer = (one) => {
    const [statement, parameters] = one.compile()
    // Estimates are asked for, too: they read nothing.
    if (!statement.startsWith("explain")) statements.push([statement, parameters])
    return Effect.succeed(one)
  }
  yield* Effect.provideService(work, Statement.CurrentTransformer, capture)
  const plans = yield* Effect.forEach(statements, ([statement, parameters]) =>
    sql.unsafe<{ readonly "QUERY PLAN": string }>(
      `explain (analyze, buffers, costs off, timing off, summary off) ${statement}`,
      parameters
    )
  )
  return plans.map((plan) =>
    shorten(
      plan.map((row) => row["QUERY PLAN"]),
      tables
    )
  )
})

/** Of a plan its scans of the tables, each on a line, without the values that they look for. */
const shorten = (plan: ReadonlyArray<string>, tables: string): string => {
  const isScan = new RegExp(`-> +(.* Scan .*\\b(?:${tables}).*) \\(actual (.*)\\)`)
  const scans: Array<Array<string>> = []
  let details: Array<string> | undefined
  for (const line of plan) {
    const [, scan, actual] = isScan.exec(line) ?? []
    if (scan !== undefined) scans.push((details = [`${scan} (${actual})`]))
    else if (line.includes("->")) details = undefined
    else if (/ (Index Cond|Filter|Rows Removed by Filter|Heap Fetches|Buffers): /.test(line))
      details?.push(line.trim().slice(0, 160))
  }
  return scans
    .map((details) => `    ${details.join("; ")}`)
    .join("\n")
    .replaceAll(/'[^']*'::(uuid|integer\[\])/g, "…")
    .replaceAll(".00 ", " ")
}
