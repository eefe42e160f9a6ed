import type { Team, TeamVisibility } from "@delivery/domain/planning/Team"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"

interface Props {
  readonly slug: string
  /** The one to change; without it, a new one is made. */
  readonly team?: Team
  readonly onClose: () => void
  readonly onDone?: (team: string) => void
}

const visibilities = [
  { value: "open", label: "Open", hint: "everybody in the workspace" },
  { value: "private", label: "Private", hint: "its members, admins and owners" }
] as const

/** The first letters of a name: what identifiers of tickets are likely to begin with. */
const keyOf = (name: string): string => (name.toUpperCase().match(/[A-Z][A-Z0-9]*/)?.[0] ?? "").slice(0, 3)

const TeamDialog = ({ onClose, onDone, slug, team }: Props) => {
  const [name, setName] = useState(team?.name ?? "")
  const [ownKey, setKey] = useState<string>()
  const [visibility, setVisibility] = useState<TeamVisibility>(team?.visibility ?? "open")
  const key = ownKey ?? keyOf(name)
  const save = useAction({
    act: () =>
      team === undefined
        ? client.teams.create({ params: { slug }, payload: { key, name: name.trim(), visibility } })
        : client.teams.update({ params: { slug, team: team.key }, payload: { name: name.trim(), visibility } }),
    changes: [workspaceKey(slug, "teams"), workspaceKey(slug, "tickets")],
    onDone: (answer) => {
      onClose()
      onDone?.(answer.key)
    }
  })
  return (
    <FormDialog
      action={team === undefined ? "Add team" : "Save"}
      doing={save}
      fields={["name", "key"]}
      isReady={name.trim() !== "" && (team !== undefined || key !== "")}
      onClose={onClose}
      title={team === undefined ? "Add a team" : "Change the team"}
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(save.error, "name")}
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        placeholder="Engineering"
        value={name}
      />
      {team === undefined && (
        <Input
          autoComplete="off"
          hint={`The identifiers of its tickets begin with it: ${key === "" ? "ENG" : key}-12. It never changes.`}
          isMono
          issue={issueAt(save.error, "key")}
          label="Key"
          maxLength={10}
          onChange={(event) => setKey(event.target.value.toUpperCase())}
          spellCheck={false}
          value={key}
        />
      )}
      <Select label="Seen by" onChange={setVisibility} options={visibilities} value={visibility} />
      {team?.visibility === "open" && visibility === "private" && (
        <p className="text-warning">
          Who is no member of the team, nor an admin, no longer sees it, its tickets, and what happened in it.
        </p>
      )}
    </FormDialog>
  )
}

export default TeamDialog
