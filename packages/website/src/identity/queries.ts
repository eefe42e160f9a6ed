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

/** For admins alone. */
export const accountKeysQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "account-keys"),
    queryFn: ({ signal }) => client.accountApiKeys.list({ params: { slug } }, { signal })
  })

/** For admins alone. */
export const credentialsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "credentials"),
    queryFn: ({ signal }) => client.credentials.list({ params: { slug } }, { signal })
  })

/** For admins alone. */
export const publishersQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "publishers"),
    queryFn: ({ signal }) => client.trustedPublishers.list({ params: { slug } }, { signal })
  })

export const workspaceQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "workspace"),
    queryFn: ({ signal }) => client.workspaces.get({ params: { slug } }, { signal })
  })

export const sessionsQuery = queryOptions({
  queryKey: ["sign-in", "sessions"],
  queryFn: ({ signal }) => client.auth.sessions({}, { signal })
})

export const passkeysQuery = queryOptions({
  queryKey: ["sign-in", "passkeys"],
  queryFn: ({ signal }) => client.auth.passkeys({}, { signal })
})

export const identitiesQuery = queryOptions({
  queryKey: ["sign-in", "identities"],
  queryFn: ({ signal }) => client.auth.identities({}, { signal })
})

export const methodsQuery = queryOptions({
  queryKey: ["sign-in", "methods"],
  queryFn: ({ signal }) => client.auth.methods({}, { signal }),
  staleTime: Infinity
})
