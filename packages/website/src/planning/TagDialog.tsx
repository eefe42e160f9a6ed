import type { Tag } from "@delivery/domain/planning/Tag"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { ColorField } from "./ColorField.tsx"
import { colorOf } from "./tagColors.ts"

interface Props {
  readonly slug: string
  readonly team: string | undefined
  /** The one to change; without it, a new one is made. */
  readonly tag?: Tag
  readonly onClose: () => void
}

const TagDialog = ({ onClose, slug, tag, team }: Props) => {
  const [name, setName] = useState(tag?.name ?? "")
  const [chosenColor, setColor] = useState<string | undefined>(tag?.color)
  const color = chosenColor ?? colorOf(name)
  const save = useAction({
    act: () => {
      const payload = { name: name.trim(), color }
      return tag === undefined
        ? client.tags.create({ params: { slug }, payload: { ...payload, ...(team === undefined ? {} : { team }) } })
        : client.tags.update({ params: { slug, tag: tag.id }, payload })
    },
    changes: [workspaceKey(slug, "tags"), workspaceKey(slug, "tickets")],
    onDone: onClose
  })
  return (
    <FormDialog
      action={tag === undefined ? "Add tag" : "Save"}
      doing={save}
      fields={["name", "color"]}
      isReady={name.trim() !== ""}
      onClose={onClose}
      title={tag === undefined ? "Add a tag" : "Change the tag"}
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(save.error, "name")}
        label="Name"
        maxLength={40}
        onChange={(event) => setName(event.target.value)}
        placeholder="Bug"
        value={name}
      />
      <ColorField issue={issueAt(save.error, "color")} onChange={setColor} value={color} />
    </FormDialog>
  )
}

export default TagDialog
