import { maxSessions } from "@delivery/domain/agents/Agent"
import type { AgentId, ComputerId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { agents } from "../access/ActorRows.ts"
import { column, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import {
  AgentsRepo,
  type ComputerRow,
  computers,
  type SessionReport,
  type SessionRow,
  sessions,
  type StoredAgent
} from "./AgentsRepo.ts"

export const layer = Layer.effect(
  AgentsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    AgentsRepo.of({
      register: register(sql),
      lock: lock(sql),
      revoke: revoke(sql),
      list: list(sql),
      ofPerson: ofPerson(sql),
      putComputer: putComputer(sql),
      touchComputers: touchComputers(sql),
      putSession: putSession(sql),
      endSession: endSession(sql)
    })
  )
)

const readAgent = readerOf(agents)
const readComputer = readerOf(computers)
const readSession = readerOf(sessions)

const register =
  (sql: PgClient.PgClient): AgentsRepo["Service"]["register"] =>
  (agent) =>
    sql<SelectedRow>`insert into agents (id, workspace_id, person_id, client, client_name, created_at)
      values (${agent.id}, ${agent.workspaceId}, ${agent.personId}, ${agent.client}, ${agent.clientName},
        ${date(agent.createdAt)})
      on conflict (workspace_id, person_id, client, coalesce(client_name, '')) where revoked_at is null
      do update set client = excluded.client returning ${sql.literal(columnsOf(agents))}`.pipe(
      Effect.map(([row]) => readAgent(row!)),
      dieOnSqlError
    )

const lock = (sql: PgClient.PgClient) => {
  const select = selectFrom(sql, agents)
  return (workspaceId: WorkspaceId, id: AgentId) =>
    sql<SelectedRow>`${select}
      where workspace_id = ${workspaceId} and id = ${id} and revoked_at is null for update`.pipe(
      Effect.map((rows) => rows.map(readAgent)[0]),
      dieOnSqlError
    )
}

const revoke = (sql: PgClient.PgClient) => (id: AgentId, at: Timestamp) =>
  dieOnSqlError(Effect.asVoid(sql`update agents set revoked_at = ${date(at)} where id = ${id}`))

/** Instants inside of JSON are the database's own text. */
type ListRow = Omit<StoredAgent, "createdAt"> & { readonly createdAt: Date }

const readListed = ({ computers, createdAt, ...agent }: ListRow): StoredAgent => ({
  ...agent,
  createdAt: iso(createdAt),
  computers: computers.map(({ lastSeenAt, sessions, ...computer }) => ({
    ...computer,
    lastSeenAt: iso(new Date(lastSeenAt)),
    sessions: sessions.map((session) => ({ ...session, lastSeenAt: iso(new Date(session.lastSeenAt)) }))
  }))
})

const list =
  (sql: PgClient.PgClient): AgentsRepo["Service"]["list"] =>
  (workspaceId, personId, sessionsAfter) =>
    sql<ListRow>`select a.id, a.client, a.client_name as "clientName", a.created_at as "createdAt",
        json_build_object('id', p.id, 'name', p.name, 'email', p.email) as person,
        exists (select 1 from sign_ins s where s.workspace_id = a.workspace_id and s.agent_id = a.id
          and s.computer_id is null) as "serverUrl",
        coalesce((select json_agg(json_build_object('id', c.id, 'name', c.name, 'lastSeenAt', c.last_seen_at,
          'sessions', coalesce((select json_agg(json_build_object('id', s.id, 'repository', s.repository,
            'branch', s.branch, 'lastSeenAt', s.last_seen_at))
            from sessions s where s.workspace_id = c.workspace_id and s.computer_id = c.id
              and s.last_seen_at > ${date(sessionsAfter)}), '[]')))
          from computers c where c.workspace_id = a.workspace_id and c.agent_id = a.id), '[]') as computers
      from agents a
      join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
      join persons p on p.id = a.person_id
      where a.workspace_id = ${workspaceId} and a.revoked_at is null
        ${personId === undefined ? sql.literal("") : sql`and a.person_id = ${personId}`}`.pipe(
      Effect.map((rows) => rows.map(readListed)),
      dieOnSqlError
    )

const ofPerson = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, personId: PersonId) =>
  sql<{ readonly id: AgentId }>`select id from agents
    where workspace_id = ${workspaceId} and person_id = ${personId} and revoked_at is null`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const putComputer = (sql: PgClient.PgClient) => (computer: ComputerRow) =>
  sql<SelectedRow>`insert into computers (id, workspace_id, agent_id, name, created_at, last_seen_at)
    values (${computer.id}, ${computer.workspaceId}, ${computer.agentId}, ${computer.name},
      ${date(computer.createdAt)}, ${date(computer.lastSeenAt)})
    on conflict on constraint computers_name_key
    do update set last_seen_at = greatest(computers.last_seen_at, excluded.last_seen_at)
    returning ${sql.literal(columnsOf(computers))}`.pipe(
    Effect.map(([row]) => readComputer(row!)),
    dieOnSqlError
  )

const touchComputers = (sql: PgClient.PgClient) => (seen: ReadonlyMap<ComputerId, Timestamp>) => {
  const times = column([...seen.values()], PgTypes.OID.timestamptz, date)
  return dieOnSqlError(
    Effect.asVoid(sql`update computers c set last_seen_at = greatest(c.last_seen_at, u.at)
      from unnest(${uuids([...seen.keys()])}::uuid[], ${times}::timestamptz[]) as u (id, at)
      where c.id = u.id`)
  )
}

const putSession = (sql: PgClient.PgClient) => {
  const kept = (name: "repository" | "branch", value: string | null | undefined) =>
    sql.literal(value === undefined ? `sessions.${name}` : `excluded.${name}`)
  return (session: SessionReport): Effect.Effect<SessionRow> =>
    sql<SelectedRow>`with put as (
        insert into sessions (workspace_id, computer_id, id, repository, branch, last_seen_at)
        values (${session.workspaceId}, ${session.computerId}, ${session.id}, ${session.repository ?? null},
          ${session.branch ?? null}, ${date(session.lastSeenAt)})
        on conflict on constraint sessions_key do update set
          repository = ${kept("repository", session.repository)}, branch = ${kept("branch", session.branch)},
          last_seen_at = greatest(sessions.last_seen_at, excluded.last_seen_at)
        returning *
      ), ended as (
        delete from sessions s using (
          select id from sessions where workspace_id = ${session.workspaceId}
            and computer_id = ${session.computerId} and id <> ${session.id}
          order by last_seen_at desc, id offset ${maxSessions - 1}
        ) old
        where s.workspace_id = ${session.workspaceId} and s.computer_id = ${session.computerId} and s.id = old.id
      )
      select ${sql.literal(columnsOf(sessions))} from put`.pipe(
      Effect.map(([row]) => readSession(row!)),
      dieOnSqlError
    )
}

const endSession =
  (sql: PgClient.PgClient): AgentsRepo["Service"]["endSession"] =>
  ({ computerId, id, workspaceId }) =>
    dieOnSqlError(
      Effect.asVoid(sql`delete from sessions
        where workspace_id = ${workspaceId} and computer_id = ${computerId} and id = ${id}`)
    )
