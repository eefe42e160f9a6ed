import type { Case, CaseWithResults, RunError, TrendDay } from "@delivery/domain/runs/Case"
import { errorGroupOf } from "@delivery/domain/runs/ErrorGroups"

/**
 * What tests over time are to show, computed from all runs in the plainest way: by other code than the service has, but for the
 * groups of errors, which have tests of their own.
 */

export interface ModelAttempt {
  readonly status: "failed" | "passed"
  readonly durationMs: number
  readonly error: string | null
}

export interface ModelTest {
  readonly caseId: string
  readonly title: string
  readonly file: string
  status: "failed" | "flaky" | "passed" | "skipped"
  attempts: ReadonlyArray<ModelAttempt>
}

export interface ModelRun {
  readonly number: number
  /** The slug. */
  readonly environment: string
  readonly branch: string
  readonly commit: string
  state: "running" | "finished" | "interrupted"
  /** Whether it was deleted: then it is in trends alone. */
  isErased: boolean
  finishedAt: string
  tests: ReadonlyArray<ModelTest>
}

export interface Model {
  readonly runs: ReadonlyArray<ModelRun>
  readonly baseBranch: string
  readonly now: string
  /** Of each slug. */
  readonly environments: Readonly<Record<string, CaseWithResults["results"][number]["environment"]>>
}

const dayMillis = 86_400_000
const day = (at: string) => at.slice(0, 10)

interface Result {
  readonly run: ModelRun
  readonly test: ModelTest
}

/** The results of each case, newest first. */
const resultsOf = ({ runs }: Model, environment: string | undefined): ReadonlyMap<string, ReadonlyArray<Result>> => {
  const found = new Map<string, Array<Result>>()
  const counted = runs.filter(
    (run) => run.state === "finished" && !run.isErased && (environment === undefined || run.environment === environment)
  )
  for (const run of counted.toSorted((a, b) => b.number - a.number)) {
    for (const test of run.tests) {
      if (test.status === "skipped") continue
      const known = found.get(test.caseId) ?? []
      known.push({ run, test })
      found.set(test.caseId, known)
    }
  }
  return found
}

/** The value at the lowest place at or above so many of 100 of all places. */
const percentile = (values: ReadonlyArray<number>, percent: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  let place = 0
  while ((place + 1) * 100 < percent * sorted.length) place++
  return sorted[place]!
}

const lastDuration = ({ attempts }: ModelTest) => attempts.at(-1)!.durationMs

const groupOf = ({ attempts }: ModelTest): string | null => {
  const failed = attempts.findLast(({ status }) => status === "failed")
  return failed === undefined ? null : errorGroupOf(failed.error ?? "")
}

const shownRun = (result: Result | undefined) =>
  result === undefined ? null : { run: result.run.number, commit: result.run.commit, at: result.run.finishedAt }

const p50 = (results: ReadonlyArray<Result>) =>
  percentile(
    results.slice(0, 200).map(({ test }) => lastDuration(test)),
    50
  )
const p95 = (results: ReadonlyArray<Result>) =>
  percentile(
    results.slice(0, 200).map(({ test }) => lastDuration(test)),
    95
  )

