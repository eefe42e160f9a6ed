import type { RecordedTest } from "@delivery/domain/runs/TestResults"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { TestRunRow } from "./TestRunsRepo.ts"

/** When tests began, by what was told of them (docs/contract.md, Readiness). Pure. */

/** How far the clocks of the machine that ran tests and of another one may be apart. */
const clockSeconds = 60

export const clocksApartSql = `interval '${clockSeconds} seconds'`

/** Whether what began last began before another time, whatever the clocks say. */
export const isBefore = (lastTestAt: Timestamp | null, at: Timestamp | null): boolean =>
  lastTestAt !== null && at !== null && Date.parse(lastTestAt) + clockSeconds * 1000 < Date.parse(at)

/** When a test began that was told at a time: not after that, whatever the clock of its machine said. */
export const beganBy = (startedAt: Timestamp | null, toldAt: Timestamp): Timestamp | null =>
  startedAt !== null && startedAt > toldAt ? toldAt : startedAt

/** The same in SQL, of two expressions. */
export const beganBySql = (startedAt: string, toldAt: string): string =>
  `case when ${startedAt} is not null then least(${startedAt}, ${toldAt}) end`

export type TestTimes = Pick<TestRunRow, "firstTestAt" | "lastTestAt">

/** Of tests that are told at a time. None began later, whatever the clock of their machine said: nothing could come after them. */
export const testTimesOf = (tests: ReadonlyArray<Pick<RecordedTest, "attempts">>, toldAt: Timestamp): TestTimes => {
  const times = tests.flatMap(({ attempts }) => attempts.map(({ startedAt }) => startedAt))
  return { firstTestAt: beganBy(furthestOf(times, isEarlier), toldAt), lastTestAt: furthestOf(times, isLater) }
}

/** With the attempts of a retry, which is no run of its own: the first test is that of the run. */
export const withAttempts = (
  { lastTestAt }: Pick<TestTimes, "lastTestAt">,
  attempts: Iterable<{ readonly startedAt: Timestamp }>
): Timestamp | null =>
  furthestOf(
    [lastTestAt, ...Array.from(attempts, ({ startedAt }) => startedAt)].filter((at) => at !== null),
    isLater
  )

/** Of two parts of a run, as `least` and `greatest` have it in SQL: null is not known. */
export const withTimes = (one: TestTimes, other: TestTimes): TestTimes => ({
  firstTestAt: furthestOf(
    [one.firstTestAt, other.firstTestAt].filter((at) => at !== null),
    isEarlier
  ),
  lastTestAt: furthestOf(
    [one.lastTestAt, other.lastTestAt].filter((at) => at !== null),
    isLater
  )
})

const isEarlier = (one: Timestamp, other: Timestamp): boolean => one < other

const isLater = (one: Timestamp, other: Timestamp): boolean => one > other

const furthestOf = (
  times: ReadonlyArray<Timestamp>,
  isFurther: (one: Timestamp, other: Timestamp) => boolean
): Timestamp | null => {
  let furthest: Timestamp | null = null
  for (const at of times) {
    if (furthest === null || isFurther(at, furthest)) furthest = at
  }
  return furthest
}
