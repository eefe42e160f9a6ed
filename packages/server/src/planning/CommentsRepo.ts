import type { Actor, Person } from "@delivery/domain/identity/Actor"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import type { AgentId, CommentId, PersonId, TeamId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Mentions } from "@delivery/domain/planning/Mentions"
import type { TeamVisibility } from "@delivery/domain/planning/Team"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { insertEvent } from "../events/EventStatements.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, resolveActor } from "../access/Actors.ts"
import type { AgentRow } from "../access/ActorRows.ts"
import type { MemberRow } from "../identity/MembersRepo.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import { findTicketInMemory, namesTicket } from "./TicketsRepo.ts"
import { seesTeam, type Viewer } from "./Visibility.ts"

export interface CommentRow {
  readonly id: CommentId
  readonly workspaceId: WorkspaceId
  readonly ticketId: TicketId
  readonly body: string
  readonly author: ActorRef
  readonly createdAt: Timestamp
  readonly editedAt: Timestamp | null
}

export interface MentionedAgent {
  readonly id: AgentId
  readonly name: string
  readonly person: Person
}

/** A comment and all that is shown of it. */
export interface ShownComment extends CommentRow {
  readonly shownAuthor: Actor
  /** In the order of the text. */
  readonly users: ReadonlyArray<Person>
  readonly agents: ReadonlyArray<MentionedAgent>
}

/** Those of the persons and agents that a text names who can be mentioned. */
export interface Mentionable {
  /** Active members. */
  readonly users: ReadonlyArray<PersonId>
  /** Not revoked, of active members. */
  readonly agents: ReadonlyArray<{
    readonly id: AgentId
    /** Whether the person that it works for sees the team. */
    readonly seesTeam: boolean
  }>
}

/** Stores comments and whom they mention. */
export class CommentsRepo extends Context.Service<
  CommentsRepo,
  {
    /** Oldest first; undefined where the viewer sees no such ticket. */
    readonly list: (viewer: Viewer, ticketRef: string) => Effect.Effect<ReadonlyArray<ShownComment> | undefined>
    readonly find: (ticketId: TicketId, id: CommentId) => Effect.Effect<ShownComment | undefined>
    /** Holds the comment until the transaction ends; false where there is none. */
    readonly lock: (ticketId: TicketId, id: CommentId) => Effect.Effect<boolean>
    readonly mentionable: (
      team: { readonly id: TeamId; readonly workspaceId: WorkspaceId; readonly visibility: TeamVisibility },
      mentions: Mentions
    ) => Effect.Effect<Mentionable>
    /** Every agent that the comment mentions or ever did. */
    readonly everMentioned: (id: CommentId) => Effect.Effect<ReadonlyArray<AgentId>>
    readonly insert: (comment: CommentRow, mentions: Mentions, event: StoredEvent) => Effect.Effect<void>
    readonly update: (comment: CommentRow, mentions: Mentions, event: StoredEvent) => Effect.Effect<void>
    readonly delete: (id: CommentId, event: StoredEvent) => Effect.Effect<void>
  }
