import type { Team, TeamMember } from "@delivery/domain/planning/Team"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { Sure } from "../api/Sure.tsx"
import { useMe } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { teamMembersQuery } from "./teamQueries.ts"

/** Who is in a team. */

const AddTeamMember = later(() => import("./AddTeamMember.tsx"))

interface Props {
  readonly slug: string
  readonly team: Team
  readonly mayChange: boolean
}

const One = ({ mayChange, member, slug, team }: Props & { readonly member: TeamMember }) => {
  const me = useMe()?.id
  const name = member.name
  const remove = useAction({
    act: () => client.teams.removeMember({ params: { slug, team: team.key, member: member.id } }),
    changes: [workspaceKey(slug, "teams")]
  })
  return (
    <Item
      actions={
        mayChange && (
          <Sure doing={remove} subject={name} title={`Take ${name} out of ${team.name}?`} verb="Remove">
            <p>
              Their tickets keep their owner.
              {team.visibility === "private" && " The team is private: who is no admin no longer sees it."}
            </p>
          </Sure>
        )
      }
      badges={
        <>
          {member.id === me && <Badge tone="accent">you</Badge>}
          {!member.active && <Badge>inactive</Badge>}
        </>
      }
      detail={member.email}
      isFaded={!member.active}
      name={name}
    >
      <Cell>{member.role}</Cell>
    </Item>
  )
}

const TeamMembers = (props: Props) => {
  const { mayChange, slug, team } = props
  const query = useQuery(teamMembersQuery(slug, team.key))
  const [isAdding, setAdding] = useState(false)
  useKeys(mayChange ? [{ keys: "m", label: "Add a member", group: "Team", run: () => setAdding(true) }] : [])
  return (
    <Section
      actions={
        mayChange && (
          <Button icon="plus" look="quiet" onClick={() => setAdding(true)} shortcut="m">
            Member
          </Button>
        )
      }
      isFlush
      title="Members"
    >
      <Loaded query={query} rows={3}>
        {({ members }) => (
          <>
            {members.length === 0 ? (
              <p className="text-muted px-4 py-3">Nobody yet.</p>
            ) : (
              <ul>
                {members.map((member) => (
                  <One key={member.id} {...props} member={member} />
                ))}
              </ul>
            )}
            {isAdding && (
              <AddTeamMember
                already={members.map(({ id }) => id)}
                onClose={() => setAdding(false)}
                slug={slug}
                team={team}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

export default TeamMembers
