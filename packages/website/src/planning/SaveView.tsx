import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { tellPages } from "../api/pages.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import type { TicketsSearch } from "./search.ts"
import { filtersToSave } from "./viewFilters.ts"
import { looksToSave } from "./viewLooks.ts"

interface Props {
  readonly slug: string
  readonly search: TicketsSearch
  readonly onClose: () => void
}

/** Keeps the filters, and how the tickets are shown, for the person or for everybody who sees the scope. */
const SaveView = ({ onClose, search, slug }: Props) => {
  const navigate = useNavigate()
  const [name, setName] = useState("")
  const scopes = [
    { value: "workspace", label: "Everybody in the workspace" },
    { value: "personal", label: "Only you" },
    ...(search.teams ?? []).map((key) => ({ value: `team ${key}`, label: `Who sees the team ${key}` })),
    ...(search.projects ?? []).map((key) => ({ value: `project ${key}`, label: `Who sees the project ${key}` }))
  ]
  const [scope, setScope] = useState("workspace")
  const isPersonal = scope === "personal"
  const save = useAction({
    act: () => {
      const [kind, key] = (isPersonal ? "workspace" : scope).split(" ") as [
        "workspace" | "team" | "project",
        string | undefined
      ]
      return client.views.create({
        params: { slug },
        payload: {
          name: name.trim(),
          scope: { kind, ...(key === undefined ? {} : { key }) },
          visibility: isPersonal ? "personal" : "shared",
          filters: filtersToSave(search),
          ...looksToSave(search)
        }
      })
    },
    changes: [workspaceKey(slug, "views")],
    done: (view) => ({ title: `${view.name} was saved`, tone: "success" }),
    onDone: (view) => {
      tellPages(slug, "views")
      onClose()
      void navigate({ to: "/w/$slug/views/$view", params: { slug, view: view.id } })
    }
  })
  return (
    <FormDialog
      action="Save view"
      description={search.q === undefined ? undefined : "The words that you search for are not kept, the filters are."}
      doing={save}
      fields={["name"]}
      isReady={name.trim() !== ""}
      onClose={onClose}
      title="Save as view"
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(save.error, "name")}
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        value={name}
      />
      <Select label="Seen by" onChange={setScope} options={scopes} value={scope} />
      <p className="text-muted">
        {isPersonal
          ? "Nobody else sees it. You can share it later."
          : "Whoever sees it finds it beside the other views. Each member can rename, change and delete it."}
      </p>
    </FormDialog>
  )
}

export default SaveView
