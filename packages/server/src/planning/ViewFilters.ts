import { NotFound } from "@delivery/domain/Errors"
import type { AgentId, PersonId } from "@delivery/domain/Ids"
import type { HidingFilter, ViewFiltersInput } from "@delivery/domain/planning/View"
import { Effect, Equal } from "effect"
import type { Access } from "../access/Access.ts"
import { distinctNames, replaceNames, visibleNames } from "./StatusNames.ts"
import { ownIds } from "./Tickets.ts"
import type { FoundView, StoredFilters, ViewsRepo } from "./ViewsRepo.ts"
import type { Viewer } from "./Viewer.ts"

/** The filters of views (docs/contract.md, Views): from a body, of a view that changes, and to list tickets with. */

/** The filters of a body. `NotFound` names the field. */
export const resolveFilters = Effect.fnUntraced(function* (
  repo: ViewsRepo["Service"],
  viewer: Viewer,
  input: ViewFiltersInput
) {
  const owners = input.owners ?? []
  const refs = {
    owners: owners.filter((owner) => owner !== "me" && owner !== "none"),
    tags: input.tags ?? [],
    teams: input.teams ?? [],
    projects: input.projects ?? [],
    milestones: (input.milestones ?? []).filter((milestone) => milestone !== "none")
  }
  const known = yield* repo.resolve(viewer, refs)
  for (const field of ["owners", "tags", "teams", "projects", "milestones"] as const) {
    const missing = refs[field].find((ref) => !known[field].has(ref))
    if (missing !== undefined) return yield* NotFound.reference(`filters.${field}`, missing)
  }
  const filters: StoredFilters = {
    categories: distinct(input.categories ?? []),
    statuses: distinctNames(input.statuses ?? []),
    followed: [],
    owners: distinct(owners),
    tags: distinct(refs.tags.map((ref) => known.tags.get(ref)!)),
    teams: distinct(refs.teams.map((ref) => known.teams.get(ref)!)),
    projects: distinct(refs.projects.map((ref) => known.projects.get(ref)!)),
    milestones: distinct(refs.milestones.map((ref) => known.milestones.get(ref)!)),
    noMilestone: input.milestones?.includes("none") === true
  }
  return filters
})

/** New filters of a view, with those values that the caller does not see and so could not send. */
export const keepUnseen = (view: FoundView, filters: StoredFilters): StoredFilters => {
  const { filters: before, milestones, namingTeams, seen, tags } = view
  const withUnseen = <Id extends string>(
    stored: ReadonlyArray<Id>,
    seen: ReadonlyArray<{ readonly id: Id }>,
    sent: ReadonlyArray<Id>
  ) => distinct([...stored.filter((id) => seen.every((each) => each.id !== id)), ...sent])
  const teams = withUnseen(before.teams, seen.teams, filters.teams)
  // Followed names are kept, unless the names or the filter's teams change.
  const isSame = Equal.equals(teams, before.teams) && Equal.equals(filters.statuses, visibleNames(before, namingTeams))
  const { followed, statuses } = isSame ? before : replaceNames(before, namingTeams, filters.statuses)
  return {
    ...filters,
    statuses,
    followed,
    tags: distinct([...tags.filter(({ isSeen }) => !isSeen).map(({ id }) => id), ...filters.tags]),
    teams,
    projects: withUnseen(before.projects, seen.projects, filters.projects),
    milestones: distinct([...milestones.filter(({ isSeen }) => !isSeen).map(({ id }) => id), ...filters.milestones])
  }
}

/** The filters of a view that have values which its viewer does not see. */
export const hiddenFilters = ({ filters, milestones, seen, tags }: FoundView): ReadonlyArray<HidingFilter> => {
  const isHiding: Record<HidingFilter, boolean> = {
    tags: tags.some(({ isSeen }) => !isSeen),
    teams: filters.teams.length > seen.teams.length,
    projects: filters.projects.length > seen.projects.length,
    milestones: milestones.some(({ isSeen }) => !isSeen)
  }
  return (Object.keys(isHiding) as ReadonlyArray<HidingFilter>).filter((name) => isHiding[name])
}

/** The selection of tickets of a view; undefined where no ticket can match. */
export const selectionOf = Effect.fnUntraced(function* (repo: ViewsRepo["Service"], by: Access, view: FoundView) {
  const { filters } = view
  const teamIds = within(view.teamId, filters.teams)
  const projectIds = within(view.projectId, filters.projects)
  const owners = restricting(filters.owners)?.flatMap((owner): ReadonlyArray<PersonId | AgentId | null> =>
    owner === "none" ? [null] : owner === "me" ? ownIds(by.principal) : [owner as PersonId | AgentId]
  )
  const statuses = restricting(visibleNames(filters, view.namingTeams))
  const statusIds = statuses && (yield* repo.statusesNamed(by.workspace.id, statuses))
  // An empty selection restricts nothing, but a filter whose values do not exist matches nothing.
  if ([teamIds, projectIds, owners, statusIds].some((ids) => ids?.length === 0)) return undefined
  return {
    teamIds: teamIds ?? [],
    projectIds: projectIds ?? [],
    owners: owners ?? [],
    statusIds: statusIds ?? [],
    categories: filters.categories,
    tagIds: view.tags.map(({ id }) => id),
    milestoneIds: [...view.milestones.map(({ id }) => id), ...(filters.noMilestone ? [null] : [])]
  }
})

const distinct = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> => [...new Set(values)]

/** An empty filter does not restrict. */
const restricting = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> | undefined =>
  values.length === 0 ? undefined : values

/** The values of a filter within the scope of the view. Undefined restricts nothing; an empty list matches nothing. */
const within = <Id extends string>(scope: Id | null, values: ReadonlyArray<Id>): ReadonlyArray<Id> | undefined => {
  if (scope === null) return restricting(values)
  return values.length === 0 || values.includes(scope) ? [scope] : []
}
