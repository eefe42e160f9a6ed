import type { Team } from "@delivery/domain/planning/Team"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { undone } from "../ui/toast.ts"
import { teamQuery, viewsQuery } from "./queries.ts"
import { ViewTab } from "./ViewTab.tsx"
import { teamMembersQuery } from "./teamQueries.ts"

/** A team: who is in it, the steps of its work, and its tags. */

const Statuses = later(
  () => import("./Statuses.tsx"),
  () => <SkeletonRows rows={4} />
)
const Tags = later(
  () => import("./Tags.tsx"),
  () => <SkeletonRows rows={4} />
)
const TeamDialog = later(() => import("./TeamDialog.tsx"))
const TeamMembers = later(
  () => import("./TeamMembers.tsx"),
  () => <SkeletonRows rows={4} />
)

interface Props {
  readonly slug: string
  readonly team: Team
}

const TeamMenu = ({ slug, team }: Props) => {
  const { name } = team
  const params = { slug, team: team.key }
  const changes = [workspaceKey(slug, "teams"), workspaceKey(slug, "tickets")]
  const restore = useAction({
    act: () => client.teams.restore({ params }),
    changes,
    done: () => ({ title: `${name} is back` }),
    failed: () => `${name} stays archived`
  })
  const archive = useAction({
    act: () => client.teams.archive({ params }),
    changes,
    done: () => ({
      title: `${name} was archived`,
      detail: "Its tickets stay, and take no changes until it is restored.",
      undo: () => undone(restore.mutateAsync())
    }),
    failed: () => `${name} was not archived`
  })
  return (
    <Menu
      groups={[
        {
          items: [
            team.archivedAt === null
              ? { label: "Archive", isDangerous: true, onSelect: () => archive.mutate() }
              : { label: "Restore", onSelect: () => restore.mutate() }
          ]
        }
      ]}
      label={name}
      trigger={(props) => <IconButton {...props} icon="more" label="More" />}
    />
  )
}

const TeamTabs = ({ slug, team }: Props) => {
  const { data } = useQuery(viewsQuery(slug, { team: team.key }))
  return (
    <Tabs label="Views of the team">
      <Link className={tabClass} params={{ slug, team: team.key }} to="/w/$slug/teams/$team">
        Team
      </Link>
      <Link
        className={tabClass}
        params={{ slug }}
        search={{ teams: [team.key], layout: "board" }}
        to="/w/$slug/tickets"
      >
        Board
      </Link>
      {(data?.views ?? []).map((view) => (
        <ViewTab key={view.id} slug={slug} view={view} />
      ))}
    </Tabs>
  )
}

const Whole = ({ slug, team }: Props) => {
  const me = useMe()?.id
  const role = useRole(slug)
  const { data: members } = useQuery(teamMembersQuery(slug, team.key))
  const [isChanging, setChanging] = useState(false)
  const isArchived = team.archivedAt !== null
  const isAdmin = mayAct(role, "admin")
  const isMember = mayAct(role, "member")
  const isInTeam = members?.members.some(({ id }) => id === me) === true
  useKeys(isAdmin ? [{ keys: "r", label: "Change the team", group: "Team", run: () => setChanging(true) }] : [])
  return (
    <>
      <Header
        actions={
          isAdmin && (
            <>
              <Button onClick={() => setChanging(true)} shortcut="r">
                Change
              </Button>
              <TeamMenu slug={slug} team={team} />
            </>
          )
        }
        crumbs={[{ label: "Teams", link: { to: "/w/$slug/teams", params: { slug } } }]}
        state={
          <>
            <span className="text-muted font-mono text-xs">{team.key}</span>
            {team.visibility === "private" && <Badge>private</Badge>}
            {isArchived && <Badge tone="warning">archived</Badge>}
          </>
        }
        title={team.name}
      />
      <TeamTabs slug={slug} team={team} />
      <div className="max-w-200 pb-8">
        <TeamMembers mayChange={isAdmin || (isMember && isInTeam)} slug={slug} team={team} />
        <Statuses mayChange={isAdmin} slug={slug} team={team.key} />
        <Tags mayChange={isMember} slug={slug} team={team.key} />
      </div>
      {isChanging && <TeamDialog onClose={() => setChanging(false)} slug={slug} team={team} />}
    </>
  )
}

const TeamScreen = () => {
  const { slug, team } = useParams({ from: "/w/$slug/teams/$team" })
  const query = useQuery(teamQuery(slug, team))
  return (
    <>
      {query.data === undefined && (
        <Header crumbs={[{ label: "Teams", link: { to: "/w/$slug/teams", params: { slug } } }]} title={team} />
      )}
      <Loaded query={query} rows={8}>
        {(data) => <Whole key={data.id} slug={slug} team={data} />}
      </Loaded>
    </>
  )
}

export default TeamScreen
