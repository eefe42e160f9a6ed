import type { Counts } from "@delivery/domain/runs/TestRun"
import { formatCount } from "../ui/format.ts"

const parts = [
  ["failed", "bg-danger"],
  ["flaky", "bg-warning"],
  ["passed", "bg-success"],
  ["skipped", "bg-strong"]
] as const

/** The shares of a run's tests as a bar. The numbers stand beside it. */
export const CountsBar = ({ counts }: { readonly counts: Counts }) => (
  <span aria-hidden="true" className="bg-hover flex h-1.5 w-full gap-px overflow-hidden rounded-full">
    {parts.map(([name, colour]) =>
      counts[name] === 0 ? null : (
        <span className={`${colour} min-w-0.75`} key={name} style={{ flexGrow: counts[name] }} />
      )
    )}
  </span>
)

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
