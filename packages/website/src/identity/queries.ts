import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

export const membersQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "members"),
    queryFn: ({ signal }) => client.members.list({ params: { slug } }, { signal })
  })

/** For admins alone. */
export const invitesQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "invites"),
    queryFn: ({ signal }) => client.invites.list({ params: { slug } }, { signal })
  })

export const apiKeysQuery = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => client.apiKeys.list({}, { signal })
})
