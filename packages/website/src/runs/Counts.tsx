import type { Counts } from "@delivery/domain/runs/TestRun"

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
