import type { Timestamp } from "../Timestamp.ts"
import type { RecordedTest } from "./TestResults.ts"
import { testEntry } from "./TestResults.ts"
import { failureText } from "./ErrorGroups.ts"

/**
 * What the results of a test over many runs come to (docs/contract.md, Tests over time). Pure: every number that cases and trends
 * show is defined here. The database computes the same, and tests compare both with a plain model.
 */

/** The days that states and rates are of: today, and those before it. */
export const countedDays = 30

/** The results that durations are of: the newest. */
export const newestResults = 200

/** A test is not slow below it, in milliseconds. */
export const slowMs = 10_000

/** How many times as long as the median of its product a slow test takes. */
const slowFactor = 3

/** How many runs before it a failure is compared with. */
export const comparedRuns = 20

const dayMillis = 86_400_000

/** The day of an instant, in UTC: `YYYY-MM-DD`. */
export const dayOf = (at: Timestamp): string => at.slice(0, 10)

/** The day so many days before; after, for a negative number. */
export const daysBefore = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00.000Z`) - days * dayMillis).toISOString().slice(0, 10)

/** Each day of a period, both ends inclusive. */
export const daysFrom = (from: string, to: string): ReadonlyArray<string> =>
  Array.from({ length: (Date.parse(to) - Date.parse(from)) / dayMillis + 1 }, (_, index) => daysBefore(from, -index))

/** The first of the days that count at an instant. */
export const countedFrom = (now: Timestamp): string => daysBefore(dayOf(now), countedDays - 1)

/** The value that so many of 100 are not above: nearest rank. `ascending` is not empty. */
export const nearestRank = (ascending: ReadonlyArray<number>, percent: number): number =>
  ascending[Math.ceil((percent * ascending.length) / 100) - 1]!

/** The result of a test in a finished run, in which it was not skipped. */
export interface CaseResult {
  /** The number of the run. */
  readonly run: number
  readonly status: "failed" | "flaky" | "passed"
  /** How many attempts it had, those of retries included. */
  readonly attempts: number
  /** Of the last attempt. */
  readonly durationMs: number
  /** The day on which the run ended. */
  readonly day: string
}

/** The result of a test of a finished run, with the text of its last failure, if it had any; undefined where it was skipped. */
export const caseResult = (
  test: RecordedTest,
  { finishedAt, number }: { readonly finishedAt: Timestamp; readonly number: number }
): (CaseResult & { readonly error: string | null }) | undefined => {
  if (test.status === "skipped") return undefined
  const failure = test.attempts.findLast(({ status }) => status === "failed")
  return {
    run: number,
    status: test.status,
    attempts: test.attempts.length,
    durationMs: testEntry(test).durationMs,
    day: dayOf(finishedAt),
    error: failure === undefined ? null : failureText(failure)
  }
}

/** What the results of a case come to. Runs are named by their numbers. */
export interface CaseFigures {
  readonly newestRun: number
  readonly newestFailed: boolean
  readonly newestDay: string
  readonly firstFailure: number | null
  readonly lastFailure: number | null
  /** The first of the failures since which no result was another; null where the newest result is no failure. */
  readonly failingSince: number | null
  /** The last day of a flaky result. */
  readonly flakyDay: string | null
  readonly durationP50Ms: number
  readonly durationP95Ms: number
  /** How many results of the days that count were what. */
  readonly passed: number
  readonly flaky: number
  readonly failed: number
}

/**
 * @param results All results of the case, newest run first; not empty.
 * @param since The first day that counts.
 */
export const caseFigures = (results: ReadonlyArray<CaseResult>, since: string): CaseFigures => {
  const [newest] = results
  const failures = results.filter(({ status }) => status === "failed").map(({ run }) => run)
  const streak = results.findIndex(({ status }) => status !== "failed")
  const durations = results
    .slice(0, newestResults)
    .map(({ durationMs }) => durationMs)
    .toSorted((a, b) => a - b)
  const flakyDays = results.filter(({ status }) => status === "flaky").map(({ day }) => day)
  const count = (wanted: CaseResult["status"]) =>
    results.filter(({ day, status }) => status === wanted && day >= since).length
  return {
    newestRun: newest!.run,
    newestFailed: newest!.status === "failed",
    newestDay: newest!.day,
    firstFailure: failures.at(-1) ?? null,
    lastFailure: failures[0] ?? null,
    failingSince: streak === 0 ? null : results.at(streak === -1 ? -1 : streak - 1)!.run,
    flakyDay: flakyDays.toSorted().at(-1) ?? null,
    durationP50Ms: nearestRank(durations, 50),
    durationP95Ms: nearestRank(durations, 95),
    passed: count("passed"),
    flaky: count("flaky"),
    failed: count("failed")
  }
}

/** The median of a product: of what half of the results of each of its cases take at most. Null where there is none. */
export const productMedian = (p50s: ReadonlyArray<number>): number | null =>
  p50s.length === 0
    ? null
    : nearestRank(
        p50s.toSorted((a, b) => a - b),
        50
      )

/** From which `durationP95Ms` on a case of the product is slow. */
export const slowFrom = (median: number | null): number => Math.max(slowMs, slowFactor * (median ?? 0))

/** What a case can be, but for what people say of it. */
export type CountedState = "failing" | "passing" | "flaky" | "slow"

/** The states of a case: none where its newest result is of no day that counts. */
export const statesOf = (
  { durationP95Ms, flakyDay, newestDay, newestFailed }: CaseFigures,
  { since, slowFromMs }: { readonly since: string; readonly slowFromMs: number }
): ReadonlyArray<CountedState> =>
  newestDay < since
    ? []
    : [
        newestFailed ? "failing" : "passing",
        ...(flakyDay !== null && flakyDay >= since ? ["flaky" as const] : []),
        ...(durationP95Ms >= slowFromMs ? ["slow" as const] : [])
      ]

/** Of the results of the days that count, which part was flaky and which did not fail; null where there are none. */
export const ratesOf = ({ failed, flaky, passed }: Pick<CaseFigures, "failed" | "flaky" | "passed">) => {
  const counted = passed + flaky + failed
  return counted === 0
    ? { flakeRate: null, passRate: null }
    : { flakeRate: flaky / counted, passRate: (passed + flaky) / counted }
}

/** What the runs of a day come to; tests of all of them together. */
export interface DayFigures {
  /** Finished runs. */
  readonly runs: number
  /** Tests that were not skipped. */
  readonly counted: number
  readonly passed: number
  readonly flaky: number
  /** Passed on their first attempt. */
  readonly passedFirst: number
  /** Null where no test ran. */
  readonly durationP50Ms: number | null
  readonly durationP95Ms: number | null
}

/** What a finished run is for the trend of its day. */
export type RunOfDay = Pick<DayFigures, "counted" | "passed" | "flaky" | "passedFirst"> & {
  /** Of its tests that ran. */
  readonly durations: ReadonlyArray<number>
}

export const dayFigures = (runs: ReadonlyArray<RunOfDay>): DayFigures => {
  const sum = (field: Exclude<keyof RunOfDay, "durations">) => runs.reduce((all, run) => all + run[field], 0)
  const durations = runs.flatMap((run) => run.durations).toSorted((a, b) => a - b)
  const rank = (percent: number) => (durations.length === 0 ? null : nearestRank(durations, percent))
  return {
    runs: runs.length,
    counted: sum("counted"),
    passed: sum("passed"),
    flaky: sum("flaky"),
    passedFirst: sum("passedFirst"),
    durationP50Ms: rank(50),
    durationP95Ms: rank(95)
  }
}

/** The rates of a day; null where no test counts. */
export const ratesOfDay = ({ counted, flaky, passed, passedFirst }: DayFigures) =>
  counted === 0
    ? { passRate: null, firstAttemptPassRate: null }
    : { passRate: (passed + flaky) / counted, firstAttemptPassRate: passedFirst / counted }
