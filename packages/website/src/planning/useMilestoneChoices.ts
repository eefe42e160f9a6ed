import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { wholeProjectsQuery } from "./groupQueries.ts"
import { viewQuery } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"

const noMilestone = { value: "none", label: "No milestone" }

/**
 * The milestones to filter by: of the projects that are filtered by, of the project whose view is shown, and of those whose
 * milestones are filtered by. All there are would be a call for each project.
 */
export const useMilestoneChoices = (slug: string, { milestones = [], projects = [] }: TicketsSearch) => {
  const { view } = useParams({ strict: false })
  const { data } = useQuery({ ...viewQuery(slug, view ?? ""), enabled: view !== undefined })
  const scope = data?.scope
  const named = [
    ...projects,
    ...(scope?.kind === "project" ? [scope.key] : []),
    ...milestones.filter((ref) => ref !== noMilestone.value).map((ref) => ref.split("/")[0]!)
  ]
  const { data: whole } = useQuery(wholeProjectsQuery(slug, [...new Set(named)].toSorted()))
  if (whole === undefined || named.length === 0) return [noMilestone]
  const choices = whole.flatMap((project) =>
    (project.milestones ?? []).map(({ name, number }) => ({
      value: `${project.slug}/${number}`,
      label: whole.length === 1 ? name : `${name} of ${project.name}`
    }))
  )
  return [noMilestone, ...choices]
}
