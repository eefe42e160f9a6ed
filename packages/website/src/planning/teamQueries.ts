import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** The members of several teams, by the keys of the teams. */
export const membersOfTeamsQuery = (slug: string, teams: ReadonlyArray<string>) =>
  queryOptions({
    queryKey: workspaceKey(slug, "teams", "members", teams),
    queryFn: ({ signal }) =>
      Promise.all(teams.map((team) => client.teams.listMembers({ params: { slug, team } }, { signal })))
  })

export const teamMembersQuery = (slug: string, team: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "teams", "members", team),
    queryFn: ({ signal }) => client.teams.listMembers({ params: { slug, team } }, { signal })
  })
