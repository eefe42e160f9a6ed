import { NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { WorkspaceId } from "@delivery/domain/Ids"
import {
  type Case,
  caseCursor,
  type CasePage,
  casesPageSize,
  type CaseState,
  type CaseWithResults,
  type ListedCase,
  readCaseCursor,
  resultsPageSize,
  type RunErrors,
  type Trends
} from "@delivery/domain/runs/Case"
import {
  countedDays,
  countedFrom,
  dayFigures,
  dayOf,
  daysBefore,
  daysFrom,
  ratesOf,
  ratesOfDay,
  slowFrom,
  statesOf
} from "@delivery/domain/runs/CaseFigures"
import { maxTrendDays } from "@delivery/domain/runs/CasesApi"
import { runErrors } from "@delivery/domain/runs/RunErrors"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole } from "../../access/Access.ts"
import { EnvironmentsRepo } from "../../catalog/EnvironmentsRepo.ts"
import { ProductsRepo } from "../../catalog/ProductsRepo.ts"
import { Storage } from "../../storage/Storage.ts"
import { noRun } from "../RunAnswers.ts"
import { RunMutes, type StoredRunMute } from "../RunMutes.ts"
import type { TestedAt } from "../TestedAddress.ts"
import { TestRunsRepo } from "../TestRunsRepo.ts"
import { grouped } from "./GroupedFailures.ts"
import {
  type CaseFilter,
  type CaseScope,
  CasesRepo,
  type FoundCase,
  type PassedRun,
  type StateRule
} from "./CasesRepo.ts"

/** The query of a list of cases. */
export interface CaseQuery {
  readonly state?: CaseState | undefined
  readonly environment?: string | undefined
  readonly q?: string | undefined
  /** How many of its newest results each case comes with; undefined for none. */
  readonly results?: number | undefined
  readonly cursor?: string | undefined
}

/** Tests over time (docs/contract.md, Tests over time). */
export class Cases extends Context.Service<
  Cases,
  {
    readonly list: (product: string, query: CaseQuery) => Effect.Effect<CasePage, NotFound, Caller>
    /** With its results of runs numbered below `before`. */
    readonly get: (
      product: string,
      caseId: string,
      query: { readonly environment?: string | undefined; readonly before?: number | undefined }
    ) => Effect.Effect<CaseWithResults, NotFound, Caller>
    /** The newest run of the product in the environment, numbered below `before`, in which the case passed at once. */
    readonly lastPass: (
      product: string,
      caseId: string,
      query: { readonly environment: string; readonly before: { readonly number: number } & TestedAt }
    ) => Effect.Effect<PassedRun | undefined, NotFound, Caller>
    readonly errors: (run: number) => Effect.Effect<RunErrors, NotFound, Caller>
    /** Of the days from `from` to `to`, both inclusive. */
    readonly trends: (
      product: string,
      query: {
        readonly environment?: string | undefined
        readonly from?: string | undefined
        readonly to?: string | undefined
      }
    ) => Effect.Effect<Trends, NotFound, Caller>
  }
>()("@delivery/server/runs/cases/Cases") {
  static readonly layer = Layer.effect(Cases, Effect.gen(make))
}

interface Dependencies {
  readonly repo: CasesRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly environments: EnvironmentsRepo["Service"]
  readonly runs: TestRunsRepo["Service"]
  readonly mutes: RunMutes["Service"]
  readonly storage: Storage["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* CasesRepo,
    products: yield* ProductsRepo,
    environments: yield* EnvironmentsRepo,
    runs: yield* TestRunsRepo,
    mutes: yield* RunMutes,
    storage: yield* Storage
  }
  return Cases.of({
    list: list(dependencies),
    get: get(dependencies),
    lastPass: lastPass(dependencies),
    errors: errors(dependencies),
    trends: trends(dependencies)
  })
}

const now = Effect.map(Clock.currentTimeMillis, timestamp)

