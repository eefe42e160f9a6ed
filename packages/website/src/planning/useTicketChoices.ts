import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import type { MenuItem } from "../ui/Menu.tsx"
import { categories, categoryNames } from "./categories.ts"
import type { TicketChange } from "./changes.ts"
import { useOwners } from "./owners.ts"
import { projectQuery, projectsQuery, statusesQuery, tagsQuery } from "./queries.ts"
import { useManyTickets } from "./useManyTickets.ts"

/** What some tickets can be, for all of them alike. */

export const fields = ["status", "owner", "project", "milestone", "tags"] as const
export type Field = (typeof fields)[number]

const only = (values: ReadonlyArray<string | undefined>): string | undefined =>
  new Set(values).size === 1 ? values[0] : undefined

const useOfTickets = (slug: string, tickets: ReadonlyArray<TicketSummary>) => {
  const team = only(tickets.map((ticket) => ticket.team.key))
  const project = only(tickets.map((ticket) => ticket.project?.slug))
  const { data: statuses } = useQuery({ ...statusesQuery(slug, team), enabled: team !== undefined })
  const { data: projects } = useQuery(projectsQuery(slug))
  const { data: one } = useQuery({ ...projectQuery(slug, project ?? ""), enabled: project !== undefined })
  const { data: tags } = useQuery(tagsQuery(slug, undefined))
  const teams = new Set(tickets.map((ticket) => ticket.team.id))
  return {
    statuses: team === undefined ? undefined : statuses?.statuses,
    projects: (projects?.projects ?? []).filter((some) =>
      [...teams].every((id) => some.teams.some((of) => of.id === id))
    ),
    milestones: project === undefined ? [] : (one?.milestones ?? []),
    tags: (tags?.tags ?? []).filter((tag) => tag.team === null || (teams.size === 1 && teams.has(tag.team.id)))
  }
}

export const useTicketChoices = (
  slug: string,
  tickets: ReadonlyArray<TicketSummary>
): Readonly<Record<Field, ReadonlyArray<MenuItem>>> => {
  const change = useManyTickets(slug)
  const owners = useOwners(slug, "member", { teams: tickets.map(({ team }) => team) })
  const { milestones, projects, statuses, tags } = useOfTickets(slug, tickets)
  const one = (
    label: string,
    asked: TicketChange,
    said: string,
    isOf: (ticket: TicketSummary) => boolean,
    hint?: string
  ): MenuItem => ({
    label,
    hint,
    isChosen: tickets.length > 0 && tickets.every(isOf),
    onSelect: () => void change(tickets, asked, said)
  })
  return {
    status:
      statuses === undefined
        ? categories.map((category) => {
            const name = categoryNames[category]
            return one(name, { category }, `moved to ${name}`, ({ status }) => status.category === category)
          })
        : statuses.map(({ category, id, name }) => {
            const asked = { status: { id, name, category } }
            return one(name, asked, `moved to ${name}`, ({ status }) => status.id === id)
          }),
    owner: [
      one("Nobody", { owner: null }, "given to nobody", ({ owner }) => owner === null),
      ...owners.map(({ hint, label, owner }) =>
        one(label, { owner }, `given to ${label}`, (ticket) => ticket.owner?.id === owner.id, hint)
      )
    ],
    project: [
      one("No project", { project: null }, "taken out of projects", ({ project }) => project === null),
      ...projects.map(({ id, name, slug: project }) => {
        const asked = { project: { id, slug: project, name } }
        return one(name, asked, `put into ${name}`, (ticket) => ticket.project?.id === id)
      })
    ],
    milestone:
      milestones.length === 0
        ? []
        : [
            one("No milestone", { milestone: null }, "in no milestone", ({ milestone }) => milestone === null),
            ...milestones.map(({ name, number }) => {
              const asked = { milestone: { number, name } }
              const said = `put into ${name}`
              return one(`${number}. ${name}`, asked, said, ({ milestone }) => milestone?.number === number)
            })
          ],
    tags: tags.map((tag) => {
      const name = tag.name
      const isOfAll = tickets.every((ticket) => ticket.tags.some(({ id }) => id === tag.id))
      return {
        label: name,
        isChecked: isOfAll,
        onSelect: () =>
          void (isOfAll
            ? change(tickets, { removeTag: tag }, `no longer tagged ${name}`)
            : change(tickets, { addTag: tag }, `tagged ${name}`))
      }
    })
  }
}
