import { Iterable } from "effect"
import { groupBy } from "../Groups.ts"
import { byName, compare } from "../Order.ts"
import { firstCharacters } from "../Text.ts"
import { maxRunErrorCharacters } from "./RunErrorLimit.ts"
import { timestamp } from "../Timestamp.ts"
import type { FinishTestRun } from "./FinishTestRun.ts"
import type { Attempt, RanReport, TestEntry, TestReport, TestStatus } from "./TestEntry.ts"
import type { FinishRetry, RetryTest } from "./TestRetry.ts"
import type { Counts, RunResult, RunState } from "./TestRun.ts"

/** The rules that turn reported tests into results (docs/contract.md, Test runs). Pure. */

/** PostgreSQL takes no NUL, and UTF-8 no lone surrogate. They are replaced, because results should be kept, not refused. */
const storable = (text: string): string => (text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text).toWellFormed()

const storableOrNull = (text: string | null | undefined): string | null => (text == null ? null : storable(text))

const noFiles: ReadonlyArray<string> = []
const storableAll = (texts: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  texts === undefined || texts.length === 0 ? noFiles : texts.map(storable)

const recordAttempt = (report: RanReport, number: number, retry: number | null): Attempt => ({
  number,
  retry,
  status: report.status,
  durationMs: report.durationMs,
  startedAt: timestamp(Date.parse(report.startedAt)),
  errorMessage: storableOrNull(report.errorMessage),
  errorStack: storableOrNull(report.errorStack),
  files: storableAll(report.files)
})

/** The first attempt of a test; undefined if it was skipped. */
const firstAttempt = ({ attempt }: TestReport): Attempt | undefined =>
  attempt === null || attempt.status === "skipped" ? undefined : recordAttempt(attempt, 1, null)

/** What is stored of a test: its entry without the fields that follow from its attempts. */
export type RecordedTest = Omit<TestEntry, "durationMs" | "errorMessage">

/** What is stored of a test that a finish call reports. */
export const recordTest = (report: TestReport): RecordedTest => {
  const attempt = firstAttempt(report)
  return {
    caseId: storable(report.caseId),
    title: storable(report.title),
    file: storable(report.file),
    coverage: report.coverage,
    testKind: storable(report.testKind),
    priority: storableOrNull(report.priority),
    status: attempt === undefined ? "skipped" : attempt.status,
    files: storableAll(report.files),
    attempts: attempt === undefined ? [] : [attempt]
  }
}

/** The tests with the attempts of retries after their own. The attempts of one test come in the order of their numbers. */
export const withAttempts = (
  tests: ReadonlyArray<RecordedTest>,
  attempts: ReadonlyArray<RetryAttempt>
): ReadonlyArray<RecordedTest> => {
  const byCase = groupBy(attempts, (attempt) => attempt.caseId)
  return tests.map((test) => {
    const more = byCase.get(test.caseId)
    if (more === undefined) return test
    return { ...test, attempts: [...test.attempts, ...more.map(({ caseId: _, ...attempt }) => attempt)] }
  })
}

/** The entry of a stored test, with the duration of its last attempt and the message of its last failed one. */
export const testEntry = (test: RecordedTest): TestEntry => ({
  ...test,
  durationMs: test.attempts.at(-1)?.durationMs ?? 0,
  errorMessage: test.attempts.findLast((attempt) => attempt.status === "failed")?.errorMessage ?? null
})

const statusOrder: ReadonlyArray<TestStatus> = ["failed", "flaky", "passed", "skipped"]

/** Failed first, then flaky, passed, skipped; each by title. Comparing titles is slow, so only those of one status are compared. */
export const orderTests = (tests: ReadonlyArray<TestEntry>): ReadonlyArray<TestEntry> => {
  const byStatus = groupBy(tests, (test) => test.status)
  return statusOrder.flatMap((status) => byStatus.get(status)?.toSorted(byTitle) ?? [])
}

const byTitle = (a: TestEntry, b: TestEntry): number =>
  byName({ name: a.title, id: a.caseId }, { name: b.title, id: b.caseId }) || compare(a.file, b.file)

/** The counts and rates of a run. A rate is null when no test counts. */
export interface Tally {
  readonly counts: Counts
  readonly passRate: number | null
  readonly firstAttemptPassRate: number | null
}

export const emptyTally: Tally = {
  counts: { total: 0, passed: 0, flaky: 0, failed: 0, skipped: 0 },
  passRate: null,
  firstAttemptPassRate: null
}

export const tally = (tests: ReadonlyArray<Pick<RecordedTest, "status" | "attempts">>): Tally => {
  const counts = { total: tests.length, passed: 0, flaky: 0, failed: 0, skipped: 0 }
  let passedFirst = 0
  for (const test of tests) {
    counts[test.status]++
    if (test.attempts[0]?.status === "passed") passedFirst++
  }
  const counted = counts.total - counts.skipped
  return {
    counts,
    passRate: passRate(counts),
    firstAttemptPassRate: counted === 0 ? null : passedFirst / counted
  }
}

/** The same of a run that was not retried. */
export const tallyOf = (counts: Counts): Tally => ({
  counts,
  passRate: passRate(counts),
  firstAttemptPassRate: passRate(counts)
})

const passRate = ({ flaky, passed, skipped, total }: Counts): number | null =>
  total === skipped ? null : (passed + flaky) / (total - skipped)

/** The outcome of a finish call. */
export interface Outcome extends Tally {
  readonly state: Exclude<RunState, "running">
  readonly result: RunResult | null
  /** The result without the tests that were muted when the run started. */
  readonly gateResult: RunResult | null
  readonly error: string | null
}

/** @param muted The tests that were muted when the run started. */
export const outcome = (
  report: Pick<FinishTestRun, "interrupted" | "error">,
  tests: ReadonlyArray<RecordedTest>,
  muted: ReadonlyArray<{ readonly caseId: string }> = []
): Outcome => {
  const ended = outcomeOf(report.interrupted, recordError(report.error), tally(tests))
  const failed = tests.flatMap(({ caseId, status }) => (status === "failed" ? [caseId] : []))
  return { ...ended, gateResult: gateResultOf(ended, failed, muted) }
}

/** What is stored of an error outside of the tests: null where it says nothing. */
export const recordError = (error: string | null | undefined): string | null =>
  error == null || error.trim() === "" ? null : firstCharacters(storable(error), maxRunErrorCharacters)

const outcomeOf = (interrupted: boolean, reported: string | null, tallied: Tally): Outcome => {
  if (interrupted) return { ...tallied, state: "interrupted", result: null, gateResult: null, error: null }
  const error = reported ?? (tallied.counts.total === 0 ? "No tests ran." : null)
  const result = error !== null || tallied.counts.failed > 0 ? "failed" : "passed"
  return { ...tallied, state: "finished", result, gateResult: result, error }
}

/**
 * The result of a run without the tests that were muted when it started (docs/contract.md, Muting).
 *
 * @param failed The cases that failed.
 */
export const gateResultOf = (
  { error, result }: Pick<Outcome, "result" | "error">,
  failed: ReadonlyArray<string>,
  muted: ReadonlyArray<{ readonly caseId: string }>
): RunResult | null => {
  if (result !== "failed" || error !== null || muted.length === 0) return result
  const ids = new Set(muted.map(({ caseId }) => caseId))
  return failed.every((caseId) => ids.has(caseId)) ? "passed" : "failed"
}

/** What a shard has reported beside its tests. */
export interface ReportedShard {
  readonly index: number
  readonly interrupted: boolean
  readonly error: string | null
}

/**
 * The outcome of a run whose shards, in their order, have all reported: that of the worst of them. One that was given up leaves
 * the run without a result, and one without tests changes nothing. As if nothing were muted.
 */
export const outcomeOfShards = (shards: ReadonlyArray<ReportedShard>, tallied: Tally): Outcome => {
  const errors = shards.flatMap(({ error, index }) => (error === null ? [] : [`Shard ${index}: ${error}`]))
  return outcomeOf(
    shards.some(({ interrupted }) => interrupted),
    errors.length === 0 ? null : firstCharacters(errors.join("\n\n"), maxRunErrorCharacters),
    tallied
  )
}

/** The statuses that a test has before it is retried, worst last. */
export const severities = ["skipped", "passed", "failed"] as const satisfies ReadonlyArray<TestStatus>

const severityOf = ({ status }: RecordedTest): number => (severities as ReadonlyArray<TestStatus>).indexOf(status)

/**
 * The tests of a run with those of one more shard. Several shards may have run one test, such as the set-up of a project: the
 * worst of their results counts, and the first of equal ones.
 */
export const withTestsOfShard = (
  before: ReadonlyArray<RecordedTest>,
  reported: ReadonlyArray<RecordedTest>
): ReadonlyArray<RecordedTest> => {
  const byCase = new Map(before.map((test) => [test.caseId, test]))
  for (const test of reported) {
    const known = byCase.get(test.caseId)
    if (known === undefined || severityOf(test) > severityOf(known)) byCase.set(test.caseId, test)
  }
  return [...byCase.values()]
}

/** What retries need to know about a test that failed in the run itself. By now it may count as flaky. */
export interface RetriedTest extends Pick<TestEntry, "caseId" | "title" | "file"> {
  readonly status: "failed" | "flaky"
  /** How many attempts the test has so far. */
  readonly attempts: number
  /** The last retry that has an attempt of the test. */
  readonly lastRetry: number | null
  /** Whether it is flaky, and no retry that makes it so tested what the run did. */
  readonly passedElsewhere: boolean
}

/**
 * The tests that a retry has to run, by title.
 *
 * @param isHere Whether it tests what the run did: then it can also show what has passed elsewhere alone.
 */
export const testsToRetry = (tests: ReadonlyArray<RetriedTest>, isHere: boolean): ReadonlyArray<RetryTest> =>
  tests
    .filter((test) => test.status === "failed" || (isHere && test.passedElsewhere))
    .toSorted((a, b) => byName({ name: a.title, id: a.caseId }, { name: b.title, id: b.caseId }))
    .map(({ attempts, caseId, file, title }) => ({ caseId, title, file, nextAttempt: attempts + 1 }))

/** Whether the test had failed when the retry started: it has failed still, or elsewhere alone not, or became flaky in this retry or a later one. */
const hadFailedAt = (retry: number, test: RetriedTest): boolean =>
  test.status === "failed" || test.passedElsewhere || (test.lastRetry !== null && test.lastRetry >= retry)

/** Whether the attempts of a retry make a test flaky: it ran often enough, and passed each time. */
const isFlaky = (attempts: ReadonlyArray<RanReport>, requiredPasses: number): boolean =>
  attempts.length >= requiredPasses && attempts.every((attempt) => attempt.status === "passed")

/** An attempt of a retry, with the test that it belongs to. */
export interface RetryAttempt extends Attempt {
  readonly caseId: string
}

/** The outcome of a retry. */
export interface RetryOutcome {
  /** Each is made when it is read, since there may be a hundred thousand. */
  readonly attempts: Iterable<RetryAttempt>
  /** The `caseId` of each test that becomes flaky. */
  readonly flaky: ReadonlyArray<string>
  /** The same of those that were flaky, since they had passed elsewhere, and have passed again. */
  readonly again: ReadonlyArray<string>
}

/** The attempts of a test in a retry, and how many it has had before. */
interface Retried {
  readonly caseId: string
  readonly reports: ReadonlyArray<RanReport>
  readonly before: number
}

/**
 * The attempts and flaky tests of a retry. If the report is wrong, the problem as a text: each test must be known, be
 * reported once, and have failed when the retry started.
 */
export const retryOutcome = (
  report: Pick<FinishRetry, "tests">,
  retry: { readonly number: number; readonly requiredPasses: number },
  tests: ReadonlyArray<RetriedTest>
): RetryOutcome | string => {
  const known = new Map(tests.map((test) => [test.caseId, test]))
  const retried: Array<Retried> = []
  const flaky: Array<string> = []
  const again: Array<string> = []
  for (const { attempts: reports, caseId: reported } of report.tests) {
    const caseId = storable(reported)
    const test = known.get(caseId)
    if (test === undefined || !hadFailedAt(retry.number, test)) {
      return `${JSON.stringify(caseId)} is not a test that had failed when the retry started, or it is reported twice.`
    }
    known.delete(caseId)
    retried.push({ caseId, reports, before: test.attempts })
    if (isFlaky(reports, retry.requiredPasses)) (test.status === "failed" ? flaky : again).push(caseId)
  }
  const attempts = Iterable.flatMap(retried, ({ before, caseId, reports }) =>
    Iterable.map(reports, (report, index) => ({ caseId, ...recordAttempt(report, before + 1 + index, retry.number) }))
  )
  return { attempts, flaky, again }
}

/** The counts and result of a finished run without an error, after `becameFlaky` of its failed tests became flaky. As if nothing were muted. */
export const recount = (
  counts: Counts,
  becameFlaky: number
): Pick<Outcome, "counts" | "passRate"> & { readonly result: RunResult; readonly gateResult: RunResult } => {
  const recounted = { ...counts, failed: counts.failed - becameFlaky, flaky: counts.flaky + becameFlaky }
  const result = recounted.failed > 0 ? "failed" : "passed"
  return { counts: recounted, passRate: passRate(recounted), result, gateResult: result }
}