/** The results that a path and a filter name. */
const scopeOf = ({ environments, products }: Dependencies) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId, product: string, environment: string | undefined) {
    const found = yield* products.find(workspaceId, product)
    if (found === undefined) return yield* NotFound.of("product", product)
    if (environment === undefined) return { workspaceId, productId: found.id, environmentId: undefined }
    const inside = yield* environments.find(workspaceId, environment)
    if (inside === undefined) return yield* NotFound.reference("environment", environment)
    return { workspaceId, productId: found.id, environmentId: inside.id }
  })

/** How the states of the cases are decided now. */
const ruleOf = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (scope: CaseScope) {
    return { since: countedFrom(yield* now), slowFromMs: slowFrom(yield* repo.median(scope)) }
  })

const list = (dependencies: Dependencies) => {
  const { mutes, repo, storage } = dependencies
  const findScope = scopeOf(dependencies)
  const findRule = ruleOf(dependencies)
  const present = presenting(dependencies)
  return Effect.fn("Cases.list")(function* (product: string, { cursor, environment, q, results, state }: CaseQuery) {
    const access = yield* anyRole
    const scope = yield* findScope(access.workspace.id, product, environment)
    const after = cursor === undefined ? undefined : readCaseCursor(cursor)
    return yield* storage.snapshot(
      Effect.gen(function* () {
        const rule = yield* findRule(scope)
        const muted = yield* mutes.ofProduct(scope.workspaceId, scope.productId)
        const filter: CaseFilter =
          state === "muted" ? { q, after, caseIds: muted.map(({ caseId }) => caseId) } : { state, q, after }
        const found = yield* repo.list(scope, filter, rule, casesPageSize + 1)
        const page = found.slice(0, casesPageSize)
        const cases = yield* present(access, scope, page, rule, muted)
        return {
          cases: results === undefined ? cases : yield* withResults(repo, scope, cases, results),
          nextCursor: found.length > casesPageSize ? caseCursor(page.at(-1)!) : null
        }
      })
    )
  })
}

const withResults = (
  repo: Dependencies["repo"],
  scope: CaseScope,
  cases: ReadonlyArray<Case>,
  most: number
): Effect.Effect<ReadonlyArray<ListedCase>> =>
  Effect.map(
    repo.newest(
      scope,
      cases.map(({ caseId }) => caseId),
      most
    ),
    (newest) => cases.map((one) => ({ ...one, results: newest.get(one.caseId) ?? [] }))
  )

const get = (dependencies: Dependencies) => {
  const { mutes, repo, storage } = dependencies
  const findScope = scopeOf(dependencies)
  const findRule = ruleOf(dependencies)
  const present = presenting(dependencies)
  return Effect.fn("Cases.get")(function* (
    product: string,
    caseId: string,
    { before, environment }: { readonly environment?: string | undefined; readonly before?: number | undefined }
  ) {
    const access = yield* anyRole
    const scope = yield* findScope(access.workspace.id, product, environment)
    if (!isCaseId(caseId)) return yield* NotFound.of("case", caseId)
    const shown = yield* storage.snapshot(
      Effect.gen(function* () {
        const rule = yield* findRule(scope)
        const found = yield* repo.find(scope, caseId, rule)
        if (found === undefined) return undefined
        const muted = yield* mutes.ofProduct(scope.workspaceId, scope.productId)
        const [shownCase] = yield* present(access, scope, [found], rule, muted)
        return { ...shownCase!, results: yield* repo.results(scope, caseId, before, resultsPageSize) }
      })
    )
    return shown ?? (yield* NotFound.of("case", caseId))
  })
}

const lastPass = (dependencies: Dependencies): Cases["Service"]["lastPass"] => {
  const findScope = scopeOf(dependencies)
  return Effect.fn("Cases.lastPass")(function* (product, caseId, { before, environment }) {
    const { workspace } = yield* anyRole
    const scope = yield* findScope(workspace.id, product, environment)
    return yield* dependencies.repo.lastPass(scope, caseId, before)
  })
}

