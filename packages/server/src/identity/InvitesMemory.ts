import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { resolveActor } from "../access/Actors.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { isBlocked } from "./BlocksRepo.ts"
import { type InviteRow, InvitesRepo, inviteStatus, invitesTable, type InviteWithActor } from "./InvitesRepo.ts"
import { workspaces } from "./WorkspacesRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  InvitesRepo,
  Effect.map(MemoryStorage, (memory) => {
    const select = selectFrom(memory)
    const first = (where: (invite: InviteRow) => boolean) => Effect.map(select(where), (found) => found[0])
    const unblocked = (where: (invite: InviteRow) => boolean) =>
      Effect.flatMap(first(where), (invite) =>
        memory.read((database) =>
          invite !== undefined && isBlocked(database, invite.workspaceId, invite.makerId) ? undefined : invite
        )
      )
    return InvitesRepo.of({
      insert: (invite) =>
        memory.write((database) => Effect.sync(() => database.table(invitesTable).set(invite.id, invite))),
      list: (workspaceId) => select((invite) => invite.workspaceId === workspaceId),
      lock: (workspaceId, id) => first((invite) => invite.workspaceId === workspaceId && invite.id === id),
      find: (id) => unblocked((invite) => invite.id === id),
      pendingTo: pendingTo(memory),
      findByTokenHash: (tokenHash) => unblocked((invite) => invite.tokenHash === tokenHash),
      ofToken: (tokenHash) => first((invite) => invite.tokenHash === tokenHash),
      revokeMadeBy: revokeMadeBy(memory),
      end: end(memory)
    })
  })
)

/** Newest first. */
const selectFrom = (memory: Memory) => (where: (invite: InviteRow) => boolean) =>
  memory.read((database): ReadonlyArray<InviteWithActor> =>
    database
      .table(invitesTable)
      .filter(where)
      .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
      .map((invite) => ({ ...invite, inviter: resolveActor(database, invite.inviter) }))
  )

const pendingTo =
  (memory: Memory): InvitesRepo["Service"]["pendingTo"] =>
  (email, now) =>
    Effect.flatMap(
      selectFrom(memory)((invite) => invite.email === email && inviteStatus(invite, now) === "pending"),
      (found) =>
        memory.read((database) =>
          found
            .filter((invite) => !isBlocked(database, invite.workspaceId, invite.makerId))
            .map(({ expiresAt, id, inviter, role, workspaceId }) => {
              const { name, slug } = database.table(workspaces).get(workspaceId)!
              return { id, role, inviter, expiresAt, workspace: { id: workspaceId, slug, name } }
            })
        )
    )

const revokeMadeBy =
  (memory: Memory): InvitesRepo["Service"]["revokeMadeBy"] =>
  (makers, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(invitesTable)
        const made = rows.filter(
          ({ acceptedAt, expiresAt, makerId, revokedAt }) =>
            makerId !== null && makers.includes(makerId) && acceptedAt === null && revokedAt === null && expiresAt > at
        )
        for (const invite of made) rows.set(invite.id, { ...invite, revokedAt: at })
        return made
      })
    )

const end =
  (memory: Memory): InvitesRepo["Service"]["end"] =>
  (id, as, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(invitesTable)
        rows.set(id, { ...rows.get(id)!, [as === "accepted" ? "acceptedAt" : "revokedAt"]: at })
      })
    )
