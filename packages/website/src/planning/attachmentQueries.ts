import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

export const attachmentsKey = (slug: string, ticket: string) => workspaceKey(slug, "attachments", ticket.toUpperCase())

export const attachmentsQuery = (slug: string, ticket: string) =>
  queryOptions({
    queryKey: attachmentsKey(slug, ticket),
    queryFn: ({ signal }) => client.attachments.list({ params: { slug, ticket } }, { signal })
  })
