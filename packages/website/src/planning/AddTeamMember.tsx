import type { Team } from "@delivery/domain/planning/Team"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { membersQuery } from "../identity/queries.ts"
import { Select } from "../ui/Select.tsx"

interface Props {
  readonly slug: string
  readonly team: Team
  /** Who is in the team, by id. */
  readonly already: ReadonlyArray<string>
  readonly onClose: () => void
}

const AddTeamMember = ({ already, onClose, slug, team }: Props) => {
  const { data } = useQuery(membersQuery(slug))
  const [chosen, setChosen] = useState<string>()
  const people = (data?.members ?? []).filter(({ active, id }) => active && !already.includes(id))
  const member = chosen ?? people[0]?.id ?? ""
  const add = useAction({
    act: () => client.teams.addMember({ params: { slug, team: team.key }, payload: { member } }),
    changes: [workspaceKey(slug, "teams")],
    onDone: onClose
  })
  return (
    <FormDialog
      action="Add member"
      description={people.length === 0 ? "Every member of the workspace is in the team." : undefined}
      doing={add}
      isReady={member !== ""}
      onClose={onClose}
      title={`Add a member to ${team.name}`}
    >
      {people.length > 0 && (
        <Select
          label="Member of the workspace"
          onChange={setChosen}
          options={people.map(({ email, id, name }) => ({ value: id, label: name, hint: email }))}
          value={member}
        />
      )}
    </FormDialog>
  )
}

export default AddTeamMember
