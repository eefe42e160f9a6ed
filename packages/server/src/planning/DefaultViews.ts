import type { ViewId } from "@delivery/domain/Ids"
import { defaultViews } from "@delivery/domain/planning/View"
import { Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { NextId } from "../ids/NextId.ts"
import type { ProjectRow } from "./ProjectsRepo.ts"
import { spreadRanks } from "./Ranks.ts"
import type { ViewRow } from "./ViewsRepo.ts"

/** The views that a new project begins with (docs/contract.md, Projects). */
export const defaultViewsOf = (
  nextId: NextId["Service"],
  project: Pick<ProjectRow, "id" | "workspaceId" | "createdAt">,
  creator: ActorRef
): Effect.Effect<ReadonlyArray<ViewRow>> => {
  const ranks = spreadRanks(defaultViews.length)
  return Effect.forEach(defaultViews, ({ categories, name }, i) =>
    Effect.map(nextId<ViewId>(), (id) => ({
      id,
      workspaceId: project.workspaceId,
      teamId: null,
      projectId: project.id,
      personId: null,
      name,
      filters: {
        categories,
        statuses: [],
        followed: [],
        owners: [],
        tags: [],
        teams: [],
        projects: [],
        milestones: [],
        noMilestone: false
      },
      layout: "list" as const,
      groupedBy: "status" as const,
      sortedBy: null,
      isDefault: true,
      rank: ranks[i]!,
      creatorKind: creator.kind,
      creatorId: creator.id,
      createdAt: project.createdAt,
      updatedAt: project.createdAt
    }))
  )
}
