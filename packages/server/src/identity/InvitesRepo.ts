import type { Actor } from "@delivery/domain/identity/Actor"
import type { Role } from "@delivery/domain/identity/Role"
import type { InviteId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, resolveActor } from "../access/Actors.ts"

export interface InviteRow {
  readonly id: InviteId
  readonly workspaceId: WorkspaceId
  readonly email: string
  readonly role: Role
  readonly tokenHash: string
  readonly inviter: ActorRef
  readonly createdAt: Timestamp
  readonly expiresAt: Timestamp
  readonly acceptedAt: Timestamp | null
  readonly revokedAt: Timestamp | null
}

/** An invite with its inviter's present name. */
export interface ShownInvite extends Omit<InviteRow, "inviter"> {
  readonly inviter: Actor
}

/** Stores invites. */
export class InvitesRepo extends Context.Service<
  InvitesRepo,
  {
    readonly insert: (invite: InviteRow) => Effect.Effect<void>
    /** Newest first. */
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<ShownInvite>>
    /** Holds the invite's row until the transaction ends. */
    readonly lock: (workspaceId: WorkspaceId, id: InviteId) => Effect.Effect<ShownInvite | undefined>
    /** Holds the invite's row until the transaction ends, so that a token is used once. */
    readonly lockByTokenHash: (tokenHash: string) => Effect.Effect<ShownInvite | undefined>
    readonly end: (id: InviteId, as: "accepted" | "revoked", at: Timestamp) => Effect.Effect<void>
  }
>()("@delivery/server/identity/InvitesRepo") {
  static readonly layerSql = Layer.effect(
    InvitesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invites = sql`select i.id, i.workspace_id as "workspaceId", i.email, i.role, i.token_hash as "tokenHash",
        i.created_at as "createdAt", i.expires_at as "expiresAt", i.accepted_at as "acceptedAt",
        i.revoked_at as "revokedAt", ${actorColumns(sql, "i.inviter")}
        from invites i ${actorJoins(sql, "i.inviter")}`
      return InvitesRepo.of({
        insert: (invite) =>
          dieOnSqlError(
            Effect.asVoid(sql`insert into invites (id, workspace_id, email, role, token_hash, inviter_kind,
              inviter_id, created_at, expires_at, accepted_at, revoked_at)
            values (${invite.id}, ${invite.workspaceId}, ${invite.email}, ${invite.role}, ${invite.tokenHash},
              ${invite.inviter.kind}, ${invite.inviter.id}, ${date(invite.createdAt)}, ${date(invite.expiresAt)},
              ${dateOrNull(invite.acceptedAt)}, ${dateOrNull(invite.revokedAt)})`)
          ),
        list: (workspaceId) =>
          sql<SqlRow>`${invites} where i.workspace_id = ${workspaceId} order by i.created_at desc, i.id desc`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        lock: (workspaceId, id) =>
          sql<SqlRow>`${invites} where i.workspace_id = ${workspaceId} and i.id = ${id} for update of i`.pipe(
            Effect.map((rows) => rows.map(readRow)[0]),
            dieOnSqlError
          ),
        lockByTokenHash: (tokenHash) =>
          sql<SqlRow>`${invites} where i.token_hash = ${tokenHash} for update of i`.pipe(
            Effect.map((rows) => rows.map(readRow)[0]),
            dieOnSqlError
          ),
        end: (id, as, at) =>
          dieOnSqlError(
            Effect.asVoid(
              as === "accepted"
                ? sql`update invites set accepted_at = ${date(at)} where id = ${id}`
                : sql`update invites set revoked_at = ${date(at)} where id = ${id}`
            )
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    InvitesRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const shown = (where: (invite: InviteRow) => boolean) =>
        memory.read((database): ReadonlyArray<ShownInvite> =>
          database
            .table<InviteRow>("invites")
            .filter(where)
            .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
            .map((invite) => ({ ...invite, inviter: resolveActor(database, invite.inviter) }))
        )
      return InvitesRepo.of({
        insert: (invite) =>
          memory.write((database) => Effect.sync(() => database.table<InviteRow>("invites").set(invite.id, invite))),
        list: (workspaceId) => shown((invite) => invite.workspaceId === workspaceId),
        lock: (workspaceId, id) =>
          Effect.map(
            shown((invite) => invite.workspaceId === workspaceId && invite.id === id),
            (invites) => invites[0]
          ),
        lockByTokenHash: (tokenHash) =>
          Effect.map(
            shown((invite) => invite.tokenHash === tokenHash),
            (invites) => invites[0]
          ),
        end: (id, as, at) =>
          memory.write((database) =>
            Effect.sync(() => {
              const invites = database.table<InviteRow>("invites")
              invites.set(id, { ...invites.get(id)!, [as === "accepted" ? "acceptedAt" : "revokedAt"]: at })
            })
          )
      })
    })
  )
}

type SqlRow = Omit<ShownInvite, "inviter" | "createdAt" | "expiresAt" | "acceptedAt" | "revokedAt"> &
  ActorRow & {
    readonly createdAt: Date
    readonly expiresAt: Date
    readonly acceptedAt: Date | null
    readonly revokedAt: Date | null
  }

const readRow = (row: SqlRow): ShownInvite => ({
  ...row,
  inviter: readActor(row),
  createdAt: iso(row.createdAt),
  expiresAt: iso(row.expiresAt),
  acceptedAt: isoOrNull(row.acceptedAt),
  revokedAt: isoOrNull(row.revokedAt)
})
