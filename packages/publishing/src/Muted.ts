import type { RunMute, TestReport } from "@delivery/client"

/** What is said of tests that a ticket has muted. */

/** A muted test that the report has, with why. */
export interface MutedTest extends RunMute {
  readonly title: string
  readonly status: "failed" | "passed" | "skipped"
}

/** The muted tests of a report: failed ones first. */
export const mutedTests = (
  mutes: ReadonlyArray<RunMute>,
  tests: ReadonlyArray<TestReport>
): ReadonlyArray<MutedTest> => {
  const byCase = new Map(mutes.map((mute) => [mute.caseId, mute]))
  const muted = tests.flatMap(({ attempt, caseId, title }) => {
    const mute = byCase.get(caseId)
    return mute === undefined ? [] : [{ ...mute, title, status: attempt?.status ?? ("skipped" as const) }]
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
