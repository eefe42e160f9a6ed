import { useQuery } from "@tanstack/react-query"
import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import { useState } from "react"
import { useMe } from "../api/session.ts"
import { keepTeam, lastTeam } from "./lastTeam.ts"
import type { Likely } from "./likely.ts"
import { projectQuery, projectsQuery, statusesQuery, tagsQuery, teamsQuery } from "./queries.ts"

/** What a new ticket is beside its words: what was chosen, else what is likely, and what of that can be. */

/** In place of an id, key or slug: none of them. */
export const none = ""

interface Chosen {
  readonly team?: string
  readonly status?: string | undefined
  readonly owner?: string
  readonly project?: string
  readonly milestone?: string | undefined
  readonly tags?: ReadonlyArray<string>
}

/** The teams of the project that it is likely to be in, else all that there are. */
const useTeams = (slug: string, { project }: Likely) => {
  const teams = useQuery(teamsQuery(slug))
  const { data: projects, isLoading } = useQuery(projectsQuery(slug))
  const all = teams.data?.teams.filter(({ archivedAt }) => archivedAt === null)
  const ofProject = projects?.projects.find((one) => one.slug === project)?.teams
  const some = all?.filter(({ id }) => ofProject === undefined || ofProject.some((team) => team.id === id)) ?? []
  return {
    all,
    likely: some.length === 0 ? (all ?? []) : some,
    projects: projects?.projects ?? [],
    query: teams,
    isLoading: isLoading || teams.isLoading
  }
}

/** The team of that name, the one of the last ticket, or the only one; else none, and the person chooses. */
const useTeam = (slug: string, likely: Likely, about: string, chosen: string | undefined) => {
  const teams = useTeams(slug, likely)
  const last = lastTeam(slug)
  const found =
    teams.likely.find(({ name }) => name.toLowerCase() === about.toLowerCase()) ??
    teams.likely.find(({ key }) => key === last) ??
    (teams.likely.length === 1 ? teams.likely[0] : undefined)
  return { ...teams, team: chosen ?? likely.team ?? found?.key ?? none }
}

export const useTicketFields = (slug: string, likely: Likely, about = "") => {
  const me = useMe()?.id
  const [chosen, setChosen] = useState<Chosen>({})
  const { all, isLoading, projects, query, team } = useTeam(slug, likely, about, chosen.team)
  const isKnown = team !== none
  const { data: ofTeam, isLoading: isStatusesLoading } = useQuery({ ...statusesQuery(slug, team), enabled: isKnown })
  const { data: allTags, isLoading: isTagsLoading } = useQuery({ ...tagsQuery(slug, team), enabled: isKnown })
  const statuses = ofTeam?.statuses ?? []
  const fitting = projects.filter(({ teams }) => teams.some(({ key }) => key === team))
  const asked = chosen.project ?? likely.project
  const project = fitting.find((one) => one.slug === asked)?.slug ?? none
  const { data: one, isLoading: isProjectLoading } = useQuery({
    ...projectQuery(slug, project),
    enabled: project !== none
  })
  const status =
    statuses.find(({ id }) => id === chosen.status) ??
    statuses.find(({ name }) => name.toLowerCase() === likely.status?.toLowerCase()) ??
    statuses.find(({ category }) => category === likely.category) ??
    statuses.find(({ isDefault }) => isDefault)
  const milestones = project === none ? [] : (one?.milestones ?? [])
  const milestoneAsked =
    chosen.milestone ?? milestones.find(({ number }) => `${project}/${number}` === likely.milestone)?.number ?? none
  const tags = allTags?.tags ?? []
  const tagsAsked = chosen.tags ?? likely.tags ?? []
  const shown = {
    team,
    status: status?.id ?? none,
    owner: chosen.owner ?? (likely.owner === "me" ? me : likely.owner) ?? none,
    project,
    milestone: project === none ? none : String(milestoneAsked),
    tags: tags.filter(({ id }) => tagsAsked.includes(id)).map(({ id }) => id)
  }
  return {
    query,
    /** Whether it is not known yet what of the likely can be. */
    isLoading: isLoading || isStatusesLoading || isTagsLoading || (isProjectLoading && likely.milestone !== undefined),
    shown,
    teams: all,
    statuses,
    projects: fitting,
    milestones,
    tags,
    set: (change: Chosen) => setChosen((before) => ({ ...before, ...change })),
    setTeam: (next: string) => {
      keepTeam(slug, next)
      setChosen((before) => ({ ...before, team: next, status: undefined, milestone: undefined }))
    }
  }
}

export type TicketFields = ReturnType<typeof useTicketFields>

/** What the API is told of them. */
export const payloadOf = ({
  shown: { milestone, owner, project, status, tags, team }
}: TicketFields): Omit<CreateTicket, "title"> => ({
  team,
  ...(status === none ? {} : { status }),
  ...(owner === none ? {} : { owner }),
  ...(project === none ? {} : { project }),
  ...(milestone === none ? {} : { milestone: Number(milestone) }),
  ...(tags.length === 0 ? {} : { tags })
})
