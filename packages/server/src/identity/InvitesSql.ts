import type { InviteId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { type InviteRow, invites, InvitesRepo, type InviteWithActor, type ReceivedInvite } from "./InvitesRepo.ts"

export const layer = Layer.effect(
  InvitesRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return InvitesRepo.of({
      insert: insert(sql),
      list: list(sql),
      lock: lock(sql),
      find: (id) => Effect.map(select(sql, sql`i.id = ${id} and ${isLetIn(sql)}`), (found) => found[0]),
      pendingTo: pendingTo(sql),
      findByTokenHash: (tokenHash) =>
        Effect.map(select(sql, sql`i.token_hash = ${tokenHash} and ${isLetIn(sql)}`), (found) => found[0]),
      ofToken: (tokenHash) => Effect.map(select(sql, sql`i.token_hash = ${tokenHash}`), (found) => found[0]),
      revokeMadeBy: revokeMadeBy(sql),
      end: end(sql)
    })
  })
)

const ownColumns = [
  "id",
  "workspaceId",
  "email",
  "role",
  "tokenHash",
  "delivery",
  "createdAt",
  "expiresAt",
  "acceptedAt",
  "revokedAt",
  "makerId"
] as const

const readOwn = partReaderOf(invites, ownColumns)

const readRow = (row: SelectedRow & ActorRow): InviteWithActor => ({ ...readOwn(row), inviter: readActor(row) })

const select = (sql: SqlClient.SqlClient, rest: Statement.Fragment): Effect.Effect<ReadonlyArray<InviteWithActor>> =>
  sql<SelectedRow & ActorRow>`select ${sql.literal(columnsOf(invites, { of: "i", only: ownColumns }))},
      ${actorColumns(sql, "i.inviter")}
    from invites i ${actorJoins(sql, "i.inviter")} where ${rest}`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

const insert = (sql: SqlClient.SqlClient) => {
  const insertRow = insertInto(sql, invites)
  return ({ inviter, ...invite }: InviteRow) =>
    dieOnSqlError(insertRow({ ...invite, inviterKind: inviter.kind, inviterId: inviter.id }))
}

const received = ["id", "role", "expiresAt"] as const

const pendingTo = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(invites, { of: "i", only: received }))
  const read = partReaderOf(invites, received)
  return (email: string, now: Timestamp): Effect.Effect<ReadonlyArray<ReceivedInvite>> =>
    sql<SelectedRow & ActorRow & { workspaceId: WorkspaceId; slug: string; workspaceName: string }>`select ${columns},
        w.id as "workspaceId", w.slug, w.name as "workspaceName", ${actorColumns(sql, "i.inviter")}
      from invites i join workspaces w on w.id = i.workspace_id ${actorJoins(sql, "i.inviter")}
      where i.email = ${email} and i.accepted_at is null and i.revoked_at is null and i.expires_at > ${date(now)}
        and ${isLetIn(sql)}
      order by i.created_at desc, i.id desc`.pipe(
      Effect.map((rows) =>
        rows.map((row) => ({
          ...read(row),
          inviter: readActor(row),
          workspace: { id: row.workspaceId, slug: row.slug, name: row.workspaceName }
        }))
      ),
      dieOnSqlError
    )
}

const list = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId) =>
  select(sql, sql`i.workspace_id = ${workspaceId} order by i.created_at desc, i.id desc`)

const lock = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId, id: InviteId) =>
  Effect.map(select(sql, sql`i.workspace_id = ${workspaceId} and i.id = ${id} for update of i`), (found) => found[0])

/** Whether the workspace has not blocked what the invite was made with. */
const isLetIn = (sql: SqlClient.SqlClient) =>
  sql.literal(`not exists (
    select from credential_blocks b where b.workspace_id = i.workspace_id and b.credential_id = i.maker_id)`)

const revokeMadeBy = (sql: SqlClient.SqlClient) => (makers: ReadonlyArray<string>, at: Timestamp) =>
  dieOnSqlError(
    sql<Pick<InviteRow, "id" | "workspaceId" | "email">>`update invites set revoked_at = ${date(at)}
      where maker_id = any(${uuids(makers)}::uuid[]) and accepted_at is null and revoked_at is null
        and expires_at > ${date(at)}
      returning id, workspace_id as "workspaceId", email`
  )

const end = (sql: SqlClient.SqlClient) => (id: InviteId, as: "accepted" | "revoked", at: Timestamp) =>
  dieOnSqlError(
    Effect.asVoid(
      as === "accepted"
        ? sql`update invites set accepted_at = ${date(at)} where id = ${id}`
        : sql`update invites set revoked_at = ${date(at)} where id = ${id}`
    )
  )
