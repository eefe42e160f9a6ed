import type { TeamRef } from "@delivery/domain/planning/Team"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { createContext } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** The teams that the person sees. */
export const teamsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "teams", "list"),
    queryFn: ({ signal }) => client.teams.list({ params: { slug } }, { signal })
  })

/** A team, archived or not. */
export const teamQuery = (slug: string, team: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "teams", "one", team),
    queryFn: ({ signal }) => client.teams.get({ params: { slug, team } }, { signal })
  })

export const agentsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "agents"),
    queryFn: ({ signal }) => client.agents.list({ params: { slug }, query: {} }, { signal })
  })

/** The start of the keys of all queries of tickets. */
export const ticketsKey = (slug: string) => workspaceKey(slug, "tickets")

/** A ticket with its plan, by its identifier. */
export const ticketQuery = (slug: string, ticket: string) =>
  queryOptions({
    queryKey: [...ticketsKey(slug), "one", ticket.toUpperCase()],
    queryFn: ({ signal }) => client.tickets.get({ params: { slug, ticket } }, { signal })
  })

export interface TicketsAsked {
  readonly q?: string
  readonly team?: string
  readonly project?: string
  readonly milestone?: string
  readonly owner?: string
  readonly category?: StatusCategory
}

/** The tickets that match what the server filters by. */
export const ticketListQuery = (slug: string, asked: TicketsAsked) =>
  queryOptions({
    queryKey: [...ticketsKey(slug), "list", asked],
    queryFn: ({ signal }) => client.tickets.list({ params: { slug }, query: asked }, { signal }),
    placeholderData: keepPreviousData
  })

/** The tickets of several such lists, one list after the other. */
export const ticketListsQuery = (slug: string, asked: ReadonlyArray<TicketsAsked>) =>
  queryOptions({
    queryKey: [...ticketsKey(slug), "lists", asked],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(
        asked.map((query) => client.tickets.list({ params: { slug }, query }, { signal }))
      )
      return { tickets: lists.flatMap(({ tickets }) => tickets) }
    },
    placeholderData: keepPreviousData
  })

/** The statuses of a team, or without one those of the template. */
export const statusesQuery = (slug: string, team: string | undefined) =>
  queryOptions({
    queryKey: workspaceKey(slug, "statuses", team ?? null),
    queryFn: ({ signal }) =>
      client.ticketStatuses.list({ params: { slug }, query: team === undefined ? {} : { team } }, { signal })
  })

/** The tags that tickets of a team can have; without one all that the person sees. */
export const tagsQuery = (slug: string, team: string | undefined) =>
  queryOptions({
    queryKey: workspaceKey(slug, "tags", team ?? null),
    queryFn: ({ signal }) =>
      client.tags.list({ params: { slug }, query: team === undefined ? {} : { team } }, { signal })
  })

/** In the order of their priority. */
export const projectsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "projects", "list"),
    queryFn: ({ signal }) => client.projects.list({ params: { slug }, query: {} }, { signal })
  })

/** A project with its milestones and its document. */
export const projectQuery = (slug: string, project: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "projects", "one", project),
    queryFn: ({ signal }) => client.projects.get({ params: { slug, project } }, { signal })
  })

/** The views of the workspace, of a team or of a project. */
export const viewsQuery = (slug: string, scope: { readonly team?: string; readonly project?: string } = {}) =>
  queryOptions({
    queryKey: workspaceKey(slug, "views", scope),
    queryFn: ({ signal }) => client.views.list({ params: { slug }, query: scope }, { signal })
  })

export const viewQuery = (slug: string, view: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "views", "one", view),
    queryFn: ({ signal }) => client.views.get({ params: { slug, view } }, { signal })
  })

export const viewTicketsQuery = (slug: string, view: string) =>
  queryOptions({
    queryKey: [...ticketsKey(slug), "list", { view }],
    queryFn: ({ signal }) => client.views.listTickets({ params: { slug, view } }, { signal })
  })

/** The ticket whose texts are shown and written: they refer to its files, fields attach files to it and offer those who see its team. */
export const TicketContext = createContext<
  | { readonly slug: string; readonly ticket: string; readonly mayAttach: boolean; readonly team?: TeamRef | undefined }
  | undefined
>(undefined)
