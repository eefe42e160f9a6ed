import type { MilestoneId, ProjectId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { type MilestoneRow, MilestonesRepo } from "../../src/planning/MilestonesRepo.ts"
import { type ProjectLinks, type ProjectRow, ProjectsRepo } from "../../src/planning/ProjectsRepo.ts"
import { rankAt } from "../../src/planning/RankedList.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { minute, newId, unique } from "../identity/Scene.ts"

/** Stored projects and milestones for tests. */

export const projectRow = (workspaceId: WorkspaceId, fields: Partial<ProjectRow> = {}): ProjectRow => {
  const slug = unique("project")
  return {
    id: newId<ProjectId>(),
    workspaceId,
    slug,
    name: `Project ${slug}`,
    summary: null,
    status: "planned",
    leadId: null,
    targetDate: null,
    document: null,
    rank: "a0",
    archivedAt: null,
    createdAt: minute(0),
    updatedAt: minute(0),
    ...fields
  }
}

/** A project of the teams, last in its workspace unless a rank is given. */
export const addProject = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  { products = [], teams }: Partial<ProjectLinks> & Pick<ProjectLinks, "teams">,
  fields: Partial<ProjectRow> = {}
) {
  const repo = yield* ProjectsRepo
  const storage = yield* Storage
  return yield* storage.transaction(
    Effect.gen(function* () {
      const project = projectRow(workspaceId, fields)
      const order = yield* repo.lockOrder(workspaceId)
      const rank = fields.rank ?? (yield* rankAt(order, { id: project.id, rank: null }, { before: null }))
      yield* repo.insert({ ...project, rank }, { teams, products })
      return { ...project, rank }
    })
  )
})

export const addMilestone = Effect.fnUntraced(function* (
  project: Pick<ProjectRow, "id" | "workspaceId">,
  fields: Partial<MilestoneRow> = {}
) {
  const milestone = {
    id: newId<MilestoneId>(),
    workspaceId: project.workspaceId,
    projectId: project.id,
    name: unique("milestone"),
    summary: null,
    createdAt: minute(0),
    updatedAt: minute(0),
    ...fields
  }
  return { ...milestone, number: yield* (yield* MilestonesRepo).insert(milestone) }
})
