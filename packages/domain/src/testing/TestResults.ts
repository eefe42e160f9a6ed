import { byName, compare } from "../Order.ts"
import { timestamp } from "../Timestamp.ts"
import type { FinishTestRun } from "./FinishTestRun.ts"
import type { Attempt, TestEntry, TestReport, TestStatus } from "./TestEntry.ts"
import type { Counts, RunResult, RunState } from "./TestRun.ts"

/** The rules that turn reports of tests into results (service document, TestRun; contract, section 6). Pure. */

/** The text as it can be stored: PostgreSQL takes no NUL, UTF-8 no lone surrogate. Results are kept, not refused. */
const storable = (text: string): string => (text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text).toWellFormed()

const storableOrNull = (text: string | null | undefined): string | null => (text == null ? null : storable(text))

const noFiles: ReadonlyArray<string> = []
const storableAll = (texts: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  texts === undefined || texts.length === 0 ? noFiles : texts.map(storable)

/** The attempt of the run itself, or undefined for a test that was skipped. */
const firstAttempt = (report: TestReport): Attempt | undefined => {
  const attempt = report.attempt
  if (attempt === null || attempt.status === "skipped") return undefined
  return {
    number: 1,
    retry: null,
    status: attempt.status,
    durationMs: attempt.durationMs,
    startedAt: timestamp(Date.parse(attempt.startedAt)),
    errorMessage: storableOrNull(attempt.errorMessage),
    errorStack: storableOrNull(attempt.errorStack),
    files: storableAll(attempt.files)
  }
}

/** What is kept of a test: everything of its entry that does not follow from its attempts. */
export type RecordedTest = Omit<TestEntry, "durationMs" | "errorMessage">

/** A test as a finish call reports it. */
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

/** The entry of a recorded test: the duration of its last attempt, the message of its last failed one. */
export const testEntry = (test: RecordedTest): TestEntry => ({
  ...test,
  durationMs: test.attempts.at(-1)?.durationMs ?? 0,
  errorMessage: test.attempts.findLast((attempt) => attempt.status === "failed")?.errorMessage ?? null
})

const statusOrder: Record<TestStatus, number> = { failed: 0, flaky: 1, passed: 2, skipped: 3 }

/** Failed first, then flaky, passed, skipped, by title. */
export const orderTests = (tests: ReadonlyArray<TestEntry>): ReadonlyArray<TestEntry> =>
  tests.toSorted(
    (a, b) =>
      statusOrder[a.status] - statusOrder[b.status] ||
      byName({ name: a.title, id: a.caseId }, { name: b.title, id: b.caseId }) ||
      compare(a.file, b.file)
  )

/** Counts and rates of a run. A rate is null when no test counts. */
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
    passRate: counted === 0 ? null : (counts.passed + counts.flaky) / counted,
    firstAttemptPassRate: counted === 0 ? null : passedFirst / counted
  }
}

/** What a finish call makes of a run. */
export interface Outcome extends Tally {
  readonly state: Exclude<RunState, "running">
  readonly result: RunResult | null
  readonly error: string | null
}

export const outcome = (
  report: Pick<FinishTestRun, "interrupted" | "error">,
  tests: ReadonlyArray<RecordedTest>
): Outcome => {
  const tallied = tally(tests)
  if (report.interrupted) return { ...tallied, state: "interrupted", result: null, error: null }
  const reported = report.error == null || report.error.trim() === "" ? null : storable(report.error)
  const error = reported ?? (tests.length === 0 ? "No tests ran." : null)
  return {
    ...tallied,
    state: "finished",
    result: error !== null || tallied.counts.failed > 0 ? "failed" : "passed",
    error
  }
}
