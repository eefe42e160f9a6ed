import type { WebhookDeliveryId } from "@delivery/domain/Ids"
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** For admins alone. */
export const webhooksQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "webhooks"),
    queryFn: ({ signal }) => client.webhooks.list({ params: { slug } }, { signal })
  })

export const webhookQuery = (slug: string, webhook: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "webhooks", webhook),
    queryFn: ({ signal }) => client.webhooks.get({ params: { slug, webhook } }, { signal })
  })

/** Tries are no events: they are asked for again while they are looked at. */
const liveMillis = 2_000

export const deliveriesQuery = (slug: string, webhook: string) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "webhooks", webhook, "deliveries"),
    queryFn: ({ pageParam, signal }) =>
      client.webhooks.deliveries(
        { params: { slug, webhook }, query: pageParam === null ? {} : { cursor: pageParam } },
        { signal }
      ),
    initialPageParam: null as WebhookDeliveryId | null,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 && state.error === null ? liveMillis : false)
  })
