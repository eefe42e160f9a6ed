import type { Case, CaseState } from "@delivery/domain/runs/Case"
import { evidenceOf } from "./evidence.ts"

/** Why a test is called what it is called, in a list. */
const CaseEvidence = ({ one, state }: { readonly one: Case; readonly state: CaseState }) => (
  <span className="text-muted truncate text-xs max-lg:hidden">{evidenceOf(one, state)}</span>
)

export default CaseEvidence
