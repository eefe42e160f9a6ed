import type { PersonId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { isBlocked } from "./BlocksRepo.ts"
import { findWorkspace } from "./Credentials.ts"
import { members } from "./MembersRepo.ts"
import { type WorkspaceRow, workspaces, WorkspacesRepo } from "./WorkspacesRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  WorkspacesRepo,
  Effect.map(MemoryStorage, (memory) =>
    WorkspacesRepo.of({
      insert: put(memory),
      update: put(memory),
      find: (id) => memory.read((database) => database.table(workspaces).get(id)),
      named: (ref) => memory.read((database) => findWorkspace(database, ref)),
      ofPerson: ofPerson(memory),
      lock: () => Effect.void
    })
  )
)

const put = (memory: Memory) => (workspace: WorkspaceRow) =>
  memory.write((database) => {
    const rows = database.table(workspaces)
    return rows.find((other) => other.slug === workspace.slug && other.id !== workspace.id) !== undefined
      ? Effect.fail(new UniqueViolation({ constraint: "workspaces_slug_key" }))
      : Effect.sync(() => rows.set(workspace.id, workspace))
  })

const ofPerson = (memory: Memory) => (personId: PersonId, credentialId?: string) =>
  memory.read((database) =>
    database
      .table(members)
      .filter(
        ({ active, personId: id, workspaceId }) =>
          id === personId && active && !isBlocked(database, workspaceId, credentialId ?? null)
      )
      .map((member) => ({ ...database.table(workspaces).get(member.workspaceId)!, role: member.role }))
  )
