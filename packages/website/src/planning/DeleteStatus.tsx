import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { useState } from "react"
import { client } from "../api/client.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Select } from "../ui/Select.tsx"

interface Props {
  readonly slug: string
  readonly status: TicketStatus
  /** Those that its tickets can get. */
  readonly others: ReadonlyArray<TicketStatus>
  readonly onClose: () => void
}

const DeleteStatus = ({ onClose, others, slug, status }: Props) => {
  const likely = others.find(({ category }) => category === status.category) ?? others[0]
  const [moveTo, setMoveTo] = useState<string>(likely?.id ?? "")
  const remove = useAction({
    act: () =>
      client.ticketStatuses.delete({ params: { slug, status: status.id }, query: moveTo === "" ? {} : { moveTo } }),
    changes: ["statuses", "tickets", "views"].map((kind) => workspaceKey(slug, kind)),
    done: () => ({ title: `${status.name} was deleted` }),
    onDone: onClose
  })
  return (
    <FormDialog
      action="Delete"
      description="Its tickets get another status, and keep their order. It cannot be brought back."
      doing={remove}
      isDangerous
      onClose={onClose}
      title={`Delete ${status.name}?`}
    >
      <Select
        label="Its tickets become"
        onChange={setMoveTo}
        options={others.map(({ category, id, name }) => ({ value: id, label: name, hint: category }))}
        value={moveTo}
      />
    </FormDialog>
  )
}

export default DeleteStatus
