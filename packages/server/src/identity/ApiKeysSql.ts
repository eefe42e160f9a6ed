import type { Role } from "@delivery/domain/identity/Role"
import type { Scopes } from "@delivery/domain/identity/Scope"
import type { ApiKeyId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Clock, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { apiKeys } from "../access/ActorRows.ts"
import { column, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { ApiKeysRepo, type Authenticated } from "./ApiKeysRepo.ts"
import { lookUp } from "./Credentials.ts"

export const layer = Layer.effect(
  ApiKeysRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const insert = insertInto(sql, apiKeys)
    return ApiKeysRepo.of({
      insert: (key) => dieOnSqlError(insert(key)),
      ofPerson: (personId) => live(sql, sql`person_id = ${personId}`),
      ofWorkspace: (workspaceId) => live(sql, sql`workspace_id = ${workspaceId}`),
      madeBy: madeBy(sql),
      revoke: revoke(sql),
      authenticate: authenticate(sql),
      touch: touch(sql)
    })
  })
)

const readRow = readerOf(apiKeys)

const present = Effect.map(Clock.currentTimeMillis, timestamp)

const isLive = (sql: PgClient.PgClient, now: Timestamp) =>
  sql`revoked_at is null and (expires_at is null or expires_at > ${date(now)})`

/** Keys that work, newest first. */
const live = (sql: PgClient.PgClient, owner: Statement.Fragment) =>
  Effect.flatMap(present, (now) =>
    sql<SelectedRow>`${selectFrom(sql, apiKeys)} where ${owner} and ${isLive(sql, now)}
      order by created_at desc, id desc`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )
  )

const madeBy = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, personId: PersonId) =>
  sql<SelectedRow>`with recursive made as (
      select id from api_keys where workspace_id = ${workspaceId} and created_by_id = ${personId}
      union
      select k.id from made join api_keys k on k.workspace_id = ${workspaceId} and k.created_by_id = made.id
    )
    ${selectFrom(sql, apiKeys)} where id in (select id from made)`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

const revoke =
  (sql: PgClient.PgClient) =>
  (id: ApiKeyId, owner: { readonly personId: PersonId } | { readonly workspaceId: WorkspaceId }, at: Timestamp) =>
    sql<SelectedRow>`update api_keys set revoked_at = ${date(at)}
      where id = ${id} and ${isLive(sql, at)}
        and ${"personId" in owner ? sql`person_id = ${owner.personId}` : sql`workspace_id = ${owner.workspaceId}`}
      returning ${sql.literal(columnsOf(apiKeys))}`.pipe(
      Effect.map((rows) => rows.map(readRow)[0]),
      dieOnSqlError
    )

const touch = (sql: PgClient.PgClient) => (uses: ReadonlyMap<ApiKeyId, Timestamp>) => {
  const ids = uuids([...uses.keys()])
  const times = column([...uses.values()], PgTypes.OID.timestamptz, date)
  return dieOnSqlError(
    Effect.asVoid(sql`update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
      from unnest(${ids}::uuid[], ${times}::timestamptz[]) as u (id, at) where k.id = u.id`)
  )
}

const authenticate = (sql: PgClient.PgClient) => {
  const find = lookUp(
    sql,
    (asked) =>
      sql<AuthenticatedRow>`select asked.place::int as place, k.id as "keyId", k.name as "keyName", k.scopes,
        k.expires_at as "expiresAt",
        p.id as "personId", p.name as "personName", p.email, w.id as "workspaceId", w.slug,
        w.name as "workspaceName",
        case when k.person_id is not null then m.role when k.workspace_id = w.id then k.role end as role
      from ${asked}
      join api_keys k on k.token_hash = asked.token_hash and k.revoked_at is null
      left join persons p on p.id = k.person_id
      left join workspaces w on w.id = coalesce((select id from workspaces where slug = asked.slug), asked.id,
        case when asked.slug is null then k.workspace_id end)
      left join members m on m.workspace_id = w.id and m.person_id = k.person_id and m.active`,
    readAuthenticated
  )
  // Expiry is decided here, so that the look-ups of a moment need no time in common.
  return (tokenHash: string, workspace: string | undefined) =>
    Effect.zipWith(find({ tokenHash, workspace }), present, (found, now) =>
      found === undefined || (found.expiresAt !== null && found.expiresAt <= now) ? undefined : found.authenticated
    )
}

interface AuthenticatedRow {
  /** Of the credential among those asked for, from 1. */
  readonly place: number
  readonly keyId: ApiKeyId
  readonly keyName: string
  readonly scopes: Scopes
  readonly expiresAt: Date | null
  readonly personId: PersonId | null
  readonly personName: string
  readonly email: string
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly workspaceName: string
  readonly role: Role | null
}

const readAuthenticated = (
  row: AuthenticatedRow
): { readonly expiresAt: Timestamp | null; readonly authenticated: Authenticated } => ({
  expiresAt: row.expiresAt && iso(row.expiresAt),
  authenticated: {
    keyId: row.keyId,
    scopes: row.scopes,
    principal:
      row.personId === null
        ? { kind: "apiKey", id: row.keyId, name: row.keyName }
        : { kind: "user", id: row.personId, name: row.personName, email: row.email },
    membership:
      row.role === null ? undefined : { id: row.workspaceId, slug: row.slug, name: row.workspaceName, role: row.role }
  }
})