>()("@delivery/server/planning/CommentsRepo") {
  static readonly layerSql = Layer.effect(
    CommentsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const columns = sql`c.id, c.workspace_id as "workspaceId", c.ticket_id as "ticketId", c.body,
        c.created_at as "createdAt", c.edited_at as "editedAt", (
          select json_agg(json_build_object('kind', x.kind, 'id', x.subject_id,
              'name', coalesce(initcap(a.client), p.name), 'email', p.email, 'person', case when a.id is not null
                then json_build_object('id', p.id, 'name', p.name, 'email', p.email) end) order by x.position)
          from comment_mentions x
            left join agents a on x.kind = 'agent' and a.id = x.subject_id
            left join persons p on p.id = case x.kind when 'user' then x.subject_id else a.person_id end
          where x.comment_id = c.id and x.position is not null
        ) as mentions, ${actorColumns(sql, "c.author")}`

      const mentioned = ({ id, workspaceId }: CommentRow, mentions: Mentions, from: string) => {
        const rows = [
          ...mentions.users.map((id, position) => ({ kind: "user", id, position })),
          ...mentions.agents.map((id, position) => ({ kind: "agent", id, position }))
        ]
        return sql`insert into comment_mentions (workspace_id, comment_id, kind, subject_id, position)
          select ${workspaceId}::uuid, ${id}::uuid, new.kind, new.id, new.position
          from ${sql.literal(from)}, unnest(${texts(rows, ({ kind }) => kind)}, ${uuids(rows.map(({ id }) => id))},
            ${column(rows, PgTypes.OID.int4, ({ position }) => position)}) as new (kind, id, position)
          on conflict (comment_id, kind, subject_id) do update set position = excluded.position`
      }

      return CommentsRepo.of({
        list: (viewer, ticketRef) => {
          const isNamed = namesTicket(sql, viewer, ticketRef)
          return isNamed === undefined
            ? Effect.undefined
            : sql<SqlComment>`select ${columns}
                from tickets t join teams team on team.id = t.team_id
                  left join comments c on c.ticket_id = t.id ${actorJoins(sql, "c.author")}
                where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}
                order by c.created_at, c.id`.pipe(
                Effect.map((rows) =>
                  rows.length === 0 ? undefined : rows.filter(({ id }) => id !== null).map(readComment)
                ),
                dieOnSqlError
              )
        },

        find: (ticketId, id) =>
          sql<SqlComment>`select ${columns} from comments c ${actorJoins(sql, "c.author")}
            where c.ticket_id = ${ticketId} and c.id = ${id}`.pipe(
            Effect.map((rows) => rows.map(readComment)[0]),
            dieOnSqlError
          ),

        lock: (ticketId, id) =>
          sql`select 1 from comments where ticket_id = ${ticketId} and id = ${id} for no key update`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          ),

        mentionable: (team, mentions) => {
          const viewer = sql`(${team.visibility} = 'open' or m.role in ('admin', 'owner') or exists (
            select 1 from team_members tm where tm.team_id = ${team.id} and tm.person_id = m.person_id))`
          return sql<{ readonly kind: "user" | "agent"; readonly id: string; readonly seesTeam: boolean }>`
            select 'user' as kind, m.person_id as id, true as "seesTeam" from members m
              where m.workspace_id = ${team.workspaceId} and m.active and m.person_id = any(${uuids(mentions.users)})
            union all
            select 'agent', a.id, ${viewer} from agents a
              join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
              where a.workspace_id = ${team.workspaceId} and a.revoked_at is null
                and a.id = any(${uuids(mentions.agents)})`.pipe(
            Effect.map((rows) => ({
              users: rows.filter(({ kind }) => kind === "user").map(({ id }) => id as PersonId),
              agents: rows
                .filter(({ kind }) => kind === "agent")
                .map(({ id, seesTeam }) => ({ id: id as AgentId, seesTeam }))
            })),
            dieOnSqlError
          )
        },

        everMentioned: (id) =>
          sql<{ readonly id: AgentId }>`select subject_id as id from comment_mentions
            where comment_id = ${id} and kind = 'agent'`.pipe(
            Effect.map((rows) => rows.map(({ id }) => id)),
            dieOnSqlError
          ),

        insert: (comment, mentions, event) =>
          sql`with inserted as (
              insert into comments (id, workspace_id, ticket_id, body, author_kind, author_id, created_at, edited_at)
              values (${comment.id}, ${comment.workspaceId}, ${comment.ticketId}, ${comment.body},
                ${comment.author.kind}, ${comment.author.id}, ${date(comment.createdAt)},
                ${dateOrNull(comment.editedAt)})
              returning id
            ), mentioned as (${mentioned(comment, mentions, "inserted")}), told as (${insertEvent(sql, event)})
            select id from inserted`.pipe(Effect.asVoid, dieOnSqlError),

        update: (comment, mentions, event) =>
          sql`with changed as (
              update comments set body = ${comment.body}, edited_at = ${dateOrNull(comment.editedAt)}
              where id = ${comment.id} returning id
            ), forgotten as (
              update comment_mentions set position = null where comment_id = ${comment.id}
                and subject_id <> all(${uuids([...mentions.users, ...mentions.agents])})
            ), mentioned as (${mentioned(comment, mentions, "changed")}), told as (${insertEvent(sql, event)})
            select id from changed`.pipe(Effect.asVoid, dieOnSqlError),

        delete: (id, event) =>
          sql`with told as (${insertEvent(sql, event)}) delete from comments where id = ${id}`.pipe(
            Effect.asVoid,
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    CommentsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const put = (comment: CommentRow, mentions: Mentions, event: StoredEvent) =>
        memory.write((database) =>
          Effect.sync(() => {
            const ever = commentsOf(database).get(comment.id)?.everMentioned ?? []
            const everMentioned = [...new Set([...ever, ...mentions.agents])]
            commentsOf(database).set(comment.id, { ...comment, mentions, everMentioned })
            database.table<StoredEvent>("events").set(event.id, event)
          })
        )
      const find = (ticketId: TicketId, id: CommentId) =>
        memory.read((database) => {
          const comment = commentsOf(database).get(id)
          return comment?.ticketId === ticketId ? showInMemory(database, comment) : undefined
        })
      return CommentsRepo.of({
        list: (viewer, ticketRef) =>
          memory.read((database) => {
            const ticket = findTicketInMemory(database, viewer, ticketRef)
            return (
              ticket &&
              commentsOf(database)
                .filter((comment) => comment.ticketId === ticket.id)
                .toSorted((a, b) => compare(a.createdAt, b.createdAt) || compare(a.id, b.id))
                .map((comment) => showInMemory(database, comment))
            )
          }),
        find,
        lock: (ticketId, id) => Effect.map(find(ticketId, id), (comment) => comment !== undefined),
        mentionable: (team, mentions) =>
          memory.read((database) => {
            const active = (personId: PersonId) => {
              const member = database.table<MemberRow>("members").get(`${team.workspaceId}/${personId}`)
              return member?.active === true ? member : undefined
            }
            const sees = (role: Role, personId: PersonId) =>
              team.visibility === "open" ||
              isAtLeast(role, "admin") ||
              database.table("team_members").get(`${team.id}/${personId}`) !== undefined
            return {
              users: mentions.users.filter((id) => active(id) !== undefined),
              agents: mentions.agents.flatMap((id) => {
                const agent = database.table<AgentRow>("agents").get(id)
                const isThere = agent?.workspaceId === team.workspaceId && agent.revokedAt === null
                const member = isThere ? active(agent.personId) : undefined
                return member === undefined ? [] : [{ id, seesTeam: sees(member.role, member.personId) }]
              })
            }
          }),
        everMentioned: (id) => memory.read((database) => commentsOf(database).get(id)?.everMentioned ?? []),
        insert: put,
        update: put,
        delete: (id, event) =>
          memory.write((database) =>
            Effect.sync(() => {
              commentsOf(database).delete(id)
              database.table<StoredEvent>("events").set(event.id, event)
            })
          )
      })
    })
  )
}

