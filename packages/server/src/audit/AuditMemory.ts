import { isId } from "@delivery/domain/Text"
import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { resolveActor } from "../access/Actors.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { auditEntries, type AuditFilter, AuditRepo, type AuditRow, lowestId, timeOf } from "./AuditRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  AuditRepo,
  Effect.map(MemoryStorage, (memory) =>
    AuditRepo.of({
      insert: insert(memory),
      count: count(memory),
      find: find(memory),
      actor: (ref) => memory.read((database) => resolveActor(database, ref)),
      erase: erase(memory)
    })
  )
)

const insert =
  (memory: Memory): AuditRepo["Service"]["insert"] =>
  (entries) =>
    memory.write((database) =>
      Effect.sync(() => {
        for (const entry of entries) database.table(auditEntries).set(entry.id, entry)
      })
    )

const count =
  (memory: Memory): AuditRepo["Service"]["count"] =>
  (counts) =>
    memory.write((database) =>
      Effect.sync(() => {
        const entries = database.table(auditEntries)
        for (const { count, id } of counts) {
          const entry = entries.get(id)
          if (entry !== undefined) entries.set(id, { ...entry, count: entry.count + count })
        }
      })
    )

const find =
  (memory: Memory): AuditRepo["Service"]["find"] =>
  (workspaceId, filter, limit) =>
    memory.read((database) =>
      database
        .table(auditEntries)
        .filter((entry) => entry.workspaceId === workspaceId && matches(entry, filter))
        .toSorted((a, b) => compare(b.id, a.id))
        .slice(0, limit)
    )

const matches = (entry: AuditRow, { action, actor, cursor, from, outcome, subject, to }: AuditFilter): boolean =>
  (actor === undefined || (isId(actor) && entry.actorId === actor)) &&
  (action === undefined || entry.action === action) &&
  (subject === undefined || entry.subjectId === subject) &&
  (outcome === undefined || entry.outcome === outcome) &&
  (from === undefined || timeOf(entry.id) >= Date.parse(from)) &&
  (to === undefined || timeOf(entry.id) <= Date.parse(to)) &&
  (cursor === undefined || entry.id < cursor)

const erase =
  (memory: Memory): AuditRepo["Service"]["erase"] =>
  (before, limit) =>
    memory.write((database) =>
      Effect.sync(() => {
        const entries = database.table(auditEntries)
        const lowest = lowestId(before)
        const old = entries.filter(({ id }) => id < lowest).slice(0, limit)
        for (const { id } of old) entries.delete(id)
        return old.length
      })
    )
