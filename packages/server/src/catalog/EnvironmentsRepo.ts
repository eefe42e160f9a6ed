import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { EnvironmentId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { isId, isSlug } from "@delivery/domain/Text"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, failOnDuplicate, iso, isoOrNull, UniqueViolation } from "../storage/Sql.ts"

export interface EnvironmentRow {
  readonly id: EnvironmentId
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly name: string
  readonly class: EnvironmentClass
  readonly emoji: string | null
  readonly archivedAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** Stores environments; a slug is used once in a workspace. */
export class EnvironmentsRepo extends Context.Service<
  EnvironmentsRepo,
  {
    readonly insert: (environment: EnvironmentRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (environment: EnvironmentRow) => Effect.Effect<void, UniqueViolation>
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<EnvironmentRow>>
    /** By slug or id. */
    readonly find: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<EnvironmentRow | undefined>
    /** By slug or id; holds the row until the transaction ends. */
    readonly lock: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<EnvironmentRow | undefined>
  }
>()("@delivery/server/catalog/EnvironmentsRepo") {
  static readonly layerSql = Layer.effect(
    EnvironmentsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const environments = sql.literal(`select id, workspace_id as "workspaceId", slug, name, class, emoji,
        archived_at as "archivedAt", created_at as "createdAt", updated_at as "updatedAt" from environments`)
      const one = (workspaceId: WorkspaceId, ref: string, lock: string) =>
        isId(ref) || isSlug(ref)
          ? sql<SqlRow>`${environments} where workspace_id = ${workspaceId}
              and ${isId(ref) ? sql`id = ${ref}` : sql`slug = ${ref}`} ${sql.literal(lock)}`.pipe(
              Effect.map((rows) => rows.map(readRow)[0]),
              dieOnSqlError
            )
          : Effect.undefined
      return EnvironmentsRepo.of({
        insert: (environment) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into environments (id, workspace_id, slug, name, class, emoji,
              archived_at, created_at, updated_at)
            values (${environment.id}, ${environment.workspaceId}, ${environment.slug}, ${environment.name}, ${environment.class},
              ${environment.emoji}, ${dateOrNull(environment.archivedAt)}, ${date(environment.createdAt)},
              ${date(environment.updatedAt)})`)
          ),
        update: (environment) =>
          failOnDuplicate(
            Effect.asVoid(sql`update environments set slug = ${environment.slug}, name = ${environment.name},
              class = ${environment.class}, emoji = ${environment.emoji},
              archived_at = ${dateOrNull(environment.archivedAt)}, updated_at = ${date(environment.updatedAt)}
            where id = ${environment.id}`)
          ),
        list: (workspaceId) =>
          sql<SqlRow>`${environments} where workspace_id = ${workspaceId}`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        find: (workspaceId, ref) => one(workspaceId, ref, ""),
        lock: (workspaceId, ref) => one(workspaceId, ref, "for update")
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    EnvironmentsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const put = (environment: EnvironmentRow) =>
        memory.write((database) => {
          const environments = database.table<EnvironmentRow>("environments")
          const isTaken = (other: EnvironmentRow) =>
            other.workspaceId === environment.workspaceId &&
            other.slug === environment.slug &&
            other.id !== environment.id
          return environments.find(isTaken) !== undefined
            ? Effect.fail(new UniqueViolation({ constraint: "environments_slug_key" }))
            : Effect.sync(() => environments.set(environment.id, environment))
        })
      const find = (workspaceId: WorkspaceId, ref: string) =>
        memory.read((database) =>
          database
            .table<EnvironmentRow>("environments")
            .find(
              (environment) =>
                environment.workspaceId === workspaceId && (environment.id === ref || environment.slug === ref)
            )
        )
      return EnvironmentsRepo.of({
        insert: put,
        update: put,
        list: (workspaceId) =>
          memory.read((database) =>
            database
              .table<EnvironmentRow>("environments")
              .filter((environment) => environment.workspaceId === workspaceId)
          ),
        find,
        lock: find
      })
    })
  )
}

type SqlRow = Omit<EnvironmentRow, "archivedAt" | "createdAt" | "updatedAt"> & {
  readonly archivedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const readRow = (row: SqlRow): EnvironmentRow => ({
  ...row,
  archivedAt: isoOrNull(row.archivedAt),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})
