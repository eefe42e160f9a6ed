import type { TagId } from "@delivery/domain/Ids"
import { nameKey } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { type TagOfTeam, type TagRow, tags, TagsRepo } from "./TagsRepo.ts"
import { teams } from "./TeamsRepo.ts"
import { ticketTags } from "./TicketsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeamInMemory } from "./Visibility.ts"

export const layer = Layer.effect(
  TagsRepo,
  Effect.map(MemoryStorage, (memory) =>
    TagsRepo.of({
      insert: (tag) => put(memory, tag),
      update: update(memory),
      delete: remove(memory),
      list: list(memory),
      listOfTeam: listOfTeam(memory),
      lock: lock(memory),
      lockName: lockName(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]

const put = (memory: Memory, { color, createdAt, id, name, teamId, workspaceId }: TagRow) =>
  memory.write((database) => {
    const row = { id, workspaceId, teamId, name, nameKey: nameKey(name), color, createdAt }
    const rows = database.table(tags)
    const isTaken = (other: typeof row) =>
      other.id !== id && other.workspaceId === workspaceId && other.teamId === teamId && other.nameKey === row.nameKey
    return rows.find(isTaken) !== undefined
      ? Effect.fail(new UniqueViolation({ constraint: "tags_name_key" }))
      : Effect.sync(() => rows.set(id, row))
  })

const update =
  (memory: Memory) =>
  ({ color, id, name }: TagRow) =>
    Effect.flatMap(
      memory.read((database) => database.table(tags).get(id)!),
      (before) => put(memory, { ...before, name, color })
    )

const remove = (memory: Memory) => (id: TagId) =>
  memory.write((database) =>
    Effect.sync(() => {
      database.table(tags).delete(id)
      const tagged = database.table(ticketTags)
      for (const { ticketId } of tagged.filter(({ tagId }) => tagId === id)) tagged.delete(`${ticketId}/${id}`)
    })
  )

const list = (memory: Memory) => (viewer: Viewer) => memory.read((database) => tagsSeenBy(database, viewer))

const listOfTeam = (memory: Memory) => (viewer: Viewer, teamKey: string) =>
  memory.read((database) => {
    const team = database.table(teams).find((team) => team.key === teamKey && seesTeamInMemory(database, viewer, team))
    return team && tagsSeenBy(database, viewer).filter(({ teamId }) => teamId === null || teamId === team.id)
  })

const lock = (memory: Memory) => (viewer: Viewer, id: string) =>
  memory.read((database) => tagsSeenBy(database, viewer).find((tag) => tag.id === id))

const tagsSeenBy = (database: MemoryDatabase, viewer: Viewer): ReadonlyArray<TagOfTeam> =>
  database
    .table(tags)
    .filter((tag) => tag.workspaceId === viewer.workspaceId)
    .flatMap(({ nameKey: _, ...tag }): ReadonlyArray<TagOfTeam> => {
      if (tag.teamId === null) return [{ ...tag, team: null }]
      const team = database.table(teams).get(tag.teamId)!
      if (!seesTeamInMemory(database, viewer, team)) return []
      return [{ ...tag, team: { id: team.id, key: team.key, name: team.name, visibility: team.visibility } }]
    })

const lockName =
  (memory: Memory) =>
  ({ id, name, teamId, workspaceId }: TagRow) =>
    memory.read(
      (database) =>
        database
          .table(tags)
          .find(
            (other) =>
              other.id !== id &&
              other.workspaceId === workspaceId &&
              other.nameKey === nameKey(name) &&
              (teamId === null || other.teamId === null || other.teamId === teamId)
          ) !== undefined
    )
