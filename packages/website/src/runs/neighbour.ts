import type { TestEntry } from "@delivery/domain/runs/TestEntry"

/** The next or previous failed test of the run, around its ends. */
export const neighbour = (tests: ReadonlyArray<TestEntry>, caseId: string, step: 1 | -1): TestEntry | undefined => {
  const failed = tests.filter((test) => test.status === "failed" || test.status === "flaky")
  const at = failed.findIndex((test) => test.caseId === caseId)
  if (failed.length === 0) return undefined
  return failed[(at + step + failed.length) % failed.length]
}