/** What cannot be stored is no id of a case. */
const isCaseId = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** The cases with the tickets about them, as the caller may see those. */
const presenting = ({ mutes }: Dependencies) =>
  Effect.fnUntraced(function* (
    access: Access,
    { productId }: CaseScope,
    found: ReadonlyArray<FoundCase>,
    rule: StateRule,
    muted: ReadonlyArray<StoredRunMute>
  ) {
    const ids = found.map(({ caseId }) => caseId)
    if (ids.length === 0) return []
    const shownIds = new Set(ids)
    const ofThese = muted.filter(({ caseId }) => shownIds.has(caseId))
    const shown = ofThese.length === 0 ? [] : yield* mutes.shown(access, ofThese)
    const byCase = new Map(shown.map(({ caseId, ticket, until }) => [caseId, { ticket, until }]))
    const tickets = yield* mutes.tickets(access, productId, ids)
    return found.map((one) => present(one, rule, byCase.get(one.caseId) ?? null, tickets.get(one.caseId) ?? null))
  })

const present = (found: FoundCase, rule: StateRule, muted: Case["muted"], ticket: Case["ticket"]): Case => {
  const { caseId, coverage, figures, file, testKind, title } = found
  const states = statesOf(figures, rule)
  return {
    caseId,
    title,
    file,
    coverage,
    testKind,
    states: muted === null ? states : [...states, "muted"],
    firstFailure: found.firstFailure,
    lastFailure: found.lastFailure,
    failingSince: states.includes("failing") ? found.failingSince : null,
    ...ratesOf(figures),
    durationP50Ms: figures.durationP50Ms,
    durationP95Ms: figures.durationP95Ms,
    muted,
    ticket
  }
}

const errors = ({ mutes: aboutTests, repo, runs }: Dependencies) =>
  Effect.fn("Cases.errors")(function* (number: number) {
    const access = yield* anyRole
    const { workspace } = access
    const run = yield* repo.failures(workspace.id, number)
    if (run === undefined) return yield* noRun(number)
    const { failures, productId } = run
    if (failures.length === 0) return { errors: [] }
    const ids = failures.map(({ caseId }) => caseId)
    const earlier = yield* repo.earlier({ workspaceId: workspace.id, productId, number }, ids)
    const mutes = run.mutedCount === 0 ? [] : yield* runs.mutes(run.id)
    const muted = new Set(mutes.map(({ caseId }) => caseId))
    const tickets = yield* aboutTests.tickets(access, productId, ids)
    return { errors: runErrors(yield* grouped(failures, ({ error }) => error), earlier, muted, tickets) }
  })

const trends = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const findScope = scopeOf(dependencies)
  return Effect.fn("Cases.trends")(function* (
    product: string,
    query: {
      readonly environment?: string | undefined
      readonly from?: string | undefined
      readonly to?: string | undefined
    }
  ) {
    const { workspace } = yield* anyRole
    const scope = yield* findScope(workspace.id, product, query.environment)
    const { from, to } = periodOf(query, dayOf(yield* now))
    const found = new Map((yield* repo.days(scope, from, to)).map((figures) => [figures.day, figures]))
    const days = daysFrom(from, to).map((date) => {
      const figures = found.get(date) ?? dayFigures([])
      const { durationP50Ms, durationP95Ms, flaky, runs } = figures
      return { date, runs, ...ratesOfDay(figures), flaky, durationP50Ms, durationP95Ms }
    })
    return { days }
  })
}

/** The days of a query: those that count up to `to`, or as many as an answer may have from `from` on. */
export const periodOf = (
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: string
): { readonly from: string; readonly to: string } => {
  if (from === undefined) {
    const last = to ?? today
    return { from: daysBefore(last, countedDays - 1), to: last }
  }
  if (to !== undefined) return { from, to }
  if (from >= today) return { from, to: from }
  const last = daysBefore(from, -(maxTrendDays - 1))
  return { from, to: last < today ? last : today }
}
