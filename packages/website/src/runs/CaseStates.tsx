import type { Case } from "@delivery/domain/runs/Case"
import { evidenceOf } from "./evidence.ts"
import { shownStates } from "./shownStates.ts"
import { StateBadge } from "./StateBadge.tsx"

/** What a test is called in a list, and why. */
const CaseStates = ({ one }: { readonly one: Case }) =>
  shownStates(one)
    .filter((state) => state !== "passing")
    .map((state) => (
      <span className="inline-flex min-w-0 shrink-0 items-center gap-1.5 last:shrink" key={state}>
        <StateBadge state={state} />
        <span className="text-muted truncate text-xs max-lg:hidden">{evidenceOf(one, state)}</span>
      </span>
    ))

export default CaseStates
