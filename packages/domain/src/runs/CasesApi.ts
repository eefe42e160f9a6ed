import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { RestOfPath } from "../Endpoint.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NumberInPath, NumberInQuery, WholeInQuery } from "../Numbers.ts"
import { undocumented } from "../Text.ts"
import { CalendarDate } from "../Timestamp.ts"
import {
  CasePage,
  casesPageSize,
  CaseWithResults,
  mostListedResults,
  readCaseCursor,
  resultsPageSize,
  RunErrors,
  Trends
} from "./Case.ts"
import { comparedRuns, countedDays, daysBefore, newestResults } from "./CaseFigures.ts"
import { caseFilters } from "./ListFilters.ts"

const params = {
  slug: WorkspaceRef,
  product: PathRef.annotate({ description: "The slug or id of the product.", examples: ["shop"] })
}

const { environment } = caseFilters

const Cursor = Schema.String.check(
  Schema.makeFilter<string>((text) => readCaseCursor(text) !== undefined || "Expected the nextCursor of a page", {
    toJsonSchema: undocumented
  })
).annotate({
  description: "The `nextCursor` of the previous page.",
  examples: ["3%40:checkout.spec.ts%3Apays-by-card"]
})

/** The days of one answer, at most. */
export const maxTrendDays = 366

/** The days of an answer, as a query has them. */
export const periodFields = {
  from: Schema.optionalKey(
    CalendarDate.annotate({
      description: `The first day, in UTC, inclusive. By default ${countedDays - 1} days before \`to\`.`,
      examples: ["2026-11-01"]
    })
  ),
  to: Schema.optionalKey(
    CalendarDate.annotate({
      description: `The last day, in UTC, inclusive. By default today, or the last of ${maxTrendDays} days from \`from\` on.`,
      examples: ["2026-11-30"]
    })
  )
}

export const isPeriod = Schema.makeFilter<{ readonly from?: string; readonly to?: string }>(
  ({ from, to }) => {
    if (from === undefined || to === undefined) return true
    if (from > to) return "Expected from to be no later than to"
    return from > daysBefore(to, maxTrendDays) || `Expected at most ${maxTrendDays} days`
  },
  { toJsonSchema: undocumented }
)

const trendQuery = Schema.Struct({ environment, ...periodFields }).check(isPeriod)

const counted = "Results count a moment after their run has finished."

/** Tests of a product over many runs (docs/contract.md, Tests over time). */
export class CasesApi extends HttpApiGroup.make("cases")
  .add(
    HttpApiEndpoint.get("list", `${workspacePath}/products/:product/cases`, {
      params,
      query: {
        ...caseFilters,
        results: Schema.optionalKey(
          WholeInQuery(
            1,
            mostListedResults,
            `Adds its newest results to each case, in short, so many at most: 1 to ${mostListedResults}.`,
            "30"
          )
        ),
        cursor: Schema.optionalKey(Cursor)
      },
      success: CasePage,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List cases",
        `Lists the tests of the product that have a result, by title, ${casesPageSize} a page. Filters combine; send the same filters for every page. Case and accents in titles do not matter, numbers count as numbers, and equal titles come by case id.

A result is that of a test in a finished run, unless it was skipped there; the newest is that of the run with the highest number. States and rates are of the results of ${countedDays} days, durations of the newest ${newestResults}. ${counted} Results of runs that are erased are gone. Returns 404 if the environment of the filter does not exist. Any role may call this.`
      )
    ),
    HttpApiEndpoint.get("get", `${workspacePath}/products/:product/cases/:caseId`, {
      params: {
        ...params,
        caseId: Schema.String.annotate({
          description: "The id of the case. Slashes in it may be written as `/` or `%2F`.",
          examples: ["checkout.spec.ts:pays-by-card"]
        })
      },
      query: {
        environment,
        before: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({
              description:
                "Only results of runs numbered below it. For the next page, send the lowest number that you have."
            })
          )
        )
      },
      success: CaseWithResults,
      error: NotFound
    })
      .annotate(RestOfPath, true)
      .annotateMerge(
        doc(
          "read",
          "Get a case",
          `Returns the case with its results, newest run first, ${resultsPageSize} a page. A page with fewer than ${resultsPageSize} is the last. ${counted} Returns 404 if the test has no result, or none in the environment. Any role may call this.`
        )
      ),
    HttpApiEndpoint.get("errors", `${workspacePath}/test-runs/:run/errors`, {
      params: { slug: WorkspaceRef, run: NumberInPath },
      success: RunErrors,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List the errors of a test run",
        `Groups the failed tests of the run by what their last failed attempt says: two that differ in numbers, ids, paths and quoted text alone are one error. A failure is \`known\` if the same case fails in the same way on the base branch of the product (in its newest result there before the run), or failed so in one of the ${comparedRuns} finished runs of the product before it, whatever their environment and branch; else it is \`new\`. Results of earlier runs count a moment after these have finished. A run that is running has no errors yet. Any role may call this.`
      )
    ),
    HttpApiEndpoint.get("trends", `${workspacePath}/products/:product/trends`, {
      params,
      query: trendQuery,
      success: Trends,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "Get the trends of a product",
        `Returns for each day, in UTC, what the runs came to that finished on it: how many there were, and of all of their tests together the rates and durations. Days without runs are in it, too. At most ${maxTrendDays} days (400). ${counted} What is erased by its age, or deleted, stays in trends. Any role may call this.`
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tests over time",
      description:
        "How the tests of a product do over many runs: which fail since when, which are flaky or slow, and what is new."
    })
  ) {}
