import type { View } from "@delivery/domain/planning/View"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { tellPages } from "../api/pages.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"

interface Props {
  readonly slug: string
  readonly view: View
  readonly onClose: () => void
}

const RenameView = ({ onClose, slug, view }: Props) => {
  const [name, setName] = useState(view.name)
  const rename = useAction({
    act: () => client.views.update({ params: { slug, view: view.id }, payload: { name: name.trim() } }),
    changes: [workspaceKey(slug, "views")],
    onDone: () => {
      tellPages(slug, "views")
      onClose()
    }
  })
  return (
    <FormDialog
      action="Rename"
      doing={rename}
      fields={["name"]}
      isReady={name.trim() !== "" && name.trim() !== view.name}
      onClose={onClose}
      title="Rename the view"
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(rename.error, "name")}
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        value={name}
      />
    </FormDialog>
  )
}

export default RenameView
