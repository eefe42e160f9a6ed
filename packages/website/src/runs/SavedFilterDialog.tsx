import type { SavedFilter } from "@delivery/domain/runs/SavedFilter"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { tellPages } from "../api/pages.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { type Filtered, toSave, wordsOf } from "./savedFilters.ts"

interface Props {
  readonly slug: string
  readonly filtered: Filtered
  /** Of those that the person sees: two lines of one name could not be told apart. */
  readonly names: ReadonlyArray<string>
  /** One that gets another name; else what is shown is saved. */
  readonly renamed?: SavedFilter | undefined
  readonly onClose: () => void
}

const visibilities = [
  { value: "shared", label: "Everybody in the workspace" },
  { value: "personal", label: "Only you" }
] as const

/** Names what is filtered, for the person or for everybody. */
const SavedFilterDialog = ({ filtered, names, onClose, renamed, slug }: Props) => {
  const [name, setName] = useState(renamed?.name ?? "")
  const [visibility, setVisibility] = useState<SavedFilter["visibility"]>("shared")
  const isTaken = name.trim() !== renamed?.name && names.includes(name.trim())
  const save = useAction({
    act: () =>
      renamed === undefined
        ? client.savedFilters.create({
            params: { slug },
            payload: { screen: filtered.screen, name: name.trim(), visibility, ...toSave(filtered) }
          })
        : client.savedFilters.update({ params: { slug, filter: renamed.id }, payload: { name: name.trim() } }),
    changes: [workspaceKey(slug, "filters")],
    done: ({ name }) => ({
      title: renamed === undefined ? `${name} was saved` : `${renamed.name} is called ${name} now`,
      tone: "success"
    }),
    onDone: () => {
      tellPages(slug, "filters")
      onClose()
    }
  })
  return (
    <FormDialog
      description={renamed === undefined ? `By: ${wordsOf(toSave(filtered)).join(", ")}.` : undefined}
      action={renamed === undefined ? "Save filter" : "Rename"}
      doing={save}
      fields={["name"]}
      isReady={name.trim() !== "" && name.trim() !== renamed?.name && !isTaken}
      onClose={onClose}
      title={renamed === undefined ? "Save the filter" : "Rename the filter"}
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={isTaken ? "Another filter of this list has this name." : issueAt(save.error, "name")}
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        value={name}
      />
      {renamed === undefined && (
        <>
          <Select label="Seen by" onChange={setVisibility} options={visibilities} value={visibility} />
          <p className="text-muted">
            {visibility === "personal"
              ? "Nobody else sees it. You can share it later."
              : "Everybody finds it above this list. Each member can rename, change and delete it."}
          </p>
        </>
      )}
    </FormDialog>
  )
}

export default SavedFilterDialog
