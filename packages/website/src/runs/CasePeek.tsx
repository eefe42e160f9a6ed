import type { Case } from "@delivery/domain/runs/Case"
import MuteCase from "../flow/MuteCase.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import CaseHistory from "./CaseHistory.tsx"
import CaseTicket from "./CaseTicket.tsx"
import { evidenceOf } from "./evidence.ts"
import { shownStates } from "./shownStates.ts"
import { StateBadge } from "./StateBadge.tsx"

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string | undefined
  readonly one: Case
}

/** A test beside the list of tests: why it is called so, its results, and what is done about it. */
const CasePeek = ({ environment, one, product, slug }: Props) => {
  const states = shownStates(one).filter((state) => state !== "passing" && state !== "muted")
  return (
    <>
      <div className="border-border flex flex-col gap-2 border-b px-4 py-3">
        <h2 className="foreign pr-8 font-semibold">{one.title.slice(0, 1_000)}</h2>
        <p className="text-muted flex min-w-0">
          <Truncated text={one.file} />
        </p>
        <ul aria-label="Why" className="flex flex-col gap-1 empty:hidden">
          {states.map((state) => (
            <li className="flex items-center gap-2" key={state}>
              <StateBadge state={state} />
              <span className="text-muted">{evidenceOf(one, state)}</span>
            </li>
          ))}
        </ul>
        <div className="flex flex-wrap items-center gap-2">
          <MuteCase caseId={one.caseId} product={product} slug={slug} title={one.title} />
          <CaseTicket one={one} product={product} slug={slug} />
        </div>
      </div>
      <CaseHistory caseId={one.caseId} environment={environment} product={product} slug={slug} />
    </>
  )
}

export default CasePeek
