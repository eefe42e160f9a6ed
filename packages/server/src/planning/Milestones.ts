import { type Conflict, type Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { MilestoneId } from "@delivery/domain/Ids"
import type { CreateMilestone, Milestone, UpdateMilestone } from "@delivery/domain/planning/Project"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { type Access, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type MilestoneRow, MilestonesRepo } from "./MilestonesRepo.ts"
import { archivedProject } from "./Projects.ts"
import { type HeldProject, ProjectsRepo } from "./ProjectsRepo.ts"
import { viewerOf } from "./Visibility.ts"

/** Milestones of projects (contract, section 8). */
export class Milestones extends Context.Service<
  Milestones,
  {
    readonly create: (
      project: string,
      input: CreateMilestone
    ) => Effect.Effect<Milestone, NotFound | Forbidden | Conflict, Caller>
    readonly update: (
      project: string,
      number: number,
      input: UpdateMilestone
    ) => Effect.Effect<Milestone, NotFound | Forbidden | Conflict, Caller>
    readonly delete: (project: string, number: number) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/planning/Milestones") {
  static readonly layer = Layer.effect(
    Milestones,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* MilestonesRepo
      const projects = yield* ProjectsRepo
      const events = yield* Events

      const holdProject = Effect.fnUntraced(function* (by: Access, slug: string) {
        const project = yield* projects.lock(viewerOf(by), slug)
        return project === undefined ? yield* NotFound.of("project") : project
      })

      /** `updatedAt` of a project moves with its milestones, since it shows them. */
      const touch = (project: HeldProject) =>
        Effect.flatMap(nextUpdate(project), (updatedAt) => projects.update(project.id, { updatedAt })).pipe(
          Effect.catchTag("UniqueViolation", Effect.die)
        )

      return Milestones.of({
        create: Effect.fn("Milestones.create")(
          function* (slug: string, input: CreateMilestone) {
            const by = yield* atLeast("member")
            const id = yield* nextId<MilestoneId>()
            return yield* storage.transaction(
              Effect.gen(function* () {
                const project = yield* holdProject(by, slug)
                if (project.archivedAt !== null) return yield* archivedProject
                const now = timestamp(yield* Clock.currentTimeMillis)
                const milestone = { id, name: input.name, summary: input.summary ?? null }
                const number = yield* repo.insert({
                  ...milestone,
                  workspaceId: project.workspaceId,
                  projectId: project.id,
                  createdAt: now,
                  updatedAt: now
                })
                yield* touch(project)
                yield* events.record(by, { kind: "milestone_created", ...aboutMilestone(project, milestone) })
                return shown({ ...milestone, number })
              })
            )
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        update: Effect.fn("Milestones.update")(function* (slug: string, number: number, input: UpdateMilestone) {
          const by = yield* atLeast("member")
          return yield* storage.transaction(
            Effect.gen(function* () {
              const project = yield* holdProject(by, slug)
              const before = yield* repo.find(project.id, number)
              if (before === undefined) return yield* NotFound.of("milestone")
              if (project.archivedAt !== null) return yield* archivedProject
              const changed = { ...before, ...input }
              const changes = changesBetween(before, changed, "name", "summary")
              if (changes.length === 0) return shown(before)
              yield* repo.update({ ...changed, updatedAt: yield* nextUpdate(before) })
              yield* touch(project)
              yield* events.record(by, { kind: "milestone_updated", ...aboutMilestone(project, changed), changes })
              return shown(changed)
            })
          )
        }),

        delete: Effect.fn("Milestones.delete")(function* (slug: string, number: number) {
          const by = yield* atLeast("member")
          yield* storage.transaction(
            Effect.gen(function* () {
              const project = yield* holdProject(by, slug)
              const milestone = yield* repo.find(project.id, number)
              if (milestone === undefined) return yield* NotFound.of("milestone")
              if (project.archivedAt !== null) return yield* archivedProject
              yield* repo.delete(milestone, timestamp(yield* Clock.currentTimeMillis))
              yield* touch(project)
              yield* events.record(by, { kind: "milestone_deleted", ...aboutMilestone(project, milestone) })
            })
          )
        })
      })
    })
  )
}

/** The subject of an event about a milestone, and who sees it. */
const aboutMilestone = (project: HeldProject, milestone: Pick<MilestoneRow, "id" | "name">) => ({
  subject: {
    type: "milestone",
    id: milestone.id,
    label: `${milestone.name} of ${project.name}`,
    path: `projects/${project.slug}`
  },
  teams: project.teams.map(({ id }) => id)
})

const shown = ({ id, name, number, summary }: Milestone): Milestone => ({ id, number, name, summary })
