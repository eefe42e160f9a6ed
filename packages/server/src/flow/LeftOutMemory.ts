import { maxShownName } from "@delivery/domain/flow/ShownName"
import { compare } from "@delivery/domain/Order"
import { isSameAddress, testsDeployment } from "@delivery/domain/runs/TestedAddress"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import type { RecordedTest } from "@delivery/domain/runs/TestResults"
import { firstCharacters } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { deploymentReleases } from "../catalog/ReleaseRows.ts"
import { tickets } from "../planning/TicketsRepo.ts"
import { isReproducible, isWhole } from "../runs/RunScope.ts"
import { mostElsewhere } from "../runs/TestedAddress.ts"
import { testRunAttemptsTable, testRunRetries } from "../runs/RetriesRepo.ts"
import { testsDeploymentNow } from "../runs/TestedDeployment.ts"
import { beganBy, isBefore } from "../runs/TestTimes.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "../runs/TestRunsRepo.ts"
import type { MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { lastFirst, mayDecide, ranBefore, testsWhatIsThere } from "./MayDecideMemory.ts"
import {
  type AskedVersions,
  fewerOf,
  leastFewer,
  type LeftOutTest,
  mostCompared,
  mostLeftOut,
  namedTests,
  type ReadinessRepo
} from "./ReadinessRepo.ts"

/** What the runs that decide have left out, of what ran before them (docs/contract.md, Readiness). */

type Memory = MemoryStorage["Service"]
type Repo = ReadinessRepo["Service"]

/** Whether a test of a run has failed. What passed elsewhere in a retry is flaky there: of such a run all that is flaky has failed. */
export const isFailure = (
  { retriedElsewhere }: Pick<TestRunRow, "retriedElsewhere">,
  { status }: Pick<TestEntry, "status">
): boolean => status === "failed" || (status === "flaky" && retriedElsewhere === true)

const isInterrupted = (run: TestRunRow): boolean => run.state === "interrupted" && run.finishedAt !== null

interface Before {
  readonly run: TestRunRow
  readonly isOther: boolean
  /** Whether it is of another version, and began when its environment had had the version already: that was put back since. */
  readonly isLater: boolean
  /** The address that it tested, where the deployment had that then, and has not now. */
  readonly formerUrl: string | null
}

/** The runs up to one that decides, that itself first. */
const runsBefore = (
  database: MemoryDatabase,
  { versions }: AskedVersions,
  deciding: TestRunRow
): ReadonlyArray<Before> => {
  const { environmentId, productId } = deciding
  const ofProduct = database.table(testRuns).filter((run) => run.productId === productId)
  const newest = (runs: ReadonlyArray<TestRunRow>) =>
    runs.toSorted((a, b) => b.number - a.number).slice(0, mostElsewhere)
  const matches = (run: TestRunRow) =>
    run.environmentId === environmentId &&
    run.coverage === deciding.coverage &&
    isWhole(run) &&
    (mayDecide(run) || (isInterrupted(run) && isReproducible(run))) &&
    testsDeployment(run)
  const own = versions.flatMap((version) => {
    const those = ofProduct.filter((run) => run.deploymentVersion === version && matches(run))
    return [
      ...those
        .filter((run) => run.result !== null && lastFirst(run, deciding) >= 0)
        .toSorted(lastFirst)
        .slice(0, mostElsewhere),
      ...newest(those.filter(({ result }) => result === null))
    ]
  })
  const earlier = ofProduct.filter((run) => run.number < deciding.number)
  const others = [
    ...newest(earlier.filter((run) => run.environmentId === environmentId && run.result !== null)),
    ...newest(earlier.filter((run) => isInterrupted(run)))
  ].filter((run) => run.deploymentVersion !== null && !versions.includes(run.deploymentVersion) && matches(run))
  const [released] = database
    .table(deploymentReleases)
    .filter(
      (row) =>
        row.productId === productId &&
        row.environmentId === environmentId &&
        row.version !== null &&
        versions.includes(row.version)
    )
    .map(({ at }) => at)
    .toSorted(compare)
  return [
    ...own.map((run) => ({ run, isOther: false, isLater: false })),
    ...others.map((run) => ({ run, isOther: true, isLater: released !== undefined && run.startedAt >= released }))
  ]
    .filter(({ run }) => lastFirst(run, deciding) >= 0 && !ranBefore(database, run))
    .map((one) => ({ ...one, formerUrl: testsDeploymentNow(database, one.run) ? null : one.run.baseUrl }))
    .toSorted((a, b) => lastFirst(a.run, b.run))
}

/** Of each other coverage, the run of the version which finished last in the environment and could decide itself; the newest first. */
const runsBeside = (
  database: MemoryDatabase,
  { versions }: AskedVersions,
  { coverage, environmentId, productId }: TestRunRow
): ReadonlyArray<TestRunRow> => {
  const those = database
    .table(testRuns)
    .filter(
      (run) =>
        run.productId === productId &&
        run.environmentId === environmentId &&
        run.deploymentVersion !== null &&
        versions.includes(run.deploymentVersion) &&
        run.coverage !== null &&
        run.coverage !== coverage &&
        isWhole(run) &&
        mayDecide(run) &&
        testsWhatIsThere(database, run)
    )
    .toSorted(lastFirst)
  return [...new Map(those.toReversed().map((run) => [run.coverage, run])).values()].toSorted(
    (a, b) => b.number - a.number
  )
}

/** A test that failed in a run before, or in the one that decides. */
interface Failure extends Before {
  readonly place: number
  readonly test: RecordedTest
  readonly beganAt: Timestamp | null
}

const testsIn = (database: MemoryDatabase, run: TestRunRow): ReadonlyArray<RecordedTest> =>
  database.table(testRunTestsTable).get(run.id) ?? []

const retriedIn = (database: MemoryDatabase, run: TestRunRow, caseId: string) =>
  (database.table(testRunAttemptsTable).get(run.id) ?? []).filter((attempt) => attempt.caseId === caseId)

/** When a test began that passed in a run, by its last attempt. */
const passBegan = (database: MemoryDatabase, run: TestRunRow, test: RecordedTest): Timestamp | null =>
  (test.status === "flaky" ? retriedIn(database, run, test.caseId) : test.attempts).at(-1)?.startedAt ?? null

/** What failed in a run; so has what passed in a retry that began before it failed, also in the run that decides. */
const failuresIn = (database: MemoryDatabase, before: Before, place: number): ReadonlyArray<Failure> =>
  testsIn(database, before.run).flatMap((test) => {
    const { run } = before
    const beganAt = beganBy(test.attempts[0]?.startedAt ?? null, run.finishedAt!)
    const hasFailed = isFailure(run, test)
      ? place > 0
      : test.status === "flaky" && isBefore(passBegan(database, run, test), beganAt)
    return hasFailed ? [{ ...before, place, test, beganAt }] : []
  })

/** The last time when a test failed in a run or a retry of it, as that was told. */
const failedAt = (database: MemoryDatabase, run: TestRunRow, caseId: string): Timestamp => {
  const again = new Set(
    retriedIn(database, run, caseId).flatMap(({ retry, status }) => (status === "failed" ? [retry] : []))
  )
  return database
    .table(testRunRetries)
    .filter(({ number, runId }) => runId === run.id && again.has(number))
    .reduce((last, { finishedAt }) => (finishedAt !== null && finishedAt > last ? finishedAt : last), run.finishedAt!)
}

export const leftOut =
  (memory: Memory): Repo["leftOut"] =>
  (asked, ids) =>
    memory.read((database) =>
      ids.flatMap((id): ReadonlyArray<LeftOutTest> => {
        const before = runsBefore(database, asked, database.table(testRuns).get(id)!)
        const besides = runsBeside(database, asked, before[0]!.run)
        const testOf = (run: TestRunRow, caseId: string) =>
          testsIn(database, run).find((test) => test.caseId === caseId)
        /** The runs up to the failure in which it passed, the newest first. */
        const passesAnywhere = ({ place, test: { caseId } }: Failure) =>
          before.slice(0, place + 1).flatMap(({ formerUrl, run }, index) => {
            const test = run.result === null ? undefined : testOf(run, caseId)
            if (test === undefined || test.status === "skipped" || isFailure(run, test)) return []
            return [{ number: run.number, place: index, formerUrl, beganAt: passBegan(database, run, test) }]
          })
        /** Those of them that say anything of where it failed. */
        const passes = (failure: Failure) =>
          passesAnywhere(failure).filter(
            ({ formerUrl }) =>
              formerUrl === null || (failure.formerUrl !== null && isSameAddress(formerUrl, failure.formerUrl))
          )
        const settles = (
          { beganAt, place }: Failure,
          pass: { readonly place: number; readonly beganAt: Timestamp | null }
        ) => pass.place !== place && !isBefore(pass.beganAt, beganAt)
        const passedAway = (failure: Failure) =>
          passesAnywhere(failure).find(
            ({ formerUrl, ...pass }) =>
              settles(failure, pass) &&
              formerUrl !== null &&
              (failure.formerUrl === null || !isSameAddress(formerUrl, failure.formerUrl))
          )?.number ?? null
        const isTold = (failure: Failure) => {
          const { isLater, place, test } = failure
          // What failed in the one that decides is said of that.
          if (place > 0 && testOf(before[0]!.run, test.caseId)?.status === "failed") return false
          if (isLater && before.every(({ isOther, run }) => isOther || testOf(run, test.caseId) === undefined))
            return false
          return !passes(failure).some((pass) => settles(failure, pass))
        }
        const passedIn = (caseId: string) => {
          const run = besides.find((one) => {
            const test = testOf(one, caseId)
            return test !== undefined && test.status !== "skipped" && !isFailure(one, test)
          })
          return run === undefined ? null : { coverage: run.coverage!, number: run.number }
        }
        const failures = before
          .flatMap((one, place) => failuresIn(database, one, place))
          .toSorted((a, b) => Number(a.isOther) - Number(b.isOther))
        const found = new Map<string, LeftOutTest>()
        for (const failure of failures) {
          const { formerUrl, isOther, run, test } = failure
          const { caseId, title } = test
          if (found.has(caseId) || !isTold(failure)) continue
          found.set(caseId, {
            coverage: run.coverage!,
            caseId,
            title: firstCharacters(title, maxShownName),
            number: run.number,
            branch: run.gitBranch,
            isFormer: formerUrl !== null,
            failedAt: failedAt(database, run, caseId),
            oldPass: passes(failure)[0]?.number ?? null,
            passedAway: passedAway(failure),
            otherVersion: isOther ? run.deploymentVersion : null,
            passedIn: passedIn(caseId)
          })
        }
        // Those of the version first, then those of the newest runs.
        return [...found.values()].slice(0, mostLeftOut).toSorted((a, b) => compare(a.caseId, b.caseId))
      })
    )

export const settled =
  (memory: Memory): Repo["settled"] =>
  ({ productId, workspaceId }, caseIds) =>
    memory.read((database) => {
      const wanted = new Set(caseIds)
      const found = new Map<string, Timestamp>()
      for (const { cases, completedAt, completion, workspaceId: of } of database
        .table(tickets)
        .filter((one) => one.cases !== null)) {
        if (of !== workspaceId || completion !== "evidence" || completedAt === null) continue
        if (cases?.productId !== productId) continue
        for (const caseId of cases.caseIds.filter((id) => wanted.has(id))) {
          const { askedAt = {} } = cases
          const at = Object.hasOwn(askedAt, caseId) ? askedAt[caseId]! : completedAt
          const before = found.get(caseId)
          if (before === undefined || before < at) found.set(caseId, at)
        }
      }
      return [...found].map(([caseId, at]) => ({ caseId, at }))
    })

export const fewer =
  (memory: Memory): Repo["fewer"] =>
  (asked, ids) =>
    memory.read((database) =>
      ids.flatMap((id) => {
        const [first, ...before] = runsBefore(database, asked, database.table(testRuns).get(id)!)
        const ranIn = ({ failed, flaky, passed }: TestRunRow) => passed + flaky + failed
        const others = before
          .filter(
            ({ formerUrl, isLater, isOther, run }) => isOther && !isLater && formerUrl === null && run.result !== null
          )
          .toSorted((a, b) => a.run.number - b.run.number)
        const newest = new Map(others.map(({ run }) => [run.deploymentVersion, run]))
        const [last] = [...newest.values()]
          .toSorted((a, b) => b.number - a.number)
          .slice(0, mostCompared)
          .toSorted((a, b) => ranIn(b) - ranIn(a))
        if (last === undefined) return []
        const count = ranIn(last) - ranIn(first!.run)
        if (count < leastFewer || count < ranIn(last) / fewerOf) return []
        const testsOf = (run: TestRunRow) =>
          (database.table(testRunTestsTable).get(run.id) ?? []).filter(({ status }) => status !== "skipped")
        const had = new Set(testsOf(first!.run).map(({ caseId }) => caseId))
        const titles = testsOf(last)
          .filter(({ caseId }) => !had.has(caseId))
          .toSorted((a, b) => compare(a.caseId, b.caseId))
          .slice(0, namedTests)
          .map(({ title }) => firstCharacters(title, maxShownName))
        return [
          { coverage: first!.run.coverage!, number: last.number, version: last.deploymentVersion!, count, titles }
        ]
      })
    )
