import type { TestRun } from "@delivery/domain/runs/TestRun"

/** What of a run was muted when it started (docs/contract.md, Muting). Pure. */

/** The ids of its tests that do not count. */
export const mutedIds = ({ mutes }: Pick<TestRun, "mutes">): ReadonlySet<string> =>
  new Set(mutes.map(({ caseId }) => caseId))

/** What the gate says where it is not what the result says; undefined where both say the same. */
export const gateText = ({
  gateResult,
  mutes,
  result,
  tests
}: Pick<TestRun, "gateResult" | "mutes" | "result" | "tests">): string | undefined => {
  if (gateResult === result || gateResult === null) return undefined
  if (gateResult === "failed") return "failed for the gate: retried elsewhere"
  const muted = mutedIds({ mutes })
  const count = tests.filter(({ caseId, status }) => status === "failed" && muted.has(caseId)).length
  return `${result}, ${count} muted: gate passes`
}
