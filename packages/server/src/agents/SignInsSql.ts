import type { Role } from "@delivery/domain/identity/Role"
import type { AgentId, SignInId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { agents, persons } from "../access/ActorRows.ts"
import { members } from "../identity/MembersRepo.ts"
import { workspaces } from "../identity/WorkspacesRepo.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dateOrNull, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { computers } from "./AgentsRepo.ts"
import {
  accessTokens,
  type AuthenticatedAgent,
  beforeCodes,
  type EndedSignIn,
  type LiveSignIn,
  type SignInRow,
  signIns,
  SignInsRepo,
  type TokenPair
} from "./SignInsRepo.ts"

export const layer = Layer.effect(
  SignInsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    SignInsRepo.of({
      insert: insert(sql),
      end: (id) => dieOnSqlError(endWhere(sql, sql`id = ${id}`)),
      endOfAgent: (workspaceId, agentId) =>
        dieOnSqlError(endWhere(sql, sql`workspace_id = ${workspaceId} and agent_id = ${agentId}`)),
      endMadeBy: (makers) => dieOnSqlError(endWhere(sql, sql`maker_id = any(${uuids(makers)}::uuid[])`)),
      madeBy: madeBy(sql),
      listLive: listLive(sql),
      notifyChanged: notifyChanged(sql),
      notifyAccessChanged: notifyAccessChanged(sql),
      lockByRefreshToken: lockByRefreshToken(sql),
      putTokens: putTokens(sql),
      live: live(sql),
      eraseBlocks: eraseBlocks(sql),
      ofAccessToken: ofAccessToken(sql),
      endAccessToken: endAccessToken(sql),
      authenticate: authenticate(sql)
    })
  )
)

const endWhere = (sql: PgClient.PgClient, where: Statement.Fragment) =>
  Effect.map(
    sql<EndedRow>`with ended as (
        delete from sign_ins where ${where} returning id, workspace_id, agent_id
      )
      select e.id, e.workspace_id as "workspaceId", ${sql.literal(endedColumns)},
        pg_notify('agents', e.agent_id::text)::text as notified
      from ended e join agents a on a.id = e.agent_id join persons p on p.id = a.person_id`,
    (rows) => rows.map(readEnded)
  )

type EndedRow = SelectedRow & Pick<SignInRow, "id" | "workspaceId">

/** What is read of the agent and the person of a sign-in that ends. */
const ended = { agent: ["id", "client", "clientName"], person: ["id", "name"] } as const

const endedColumns = [
  columnsOf(agents, { of: "a", as: "agent", only: ended.agent }),
  columnsOf(persons, { of: "p", as: "person", only: ended.person })
].join(", ")

const readEndedAgent = partReaderOf(agents, ended.agent, { as: "agent" })
const readEndedPerson = partReaderOf(persons, ended.person, { as: "person" })
const readEnded = (row: EndedRow): EndedSignIn => ({
  id: row.id,
  workspaceId: row.workspaceId,
  agent: readEndedAgent(row),
  person: readEndedPerson(row)
})

const insert =
  (sql: PgClient.PgClient) =>
  (signIn: SignInRow, { access, refresh }: TokenPair) =>
    dieOnSqlError(
      Effect.tap(
        signIn.computerId === null
          ? endWhere(
              sql,
              sql`workspace_id = ${signIn.workspaceId} and agent_id = ${signIn.agentId} and computer_id is null
                and not exists (select 1 from refresh_tokens t
                  where t.sign_in_id = sign_ins.id and t.expires_at > ${date(signIn.createdAt)})`
            )
          : endWhere(sql, sql`computer_id = ${signIn.computerId}`),
        sql`with made as (
          insert into sign_ins (id, workspace_id, agent_id, computer_id, client_id, scope, generation, refreshed_at,
            created_at, maker_id, expires_at)
          values (${signIn.id}, ${signIn.workspaceId}, ${signIn.agentId}, ${signIn.computerId}, ${signIn.clientId},
            ${signIn.scope}, ${signIn.generation}, ${dateOrNull(signIn.refreshedAt)}, ${date(signIn.createdAt)}, ${signIn.makerId},
            ${dateOrNull(signIn.expiresAt)})
          returning id, workspace_id, generation
        ), access as (
          insert into access_tokens (token_hash, workspace_id, sign_in_id, scope, expires_at)
          select ${access.hash}, workspace_id, id, ${access.scope}, ${date(access.expiresAt)}::timestamptz from made
        )
        insert into refresh_tokens (token_hash, workspace_id, sign_in_id, generation, expires_at)
        select ${refresh.hash}, workspace_id, id, generation, ${date(refresh.expiresAt)}::timestamptz from made`
      )
    )

