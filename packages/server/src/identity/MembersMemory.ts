import type { Member } from "@delivery/domain/identity/Member"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { persons } from "../access/ActorRows.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { memberKey, members, MembersRepo } from "./MembersRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  MembersRepo,
  Effect.map(MemoryStorage, (memory) => {
    const listed = list(memory)
    return MembersRepo.of({
      insert: insert(memory),
      update: update(memory),
      find: (workspaceId, personId) =>
        Effect.map(listed(workspaceId), (found) => found.find((member) => member.id === personId)),
      holdActive: (workspaceId, personId) =>
        memory.read((database) => database.table(members).get(memberKey(workspaceId, personId))?.active === true),
      findByEmail: (workspaceId, email) =>
        Effect.map(
          listed(workspaceId),
          (found) => found.filter((member) => member.email === email).toSorted(activeFirst)[0]
        ),
      list: listed,
      countActiveOwners: (workspaceId) =>
        Effect.map(
          listed(workspaceId),
          (found) => found.filter((member) => member.active && member.role === "owner").length
        )
    })
  })
)

const list = (memory: Memory) => (workspaceId: WorkspaceId) =>
  memory.read((database): ReadonlyArray<Member> =>
    database
      .table(members)
      .filter((member) => member.workspaceId === workspaceId)
      .map(({ active, joinedAt, personId, role }) => {
        const { email, emailVerifiedAt, id, name } = database.table(persons).get(personId)!
        return { id, name, email, emailVerifiedAt, role, active, joinedAt }
      })
  )

const activeFirst = (a: Member, b: Member): number =>
  Number(b.active) - Number(a.active) || compare(b.joinedAt, a.joinedAt) || compare(b.id, a.id)

const insert =
  (memory: Memory): MembersRepo["Service"]["insert"] =>
  (member) =>
    memory.write((database) => {
      const rows = database.table(members)
      const key = memberKey(member.workspaceId, member.personId)
      return rows.get(key) !== undefined
        ? Effect.fail(new UniqueViolation({ constraint: "members_key" }))
        : Effect.sync(() => rows.set(key, member))
    })

const update =
  (memory: Memory): MembersRepo["Service"]["update"] =>
  ({ active, personId, role, workspaceId }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(members)
        const key = memberKey(workspaceId, personId)
        rows.set(key, { ...rows.get(key)!, role, active })
      })
    )