const caseOf = (model: Model, results: ReadonlyArray<Result>, median: number): Case => {
  const { caseId, file, title } = results[0]!.test
  const isInWindow = ({ run }: Result) => Date.parse(day(model.now)) - Date.parse(day(run.finishedAt)) < 30 * dayMillis
  const recent = results.filter(isInWindow)
  const share = (...statuses: ReadonlyArray<string>) =>
    recent.length === 0 ? null : recent.filter(({ test }) => statuses.includes(test.status)).length / recent.length
  const failures = results.filter(({ test }) => test.status === "failed")
  const isFailing = results[0]!.test.status === "failed"
  const states: Array<Case["states"][number]> = []
  if (isInWindow(results[0]!)) {
    states.push(isFailing ? "failing" : "passing")
    if (recent.some(({ test }) => test.status === "flaky")) states.push("flaky")
    if (p95(results) >= 10_000 && p95(results) >= 3 * median) states.push("slow")
  }
  const streak: Array<Result> = []
  for (const result of results) {
    if (result.test.status !== "failed") break
    streak.push(result)
  }
  return {
    caseId,
    title,
    file,
    coverage: "acceptance",
    testKind: "journey",
    states,
    firstFailure: shownRun(failures.at(-1)),
    lastFailure: shownRun(failures[0]),
    failingSince: states.includes("failing") ? shownRun(streak.at(-1)) : null,
    flakeRate: share("flaky"),
    passRate: share("flaky", "passed"),
    durationP50Ms: p50(results),
    durationP95Ms: p95(results),
    muted: null,
    ticket: null
  }
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

/** All cases, by title, then by id. */
export const casesOf = (model: Model, environment: string | undefined): ReadonlyArray<Case> => {
  const all = [...resultsOf(model, environment).values()]
  const median = all.length === 0 ? 0 : percentile(all.map(p50), 50)
  return all
    .map((results) => caseOf(model, results, median))
    .toSorted((a, b) => collator.compare(a.title, b.title) || (a.caseId < b.caseId ? -1 : 1))
}

/** All results of a case. */
export const caseResultsOf = (
  model: Model,
  environment: string | undefined,
  caseId: string
): CaseWithResults["results"] =>
  (resultsOf(model, environment).get(caseId) ?? []).map(({ run, test }) => ({
    run: run.number,
    environment: model.environments[run.environment]!,
    commit: run.commit,
    branch: run.branch,
    status: test.status as "failed" | "flaky" | "passed",
    attempts: test.attempts.length,
    durationMs: lastDuration(test),
    errorGroup: groupOf(test),
    at: run.finishedAt
  }))

/** The errors of a run: their ids with the state of each case, in no order. */
export const errorsOf = (
  model: Model,
  number: number
): ReadonlyMap<string, ReadonlyArray<readonly [string, string]>> => {
  const run = model.runs.find((one) => one.number === number)!
  const before = model.runs
    .filter((one) => one.number < number && one.state === "finished" && !one.isErased)
    .toSorted((a, b) => b.number - a.number)
  const found = new Map<string, Array<readonly [string, string]>>()
  for (const test of run.tests.filter(({ status }) => status === "failed")) {
    const group = groupOf(test)!
    const failsAlike = (other: ModelRun) =>
      other.tests.some((one) => one.caseId === test.caseId && one.status === "failed" && groupOf(one) === group)
    const newestOnBase = before.find(
      ({ branch, tests }) =>
        branch === model.baseBranch &&
        tests.some(({ caseId, status }) => caseId === test.caseId && status !== "skipped")
    )
    const isKnown = before.slice(0, 20).some(failsAlike) || (newestOnBase !== undefined && failsAlike(newestOnBase))
    found.set(group, [...(found.get(group) ?? []), [test.caseId, isKnown ? "known" : "new"]])
  }
  return found
}

/** What `errorsOf` has of an answer. */
export const errorsIn = (errors: ReadonlyArray<RunError>) =>
  new Map(errors.map(({ cases, id }) => [id, cases.map(({ caseId, state }) => [caseId, state] as const)]))

/** Each day from `from` to `to`. */
export const trendsOf = (
  { runs }: Model,
  environment: string | undefined,
  from: string,
  to: string
): ReadonlyArray<TrendDay> => {
  const days: Array<TrendDay> = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += dayMillis) {
    const date = new Date(at).toISOString().slice(0, 10)
    const ended = runs.filter(
      (run) =>
        run.state === "finished" &&
        day(run.finishedAt) === date &&
        (environment === undefined || run.environment === environment)
    )
    const ran = ended.flatMap(({ tests }) => tests).filter(({ status }) => status !== "skipped")
    const share = (isIn: (test: ModelTest) => boolean) =>
      ran.length === 0 ? null : ran.filter(isIn).length / ran.length
    days.push({
      date,
      runs: ended.length,
      passRate: share(({ status }) => status !== "failed"),
      firstAttemptPassRate: share(({ attempts }) => attempts[0]!.status === "passed"),
      flaky: ran.filter(({ status }) => status === "flaky").length,
      durationP50Ms: ran.length === 0 ? null : percentile(ran.map(lastDuration), 50),
      durationP95Ms: ran.length === 0 ? null : percentile(ran.map(lastDuration), 95)
    })
  }
  return days
}
