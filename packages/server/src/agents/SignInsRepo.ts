import type { AgentScope } from "@delivery/domain/agents/Agent"
import type { Person } from "@delivery/domain/identity/Actor"
import type { Membership } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import type { AgentId, ComputerId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { AgentRow, PersonRow } from "../access/ActorRows.ts"
import type { MemberRow } from "../identity/MembersRepo.ts"
import type { WorkspaceRow } from "../identity/WorkspacesRepo.ts"
import { uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, isoOrNull } from "../storage/Sql.ts"
import type { ComputerRow } from "./AgentsRepo.ts"

/** A client's sign-in for an agent. Its id is the `client_id`. */
export interface SignInRow {
  readonly id: SignInId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  /** Null where it was made with the server URL. */
  readonly computerId: ComputerId | null
  /** The most that its tokens may do. */
  readonly scope: AgentScope
  /** How many times it was refreshed. */
  readonly generation: number
  /** When the refresh token before the present one was first used; null before the first refresh. */
  readonly refreshedAt: Timestamp | null
  readonly createdAt: Timestamp
}

/** A pair of tokens, by their hashes. */
export interface TokenPair {
  readonly access: { readonly hash: string; readonly scope: AgentScope; readonly expiresAt: Timestamp }
  readonly refresh: { readonly hash: string; readonly expiresAt: Timestamp }
}

/** A sign-in seen from one of its refresh tokens. */
export interface HeldSignIn {
  readonly signIn: SignInRow
  /** The number of refreshes before the token was made. */
  readonly tokenGeneration: number
  readonly tokenExpiresAt: Timestamp
  /** The present role of the member it works for; null while they are inactive. */
  readonly role: Role | null
}

/** Whom an access token stands for now. */
export interface AuthenticatedAgent {
  readonly agent: Pick<AgentRow, "id" | "client">
  readonly person: Person
  readonly membership: Membership
  readonly computer: Pick<ComputerRow, "id" | "name"> | null
  readonly signInId: SignInId
  readonly scope: AgentScope
}

/**
 * Stores sign-ins and the hashes of their tokens. A sign-in that ended is gone, with its tokens. Whatever ends access
 * tells the servers, where calls of the agent may wait.
 */
export class SignInsRepo extends Context.Service<
  SignInsRepo,
  {
    /** A new sign-in with its first pair. Ends the one that its computer had. */
    readonly insert: (signIn: SignInRow, tokens: TokenPair) => Effect.Effect<void>
    readonly end: (id: SignInId) => Effect.Effect<void>
    readonly endOfAgent: (workspaceId: WorkspaceId, agentId: AgentId) => Effect.Effect<void>
    /** Tells the servers that the agents' member may less or more than before. Their sign-ins stay. */
    readonly tell: (agents: ReadonlyArray<AgentId>) => Effect.Effect<void>
    /** The sign-in that a refresh token is or was of. Held until the transaction ends, so that refreshes are decided one by one. */
    readonly lockByRefreshToken: (hash: string) => Effect.Effect<HeldSignIn | undefined>
    /**
     * The pair of a generation: the next one, or, in place of a lost one, the present, whose refresh token is then
     * forgotten. Forgets what expired before `now`.
     */
    readonly putTokens: (
      signIn: Pick<SignInRow, "id" | "workspaceId" | "generation" | "refreshedAt">,
      tokens: TokenPair,
      now: Timestamp
    ) => Effect.Effect<void>
    /** The sign-in that an access token is of. */
    readonly ofAccessToken: (hash: string) => Effect.Effect<SignInId | undefined>
    readonly endAccessToken: (hash: string) => Effect.Effect<void>
    /** In one look-up: the agent, where its sign-in lives and its member is active. */
    readonly authenticate: (accessHash: string, now: Timestamp) => Effect.Effect<AuthenticatedAgent | undefined>
  }
>()("@delivery/server/agents/SignInsRepo") {
  static readonly layerSql = Layer.effect(
    SignInsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const endWhere = (where: Statement.Fragment) =>
        Effect.asVoid(sql`with ended as (delete from sign_ins where ${where} returning agent_id)
          select pg_notify('agents', agent_id::text)::text from ended`)

      return SignInsRepo.of({
        insert: (signIn, { access, refresh }) =>
          dieOnSqlError(
            Effect.andThen(
              endWhere(sql`computer_id = ${signIn.computerId}`),
              Effect.asVoid(sql`with made as (
                  insert into sign_ins (id, workspace_id, agent_id, computer_id, scope, generation, refreshed_at,
                    created_at)
                  values (${signIn.id}, ${signIn.workspaceId}, ${signIn.agentId}, ${signIn.computerId}, ${signIn.scope},
                    ${signIn.generation}, ${dateOrNull(signIn.refreshedAt)}, ${date(signIn.createdAt)})
                  returning id, workspace_id, generation
                ), access as (
                  insert into access_tokens (token_hash, workspace_id, sign_in_id, scope, expires_at)
                  select ${access.hash}, workspace_id, id, ${access.scope}, ${date(access.expiresAt)}::timestamptz from made
                )
                insert into refresh_tokens (token_hash, workspace_id, sign_in_id, generation, expires_at)
                select ${refresh.hash}, workspace_id, id, generation, ${date(refresh.expiresAt)}::timestamptz from made`)
            )
          ),
        end: (id) => dieOnSqlError(endWhere(sql`id = ${id}`)),
        endOfAgent: (workspaceId, agentId) =>
          dieOnSqlError(endWhere(sql`workspace_id = ${workspaceId} and agent_id = ${agentId}`)),
        tell: (agents) =>
          dieOnSqlError(
            Effect.asVoid(sql`select pg_notify('agents', id::text)::text from unnest(${uuids(agents)}) as at (id)`)
          ),
        lockByRefreshToken: (hash) =>
          Effect.gen(function* () {
            // Who waited here reads the token after it: what it was meanwhile replaced by is then seen.
            const [held] = yield* sql<{ id: SignInId }>`select id from sign_ins
              where id = (select sign_in_id from refresh_tokens where token_hash = ${hash}) for update`
            if (held === undefined) return undefined
            const [row] = yield* sql<HeldRow>`select s.id, s.workspace_id as "workspaceId", s.agent_id as "agentId",
                s.computer_id as "computerId", s.scope, s.generation, s.refreshed_at as "refreshedAt",
                s.created_at as "createdAt", t.generation as "tokenGeneration", t.expires_at as "tokenExpiresAt", m.role
              from refresh_tokens t
              join sign_ins s on s.id = t.sign_in_id
              join agents a on a.id = s.agent_id
              left join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
              where t.token_hash = ${hash}`
            if (row === undefined) return undefined
            const { createdAt, refreshedAt, role, tokenExpiresAt, tokenGeneration, ...signIn } = row
            return {
              signIn: { ...signIn, refreshedAt: isoOrNull(refreshedAt), createdAt: createdAt.toISOString() },
              tokenGeneration,
              tokenExpiresAt: tokenExpiresAt.toISOString(),
              role
            }
          }).pipe(dieOnSqlError),
        putTokens: (signIn, { access, refresh }, now) =>
          dieOnSqlError(
            Effect.asVoid(sql`with refreshed as (
                update sign_ins set generation = ${signIn.generation}, refreshed_at = ${dateOrNull(signIn.refreshedAt)}
                where id = ${signIn.id}
              ), old_access as (
                delete from access_tokens where sign_in_id = ${signIn.id} and expires_at <= ${date(now)}
              ), old_refresh as (
                delete from refresh_tokens where sign_in_id = ${signIn.id} and expires_at <= ${date(now)}
              ), access as (
                insert into access_tokens (token_hash, workspace_id, sign_in_id, scope, expires_at)
                values (${access.hash}, ${signIn.workspaceId}, ${signIn.id}, ${access.scope}, ${date(access.expiresAt)})
              )
              insert into refresh_tokens (token_hash, workspace_id, sign_in_id, generation, expires_at)
              values (${refresh.hash}, ${signIn.workspaceId}, ${signIn.id}, ${signIn.generation},
                ${date(refresh.expiresAt)})
              on conflict on constraint refresh_tokens_generation_key
              do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at`)
          ),
        ofAccessToken: (hash) =>
          sql<{ id: SignInId }>`select sign_in_id as id from access_tokens where token_hash = ${hash}`.pipe(
            Effect.map((rows) => rows[0]?.id),
            dieOnSqlError
          ),
        endAccessToken: (hash) =>
          dieOnSqlError(
            Effect.asVoid(sql`with ended as (
                delete from access_tokens where token_hash = ${hash} returning sign_in_id
              )
              select pg_notify('agents', s.agent_id::text)::text from ended join sign_ins s on s.id = ended.sign_in_id`)
          ),
        authenticate: (accessHash, now) =>
          sql<AuthenticatedRow>`select a.id as "agentId", a.client, p.id as "personId", p.name as "personName", p.email,
              w.id as "workspaceId", w.slug, w.name as "workspaceName", m.role, c.id as "computerId",
              c.name as "computerName", s.id as "signInId", t.scope
            from access_tokens t
            join sign_ins s on s.id = t.sign_in_id
            join agents a on a.id = s.agent_id and a.revoked_at is null
            join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
            join persons p on p.id = a.person_id
            join workspaces w on w.id = a.workspace_id
            left join computers c on c.id = s.computer_id
            where t.token_hash = ${accessHash} and t.expires_at > ${date(now)}`.pipe(
            Effect.map((rows) => rows.map(readAuthenticated)[0]),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    SignInsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage

      const end = (database: MemoryDatabase, isOf: (signIn: SignInRow) => boolean) => {
        const signIns = database.table<SignInRow>("sign_ins")
        for (const { agentId, id } of signIns.filter(isOf)) {
          signIns.delete(id)
          database.notify("agents", agentId)
          for (const name of ["access_tokens", "refresh_tokens"] as const) {
            const tokens = database.table<MemoryToken>(name)
            for (const { hash } of tokens.filter((token) => token.signInId === id)) tokens.delete(hash)
          }
        }
      }
      const put = (database: MemoryDatabase, signIn: Pick<SignInRow, "id" | "generation">, pair: TokenPair) => {
        const refreshTokens = database.table<MemoryRefreshToken>("refresh_tokens")
        const lost = refreshTokens.find(
          (token) => token.signInId === signIn.id && token.generation === signIn.generation
        )
        if (lost !== undefined) refreshTokens.delete(lost.hash)
        refreshTokens.set(pair.refresh.hash, {
          ...pair.refresh,
          signInId: signIn.id,
          generation: signIn.generation
        })
        database
          .table<MemoryAccessToken>("access_tokens")
          .set(pair.access.hash, { ...pair.access, signInId: signIn.id })
      }
      const roleOf = (database: MemoryDatabase, agent: AgentRow): Role | null => {
        const member = database.table<MemberRow>("members").get(`${agent.workspaceId}/${agent.personId}`)
        return member?.active === true ? member.role : null
      }

      return SignInsRepo.of({
        insert: (signIn, tokens) =>
          memory.write((database) =>
            Effect.sync(() => {
              end(database, ({ computerId }) => computerId !== null && computerId === signIn.computerId)
              database.table<SignInRow>("sign_ins").set(signIn.id, signIn)
              put(database, signIn, tokens)
            })
          ),
        end: (id) => memory.write((database) => Effect.sync(() => end(database, (signIn) => signIn.id === id))),
        endOfAgent: (_, agentId) =>
          memory.write((database) => Effect.sync(() => end(database, (signIn) => signIn.agentId === agentId))),
        tell: (agents) =>
          memory.write((database) =>
            Effect.sync(() => {
              for (const agent of agents) database.notify("agents", agent)
            })
          ),
        lockByRefreshToken: (hash) =>
          memory.read((database) => {
            const token = database.table<MemoryRefreshToken>("refresh_tokens").get(hash)
            if (token === undefined) return undefined
            const signIn = database.table<SignInRow>("sign_ins").get(token.signInId)!
            return {
              signIn,
              tokenGeneration: token.generation,
              tokenExpiresAt: token.expiresAt,
              role: roleOf(database, database.table<AgentRow>("agents").get(signIn.agentId)!)
            }
          }),
        putTokens: ({ generation, id, refreshedAt }, tokens, now) =>
          memory.write((database) =>
            Effect.sync(() => {
              const signIns = database.table<SignInRow>("sign_ins")
              signIns.set(id, { ...signIns.get(id)!, generation, refreshedAt })
              for (const name of ["access_tokens", "refresh_tokens"] as const) {
                const rows = database.table<MemoryToken>(name)
                for (const { hash } of rows.filter((token) => token.signInId === id && token.expiresAt <= now)) {
                  rows.delete(hash)
                }
              }
              put(database, { id, generation }, tokens)
            })
          ),
        ofAccessToken: (hash) =>
          memory.read((database) => database.table<MemoryAccessToken>("access_tokens").get(hash)?.signInId),
        endAccessToken: (hash) =>
          memory.write((database) =>
            Effect.sync(() => {
              const tokens = database.table<MemoryAccessToken>("access_tokens")
              const token = tokens.get(hash)
              if (token === undefined) return
              tokens.delete(hash)
              database.notify("agents", database.table<SignInRow>("sign_ins").get(token.signInId)!.agentId)
            })
          ),
        authenticate: (accessHash, now) =>
          memory.read((database): AuthenticatedAgent | undefined => {
            const token = database.table<MemoryAccessToken>("access_tokens").get(accessHash)
            if (token === undefined || token.expiresAt <= now) return undefined
            const signIn = database.table<SignInRow>("sign_ins").get(token.signInId)!
            const agent = database.table<AgentRow>("agents").get(signIn.agentId)!
            const role = roleOf(database, agent)
            if (agent.revokedAt !== null || role === null) return undefined
            const person = database.table<PersonRow>("persons").get(agent.personId)!
            const workspace = database.table<WorkspaceRow>("workspaces").get(agent.workspaceId)!
            const computer = database.table<ComputerRow>("computers").get(String(signIn.computerId))
            return {
              agent: { id: agent.id, client: agent.client },
              person: { id: person.id, name: person.name, email: person.email },
              membership: { id: workspace.id, slug: workspace.slug, name: workspace.name, role },
              computer: computer === undefined ? null : { id: computer.id, name: computer.name },
              signInId: signIn.id,
              scope: token.scope
            }
          })
      })
    })
  )
}

interface MemoryToken {
  readonly hash: string
  readonly signInId: SignInId
  readonly expiresAt: Timestamp
}

interface MemoryAccessToken extends MemoryToken {
  readonly scope: AgentScope
}

interface MemoryRefreshToken extends MemoryToken {
  readonly generation: number
}

interface HeldRow extends Omit<SignInRow, "refreshedAt" | "createdAt"> {
  readonly refreshedAt: Date | null
  readonly createdAt: Date
  readonly tokenGeneration: number
  readonly tokenExpiresAt: Date
  readonly role: Role | null
}

interface AuthenticatedRow {
  readonly agentId: AgentId
  readonly client: AgentRow["client"]
  readonly personId: Person["id"]
  readonly personName: string
  readonly email: string
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly workspaceName: string
  readonly role: Role
  readonly computerId: ComputerId | null
  readonly computerName: string
  readonly signInId: SignInId
  readonly scope: AgentScope
}

const readAuthenticated = (row: AuthenticatedRow): AuthenticatedAgent => ({
  agent: { id: row.agentId, client: row.client },
  person: { id: row.personId, name: row.personName, email: row.email },
  membership: { id: row.workspaceId, slug: row.slug, name: row.workspaceName, role: row.role },
  computer: row.computerId === null ? null : { id: row.computerId, name: row.computerName },
  signInId: row.signInId,
  scope: row.scope
})
