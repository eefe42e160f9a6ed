import type { ApprovalState } from "@delivery/domain/catalog/Approval"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import type { EnvironmentId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { type ActorRef, isSameActor } from "../access/Access.ts"
import { apiKeys, isLive } from "../access/ActorRows.ts"
import { personBehind, resolveActor } from "../access/Actors.ts"
import { isBlocked } from "../identity/BlocksRepo.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { sessions } from "../identity/SessionsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type ApprovalFilter,
  type ApprovalRow,
  approvals,
  ApprovalsRepo,
  type FoundApproval,
  type Moment
} from "./ApprovalsRepo.ts"
import { environments } from "./EnvironmentsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  ApprovalsRepo,
  Effect.map(MemoryStorage, (memory) => {
    const put = (approval: ApprovalRow) =>
      memory.write((database) => Effect.sync(() => database.table(approvals).set(approval.id, approval)))
    return ApprovalsRepo.of({
      insert: put,
      update: put,
      find: find(memory),
      lock: find(memory),
      list: list(memory),
      hasPending: hasPending(memory),
      hold: hold(memory),
      personsBehind: (actor) => memory.read((database) => [personBehind(database, actor) ?? []].flat())
    })
  })
)

/** Whether a credential works, and the workspace lets it in. */
const works = (database: MemoryDatabase, workspaceId: WorkspaceId, id: string, at: Moment): boolean => {
  if (isBlocked(database, workspaceId, id)) return false
  const key = database.table(apiKeys).get(id)
  if (key !== undefined) return isLive(key, at.now)
  const session = database.table(sessions).get(id)
  return session !== undefined && session.createdAt > at.beganAfter && session.lastSeenAt > at.seenAfter
}

const hasRole = (database: MemoryDatabase, workspaceId: WorkspaceId, person: string, role: Role): boolean => {
  const member = database.table(members).get(memberKey(workspaceId, person))
  return member !== undefined && member.active && isAtLeast(member.role, role)
}

/** Whether who asked, and who approved, are still whom and what they did it with. */
const stands = (database: MemoryDatabase, row: ApprovalRow, at: Moment): boolean => {
  const { decidedById, deciderCredentialId, requestedById, requestedByKind, requesterCredentialId, workspaceId } = row
  return (
    works(database, workspaceId, requesterCredentialId, at) &&
    (requestedByKind !== "user" || hasRole(database, workspaceId, requestedById, "member")) &&
    (decidedById === null ||
      (works(database, workspaceId, deciderCredentialId!, at) && hasRole(database, workspaceId, decidedById, "admin")))
  )
}

/** The state of an approval. In SQL: `stateOf` of `ApprovalsSql`. */
const stateOf = (database: MemoryDatabase, row: ApprovalRow, at: Moment): ApprovalState => {
  if (row.endedAt !== null) {
    const isWithdrawn =
      row.endedById === row.requestedById || row.requesterPersons.some((person) => person === row.endedById)
    return row.decision === null && isWithdrawn ? "withdrawn" : "ended"
  }
  if (row.decision === "rejected") return "rejected"
  if (row.expiresAt <= at.now) return "expired"
  if (!stands(database, row, at)) return "ended"
  return row.decision === null ? "pending" : "approved"
}

const present = (database: MemoryDatabase, row: ApprovalRow, at: Moment): FoundApproval => {
  const {
    archivedAt,
    class: environmentClass,
    emoji,
    id,
    name,
    slug
  } = database.table(environments).get(row.environmentId)!
  const actor = (kind: ActorRef["kind"] | null, id: ActorRef["id"] | null) =>
    kind === null ? null : resolveActor(database, { kind, id } as ActorRef)
  return {
    ...row,
    state: stateOf(database, row, at),
    environment: { id, slug, name, class: environmentClass, emoji, archivedAt },
    requestedBy: actor(row.requestedByKind, row.requestedById)!,
    decidedBy: actor(row.decidedByKind, row.decidedById),
    endedBy: actor(row.endedByKind, row.endedById)
  }
}

const find =
  (memory: Memory): ApprovalsRepo["Service"]["find"] =>
  (workspaceId, id, at) =>
    memory.read((database) => {
      const row = database.table(approvals).get(id)
      return row?.workspaceId === workspaceId ? present(database, row, at) : undefined
    })

const list =
  (memory: Memory): ApprovalsRepo["Service"]["list"] =>
  (workspaceId: WorkspaceId, { cursor, environmentId, state }: ApprovalFilter, at: Moment, limit: number) =>
    memory.read((database) =>
      database
        .table(approvals)
        .filter(
          (row) =>
            row.workspaceId === workspaceId &&
            (environmentId === undefined || row.environmentId === environmentId) &&
            (cursor === undefined || row.id < cursor) &&
            (state === undefined || stateOf(database, row, at) === state)
        )
        .toSorted((a, b) => compare(b.id, a.id))
        .slice(0, limit)
        .map((row) => present(database, row, at))
    )

/** Those of the actor that are in the state. */
const ofActor = (database: MemoryDatabase, actor: ActorRef, state: ApprovalState, at: Moment) =>
  database
    .table(approvals)
    .filter(
      (row) =>
        isSameActor({ kind: row.requestedByKind, id: row.requestedById } as ActorRef, actor) &&
        stateOf(database, row, at) === state
    )

const hasPending =
  (memory: Memory): ApprovalsRepo["Service"]["hasPending"] =>
  (environmentId: EnvironmentId, actor: ActorRef, at: Moment) =>
    memory.read((database) =>
      ofActor(database, actor, "pending", at).some((row) => row.environmentId === environmentId)
    )

const hold =
  (memory: Memory): ApprovalsRepo["Service"]["hold"] =>
  (ids: ReadonlyArray<EnvironmentId>, actor: ActorRef, at: Moment) =>
    memory.read((database) =>
      ofActor(database, actor, "approved", at)
        .filter(({ environmentId }) => ids.includes(environmentId))
        .toSorted((a, b) => compare(a.id, b.id))
        .map(({ environmentId, id }) => ({ id, environmentId }))
    )
