import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import type { AuditEntryId } from "@delivery/domain/Ids"
import { infiniteQueryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import type { AuditFilters } from "./filters.ts"

/** Reads and sign-ins are in the audit and are no events: it is asked for again while it is looked at. */
const liveMillis = 2_000

/** For admins alone. */
export const auditQuery = (slug: string, { action, ...filters }: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "audit", { action, ...filters }),
    queryFn: ({ pageParam, signal }) =>
      client.audit.list(
        {
          params: { slug },
          query: {
            ...filters,
            // An action that does not exist is for the server to refuse: it names those that do.
            ...(action === undefined ? {} : { action: action as AuditAction }),
            ...(pageParam === null ? {} : { cursor: pageParam })
          }
        },
        { signal }
      ),
    initialPageParam: null as AuditEntryId | null,
    getNextPageParam: (page) => page.nextCursor,
    // Each page is read again: who reads far back looks at what stays.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 && state.error === null ? liveMillis : false)
  })
