import type { StatusCategory, TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { categories, categoryNames } from "./categories.ts"

interface Props {
  readonly slug: string
  readonly team: string | undefined
  /** The one to rename; without it, a new one is made. */
  readonly status?: TicketStatus
  readonly onClose: () => void
}

const StatusDialog = ({ onClose, slug, status, team }: Props) => {
  const [name, setName] = useState(status?.name ?? "")
  const [category, setCategory] = useState<StatusCategory>("started")
  const save = useAction({
    act: () =>
      status === undefined
        ? client.ticketStatuses.create({
            params: { slug },
            payload: { name: name.trim(), category, ...(team === undefined ? {} : { team }) }
          })
        : client.ticketStatuses.update({ params: { slug, status: status.id }, payload: { name: name.trim() } }),
    changes: ["statuses", "tickets", "views"].map((kind) => workspaceKey(slug, kind)),
    onDone: onClose
  })
  return (
    <FormDialog
      action={status === undefined ? "Add status" : "Rename"}
      doing={save}
      fields={["name"]}
      isReady={name.trim() !== ""}
      onClose={onClose}
      title={status === undefined ? "Add a status" : "Rename the status"}
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(save.error, "name")}
        label="Name"
        maxLength={40}
        onChange={(event) => setName(event.target.value)}
        placeholder="In review"
        value={name}
      />
      {status === undefined && (
        <Select
          label="Category"
          onChange={setCategory}
          options={categories.map((value) => ({ value, label: categoryNames[value] }))}
          value={category}
        />
      )}
    </FormDialog>
  )
}

export default StatusDialog
