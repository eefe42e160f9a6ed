import { shownName } from "@delivery/domain/flow/ShownName"
import type { EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { CaseRun } from "@delivery/domain/runs/Case"
import {
  caseFigures,
  type CaseResult,
  caseResult,
  comparedRuns,
  dayFigures,
  dayOf,
  productMedian,
  type RunOfDay,
  statesOf
} from "@delivery/domain/runs/CaseFigures"
import { errorGroupOf, failureText } from "@delivery/domain/runs/ErrorGroups"
import { isSameAddress, testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { type RecordedTest, testEntry, withAttempts } from "@delivery/domain/runs/TestResults"
import { titleKey } from "@delivery/domain/runs/TitleKey"
import { Effect, Layer } from "effect"
import { environments } from "../../catalog/EnvironmentsRepo.ts"
import { products } from "../../catalog/ProductsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../../storage/MemoryStorage.ts"
import { pastRuns } from "../erasure/RunErasureRepo.ts"
import { testRunAttemptsTable } from "../RetriesRepo.ts"
import { caseText, searchPart } from "../search/SearchText.ts"
import { mostElsewhere } from "../TestedAddress.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "../TestRunsRepo.ts"
import { type CaseScope, CasesRepo, type StateRule } from "./CasesRepo.ts"

type Memory = MemoryStorage["Service"]

/** Nothing is counted behind the runs: each read looks through them. */
export const layer = Layer.effect(
  CasesRepo,
  Effect.map(MemoryStorage, (memory) =>
    CasesRepo.of({
      median: (scope) => memory.read((database) => medianOf(resultsOf(database, scope))),
      list: list(memory),
      find: find(memory),
      results: results(memory),
      lastPass: lastPass(memory),
      newest: newest(memory),
      names: names(memory),
      failures: failures(memory),
      earlier: earlier(memory),
      days: days(memory)
    })
  )
)

/** A finished run. */
type FinishedRun = TestRunRow & { readonly finishedAt: string }

/** The finished runs of a product, newest first. */
const finishedRuns = (database: MemoryDatabase, workspaceId: WorkspaceId, productId: ProductId) =>
  database
    .table(testRuns)
    .filter((run) => run.workspaceId === workspaceId && run.productId === productId && run.result !== null)
    .toSorted((a, b) => b.number - a.number) as ReadonlyArray<FinishedRun>

const isIn =
  (environmentId: EnvironmentId | undefined) =>
  (run: { readonly environmentId: EnvironmentId }): boolean =>
    environmentId === undefined || run.environmentId === environmentId

const testsOf = (database: MemoryDatabase, { id }: Pick<TestRunRow, "id">): ReadonlyArray<RecordedTest> =>
  withAttempts(database.table(testRunTestsTable).get(id) ?? [], database.table(testRunAttemptsTable).get(id) ?? [])

/** A result with the test and the run that it is of. */
interface ResultOfRun extends CaseResult {
  readonly test: RecordedTest
  readonly ofRun: FinishedRun
  /** What its last failed attempt says. */
  readonly error: string | null
}

const groupOf = ({ error }: ResultOfRun): string | null => (error === null ? null : errorGroupOf(error))

/** The results of each case, newest run first. */
const resultsOf = (database: MemoryDatabase, { environmentId, productId, workspaceId }: CaseScope) => {
  const byCase = new Map<string, Array<ResultOfRun>>()
  for (const ofRun of finishedRuns(database, workspaceId, productId).filter(isIn(environmentId))) {
    for (const test of testsOf(database, ofRun)) {
      const result = caseResult(test, ofRun)
      if (result === undefined) continue
      const known = byCase.get(test.caseId)
      const one = { ...result, test, ofRun }
      if (known === undefined) byCase.set(test.caseId, [one])
      else known.push(one)
    }
  }
  return byCase
}

type ByCase = ReturnType<typeof resultsOf>

const medianOf = (byCase: ByCase): number | null =>
  productMedian([...byCase.values()].map((inCase) => caseFigures(inCase, "").durationP50Ms))

const foundCase = (inCase: ReadonlyArray<ResultOfRun>, { since }: StateRule) => {
  const { caseId, coverage, file, testKind, title } = inCase[0]!.test
  const figures = caseFigures(inCase, since)
  const shown = (number: number | null): CaseRun | null => {
    const run = inCase.find((one) => one.run === number)?.ofRun
    return run === undefined ? null : { run: run.number, commit: run.gitSha, at: run.finishedAt }
  }
  return {
    caseId,
    title,
    file,
    coverage,
    testKind,
    titleKey: titleKey(title),
    figures,
    firstFailure: shown(figures.firstFailure),
    lastFailure: shown(figures.lastFailure),
    failingSince: shown(figures.failingSince)
  }
}

const list =
  (memory: Memory): CasesRepo["Service"]["list"] =>
  (scope, { after, caseIds, q, state }, rule, limit) =>
    memory.read((database) =>
      [...resultsOf(database, scope).values()]
        .map((inCase) => foundCase(inCase, rule))
        .filter(
          (found) =>
            (state === undefined || statesOf(found.figures, rule).includes(state)) &&
            (caseIds === undefined || caseIds.includes(found.caseId)) &&
            (q === undefined || caseText(found).includes(searchPart(q))) &&
            (after === undefined || byTitle(found, after) > 0)
        )
        .toSorted(byTitle)
        .slice(0, limit)
    )

const names =
  (memory: Memory): CasesRepo["Service"]["names"] =>
  (place, caseIds) =>
    memory.read((database) => {
      const byCase = resultsOf(database, { ...place, environmentId: undefined })
      return new Map(
        caseIds.flatMap((caseId) => {
          const test = byCase.get(caseId)?.[0]?.test
          return test === undefined
            ? []
            : [[caseId, { title: shownName(test.title), file: shownName(test.file) }] as const]
        })
      )
    })

interface Place {
  readonly titleKey: string
  readonly caseId: string
}

const byTitle = (a: Place, b: Place): number => compare(a.titleKey, b.titleKey) || compare(a.caseId, b.caseId)

const find =
  (memory: Memory): CasesRepo["Service"]["find"] =>
  (scope, caseId, rule) =>
    memory.read((database) => {
      const inCase = resultsOf(database, scope).get(caseId)
      return inCase === undefined ? undefined : foundCase(inCase, rule)
    })

const results =
  (memory: Memory): CasesRepo["Service"]["results"] =>
  (scope, caseId, before, limit) =>
    memory.read((database) =>
      (resultsOf(database, scope).get(caseId) ?? [])
        .filter(({ run }) => before === undefined || run < before)
        .slice(0, limit)
        .map((result) => {
          const { attempts, durationMs, ofRun, run, status } = result
          const environment = database.table(environments).get(ofRun.environmentId)!
          return {
            run,
            environment: { slug: environment.slug, name: environment.name, class: environment.class },
            commit: ofRun.gitSha,
            branch: ofRun.gitBranch,
            status,
            attempts,
            durationMs,
            errorGroup: groupOf(result),
            at: ofRun.finishedAt
          }
        })
    )

const lastPass =
  (memory: Memory): CasesRepo["Service"]["lastPass"] =>
  (scope, caseId, before) =>
    memory.read((database) => {
      const inCase = resultsOf(database, scope).get(caseId) ?? []
      const run = inCase
        .filter((result) => result.run < before.number && result.status === "passed")
        .slice(0, mostElsewhere)
        .find(({ ofRun }) =>
          testsDeployment(before) ? testsDeployment(ofRun) : isSameAddress(ofRun.baseUrl, before.baseUrl)
        )?.ofRun
      return run && { run: run.number, commit: run.gitSha, branch: run.gitBranch, at: run.finishedAt }
    })

const newest =
  (memory: Memory): CasesRepo["Service"]["newest"] =>
  (scope, caseIds, limit) =>
    memory.read((database) => {
      const byCase = resultsOf(database, scope)
      const shown = (caseId: string) =>
        (byCase.get(caseId) ?? []).slice(0, limit).map(({ durationMs, run, status }) => ({ run, status, durationMs }))
      return new Map(caseIds.map((caseId) => [caseId, shown(caseId)]))
    })

const failures = (memory: Memory) => (workspaceId: WorkspaceId, number: number) =>
  memory.read((database) => {
    const run = database.table(testRuns).find((run) => run.workspaceId === workspaceId && run.number === number)
    if (run === undefined) return undefined
    const failed = testsOf(database, run).filter(({ status }) => status === "failed")
    return {
      id: run.id,
      number,
      mutedCount: run.mutedCount ?? 0,
      productId: run.productId,
      failures: failed.map(({ attempts, caseId, title }) => ({
        caseId,
        title,
        error: failureText(attempts.findLast(({ status }) => status === "failed")!)
      }))
    }
  })

const earlier =
  (memory: Memory): CasesRepo["Service"]["earlier"] =>
  ({ number, productId, workspaceId }, caseIds) =>
    memory.read((database) => {
      const { baseBranch } = database.table(products).get(productId)!
      const before = finishedRuns(database, workspaceId, productId).filter((run) => run.number < number)
      const recent = new Set(before.slice(0, comparedRuns).map((run) => run.number))
      const byCase = resultsOf(database, { workspaceId, productId, environmentId: undefined })
      return caseIds.flatMap((caseId) => {
        const known = (byCase.get(caseId) ?? []).filter(({ run }) => run < number)
        const onBase = known.find(({ ofRun }) => ofRun.gitBranch === baseBranch)
        return known
          .filter((result) => result.status === "failed" && (result === onBase || recent.has(result.run)))
          .map((result) => ({ caseId, errorGroup: groupOf(result) }))
      })
    })

const days =
  (memory: Memory): CasesRepo["Service"]["days"] =>
  ({ environmentId, productId, workspaceId }, from, to) =>
    memory.read((database) => {
      const present = finishedRuns(database, workspaceId, productId).map((run) => ({
        ...run,
        ...runOfDay(run, testsOf(database, run))
      }))
      const past = database
        .table(pastRuns)
        .filter((run) => run.workspaceId === workspaceId && run.productId === productId)
        .map((run) => ({ ...run, counted: run.total - run.skipped }))
      const inPeriod = [...present, ...past].filter(isIn(environmentId)).filter(({ finishedAt }) => {
        const day = dayOf(finishedAt)
        return day >= from && day <= to
      })
      return [...Map.groupBy(inPeriod, ({ finishedAt }) => dayOf(finishedAt))]
        .map(([day, runs]) => ({ day, ...dayFigures(runs) }))
        .toSorted((a, b) => compare(a.day, b.day))
    })

const runOfDay = (
  { flaky, passed, skipped, total }: Pick<TestRunRow, "flaky" | "passed" | "skipped" | "total">,
  tests: ReadonlyArray<RecordedTest>
): RunOfDay => {
  const ran = tests.filter(({ attempts }) => attempts.length > 0)
  return {
    counted: total - skipped,
    passed,
    flaky,
    passedFirst: ran.filter(({ attempts }) => attempts[0]!.status === "passed").length,
    durations: ran.map((test) => testEntry(test).durationMs)
  }
}
