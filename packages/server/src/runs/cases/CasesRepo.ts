import type { EnvironmentId, ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { CaseFigures, CountedState, DayFigures } from "@delivery/domain/runs/CaseFigures"
import type { Case, CasePlace, CaseRun, ListedResult, ShownResult } from "@delivery/domain/runs/Case"
import type { EarlierFailure, Failure } from "@delivery/domain/runs/RunErrors"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { Context, type Effect } from "effect"
import type { TestedAt } from "../TestedAddress.ts"
import { boolean, day, double, integer, nullable, table, text, uuid } from "../../storage/Table.ts"

/**
 * What the results of tests over many runs come to. Only SQL has these tables: they are counted behind the runs
 * (`CaseCountingRepo`). The memory storage reads the runs.
 */

/**
 * A test of a product, with its figures: once for each environment where it has results, and once for all of them together. The
 * results belong to the rows of environments.
 */
export const testCases = table("test_cases", {
  id: integer(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  /** The environment; the product itself in the row of all environments. */
  scopeId: uuid<ProductId | EnvironmentId>(),
  /** The row of all environments; null in that row. */
  wholeId: nullable(integer()),
  caseId: text(),
  title: text(),
  file: text(),
  coverage: text<Coverage>(),
  testKind: text(),
  /** What `q` searches. */
  search: text(),
  titleKey: text(),
  newestRun: integer(),
  newestFailed: boolean(),
  newestDay: day(),
  firstFailure: nullable(integer()),
  lastFailure: nullable(integer()),
  failingSince: nullable(integer()),
  flakyDay: nullable(day()),
  p50Ms: double(),
  p95Ms: double(),
  /** Whether it can be slow, whatever its product's median is. */
  isLong: boolean()
})

/** The result of a test in a finished run, in which it was not skipped. */
export const caseResults = table("case_results", {
  workspaceId: uuid<WorkspaceId>(),
  /** The row of `test_cases` of its environment. */
  seriesId: integer(),
  number: integer(),
  failed: boolean(),
  flaky: boolean(),
  attempts: integer(),
  durationMs: double(),
  day: day(),
  /** Whether the run was of the base branch of its product. */
  onBase: boolean(),
  errorGroup: nullable(text())
})

/** How many results of a day were what. Days that no longer count have no rows. */
export const caseDays = table("case_days", {
  workspaceId: uuid<WorkspaceId>(),
  seriesId: integer(),
  day: day(),
  passed: integer(),
  flaky: integer(),
  failed: integer()
})

/** The median of a product, in an environment or (as in `test_cases`) in all. */
export const caseMedians = table("case_medians", {
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  scopeId: uuid<ProductId | EnvironmentId>(),
  medianMs: double()
})

/** What the runs of a day came to, erased ones included. */
export const productDays = table("product_days", {
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  scopeId: uuid<ProductId | EnvironmentId>(),
  day: day(),
  runs: integer(),
  counted: integer(),
  passed: integer(),
  flaky: integer(),
  passedFirst: integer(),
  p50Ms: nullable(double()),
  p95Ms: nullable(double())
})

/** Whose results are read: those of a product, in one environment or in all. */
export interface CaseScope {
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly environmentId: EnvironmentId | undefined
}

/** Which cases a list has; conditions combine. */
export interface CaseFilter {
  readonly state?: CountedState | undefined
  /** Only these cases. */
  readonly caseIds?: ReadonlyArray<string> | undefined
  /** Part of the title, the file or the id, in any case. */
  readonly q?: string | undefined
  /** Only cases behind it. */
  readonly after?: CasePlace | undefined
}

/** How states are decided. */
export interface StateRule {
  /** The first day that counts. */
  readonly since: string
  /** From which `durationP95Ms` on a case is slow. */
  readonly slowFromMs: number
}

/** A case with its figures, and what is shown of the runs that they name; null for one that is gone since. */
export interface FoundCase
  extends Pick<Case, "caseId" | "title" | "file" | "coverage" | "testKind">, Pick<CasePlace, "titleKey"> {
  readonly figures: CaseFigures
  readonly firstFailure: CaseRun | null
  readonly lastFailure: CaseRun | null
  readonly failingSince: CaseRun | null
}

/** A run in which a case passed. */
export interface PassedRun extends CaseRun {
  readonly branch: string
}

/** A run with the failures that it has to be asked for. */
export interface FailedRun {
  readonly id: TestRunId
  readonly number: number
  readonly mutedCount: number
  readonly productId: ProductId
  /** Of the tests that failed, in no order. */
  readonly failures: ReadonlyArray<Failure>
}

/** Reads what results come to. Over SQL, results that are yet to be counted are not in it, but for those of `failures`. */
export class CasesRepo extends Context.Service<
  CasesRepo,
  {
    /** The median of the product (`productMedian`); null where it has no case. */
    readonly median: (scope: CaseScope) => Effect.Effect<number | null>
    /** By title, then by case id, at most `limit`. */
    readonly list: (
      scope: CaseScope,
      filter: CaseFilter,
      rule: StateRule,
      limit: number
    ) => Effect.Effect<ReadonlyArray<FoundCase>>
    readonly find: (scope: CaseScope, caseId: string, rule: StateRule) => Effect.Effect<FoundCase | undefined>
    /** Newest run first, at most `limit`, of runs numbered below `before`. */
    readonly results: (
      scope: CaseScope,
      caseId: string,
      before: number | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ShownResult>>
    /** The newest run numbered below `before` in which the case passed, without having failed first. */
    readonly lastPass: (
      scope: CaseScope,
      caseId: string,
      before: { readonly number: number } & TestedAt
    ) => Effect.Effect<PassedRun | undefined>
    /** Of each of the cases, newest run first, at most `limit`. */
    readonly newest: (
      scope: CaseScope,
      caseIds: ReadonlyArray<string>,
      limit: number
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<ListedResult>>>
    /** What those of the cases are called that have a result, by the first `maxShownName` characters. */
    readonly names: (
      place: Pick<CaseScope, "workspaceId" | "productId">,
      caseIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, Pick<Case, "title" | "file">>>
    readonly failures: (workspaceId: WorkspaceId, number: number) => Effect.Effect<FailedRun | undefined>
    /**
     * Of the cases, the failures that make those of a run known: of the newest results on the base branch before it those that failed,
     * and those of the `comparedRuns` finished runs of the product before it.
     */
    readonly earlier: (
      run: { readonly workspaceId: WorkspaceId; readonly productId: ProductId; readonly number: number },
      caseIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<EarlierFailure>>
    /** The days from `from` to `to`, both inclusive, on which runs finished, oldest first. */
    readonly days: (
      scope: CaseScope,
      from: string,
      to: string
    ) => Effect.Effect<ReadonlyArray<DayFigures & { readonly day: string }>>
  }
>()("@delivery/server/runs/cases/CasesRepo") {}
