import type { RunError } from "@delivery/domain/runs/Case"
import { passedElsewhere } from "@delivery/domain/runs/PassedElsewhere"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import type { Retry } from "@delivery/domain/runs/TestRun"

/** The failures of a run as the rows of a list: a heading for each error, then the tests that failed so; what is muted last. Pure. */

export type FailureRow =
  | { readonly kind: "error"; readonly key: string; readonly error: RunError }
  | { readonly kind: "heading"; readonly key: string; readonly text: string }
  | {
      readonly kind: "test"
      readonly key: string
      readonly test: TestEntry
      readonly state: RunError["state"] | undefined
    }

export const failureRows = (
  tests: ReadonlyArray<TestEntry>,
  errors: ReadonlyArray<RunError> | undefined,
  muted: ReadonlySet<string> = new Set(),
  retries: ReadonlyArray<Pick<Retry, "elsewhere" | "number" | "requiredPasses">> = []
): ReadonlyArray<FailureRow> => {
  const byId = new Map(tests.map((test) => [test.caseId, test]))
  const grouped = new Set<string>()
  const rows: Array<FailureRow> = []
  const isMutedFailure = (test: TestEntry) => test.status === "failed" && muted.has(test.caseId)
  for (const error of errors ?? []) {
    const found = error.cases.flatMap(({ caseId, state }) => {
      const test = byId.get(caseId)
      return test === undefined || isMutedFailure(test) ? [] : [{ test, state }]
    })
    if (found.length === 0) continue
    rows.push({ kind: "error", key: error.id, error: { ...error, count: found.length } })
    for (const { state, test } of found) {
      grouped.add(test.caseId)
      // What its heading says need not be said again.
      rows.push({
        kind: "test",
        key: `${error.id} ${test.caseId}`,
        test,
        state: state === error.state ? undefined : state
      })
    }
  }
  const push = (found: ReadonlyArray<TestEntry>, key: string | false, text: string, state?: "muted") => {
    if (key !== false && found.length > 0) rows.push({ kind: "heading", key, text })
    for (const test of found) rows.push({ kind: "test", key: test.caseId, test, state })
  }
  // What is counted behind the run, or has no group, is never left out.
  const rest = tests.filter(({ caseId }) => !grouped.has(caseId))
  push(
    rest.filter(({ caseId, status }) => status === "failed" && !muted.has(caseId)),
    rows.length > 0 && "others",
    "Other failures"
  )
  const flaky = (isElsewhere: boolean) =>
    rest.filter((test) => test.status === "flaky" && passedElsewhere(test, retries) === isElsewhere)
  push(flaky(true), "elsewhere", "Passed elsewhere alone, failed here")
  push(flaky(false), "flaky", "Flaky: failed first, passed on retry")
  push(tests.filter(isMutedFailure), "muted", "Muted: their failures do not count", "muted")
  return rows
}

/** The first line of what a failure says. */
export const firstLine = (message: string | null): string =>
  message === null ? "" : (message.split("\n").find((line) => line.trim() !== "") ?? "").slice(0, 500)
