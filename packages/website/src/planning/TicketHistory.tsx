import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TextField } from "@delivery/domain/planning/TicketText"
import { useInfiniteQuery } from "@tanstack/react-query"
import { Dialog } from "../ui/Dialog.tsx"
import { Tabs } from "../ui/Tabs.tsx"
import { TextChanges } from "./TextChanges.tsx"
import { textHistoryQuery } from "./textHistoryQuery.ts"
import { useTicketChange } from "./useTicketChange.ts"

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
  readonly onClose: () => void
}

const TextHistory = ({ field, mayChange, slug, ticket }: Omit<Props, "onClose"> & { readonly field: TextField }) => {
  const query = useInfiniteQuery(textHistoryQuery(slug, ticket.identifier, field))
  const change = useTicketChange(slug)
  const now = ticket[field]
  const restore = (text: string | null) =>
    change(
      ticket,
      { [field]: text },
      { done: `The earlier ${field} of ${ticket.identifier} was restored`, from: { [field]: now } }
    )
  return <TextChanges noun={field} now={now} onRestore={mayChange ? restore : undefined} query={query} />
}

/** Who changed the description and the plan of a ticket, when, and how. */
const TicketHistory = ({ onClose, ...props }: Props) => (
  <Dialog
    description="Who changed the description and the plan, and how. At most the last hundred changes are kept."
    isWide
    onClose={onClose}
    title={`History of ${props.ticket.identifier}`}
  >
    <Tabs
      label="Texts"
      tabs={[
        { name: "Description", content: <TextHistory field="description" {...props} /> },
        { name: "Plan", content: <TextHistory field="plan" {...props} /> }
      ]}
    />
  </Dialog>
)

export default TicketHistory