const madeBy = (sql: PgClient.PgClient) => (makers: ReadonlyArray<string>) =>
  sql<{ readonly id: SignInId }>`select id from sign_ins where maker_id = any(${uuids(makers)}::uuid[])`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const notifyChanged = (sql: PgClient.PgClient) => (ids: ReadonlyArray<string>) =>
  dieOnSqlError(
    Effect.asVoid(sql`select pg_notify('agents', agent_id::text)::text from sign_ins
      where id = any(${uuids(ids)}::uuid[])`)
  )

const notifyAccessChanged = (sql: PgClient.PgClient) => (agents: ReadonlyArray<AgentId>) =>
  dieOnSqlError(Effect.asVoid(sql`select pg_notify('agents', id::text)::text from unnest(${uuids(agents)}) as at (id)`))

/** A sign-in with one of its refresh tokens, and the role of its member if active. */
interface LockedRow extends SelectedRow {
  readonly tokenGeneration: number | null
  readonly tokenExpiresAt: Date
  readonly tokenUsedAt: Date | null
  readonly role: Role | null
}

const readSignIn = readerOf(signIns)

const lockByRefreshToken = (sql: PgClient.PgClient) => (hash: string) =>
  Effect.gen(function* () {
    // The token is read after the lock is held, so that a concurrent refresh is seen.
    const [held] = yield* sql<{ readonly id: SignInId }>`select id from sign_ins
      where id = (select sign_in_id from refresh_tokens where token_hash = ${hash}
        union all select sign_in_id from replaced_tokens where token_hash = ${hash}) for update`
    if (held === undefined) return undefined
    const [row] = yield* sql<LockedRow>`select ${sql.literal(columnsOf(signIns, { of: "s" }))},
        t.generation as "tokenGeneration", t.expires_at as "tokenExpiresAt",
        t.used_at as "tokenUsedAt", m.role
      from (select sign_in_id, generation, expires_at, used_at from refresh_tokens where token_hash = ${hash}
        union all select sign_in_id, null, expires_at, null from replaced_tokens where token_hash = ${hash}) t
      join sign_ins s on s.id = t.sign_in_id
      join agents a on a.id = s.agent_id
      left join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
        and not ${isBlocked(sql)}`
    if (row === undefined) return undefined
    const { role, tokenExpiresAt, tokenGeneration, tokenUsedAt } = row
    return {
      signIn: readSignIn(row),
      tokenGeneration,
      tokenExpiresAt: iso(tokenExpiresAt),
      tokenUsedAt: isoOrNull(tokenUsedAt),
      role
    }
  }).pipe(dieOnSqlError)