interface MemoryRow extends CommentRow {
  readonly mentions: Mentions
  readonly everMentioned: ReadonlyArray<AgentId>
}

const commentsOf = (database: MemoryDatabase) => database.table<MemoryRow>("comments")

const showInMemory = (
  database: MemoryDatabase,
  { everMentioned: _, mentions, ...comment }: MemoryRow
): ShownComment => ({
  ...comment,
  shownAuthor: resolveActor(database, comment.author),
  ...readMentions([
    ...mentions.users.map((id) => resolveActor(database, { kind: "user", id })),
    ...mentions.agents.map((id) => resolveActor(database, { kind: "agent", id }))
  ])
})

/** Those who are shown; persons and agents are kept for ever, so none is `removed`. */
const readMentions = (mentions: ReadonlyArray<Actor>): Pick<ShownComment, "users" | "agents"> => ({
  users: mentions.flatMap((actor) =>
    actor.kind === "user" ? [{ id: actor.id, name: actor.name, email: actor.email }] : []
  ),
  agents: mentions.flatMap((actor) =>
    actor.kind === "agent" ? [{ id: actor.id, name: actor.name, person: actor.person }] : []
  )
})

type SqlComment = Omit<CommentRow, "author" | "createdAt" | "editedAt"> &
  ActorRow & {
    readonly createdAt: Date
    readonly editedAt: Date | null
    readonly mentions: ReadonlyArray<Actor> | null
  }

const readComment = (row: SqlComment): ShownComment => ({
  id: row.id,
  workspaceId: row.workspaceId,
  ticketId: row.ticketId,
  body: row.body,
  author: { kind: row.actorKind, id: row.actorId } as ActorRef,
  shownAuthor: readActor(row),
  createdAt: iso(row.createdAt),
  editedAt: isoOrNull(row.editedAt),
  ...readMentions(row.mentions ?? [])
})
