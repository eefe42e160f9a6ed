import type { MilestoneId, ProjectId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** The milestones of projects. */
export const milestones = table("milestones", {
  id: uuid<MilestoneId>(),
  workspaceId: uuid<WorkspaceId>(),
  projectId: uuid<ProjectId>(),
  number: integer(),
  name: text(),
  summary: nullable(text()),
  createdAt: instant(),
  updatedAt: instant()
})

export type MilestoneRow = Row<typeof milestones>

/** Stores the milestones of projects. A caller locks the project (`ProjectsRepo.lock`) before it changes them. */
export class MilestonesRepo extends Context.Service<
  MilestonesRepo,
  {
    /** Gives the milestone the next number of its project, and returns it. A number is never used again. */
    readonly insert: (milestone: Omit<MilestoneRow, "number">) => Effect.Effect<number>
    readonly find: (projectId: ProjectId, number: number) => Effect.Effect<MilestoneRow | undefined>
    readonly update: (milestone: Pick<MilestoneRow, "id" | "name" | "summary" | "updatedAt">) => Effect.Effect<void>
    /** Its tickets, of whatever team, stay in the project without a milestone. `updatedAt` of each moves. */
    readonly delete: (milestone: MilestoneRow, at: Timestamp) => Effect.Effect<void>
  }
>()("@delivery/server/planning/MilestonesRepo") {}
