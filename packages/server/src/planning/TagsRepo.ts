import type { TagId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { isTeamKey, type TeamRef } from "@delivery/domain/planning/Team"
import { isId, nameKey } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, failOnDuplicate, iso, UniqueViolation } from "../storage/Sql.ts"
import type { TeamRow } from "./TeamsRepo.ts"
import { seesTeam, seesTeamInMemory, type Viewer } from "./Visibility.ts"

export interface TagRow {
  readonly id: TagId
  readonly workspaceId: WorkspaceId
  /** Null for a tag of the whole workspace. */
  readonly teamId: TeamId | null
  readonly name: string
  readonly color: string
  readonly createdAt: Timestamp
}

/** A tag with the team that it is of. */
export interface TagOfTeam extends TagRow {
  readonly team: TeamRef | null
}

/**
 * Stores tags. Everything is found for a viewer: a tag of a team that they do not see is not there. Who names a tag
 * holds the name (`holdName`), since no constraint can say that a team and the workspace share none.
 */
export class TagsRepo extends Context.Service<
  TagsRepo,
  {
    readonly insert: (tag: TagRow) => Effect.Effect<void, UniqueViolation>
    /** Stores name and color. */
    readonly update: (tag: TagRow) => Effect.Effect<void, UniqueViolation>
    readonly delete: (id: TagId) => Effect.Effect<void>
    readonly list: (viewer: Viewer) => Effect.Effect<ReadonlyArray<TagOfTeam>>
    /** The team's and the workspace's. Nothing where the viewer does not see the team. */
    readonly listOfTeam: (viewer: Viewer, teamKey: string) => Effect.Effect<ReadonlyArray<TagOfTeam> | undefined>
    /** Holds the row until the transaction ends. */
    readonly lock: (viewer: Viewer, id: string) => Effect.Effect<TagOfTeam | undefined>
    /**
     * Whether another tag has the name, in any case, that may not have it beside this one: of the workspace, of the same
     * team, or, beside a workspace's tag, of any. Until the transaction ends nobody else gives a tag the name.
     */
    readonly holdName: (tag: TagRow) => Effect.Effect<boolean>
  }
