import type { TicketFilters } from "./search.ts"

/** What a new ticket is likely to be, of what is looked at when it is made. Pure. */
export interface Likely {
  /** By key. */
  readonly team?: string | undefined
  /** By slug. */
  readonly project?: string | undefined
  /** `project/number`, of the project that it is likely to be in. */
  readonly milestone?: string | undefined
  /** By id, or `me`. */
  readonly owner?: string | undefined
  /** By name. */
  readonly status?: string | undefined
  readonly category?: string | undefined
  /** By id. */
  readonly tags?: ReadonlyArray<string> | undefined
}

const only = (values: ReadonlyArray<string> | undefined): string | undefined =>
  values?.length === 1 ? values[0] : undefined

/** A ticket that these filters show. Of several values of one filter, none is more likely. */
export const likelyOf = ({
  categories,
  milestones,
  owners,
  projects,
  statuses,
  tags,
  teams
}: TicketFilters): Likely => {
  const owner = only(owners)
  const milestone = only(milestones?.filter((one) => one !== "none"))
  // A milestone says of which project it is, unless another one is filtered by.
  const ofMilestone = milestone?.split("/")[0]
  const project = projects === undefined || projects.includes(ofMilestone ?? "") ? ofMilestone : undefined
  return {
    team: only(teams),
    project: project ?? only(projects),
    milestone: project === undefined ? undefined : milestone,
    owner: owner === "none" ? undefined : owner,
    status: only(statuses),
    category: only(categories),
    tags: tags?.length === 1 ? tags : []
  }
}
