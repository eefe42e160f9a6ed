import type { Counts } from "@delivery/domain/runs/TestRun"
import { formatCount } from "../ui/format.ts"

/** What is wrong in a run, in words: `3 failed`, `2 flaky`; else how many passed, and how many did not run. */
export const countsText = ({ failed, flaky, passed, skipped, total }: Counts): string => {
  if (total === 0) return "no tests"
  const wrong = [
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(flaky > 0 ? [`${formatCount(flaky)} flaky`] : [])
  ]
  if (wrong.length > 0) return `${wrong.join(", ")} of ${formatCount(total)}`
  return `${formatCount(passed)} passed${skipped > 0 ? `, ${formatCount(skipped)} skipped` : ""}`
}
