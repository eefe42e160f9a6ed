import type { Milestone } from "@delivery/domain/planning/Project"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"

interface Props {
  readonly slug: string
  readonly project: string
  /** The one to change; without it, a new one is made. */
  readonly milestone?: Milestone | undefined
  readonly onClose: () => void
}

const MilestoneDialog = ({ milestone, onClose, project, slug }: Props) => {
  const [name, setName] = useState(milestone?.name ?? "")
  const [summary, setSummary] = useState(milestone?.summary ?? "")
  const save = useAction({
    act: () => {
      const payload = { name: name.trim(), summary: summary.trim() === "" ? null : summary.trim() }
      return milestone === undefined
        ? client.projects.createMilestone({ params: { slug, project }, payload })
        : client.projects.updateMilestone({ params: { slug, project, number: milestone.number }, payload })
    },
    changes: [workspaceKey(slug, "projects"), workspaceKey(slug, "tickets")],
    onDone: onClose
  })
  return (
    <FormDialog
      action={milestone === undefined ? "Add milestone" : "Save"}
      doing={save}
      fields={["name", "summary"]}
      isReady={name.trim() !== ""}
      onClose={onClose}
      title={milestone === undefined ? "Add a milestone" : "Change the milestone"}
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(save.error, "name")}
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        placeholder="Private beta"
        value={name}
      />
      <Input
        autoComplete="off"
        issue={issueAt(save.error, "summary")}
        label="Summary"
        maxLength={200}
        onChange={(event) => setSummary(event.target.value)}
        placeholder="Ten customers pay with it."
        value={summary}
      />
    </FormDialog>
  )
}

export default MilestoneDialog