const putTokens =
  (sql: PgClient.PgClient): SignInsRepo["Service"]["putTokens"] =>
  (signIn, { access, refresh }, now, used) =>
    dieOnSqlError(
      Effect.asVoid(sql`with refreshed as (
          update sign_ins set generation = ${signIn.generation}, refreshed_at = ${dateOrNull(signIn.refreshedAt)}
          where id = ${signIn.id}
        ), used as (
          update refresh_tokens set used_at = ${date(now)} where token_hash = ${used ?? null} and used_at is null
        ), old_access as (
          delete from access_tokens where sign_in_id = ${signIn.id} and expires_at <= ${date(now)}
        ), old_refresh as (
          delete from refresh_tokens where sign_in_id = ${signIn.id} and expires_at <= ${date(now)}
        ), old_replaced as (
          delete from replaced_tokens where sign_in_id = ${signIn.id} and expires_at <= ${date(now)}
        ), replaced as (
          insert into replaced_tokens (token_hash, workspace_id, sign_in_id, expires_at)
          select token_hash, workspace_id, sign_in_id, expires_at from refresh_tokens
          where sign_in_id = ${signIn.id} and generation = ${signIn.generation}
        ), access as (
          insert into access_tokens (token_hash, workspace_id, sign_in_id, scope, expires_at)
          values (${access.hash}, ${signIn.workspaceId}, ${signIn.id}, ${access.scope}, ${date(access.expiresAt)})
        )
        insert into refresh_tokens (token_hash, workspace_id, sign_in_id, generation, expires_at)
        values (${refresh.hash}, ${signIn.workspaceId}, ${signIn.id}, ${signIn.generation},
          ${date(refresh.expiresAt)})
        on conflict on constraint refresh_tokens_generation_key
        do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at`)
    )

const live = (sql: PgClient.PgClient) => (ids: ReadonlyArray<SignInId>) =>
  sql<{ readonly id: SignInId }>`select s.id
    from sign_ins s
    join agents a on a.id = s.agent_id and a.revoked_at is null
    join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
    where s.id = any (${uuids(ids)}) and not ${isBlocked(sql)}`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const eraseBlocks = (sql: PgClient.PgClient) => (now: Timestamp) =>
  dieOnSqlError(
    Effect.asVoid(sql`delete from credential_blocks b
      where not exists (select from api_keys k where k.id = b.credential_id and k.revoked_at is null)
        and not exists (select from deployment_tokens t where t.id = b.credential_id and t.revoked_at is null)
        and not exists (select from trusted_publishers p where p.id = b.credential_id)
        and not exists (select from web_sessions s where s.id = b.credential_id)
        and not exists (select from sign_ins s where s.id = b.credential_id)
        and not exists (select from test_runs r where r.maker_id = b.credential_id and r.state = 'running')
        and not exists (select from test_run_retries r where r.maker_id = b.credential_id and r.state = 'running')
        and not exists (select from webhooks w where w.maker_id = b.credential_id)
        and not exists (select from invites i where i.maker_id = b.credential_id and i.accepted_at is null
          and i.revoked_at is null and i.expires_at > ${date(now)})
        and not exists (select from authorization_codes c where c.maker_id = b.credential_id
          and c.sign_in_id is null and c.expires_at > ${date(beforeCodes(now))})`)
  )

/** Whether the workspace of the sign-in `s` does not let it in. */
const isBlocked = (sql: PgClient.PgClient) =>
  sql.literal(
    "exists (select from credential_blocks b where b.workspace_id = s.workspace_id and b.credential_id = s.id)"
  )

const ofAccessToken = (sql: PgClient.PgClient) => (hash: string) =>
  sql<Pick<SignInRow, "id" | "clientId">>`select s.id, s.client_id as "clientId" from access_tokens t
    join sign_ins s on s.id = t.sign_in_id where t.token_hash = ${hash}`.pipe(
    Effect.map((rows) => rows[0]),
    dieOnSqlError
  )

const endAccessToken = (sql: PgClient.PgClient) => (hash: string) =>
  sql<EndedRow>`with ended as (
      delete from access_tokens where token_hash = ${hash} returning sign_in_id
    )
    select s.id, s.workspace_id as "workspaceId", ${sql.literal(endedColumns)},
      pg_notify('agents', s.agent_id::text)::text as notified
    from ended e join sign_ins s on s.id = e.sign_in_id join agents a on a.id = s.agent_id
      join persons p on p.id = a.person_id`.pipe(
    Effect.map((rows) => rows.map(readEnded)[0]),
    dieOnSqlError
  )

/** What is read of each table to authenticate an agent. */
const parts = {
  agent: ["id", "client", "clientName"],
  person: ["id", "name", "email"],
  workspace: ["id", "slug", "name"],
  member: ["role"],
  computer: ["id", "name"],
  token: ["signInId", "scope"]
} as const

