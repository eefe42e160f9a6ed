import type { Role } from "@delivery/domain/identity/Role"
import type { PersonId, SessionId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, partReaderOf, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { touchRows } from "../storage/Touch.ts"
import { familyLock, lookUp, membershipOf, stateOf } from "./Credentials.ts"
import {
  authenticatedColumns,
  type AuthenticatedSession,
  type SessionProof,
  sessions,
  SessionsRepo
} from "./SessionsRepo.ts"

export const layer = Layer.effect(
  SessionsRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const insert = insertInto(sql, sessions)
    return SessionsRepo.of({
      insert: (session) => dieOnSqlError(insert(session)),
      authenticate: authenticate(sql),
      state: state(sql),
      find: find(sql),
      hold: hold(sql),
      ofPerson: (personId) => select(sql, sql`person_id = ${personId}`),
      ofMembers: (workspaceId) =>
        select(sql, sql`person_id in (select person_id from members where workspace_id = ${workspaceId} and active)`),
      prove: prove(sql),
      end: end(sql),
      endOthers: endOthers(sql),
      endByToken: (tokenHash) => Effect.map(endWhere(sql, sql`token_hash = ${tokenHash}`), ([ended]) => ended),
      endOld: endOld(sql),
      // What is locked is being ended, or seen by another server at this moment.
      touch: touchRows(sql, sessions, "lastSeenAt", "skip")
    })
  })
)

const readRow = readerOf(sessions)

interface AuthenticatedRow extends SelectedRow {
  /** Of the credential among those asked for, from 1. */
  readonly place: number
  readonly personName: string
  readonly email: string
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly workspaceName: string
  readonly role: Role | null
}

const findAuthenticated = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(sessions, { of: "s", only: authenticatedColumns }))
  return (asked: Statement.Fragment) =>
    sql<AuthenticatedRow>`select asked.place::int as place, ${columns}, p.name as "personName", p.email,
        w.id as "workspaceId", w.slug, w.name as "workspaceName",
        case when not exists (select from credential_blocks b where b.workspace_id = w.id and b.credential_id = s.id)
          then m.role end as role
      from ${asked}
      join web_sessions s on s.token_hash = asked.token_hash
      join persons p on p.id = s.person_id
      left join workspaces w on w.id = coalesce((select id from workspaces where slug = asked.slug), asked.id)
      left join members m on m.workspace_id = w.id and m.person_id = s.person_id and m.active`
}

const authenticate = (sql: PgClient.PgClient) => lookUp(sql, findAuthenticated(sql), readAuthenticated)

const state = (sql: PgClient.PgClient): SessionsRepo["Service"]["state"] => {
  const find = findAuthenticated(sql)
  return (asked, { createdAfter, seenAfter }) =>
    stateOf(
      sql,
      asked,
      (
        asked
      ) => sql`select f.*, f."lastSeenAt" <= ${date(seenAfter)} as "isIdle", f."createdAt" <= ${date(createdAfter)}
        as "isOver" from (${find(asked)}) f`
    )
}

const readSession = partReaderOf(sessions, authenticatedColumns)

const readAuthenticated = (row: AuthenticatedRow): AuthenticatedSession => {
  const session = readSession(row)
  return {
    session,
    person: { id: session.personId, name: row.personName, email: row.email },
    membership: membershipOf({ id: row.workspaceId, slug: row.slug, name: row.workspaceName }, row.role)
  }
}

const select = (sql: PgClient.PgClient, where: Statement.Fragment) =>
  sql<SelectedRow>`${selectFrom(sql, sessions)} where ${where}`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

const readTimes = partReaderOf(sessions, ["createdAt", "lastSeenAt"])

const find = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(sessions, { only: ["createdAt", "lastSeenAt"] }))
  return (id: SessionId) =>
    sql<SelectedRow>`select ${columns} from web_sessions where id = ${id}`.pipe(
      Effect.map((rows) => rows.map(readTimes)[0]),
      dieOnSqlError
    )
}

/** The row before the family. The use of a session, which is no part of its key, is written meanwhile. */
const hold = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(sessions, { of: "held", only: ["createdAt", "lastSeenAt"] }))
  const lock = familyLock(sql, sql.literal("held.id"))
  return (id: SessionId) =>
    sql<SelectedRow>`with held as materialized (select * from web_sessions where id = ${id} for key share)
      select ${columns}, pg_advisory_xact_lock_shared(${lock})::text as family from held`.pipe(
      Effect.map((rows) => rows.map(readTimes)[0]),
      dieOnSqlError
    )
}

const prove =
  (sql: PgClient.PgClient) =>
  (id: SessionId, from: string, { lastFour, provedAt, tokenHash }: SessionProof) =>
    sql`update web_sessions set token_hash = ${tokenHash}, last_four = ${lastFour}, proved_at = ${date(provedAt)}
      where id = ${id} and token_hash = ${from} returning 1`.pipe(
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )

const endWhere = (sql: PgClient.PgClient, condition: Statement.Fragment) =>
  sql<SelectedRow>`delete from web_sessions where ${condition} returning ${sql.literal(columnsOf(sessions))}`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

const end = (sql: PgClient.PgClient) => (personId: PersonId, id: SessionId) =>
  Effect.map(endWhere(sql, sql`id = ${id} and person_id = ${personId}`), ([ended]) => ended)

const endOthers = (sql: PgClient.PgClient) => (personId: PersonId, but: SessionId) =>
  // Locked in one order: two that do this at once must not wait for each other.
  endWhere(
    sql,
    sql`id in (select id from web_sessions where person_id = ${personId} and id <> ${but} order by id for update)`
  )

const endOld = (sql: PgClient.PgClient) => (beganBefore: Timestamp, seenBefore: Timestamp) =>
  dieOnSqlError(
    Effect.asVoid(
      sql`delete from web_sessions where id in (select id from web_sessions
        where created_at < ${date(beganBefore)} or last_seen_at < ${date(seenBefore)} for update skip locked)`
    )
  )
