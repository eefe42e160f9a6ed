import type { Person } from "@delivery/domain/identity/Actor"
import type { AgentId, ComputerId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { maxSessions } from "@delivery/domain/agents/Agent"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { AgentRow, PersonRow } from "../access/ActorRows.ts"
import type { MemberRow } from "../identity/MembersRepo.ts"
import { column, uuids } from "../storage/Columns.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import type { SignInRow } from "./SignInsRepo.ts"

export interface ComputerRow {
  readonly id: ComputerId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly name: string
  readonly createdAt: Timestamp
  readonly lastSeenAt: Timestamp
}

export interface SessionRow {
  readonly workspaceId: WorkspaceId
  readonly computerId: ComputerId
  /** Chosen by the client. */
  readonly id: string
  readonly repository: string | null
  readonly branch: string | null
  readonly lastSeenAt: Timestamp
}

/** A session as it is reported: what is left out stays as it was. */
export interface SessionReport extends Omit<SessionRow, "repository" | "branch"> {
  readonly repository?: string | null
  readonly branch?: string | null
}

/** An agent with its member and all that was seen of it. */
export interface StoredAgent {
  readonly id: AgentId
  readonly client: AgentRow["client"]
  readonly createdAt: Timestamp
  readonly person: Person
  /** Whether a sign-in has no computer. */
  readonly serverUrl: boolean
  readonly computers: ReadonlyArray<
    Pick<ComputerRow, "id" | "name" | "lastSeenAt"> & {
      readonly sessions: ReadonlyArray<Omit<SessionRow, "workspaceId" | "computerId">>
    }
  >
}

/** Stores agents, the computers they are signed in on, and what they work on there. */
export class AgentsRepo extends Context.Service<
  AgentsRepo,
  {
    /** The person's agent of the client that is not revoked: the one there is, else this. Held until the transaction ends. */
    readonly register: (agent: AgentRow) => Effect.Effect<AgentRow>
    /** The agent, unless it is revoked. Held until the transaction ends. */
    readonly lock: (workspaceId: WorkspaceId, id: AgentId) => Effect.Effect<AgentRow | undefined>
    readonly revoke: (id: AgentId, at: Timestamp) => Effect.Effect<void>
    /**
     * Agents that are not revoked, of active members, in no order, nor are their computers and sessions; of one person
     * or all. Sessions seen after `sessionsAfter`.
     */
    readonly list: (
      workspaceId: WorkspaceId,
      personId: PersonId | undefined,
      sessionsAfter: Timestamp
    ) => Effect.Effect<ReadonlyArray<StoredAgent>>
    /** The person's agents that are not revoked. */
    readonly ofPerson: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<ReadonlyArray<AgentId>>
    /** The agent's computer of the name: the one there is, seen then, else this. */
    readonly putComputer: (computer: ComputerRow) => Effect.Effect<ComputerRow>
    /** Moves `lastSeenAt` forward, never back. */
    readonly touchComputers: (seen: ReadonlyMap<ComputerId, Timestamp>) => Effect.Effect<void>
    /** Makes or changes the session. A new one ends those of its computer that are not among the newest. */
    readonly putSession: (session: SessionReport) => Effect.Effect<SessionRow>
    readonly endSession: (session: Pick<SessionRow, "workspaceId" | "computerId" | "id">) => Effect.Effect<void>
  }
>()("@delivery/server/agents/AgentsRepo") {
  static readonly layerSql = Layer.effect(
    AgentsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const columns = sql.literal(`id, workspace_id as "workspaceId", person_id as "personId", client,
        created_at as "createdAt", revoked_at as "revokedAt"`)
      const computerColumns = sql.literal(`id, workspace_id as "workspaceId", agent_id as "agentId", name,
        created_at as "createdAt", last_seen_at as "lastSeenAt"`)

      return AgentsRepo.of({
        register: (agent) =>
          sql<AgentSqlRow>`insert into agents (id, workspace_id, person_id, client, created_at)
            values (${agent.id}, ${agent.workspaceId}, ${agent.personId}, ${agent.client}, ${date(agent.createdAt)})
            on conflict (workspace_id, person_id, client) where revoked_at is null
            do update set client = excluded.client returning ${columns}`.pipe(
            Effect.map((rows) => readAgent(rows[0]!)),
            dieOnSqlError
          ),
        lock: (workspaceId, id) =>
          sql<AgentSqlRow>`select ${columns} from agents
            where workspace_id = ${workspaceId} and id = ${id} and revoked_at is null for update`.pipe(
            Effect.map((rows) => rows.map(readAgent)[0]),
            dieOnSqlError
          ),
        revoke: (id, at) =>
          dieOnSqlError(Effect.asVoid(sql`update agents set revoked_at = ${date(at)} where id = ${id}`)),
        list: (workspaceId, personId, sessionsAfter) =>
          sql<ListRow>`select a.id, a.client, a.created_at as "createdAt",
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
          ),
        ofPerson: (workspaceId, personId) =>
          sql<{ id: AgentId }>`select id from agents
            where workspace_id = ${workspaceId} and person_id = ${personId} and revoked_at is null`.pipe(
            Effect.map((rows) => rows.map(({ id }) => id)),
            dieOnSqlError
          ),
        putComputer: (computer) =>
          sql<ComputerSqlRow>`insert into computers (id, workspace_id, agent_id, name, created_at, last_seen_at)
            values (${computer.id}, ${computer.workspaceId}, ${computer.agentId}, ${computer.name},
              ${date(computer.createdAt)}, ${date(computer.lastSeenAt)})
            on conflict on constraint computers_name_key
            do update set last_seen_at = greatest(computers.last_seen_at, excluded.last_seen_at)
            returning ${computerColumns}`.pipe(
            Effect.map(([row]) => ({ ...row!, createdAt: iso(row!.createdAt), lastSeenAt: iso(row!.lastSeenAt) })),
            dieOnSqlError
          ),
        touchComputers: (seen) => {
          const times = column([...seen.values()], PgTypes.OID.timestamptz, date)
          return dieOnSqlError(
            Effect.asVoid(sql`update computers c set last_seen_at = greatest(c.last_seen_at, u.at)
              from unnest(${uuids([...seen.keys()])}::uuid[], ${times}::timestamptz[]) as u (id, at)
              where c.id = u.id`)
          )
        },
        putSession: (session) =>
          sql<SessionSqlRow>`with put as (
              insert into sessions (workspace_id, computer_id, id, repository, branch, last_seen_at)
              values (${session.workspaceId}, ${session.computerId}, ${session.id}, ${session.repository ?? null},
                ${session.branch ?? null}, ${date(session.lastSeenAt)})
              on conflict on constraint sessions_key do update set
                repository = ${session.repository === undefined ? sql.literal("sessions.repository") : sql.literal("excluded.repository")},
                branch = ${session.branch === undefined ? sql.literal("sessions.branch") : sql.literal("excluded.branch")},
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
            select workspace_id as "workspaceId", computer_id as "computerId", id, repository, branch,
              last_seen_at as "lastSeenAt" from put`.pipe(
            Effect.map(([row]) => ({ ...row!, lastSeenAt: iso(row!.lastSeenAt) })),
            dieOnSqlError
          ),
        endSession: ({ computerId, id, workspaceId }) =>
          dieOnSqlError(
            Effect.asVoid(sql`delete from sessions
              where workspace_id = ${workspaceId} and computer_id = ${computerId} and id = ${id}`)
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    AgentsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage

      return AgentsRepo.of({
        register: (agent) =>
          memory.write((database) =>
            Effect.sync(() => {
              const agents = database.table<AgentRow>("agents")
              const there = agents.find(
                ({ client, personId, revokedAt, workspaceId }) =>
                  workspaceId === agent.workspaceId &&
                  personId === agent.personId &&
                  client === agent.client &&
                  revokedAt === null
              )
              if (there === undefined) agents.set(agent.id, agent)
              return there ?? agent
            })
          ),
        lock: (workspaceId, id) =>
          memory.read((database) => {
            const agent = database.table<AgentRow>("agents").get(id)
            return agent?.workspaceId === workspaceId && agent.revokedAt === null ? agent : undefined
          }),
        revoke: (id, at) =>
          memory.write((database) =>
            Effect.sync(() => {
              const agents = database.table<AgentRow>("agents")
              agents.set(id, { ...agents.get(id)!, revokedAt: at })
            })
          ),
        list: (workspaceId, personId, sessionsAfter) =>
          memory.read((database): ReadonlyArray<StoredAgent> =>
            database
              .table<AgentRow>("agents")
              .filter(
                (agent) =>
                  agent.workspaceId === workspaceId &&
                  agent.revokedAt === null &&
                  (personId === undefined || agent.personId === personId) &&
                  database.table<MemberRow>("members").get(`${workspaceId}/${agent.personId}`)?.active === true
              )
              .map((agent) => {
                const person = database.table<PersonRow>("persons").get(agent.personId)!
                return {
                  id: agent.id,
                  client: agent.client,
                  createdAt: agent.createdAt,
                  person: { id: person.id, name: person.name, email: person.email },
                  serverUrl:
                    database
                      .table<SignInRow>("sign_ins")
                      .find((signIn) => signIn.agentId === agent.id && signIn.computerId === null) !== undefined,
                  computers: database
                    .table<ComputerRow>("computers")
                    .filter((computer) => computer.agentId === agent.id)
                    .map(({ id, lastSeenAt, name }) => ({
                      id,
                      name,
                      lastSeenAt,
                      sessions: database
                        .table<SessionRow>("sessions")
                        .filter((session) => session.computerId === id && session.lastSeenAt > sessionsAfter)
                        .map(({ branch, id, lastSeenAt, repository }) => ({ id, repository, branch, lastSeenAt }))
                    }))
                }
              })
          ),
        ofPerson: (workspaceId, personId) =>
          memory.read((database) =>
            database
              .table<AgentRow>("agents")
              .filter(
                (agent) => agent.workspaceId === workspaceId && agent.personId === personId && agent.revokedAt === null
              )
              .map(({ id }) => id)
          ),
        putComputer: (computer) =>
          memory.write((database) =>
            Effect.sync(() => {
              const computers = database.table<ComputerRow>("computers")
              const there = computers.find((row) => row.agentId === computer.agentId && row.name === computer.name)
              const put =
                there === undefined ? computer : { ...there, lastSeenAt: later(there.lastSeenAt, computer.lastSeenAt) }
              computers.set(put.id, put)
              return put
            })
          ),
        touchComputers: (seen) =>
          memory.write((database) =>
            Effect.sync(() => {
              const computers = database.table<ComputerRow>("computers")
              for (const [id, at] of seen) {
                const computer = computers.get(id)
                if (computer !== undefined)
                  computers.set(id, { ...computer, lastSeenAt: later(computer.lastSeenAt, at) })
              }
            })
          ),
        putSession: (session) =>
          memory.write((database) =>
            Effect.sync(() => {
              const sessions = database.table<SessionRow>("sessions")
              const keyOf = (id: string) => `${session.computerId}/${id}`
              const there = sessions.get(keyOf(session.id))
              const put = {
                repository: there?.repository ?? null,
                branch: there?.branch ?? null,
                ...session,
                lastSeenAt: later(there?.lastSeenAt ?? session.lastSeenAt, session.lastSeenAt)
              }
              sessions.set(keyOf(session.id), put)
              const others = sessions
                .filter(({ computerId, id }) => computerId === session.computerId && id !== session.id)
                .toSorted((a, b) => compare(b.lastSeenAt, a.lastSeenAt) || compare(a.id, b.id))
              for (const { id } of others.slice(maxSessions - 1)) sessions.delete(keyOf(id))
              return put
            })
          ),
        endSession: ({ computerId, id }) =>
          memory.write((database) =>
            Effect.sync(() => database.table<SessionRow>("sessions").delete(`${computerId}/${id}`))
          )
      })
    })
  )
}

const later = (a: Timestamp, b: Timestamp): Timestamp => (a < b ? b : a)

interface AgentSqlRow extends Omit<AgentRow, "createdAt" | "revokedAt"> {
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

interface ComputerSqlRow extends Omit<ComputerRow, "createdAt" | "lastSeenAt"> {
  readonly createdAt: Date
  readonly lastSeenAt: Date
}

interface SessionSqlRow extends Omit<SessionRow, "lastSeenAt"> {
  readonly lastSeenAt: Date
}

type ListRow = Omit<StoredAgent, "createdAt"> & { readonly createdAt: Date }

const readAgent = (row: AgentSqlRow): AgentRow => ({
  ...row,
  createdAt: iso(row.createdAt),
  revokedAt: isoOrNull(row.revokedAt)
})

/** Timestamps inside of JSON are the database's own text. */
const readListed = ({ computers, createdAt, ...agent }: ListRow): StoredAgent => ({
  ...agent,
  createdAt: iso(createdAt),
  computers: computers.map(({ lastSeenAt, sessions, ...computer }) => ({
    ...computer,
    lastSeenAt: iso(new Date(lastSeenAt)),
    sessions: sessions.map((session) => ({ ...session, lastSeenAt: iso(new Date(session.lastSeenAt)) }))
  }))
})
