import { maxShownName } from "@delivery/domain/flow/ShownName"
import { compare } from "@delivery/domain/Order"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { firstCharacters } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { deploymentReleases } from "../catalog/ReleaseRows.ts"
import { tickets } from "../planning/TicketsRepo.ts"
import { isReproducible, isWhole } from "../runs/RunScope.ts"
import { mostElsewhere } from "../runs/TestedAddress.ts"
import { testsDeploymentNow } from "../runs/TestedDeployment.ts"
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
    testsDeploymentNow(database, run)
  const own = versions.flatMap((version) => {
    const those = ofProduct.filter((run) => run.deploymentVersion === version && matches(run))
    return [
      ...those
        .filter(({ result }) => result !== null)
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

export const leftOut =
  (memory: Memory): Repo["leftOut"] =>
  (asked, ids) =>
    memory.read((database) =>
      ids.flatMap((id): ReadonlyArray<LeftOutTest> => {
        const before = runsBefore(database, asked, database.table(testRuns).get(id)!)
        const testsOf = (run: TestRunRow) => database.table(testRunTestsTable).get(run.id) ?? []
        const had = new Set(
          before.flatMap(({ isOther, run }) => (isOther ? [] : testsOf(run).map((one) => one.caseId)))
        )
        // What runs in the one that decides is said of that, whatever came of it.
        const told = new Set(testsOf(before[0]!.run).flatMap((one) => (one.status === "skipped" ? [] : [one.caseId])))
        const found = new Map<string, LeftOutTest>()
        const besides = runsBeside(database, asked, before[0]!.run)
        const passedIn = (caseId: string) => {
          const run = besides.find((one) =>
            testsOf(one).some((test) => test.caseId === caseId && test.status !== "skipped" && !isFailure(one, test))
          )
          return run === undefined ? null : { coverage: run.coverage!, number: run.number }
        }
        for (const { isLater, isOther, run } of before.slice(1)) {
          for (const test of testsOf(run)) {
            const { caseId, status, title } = test
            if (status === "skipped" || told.has(caseId)) continue
            if (!isFailure(run, test)) {
              if (run.result !== null) told.add(caseId)
              continue
            }
            const isNearer = !isOther && (found.get(caseId)?.otherVersion ?? null) !== null
            if ((isLater && !had.has(caseId)) || (found.has(caseId) && !isNearer)) continue
            // In the order of the runs that are told.
            found.delete(caseId)
            found.set(caseId, {
              coverage: run.coverage!,
              caseId,
              title: firstCharacters(title, maxShownName),
              number: run.number,
              branch: run.gitBranch,
              finishedAt: run.finishedAt!,
              otherVersion: isOther ? run.deploymentVersion : null,
              passedIn: passedIn(caseId)
            })
          }
        }
        // Those of the version first, then as they were found: with the newest run.
        return [...found.values()]
          .toSorted((a, b) => Number(a.otherVersion !== null) - Number(b.otherVersion !== null))
          .slice(0, mostLeftOut)
          .toSorted((a, b) => compare(a.caseId, b.caseId))
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
          const before = found.get(caseId)
          if (before === undefined || before < completedAt) found.set(caseId, completedAt)
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
          .filter(({ isLater, isOther, run }) => isOther && !isLater && run.result !== null)
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