>()("@delivery/server/planning/TagsRepo") {
  static readonly layerSql = Layer.effect(
    TagsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(`g.id, g.workspace_id as "workspaceId", g.team_id as "teamId", g.name, g.color,
        g.created_at as "createdAt", case when o.id is not null then json_build_object(
          'id', o.id, 'key', o.key, 'name', o.name, 'visibility', o.visibility) end as team`)
      return TagsRepo.of({
        insert: (tag) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into tags (id, workspace_id, team_id, name, name_key, color, created_at)
            values (${tag.id}, ${tag.workspaceId}, ${tag.teamId}, ${tag.name}, ${nameKey(tag.name)}, ${tag.color},
              ${date(tag.createdAt)})`)
          ),
        update: (tag) =>
          failOnDuplicate(
            Effect.asVoid(sql`update tags set name = ${tag.name}, name_key = ${nameKey(tag.name)}, color = ${tag.color}
            where id = ${tag.id}`)
          ),
        delete: (id) => dieOnSqlError(Effect.asVoid(sql`delete from tags where id = ${id}`)),
        list: (viewer) =>
          sql<SqlRow>`select ${columns} from tags g left join teams o on o.id = g.team_id
            where g.workspace_id = ${viewer.workspaceId} and (o.id is null or ${seesTeam(sql, viewer, "o")})`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        listOfTeam: (viewer, teamKey) =>
          isTeamKey(teamKey)
            ? sql<SqlRow>`select ${columns} from teams t
                left join tags g on g.workspace_id = t.workspace_id and (g.team_id = t.id or g.team_id is null)
                left join teams o on o.id = g.team_id
              where t.workspace_id = ${viewer.workspaceId} and t.key = ${teamKey} and ${seesTeam(sql, viewer, "t")}`.pipe(
                Effect.map((rows) =>
                  rows.length === 0 ? undefined : rows.filter(({ id }) => id !== null).map(readRow)
                ),
                dieOnSqlError
              )
            : Effect.undefined,
        lock: (viewer, id) =>
          isId(id)
            ? sql<SqlRow>`select ${columns} from tags g left join teams o on o.id = g.team_id
                where g.workspace_id = ${viewer.workspaceId} and g.id = ${id}
                  and (o.id is null or ${seesTeam(sql, viewer, "o")}) for update of g`.pipe(
                Effect.map((rows) => rows.map(readRow)[0]),
                dieOnSqlError
              )
            : Effect.undefined,
        holdName: ({ id, name, teamId, workspaceId }) =>
          Effect.andThen(
            sql`select pg_advisory_xact_lock(hashtextextended(${`tags/${workspaceId}/${nameKey(name)}`}, 0))::text`,
            sql`select 1 from tags where workspace_id = ${workspaceId} and name_key = ${nameKey(name)} and id <> ${id}
              and ${teamId === null ? sql`true` : sql`(team_id is null or team_id = ${teamId})`} limit 1`
          ).pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    TagsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const put = (tag: TagRow) =>
        memory.write((database) => {
          const tags = database.table<TagRow>("tags")
          const isTaken = (other: TagRow) =>
            other.id !== tag.id && isOfSame(other, tag) && nameKey(other.name) === nameKey(tag.name)
          return tags.find(isTaken) !== undefined
            ? Effect.fail(new UniqueViolation({ constraint: "tags_name_key" }))
            : Effect.sync(() => tags.set(tag.id, tag))
        })
      const isOfSame = (a: TagRow, b: TagRow) => a.workspaceId === b.workspaceId && a.teamId === b.teamId
      const seen = (database: MemoryDatabase, viewer: Viewer): ReadonlyArray<TagOfTeam> =>
        database
          .table<TagRow>("tags")
          .filter((tag) => tag.workspaceId === viewer.workspaceId)
          .flatMap(({ color, createdAt, id, name, teamId, workspaceId }): ReadonlyArray<TagOfTeam> => {
            const tag = { id, workspaceId, teamId, name, color, createdAt }
            if (teamId === null) return [{ ...tag, team: null }]
            const team = database.table<TeamRow>("teams").get(teamId)!
            if (!seesTeamInMemory(database, viewer, team)) return []
            return [{ ...tag, team: { id: team.id, key: team.key, name: team.name, visibility: team.visibility } }]
          })
      return TagsRepo.of({
        insert: put,
        update: ({ color, id, name }) =>
          Effect.flatMap(
            memory.read((database) => database.table<TagRow>("tags").get(id)!),
            (before) => put({ ...before, name, color })
          ),
        delete: (id) =>
          memory.write((database) =>
            Effect.sync(() => {
              database.table<TagRow>("tags").delete(id)
              const marks = database.table<TicketTagPart>("ticket_tags")
              for (const mark of marks.filter(({ tagId }) => tagId === id)) marks.delete(`${mark.ticketId}/${id}`)
            })
          ),
        list: (viewer) => memory.read((database) => seen(database, viewer)),
        listOfTeam: (viewer, teamKey) =>
          memory.read((database) => {
            const team = database
              .table<TeamRow>("teams")
              .find((team) => team.key === teamKey && seesTeamInMemory(database, viewer, team))
            return team && seen(database, viewer).filter(({ teamId }) => teamId === null || teamId === team.id)
          }),
        lock: (viewer, id) => memory.read((database) => seen(database, viewer).find((tag) => tag.id === id)),
        holdName: ({ id, name, teamId, workspaceId }) =>
          memory.read(
            (database) =>
              database
                .table<TagRow>("tags")
                .find(
                  (other) =>
                    other.id !== id &&
                    other.workspaceId === workspaceId &&
                    nameKey(other.name) === nameKey(name) &&
                    (teamId === null || other.teamId === null || other.teamId === teamId)
                ) !== undefined
          )
      })
    })
  )
}

/** What goes with a tag that is deleted. */
interface TicketTagPart {
  readonly ticketId: string
  readonly tagId: TagId
}

type SqlRow = Omit<TagOfTeam, "createdAt"> & { readonly createdAt: Date }

const readRow = (row: SqlRow): TagOfTeam => ({ ...row, createdAt: iso(row.createdAt) })
