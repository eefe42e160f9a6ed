import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/**
 * Names and versions alone: none of these answers has a value. Values are never queries: they are asked for by `client.vault.get`
 * when somebody reveals one, kept by the cell that shows it, and forgotten with it.
 */
export const vaultQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "vault"),
    queryFn: ({ signal }) => client.vault.list({ params: { slug } }, { signal })
  })

/** Whoever writes asks for no value: the answer has none, and nothing counts as read. */
export const writing = { values: "none" } as const

export const versionsQuery = (slug: string, product: string, name: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "vault", "versions", product, name, environment),
    queryFn: ({ signal }) =>
      client.vault.versions(
        { params: { slug, productSlug: product, name, environmentSlug: environment }, query: {} },
        { signal }
      )
  })

/** Who read and wrote a secret: never what. */
export const secretAuditQuery = (slug: string, secret: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "vault", "audit", secret),
    queryFn: ({ signal }) => client.audit.list({ params: { slug }, query: { subject: secret } }, { signal })
  })
