import { beginOf, begunBy, isCommit } from "@delivery/domain/catalog/WholeVersion"
import { maxMutedFailures } from "@delivery/domain/flow/Readiness"
import { shownName } from "@delivery/domain/flow/ShownName"
import type { ProductId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { firstCharacters } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { deploymentReleases } from "../catalog/ReleaseRows.ts"
import { projectProducts, projects } from "../planning/ProjectsRepo.ts"
import { teams } from "../planning/TeamsRepo.ts"
import { tickets } from "../planning/TicketsRepo.ts"
import { ticketStatuses } from "../planning/TicketStatusesRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { seesTeamInMemory } from "../planning/Visibility.ts"
import { pastRuns } from "../runs/erasure/RunErasureRepo.ts"
import { testRunAttemptsTable, testRunRetries } from "../runs/RetriesRepo.ts"
import { hasFailed, isReproducible, isWhole } from "../runs/RunScope.ts"
import { mostElsewhere } from "../runs/TestedAddress.ts"
import { testsDeploymentNow } from "../runs/TestedDeployment.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "../runs/TestRunsRepo.ts"
import { isRunning } from "../runs/TestRunState.ts"
import { isBefore, withAttempts } from "../runs/TestTimes.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { secrets as secretRows, secretValues, secretVersions } from "../vault/VaultRepo.ts"
import { fewer, isFailure, leftOut, settled } from "./LeftOutMemory.ts"
import { lastFirst, mayDecide, ranBefore, testsWhatIsThere } from "./MayDecideMemory.ts"
import {
  type AskedRuns,
  type BlockingTicket,
  type ElsewhereRun,
  type FoundRun,
  maxErrorLine,
  mostUnresolved,
  namedFailures,
  type Place,
  placeKey,
  type PolicyRow,
  readinessPolicies,
  ReadinessRepo,
  type UncountedRun
} from "./ReadinessRepo.ts"

type Memory = MemoryStorage["Service"]
type Repo = ReadinessRepo["Service"]

export const layer = Layer.effect(
  ReadinessRepo,
  Effect.map(MemoryStorage, (memory) =>
    ReadinessRepo.of({
      policy: (place: Place) => memory.read((database) => database.table(readinessPolicies).get(placeKey(place))),
      setPolicy: (row: PolicyRow) =>
        memory.write((database) => Effect.sync(() => database.table(readinessPolicies).set(placeKey(row), row))),
      isKnown: isKnown(memory),
      begunBy: begunVersions(memory),
      commits: commits(memory),
      runs: runs(memory),
      unresolved: unresolved(memory),
      elsewhere: elsewhere(memory),
      uncounted: uncounted(memory),
      leftOut: leftOut(memory),
      settled: settled(memory),
      fewer: fewer(memory),
      secrets: secrets(memory),
      blockingTickets: blockingTickets(memory)
    })
  )
)

const versionsOf = (database: MemoryDatabase, { productId }: Place): ReadonlySet<string | null> =>
  new Set([
    ...database
      .table(deploymentReleases)
      .filter((row) => row.productId === productId)
      .map(({ version }) => version),
    ...[
      ...database.table(testRuns).filter((run) => run.productId === productId),
      ...database.table(pastRuns).filter((run) => run.productId === productId)
    ].map(({ deploymentVersion }) => deploymentVersion)
  ])

const isKnown =
  (memory: Memory): Repo["isKnown"] =>
  (place, version) =>
    memory.read((database) => versionsOf(database, place).has(version))

const begunVersions =
  (memory: Memory): Repo["begunBy"] =>
  (place, id) =>
    memory.read((database) => {
      const known = [...versionsOf(database, place)].filter((version) => version !== null)
      return begunBy(
        known.filter((version) => version === version.toLowerCase()),
        id
      )
    })

const commits =
  (memory: Memory): Repo["commits"] =>
  ({ productId }, begin) =>
    memory.read((database) => [
      ...new Set(
        database
          .table(deploymentReleases)
          .filter((row) => row.productId === productId)
          .flatMap(({ version }) =>
            version !== null && isCommit(version) && beginOf(version) === begin ? [version] : []
          )
      )
    ])

/** Of each version no more runs than the statement looks at. */
const ofEachVersion = (runs: ReadonlyArray<TestRunRow>, most: number): ReadonlyArray<TestRunRow> =>
  [...Map.groupBy(runs, (run) => run.deploymentVersion).values()].flatMap((those) => those.slice(0, most))

/** The runs of the version with a whole coverage that are not of the place's environment. */
const runsOf = (database: MemoryDatabase, asked: AskedRuns, coverage: string): ReadonlyArray<TestRunRow> =>
  database
    .table(testRuns)
    .filter(
      (run) =>
        run.productId === asked.productId &&
        isSource(asked, run) &&
        isOf(asked, run) &&
        run.coverage === coverage &&
        isWhole(run)
    )
    .toSorted((a, b) => b.number - a.number)

const isOf = ({ versions }: AskedRuns, { deploymentVersion }: TestRunRow): boolean =>
  deploymentVersion !== null && versions.includes(deploymentVersion)

/** Whether runs of the environment of a run decide. */
const isSource = ({ environmentId, fromId }: AskedRuns, run: TestRunRow): boolean =>
  fromId === null ? run.environmentId !== environmentId : run.environmentId === fromId

const slugOf = (database: MemoryDatabase, { environmentId }: TestRunRow): string =>
  database.table(environments).get(environmentId)!.slug

const mutedFailures = (database: MemoryDatabase, { id, mutes }: TestRunRow): FoundRun["mutedFailures"] => {
  const byCase = new Map((mutes ?? []).map((mute) => [mute.caseId, mute]))
  const failures = (database.table(testRunTestsTable).get(id) ?? [])
    .filter(({ caseId, status }) => status === "failed" && byCase.has(caseId))
    .toSorted((a, b) => compare(a.caseId, b.caseId))
    .map(({ caseId, title }) => ({ ...byCase.get(caseId)!, title: shownName(title) }))
  return { count: failures.length, tests: failures.slice(0, maxMutedFailures) }
}

const failuresOf = (database: MemoryDatabase, run: TestRunRow): FoundRun["failures"] => {
  const muted = new Set((run.mutes ?? []).map(({ caseId }) => caseId))
  const failed = (database.table(testRunTestsTable).get(run.id) ?? [])
    .filter((test) => isFailure(run, test))
    .filter(({ caseId }) => !muted.has(caseId))
    .toSorted((a, b) => compare(a.caseId, b.caseId))
  return { count: failed.length, titles: failed.slice(0, namedFailures).map(({ title }) => shownName(title)) }
}

/** Whether the last retry that passed elsewhere began all its attempts before the tests of the run. */
const retriedBefore = (database: MemoryDatabase, { firstTestAt, id }: TestRunRow): boolean => {
  const numbers = database
    .table(testRunRetries)
    .filter(({ elsewhere, flakyCount, runId }) => runId === id && elsewhere === true && flakyCount > 0)
    .map(({ number }) => number)
  const last = Math.max(...numbers)
  const attempts = (database.table(testRunAttemptsTable).get(id) ?? []).filter(({ retry }) => retry === last)
  return isBefore(withAttempts({ lastTestAt: null }, attempts), firstTestAt)
}

const unresolved =
  (memory: Memory): Repo["unresolved"] =>
  (asked, now) =>
    memory.read((database) =>
      asked.coverages.flatMap((coverage) => {
        const found = runsOf(database, asked, coverage).filter(
          (run) => run.result === null && isReproducible(run) && testsDeploymentNow(database, run)
        )
        const [named] = ofEachVersion(found, mostUnresolved).toSorted(
          (a, b) => Number(isRunning(b, now)) - Number(isRunning(a, now)) || b.number - a.number
        )
        if (named === undefined) return []
        const state = isRunning(named, now) ? ("running" as const) : ("interrupted" as const)
        return [{ coverage, number: named.number, environment: slugOf(database, named), state }]
      })
    )

const elsewhere =
  (memory: Memory): Repo["elsewhere"] =>
  (asked) =>
    memory.read((database) =>
      asked.coverages.flatMap((coverage) =>
        // Of each environment, no more than the statement looks at.
        [
          ...Map.groupBy(
            runsOf(database, asked, coverage)
              .filter((run) => mayDecide(run))
              .toSorted(lastFirst),
            (run) => run.environmentId
          ).values()
        ]
          .flatMap((ofEnvironment) => ofEachVersion(ofEnvironment, mostElsewhere))
          .toSorted(lastFirst)
          .flatMap((run): ReadonlyArray<{ readonly run: TestRunRow; readonly reason: ElsewhereRun["reason"] }> => {
            if (!testsDeploymentNow(database, run)) return [{ run, reason: "other_address" }]
            return ranBefore(database, run) ? [{ run, reason: "ran_before" }] : []
          })
          .filter(({ reason }, index, all) => all.findIndex((one) => one.reason === reason) === index)
          .map(({ reason, run }) => ({
            coverage,
            number: run.number,
            environment: slugOf(database, run),
            baseUrl: run.baseUrl,
            result: (run.gateResult ?? run.result)!,
            finishedAt: run.finishedAt!,
            reason
          }))
      )
    )

const uncounted =
  (memory: Memory): Repo["uncounted"] =>
  (asked) =>
    memory.read((database) => {
      const found = database
        .table(testRuns)
        .filter(
          (run) =>
            run.productId === asked.productId &&
            isSource(asked, run) &&
            isOf(asked, run) &&
            (run.coverage === null || asked.coverages.includes(run.coverage)) &&
            run.result !== null &&
            !(run.coverage !== null && isWhole(run) && mayDecide(run)) &&
            testsDeploymentNow(database, run)
        )
        .toSorted(lastFirst)
      const last = ofEachVersion(found, mostElsewhere).toSorted(lastFirst)
      return [...Map.groupBy(last, (run) => `${run.coverage} ${hasFailed(run)}`).values()].map(([run]) => ({
        coverage: run!.coverage,
        number: run!.number,
        environment: slugOf(database, run!),
        baseUrl: run!.baseUrl,
        result: (run!.gateResult ?? run!.result)!,
        finishedAt: run!.finishedAt!,
        reason: exclusionOf(run!)
      }))
    })

const exclusionOf = (run: TestRunRow): UncountedRun["reason"] => {
  if (run.deploymentChanged === true) return "deployment_changed"
  if (run.gitDirty) return "uncommitted_changes"
  if (run.publisherKind === "agent") return "of_agent"
  if (!isWhole(run)) return "part_of_tests"
  return run.coverage === null ? "no_coverage" : "nothing_tested"
}

const runs =
  (memory: Memory): Repo["runs"] =>
  (asked, now) =>
    memory.read((database) =>
      asked.coverages.flatMap((coverage): ReadonlyArray<FoundRun> => {
        const [last] = runsOf(database, asked, coverage)
          .filter((run) => mayDecide(run) && testsWhatIsThere(database, run))
          .toSorted(lastFirst)
        if (last === undefined) return []
        const { name, slug } = database.table(environments).get(last.environmentId)!
        const {
          error,
          failed,
          finishedAt,
          flaky,
          gateResult,
          id,
          number,
          passed,
          result,
          retriedElsewhere,
          skipped,
          total
        } = last
        const git = { branch: last.gitBranch, sha: last.gitSha, dirty: last.gitDirty }
        return [
          {
            coverage,
            id,
            number,
            result: result!,
            gateResult: gateResult ?? result!,
            retriedElsewhere: retriedElsewhere === true,
            retriedBefore: retriedElsewhere === true && retriedBefore(database, last),
            runningRetry:
              database.table(testRunRetries).find((one) => one.runId === id && isRunning(one, now))?.number ?? null,
            error: error === null ? null : firstCharacters(error, maxErrorLine),
            git,
            counts: { total, passed, flaky, failed, skipped },
            failures: failuresOf(database, last),
            mutedFailures: mutedFailures(database, last),
            finishedAt: finishedAt!,
            environment: { slug, name }
          }
        ]
      })
    )

const secrets =
  (memory: Memory): Repo["secrets"] =>
  ({ environmentId, productId }, beside, loaded) =>
    memory.read((database) => {
      const stateIn = (secretId: string, environment: string | null) => {
        const isPair = (row: { readonly secretId: string; readonly environmentId: string }) =>
          row.secretId === secretId && row.environmentId === environment
        const current = database.table(secretValues).find(isPair)
        const stored = database.table(secretVersions).find((row) => isPair(row) && row.version === current?.version)
        return { version: current?.version ?? 0, hasValue: stored !== undefined && stored.sealed !== null }
      }
      return database
        .table(secretRows)
        .filter((row) => row.productId === productId && (row.deletedAt === null || Object.hasOwn(loaded, row.id)))
        .map(({ deletedAt, id, name }) => ({
          id,
          name,
          isDeleted: deletedAt !== null,
          ...stateIn(id, environmentId),
          hasValueBeside: stateIn(id, beside).hasValue
        }))
    })

const blockingTickets = (memory: Memory) => (viewer: Viewer, product: ProductId) =>
  memory.read((database) => {
    const linked = new Set<string>(
      database
        .table(projectProducts)
        .filter(({ productId }) => productId === product)
        .map(({ projectId }) => projectId)
        .filter((id) => database.table(projects).get(id)?.archivedAt === null)
    )
    return database
      .table(tickets)
      .filter(({ blocks, projectId }) => blocks && projectId !== null && linked.has(projectId))
      .flatMap(({ id, number, statusId, teamId, title }): ReadonlyArray<BlockingTicket> => {
        const team = database.table(teams).get(teamId)!
        const { category } = database.table(ticketStatuses).get(statusId)!
        if (team.archivedAt !== null || category === "completed" || category === "canceled") return []
        return [{ id, teamKey: team.key, number, title, isSeen: seesTeamInMemory(database, viewer, team) }]
      })
  })
