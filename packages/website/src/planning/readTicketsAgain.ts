import type { QueryClient } from "@tanstack/react-query"
import { readAnew } from "../api/optimistic.ts"
import { workspaceKey } from "../api/queries.ts"

/** What shows tickets, or counts them. */
export const readTicketsAgain = (queries: QueryClient, slug: string) => () =>
  readAnew(
    queries,
    ["tickets", "projects", "events"].map((kind) => workspaceKey(slug, kind))
  )
