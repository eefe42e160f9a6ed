import { Conflict, type Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { MilestoneId } from "@delivery/domain/Ids"
import type { CreateMilestone, Milestone, UpdateMilestone } from "@delivery/domain/planning/Project"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, atLeast } from "../access/Access.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type MilestoneRow, MilestonesRepo } from "./MilestonesRepo.ts"
import { type LockedProject, ProjectsRepo } from "./ProjectsRepo.ts"
import { viewerOf } from "./Viewer.ts"

/** Milestones of projects (docs/contract.md, Projects). */
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
  static readonly layer = Layer.effect(Milestones, Effect.gen(make))
}

interface Dependencies {
  readonly repo: MilestonesRepo["Service"]
  readonly projects: ProjectsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* MilestonesRepo,
    projects: yield* ProjectsRepo,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return Milestones.of({
    create: create(dependencies),
    update: update(dependencies),
    delete: remove(dependencies)
  })
}

const create = (dependencies: Dependencies) => {
  const { events, nextId, repo, storage } = dependencies
  return Effect.fn("Milestones.create")(function* (slug: string, input: CreateMilestone) {
    const by = yield* atLeast("member")
    const id = yield* nextId<MilestoneId>()
    const created = Effect.gen(function* () {
      const project = yield* lockProject(dependencies, by, slug)
      if (project.archivedAt !== null) return yield* Conflict.archived("project")
      const now = timestamp(yield* Clock.currentTimeMillis)
      const milestone = { id, name: input.name, summary: input.summary ?? null }
      const number = yield* repo.insert({
        ...milestone,
        workspaceId: project.workspaceId,
        projectId: project.id,
        createdAt: now,
        updatedAt: now
      })
      yield* touch(dependencies, project)
      yield* events.record(by, { kind: "milestone_created", ...about(project, milestone) })
      return present({ ...milestone, number })
    })
    return yield* storage.transaction(created)
  })
}

const update = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  return Effect.fn("Milestones.update")(function* (slug: string, number: number, input: UpdateMilestone) {
    const by = yield* atLeast("member")
    const updated = Effect.gen(function* () {
      const project = yield* lockProject(dependencies, by, slug)
      const before = yield* repo.find(project.id, number)
      if (before === undefined) return yield* NotFound.of("milestone", number)
      if (project.archivedAt !== null) return yield* Conflict.archived("project")
      const changed = { ...before, ...input }
      const changes = changesBetween(before, changed, "name", "summary")
      if (changes.length === 0) return present(before)
      yield* repo.update({ ...changed, updatedAt: yield* nextUpdate(before) })
      yield* touch(dependencies, project)
      yield* events.record(by, { kind: "milestone_updated", ...about(project, changed), changes })
      return present(changed)
    })
    return yield* storage.transaction(updated)
  })
}

const remove = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  return Effect.fn("Milestones.delete")(function* (slug: string, number: number) {
    const by = yield* atLeast("member")
    const deleted = Effect.gen(function* () {
      const project = yield* lockProject(dependencies, by, slug)
      const milestone = yield* repo.find(project.id, number)
      if (milestone === undefined) return yield* NotFound.of("milestone", number)
      if (project.archivedAt !== null) return yield* Conflict.archived("project")
      yield* repo.delete(milestone, timestamp(yield* Clock.currentTimeMillis))
      yield* touch(dependencies, project)
      yield* events.record(by, { kind: "milestone_deleted", ...about(project, milestone) })
    })
    yield* storage.transaction(deleted)
  })
}

const lockProject = Effect.fnUntraced(function* ({ projects }: Dependencies, by: Access, slug: string) {
  const project = yield* projects.lock(viewerOf(by), slug)
  return project === undefined ? yield* NotFound.of("project", slug) : project
})

/** `updatedAt` of a project moves with its milestones, since its answer holds them. */
const touch = ({ projects }: Dependencies, project: LockedProject) =>
  Effect.flatMap(nextUpdate(project), (updatedAt) => projects.update(project.id, { updatedAt })).pipe(
    Effect.catchTag("UniqueViolation", Effect.die)
  )

/** The subject of an event about a milestone, and the teams that decide who sees the event. */
const about = (project: LockedProject, milestone: Pick<MilestoneRow, "id" | "name">) => ({
  subject: {
    type: "milestone",
    id: milestone.id,
    label: `${milestone.name} of ${project.name}`,
    path: `projects/${project.slug}`
  },
  teams: project.teams.map(({ id }) => id)
})

const present = ({ id, name, number, summary }: Milestone): Milestone => ({ id, number, name, summary })