const readAgent = partReaderOf(agents, parts.agent, { as: "agent" })
const readPerson = partReaderOf(persons, parts.person, { as: "person" })
const readWorkspace = partReaderOf(workspaces, parts.workspace, { as: "workspace" })
const readMember = partReaderOf(members, parts.member)
const readComputer = partReaderOf(computers, parts.computer, { as: "computer" })
const readToken = partReaderOf(accessTokens, parts.token)

const readAuthenticated = (row: SelectedRow): AuthenticatedAgent => ({
  agent: readAgent(row),
  person: readPerson(row),
  membership: { ...readWorkspace(row), ...readMember(row) },
  computer: row["computerId"] === null ? null : readComputer(row),
  ...readToken(row)
})

const authenticate = (sql: PgClient.PgClient) => {
  const columns = sql.literal(
    [
      columnsOf(agents, { of: "a", as: "agent", only: parts.agent }),
      columnsOf(persons, { of: "p", as: "person", only: parts.person }),
      columnsOf(workspaces, { of: "w", as: "workspace", only: parts.workspace }),
      columnsOf(members, { of: "m", only: parts.member }),
      columnsOf(computers, { of: "c", as: "computer", only: parts.computer }),
      columnsOf(accessTokens, { of: "t", only: parts.token })
    ].join(", ")
  )
  return (accessHash: string, now: Timestamp) =>
    sql<SelectedRow>`select ${columns}
      from access_tokens t
      join sign_ins s on s.id = t.sign_in_id
      join agents a on a.id = s.agent_id and a.revoked_at is null
      join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
      join persons p on p.id = a.person_id
      join workspaces w on w.id = a.workspace_id
      left join computers c on c.id = s.computer_id
      where t.token_hash = ${accessHash} and t.expires_at > ${date(now)} and not ${isBlocked(sql)}`.pipe(
      Effect.map((rows) => rows.map(readAuthenticated)[0]),
      dieOnSqlError
    )
}

/** What is read of each table to list sign-ins. */
const listed = ["id", "scope", "createdAt", "refreshedAt"] as const
const seenComputer = ["id", "name", "lastSeenAt"] as const

const readListed = partReaderOf(signIns, listed, { as: "signIn" })
const readSeenComputer = partReaderOf(computers, seenComputer, { as: "computer" })

const readLive = (row: SelectedRow & { readonly tokenExpiresAt: Date }): LiveSignIn => ({
  ...readListed(row),
  agent: readAgent(row),
  person: readPerson(row),
  ...readMember(row),
  computer: row["computerId"] === null ? null : readSeenComputer(row),
  expiresAt: iso(row.tokenExpiresAt)
})

const listLive = (sql: PgClient.PgClient): SignInsRepo["Service"]["listLive"] => {
  const columns = sql.literal(
    [
      columnsOf(signIns, { of: "s", as: "signIn", only: listed }),
      columnsOf(agents, { of: "a", as: "agent", only: parts.agent }),
      columnsOf(persons, { of: "p", as: "person", only: parts.person }),
      columnsOf(members, { of: "m", only: parts.member }),
      columnsOf(computers, { of: "c", as: "computer", only: seenComputer })
    ].join(", ")
  )
  return (workspaceId, now) =>
    sql<SelectedRow & { readonly tokenExpiresAt: Date }>`select ${columns}, t.expires_at as "tokenExpiresAt"
      from sign_ins s
      join agents a on a.id = s.agent_id and a.revoked_at is null
      join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
      join persons p on p.id = a.person_id
      join (select sign_in_id, max(expires_at) as expires_at from refresh_tokens
        where workspace_id = ${workspaceId} and expires_at > ${date(now)} group by sign_in_id) t on t.sign_in_id = s.id
      left join computers c on c.id = s.computer_id
      where s.workspace_id = ${workspaceId}`.pipe(
      Effect.map((rows) => rows.map(readLive)),
      dieOnSqlError
    )
}
