import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { Team } from "@delivery/domain/planning/Team"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { counted } from "../ui/format.ts"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { teamsQuery } from "./queries.ts"
import { archivedTeamsQuery } from "./archivedQueries.ts"

/** The teams that one sees, and what all of them have in common. */

const Statuses = later(
  () => import("./Statuses.tsx"),
  () => <SkeletonRows rows={4} />
)
const Tags = later(
  () => import("./Tags.tsx"),
  () => <SkeletonRows rows={4} />
)
const TeamPeek = later(() => import("./TeamPeek.tsx"))
const TeamDialog = later(() => import("./TeamDialog.tsx"))

interface ListProps {
  readonly slug: string
  readonly teams: ReadonlyArray<Team>
}

const List = ({ slug, teams }: ListProps) => {
  const navigate = useNavigate()
  return (
    <Rows
      count={teams.length}
      keyOf={(index) => teams[index]!.id}
      label="Teams"
      noun="team"
      onOpen={(index) => void navigate({ to: "/w/$slug/teams/$team", params: { slug, team: teams[index]!.key } })}
      peek={(index) => <TeamPeek slug={slug} team={teams[index]!} />}
      row={(index, isCurrent) => {
        const { key, memberCount, name, visibility } = teams[index]!
        return (
          <Link
            className={`border-border hover:bg-hover flex h-(--row) items-center gap-3 border-b px-4 ${isCurrent ? "bg-selected" : ""}`}
            params={{ slug, team: key }}
            to="/w/$slug/teams/$team"
          >
            <span className="text-muted w-16 shrink-0 font-mono text-xs">{key}</span>
            <span className="foreign min-w-0 flex-1 truncate font-medium">{name}</span>
            {visibility === "private" && <Badge>private</Badge>}
            <span className="text-muted tabular">{counted(memberCount, "member")}</span>
          </Link>
        )
      }}
    />
  )
}

const Existing = ({ onNew, slug }: { readonly slug: string; readonly onNew: (() => void) | undefined }) => {
  const { view } = useSearch({ from: "/w/$slug/teams" })
  const isArchived = view === "archived"
  const query = useQuery(isArchived ? archivedTeamsQuery(slug) : teamsQuery(slug))
  return (
    <Loaded query={query} rows={4}>
      {({ teams }) =>
        teams.length === 0 ? (
          <Empty
            action={
              onNew !== undefined &&
              !isArchived && (
                <Button look="primary" onClick={onNew}>
                  Add team
                </Button>
              )
            }
            icon="people"
            title={isArchived ? "Nothing is archived" : "A team shares its statuses, tags and tickets"}
          />
        ) : (
          <List slug={slug} teams={teams} />
        )
      }
    </Loaded>
  )
}

const TeamsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/teams" })
  const { view } = useSearch({ from: "/w/$slug/teams" })
  const navigate = useNavigate()
  const role = useRole(slug)
  const isAdmin = mayAct(role, "admin")
  const [isNew, setNew] = useState(false)
  const begin = () => setNew(true)
  useKeys(isAdmin ? [{ keys: "n", label: "Add a team", group: "Teams", run: begin }] : [])
  return (
    <>
      <Header
        actions={
          isAdmin && (
            <Button icon="plus" look="primary" onClick={begin} shortcut="n">
              Add team
            </Button>
          )
        }
        crumbs={[]}
        title="Teams"
      />
      <Tabs label="Views of teams">
        {(
          [
            ["Teams", undefined],
            ["For all teams", "shared"],
            ["Archived", "archived"]
          ] as const
        ).map(([label, value]) => (
          <Link
            activeOptions={{ exact: true }}
            className={tabClass}
            key={label}
            params={{ slug }}
            search={value === undefined ? {} : { view: value }}
            to="/w/$slug/teams"
          >
            {label}
          </Link>
        ))}
      </Tabs>
      {view === "shared" ? (
        <div className="max-w-200">
          <Statuses mayChange={isAdmin} slug={slug} team={undefined} />
          <Tags mayChange={isAdmin} slug={slug} team={undefined} />
        </div>
      ) : (
        <Existing onNew={isAdmin ? begin : undefined} slug={slug} />
      )}
      {isNew && (
        <TeamDialog
          onClose={() => setNew(false)}
          onDone={(team) => void navigate({ to: "/w/$slug/teams/$team", params: { slug, team } })}
          slug={slug}
        />
      )}
    </>
  )
}

export default TeamsScreen
