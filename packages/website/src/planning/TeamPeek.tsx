import type { Team } from "@delivery/domain/planning/Team"
import { useQuery } from "@tanstack/react-query"
import { Loaded } from "../api/Loaded.tsx"
import { Facts } from "../ui/Facts.tsx"
import { CategoryMark } from "./CategoryMark.tsx"
import { statusesQuery } from "./queries.ts"
import { teamMembersQuery } from "./teamQueries.ts"

/** A team beside the list of teams: who is in it, and what its tickets go through. */

const listClass = "flex flex-wrap gap-x-3 gap-y-1"

const TeamPeek = ({ slug, team }: { readonly slug: string; readonly team: Team }) => (
  <>
    <h2 className="text-md foreign py-3 pr-12 pl-4 font-semibold">{team.name}</h2>
    <Facts
      facts={[
        ["Key", team.key],
        ["Seen by", team.visibility === "private" ? "its members and admins" : "everybody"]
      ]}
    />
    <Loaded query={useQuery(teamMembersQuery(slug, team.key))} rows={3}>
      {({ members }) => (
        <section aria-label="Members" className="border-border border-b px-4 py-3">
          <h3 className="text-muted pb-1 text-xs font-medium">Members</h3>
          {members.length === 0 ? (
            <p className="text-muted">Nobody yet.</p>
          ) : (
            <ul className={listClass}>
              {members.map(({ active, id, name }) => (
                <li className={`foreign ${active ? "" : "text-muted"}`} key={id}>
                  {name}
                  {!active && " (inactive)"}
                </li>
              ))}
            </ul>
          )}
        </section>
      )}
    </Loaded>
    <Loaded query={useQuery(statusesQuery(slug, team.key))} rows={2}>
      {({ statuses }) => (
        <section aria-label="Statuses" className="px-4 py-3">
          <h3 className="text-muted pb-1 text-xs font-medium">Statuses</h3>
          <ul className={listClass}>
            {statuses.map((status) => (
              <li key={status.id}>
                <CategoryMark isNameShown status={status} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </Loaded>
  </>
)

export default TeamPeek
