import type { Case } from "@delivery/domain/runs/Case"
import { useProductName } from "../catalog/useProductName.ts"
import NewTicketDialog from "../planning/NewTicketDialog.tsx"
import { caseDescriptionOf, caseTitleOf } from "./caseTicket.ts"

interface Props {
  readonly slug: string
  readonly product: string
  readonly one: Case
  readonly onClose: () => void
}

/** A ticket about a test over many runs. */
const CaseTicketDialog = ({ onClose, one, product, slug }: Props) => {
  const name = useProductName(slug)(product)
  const url = `${location.origin}/w/${slug}/products/${product}/cases/${encodeURIComponent(one.caseId)}`
  return (
    <NewTicketDialog
      about={name}
      cases={{ product, caseIds: [one.caseId] }}
      description={caseDescriptionOf({ one, product: { name }, url })}
      onClose={onClose}
      slug={slug}
      title={caseTitleOf({ one })}
    />
  )
}

export default CaseTicketDialog
