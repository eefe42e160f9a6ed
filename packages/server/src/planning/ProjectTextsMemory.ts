import type { ProjectId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { lastFirst, roomBeside } from "./EarlierTexts.ts"
import { findProjectInMemory } from "./ProjectsMemory.ts"
import { type ProjectTextRow, projectTexts, ProjectTextsRepo } from "./ProjectTextsRepo.ts"

export const layer = Layer.effect(
  ProjectTextsRepo,
  Effect.map(MemoryStorage, (memory) => ProjectTextsRepo.of({ keep: keep(memory), list: list(memory) }))
)

type Memory = MemoryStorage["Service"]
type Repo = ProjectTextsRepo["Service"]

const keyOf = ({ number, projectId }: Pick<ProjectTextRow, "number" | "projectId">) => `${projectId}/${number}`

/** The last replaced first. */
const ofProject = (database: MemoryDatabase, projectId: ProjectId): ReadonlyArray<ProjectTextRow> =>
  database
    .table(projectTexts)
    .filter((row) => row.projectId === projectId)
    .toSorted(lastFirst)

const keep =
  (memory: Memory): Repo["keep"] =>
  (text) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(projectTexts)
        const { dropped, number } = roomBeside(ofProject(database, text.projectId), text.text)
        for (const row of dropped) rows.delete(keyOf(row))
        const row = { ...text, number }
        rows.set(keyOf(row), row)
      })
    )

const list =
  (memory: Memory): Repo["list"] =>
  (viewer, slug, { below = Number.POSITIVE_INFINITY, limit }) =>
    memory.read((database) => {
      const project = findProjectInMemory(database, viewer, slug)
      return (
        project &&
        ofProject(database, project.id)
          .filter((row) => row.number < below)
          .slice(0, limit)
          .map((row) => ({
            ...row,
            author: resolveActor(database, { kind: row.authorKind, id: row.authorId } as ActorRef)
          }))
      )
    })
