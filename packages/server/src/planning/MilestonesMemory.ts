import type { ProjectId } from "@delivery/domain/Ids"
import { parseMilestoneRef } from "@delivery/domain/planning/Project"
import { Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { type MilestoneRow, milestones, MilestonesRepo } from "./MilestonesRepo.ts"
import { projects } from "./ProjectsRepo.ts"
import { tickets } from "./TicketsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesProjectInMemory } from "./Visibility.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  MilestonesRepo,
  Effect.map(MemoryStorage, (memory) =>
    MilestonesRepo.of({
      insert: insert(memory),
      find: find(memory),
      update: update(memory),
      delete: remove(memory)
    })
  )
)

/** The milestone that a filter names, where the viewer sees its project. */
export const findMilestoneInMemory = (
  database: MemoryDatabase,
  viewer: Viewer,
  ref: string
): MilestoneRow | undefined => {
  const named = parseMilestoneRef(ref)
  const project =
    named &&
    database
      .table(projects)
      .find(({ slug, workspaceId }) => workspaceId === viewer.workspaceId && slug === named.project)
  return project !== undefined && seesProjectInMemory(database, viewer, project.id)
    ? database.table(milestones).find(({ number, projectId }) => projectId === project.id && number === named!.number)
    : undefined
}

const insert = (memory: Memory) => (milestone: Omit<MilestoneRow, "number">) =>
  memory.write((database) =>
    Effect.sync(() => {
      const project = database.table(projects).get(milestone.projectId)!
      const number = project.lastMilestoneNumber + 1
      database.table(projects).set(project.id, { ...project, lastMilestoneNumber: number })
      database.table(milestones).set(milestone.id, { ...milestone, number })
      return number
    })
  )

const find = (memory: Memory) => (projectId: ProjectId, number: number) =>
  memory.read((database) =>
    database.table(milestones).find((milestone) => milestone.projectId === projectId && milestone.number === number)
  )

const update =
  (memory: Memory): MilestonesRepo["Service"]["update"] =>
  (milestone) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(milestones)
        rows.set(milestone.id, { ...rows.get(milestone.id)!, ...milestone })
      })
    )

const remove =
  (memory: Memory): MilestonesRepo["Service"]["delete"] =>
  ({ id }) =>
    memory.write((database) =>
      Effect.gen(function* () {
        const rows = database.table(tickets)
        for (const ticket of rows.filter(({ milestoneId }) => milestoneId === id)) {
          rows.set(ticket.id, { ...ticket, milestoneId: null, updatedAt: yield* nextUpdate(ticket) })
        }
        database.table(milestones).delete(id)
      })
    )
