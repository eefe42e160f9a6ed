import type { RunMute, TestEntry, TestReport } from "@delivery/client"

/** What is said of tests that a ticket has muted. */

/** A muted test that the report has, with why. */
export interface MutedTest extends RunMute {
  readonly title: string
  readonly status: TestEntry["status"]
}

/** The muted tests of a report: failed ones first. */
export const mutedTests = (mutes: ReadonlyArray<RunMute>, tests: ReadonlyArray<TestReport>): ReadonlyArray<MutedTest> =>
  mutedEntries(
    mutes,
    tests.map(({ attempt, caseId, title }) => ({ caseId, title, status: attempt?.status ?? "skipped" }))
  )

/** The muted tests of those of a run: failed ones first. */
export const mutedEntries = (
  mutes: ReadonlyArray<RunMute>,
  tests: ReadonlyArray<Pick<TestEntry, "caseId" | "status" | "title">>
): ReadonlyArray<MutedTest> => {
  const byCase = new Map(mutes.map((mute) => [mute.caseId, mute]))
  const muted = tests.flatMap(({ caseId, status, title }) => {
    const mute = byCase.get(caseId)
    return mute === undefined ? [] : [{ ...mute, title, status }]
  })
  return [...muted.filter(({ status }) => status === "failed"), ...muted.filter(({ status }) => status !== "failed")]
}

/** How many muted tests are named. */
const named = 20

/** A line for each of the first, and one for the others. */
export const mutedLines = (muted: ReadonlyArray<MutedTest>): ReadonlyArray<string> => {
  const lines = muted.slice(0, named).map(({ status, ticket, title, until }) => {
    const end = `${until.slice(0, 16).replace("T", " ")} UTC`
    return `muted by ${ticket ?? "a ticket that you do not see"} until ${end}: ${title} (${status})`
  })
  return muted.length <= named ? lines : [...lines, `muted: ${muted.length - named} more tests`]
}
