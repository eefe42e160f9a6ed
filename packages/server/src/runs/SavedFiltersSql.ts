import { isId } from "@delivery/domain/Text"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, updateById } from "../storage/Table.ts"
import { type FoundSavedFilter, type Reader, savedFilters, SavedFiltersRepo } from "./SavedFiltersRepo.ts"

type Repo = SavedFiltersRepo["Service"]

export const layer = Layer.effect(
  SavedFiltersRepo,
  Effect.map(PgClient.PgClient, (sql) => {
    const insert = insertInto(sql, savedFilters)
    const update = updateById(sql, savedFilters, [
      "personId",
      "name",
      "productId",
      "environmentId",
      "filters",
      "updatedAt"
    ])
    return SavedFiltersRepo.of({
      insert: (filter) => dieOnSqlError(insert(filter)),
      update: (filter) => dieOnSqlError(update(filter)),
      delete: (id) => dieOnSqlError(Effect.asVoid(sql`delete from saved_filters where id = ${id}`)),
      list: list(sql),
      find: find(sql, ""),
      lock: find(sql, "for update of f"),
      count: count(sql)
    })
  })
)

type Selected = SelectedRow & ActorRow & Pick<FoundSavedFilter, "product" | "environment">

const read = readerOf(savedFilters)
const readFound = (row: Selected): FoundSavedFilter => ({
  ...read(row),
  product: row.product,
  environment: row.environment,
  createdBy: readActor(row)
})

/** Selects what the reader sees; further conditions may follow. */
const selectFilters = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(savedFilters, { of: "f" }))
  const [creator, creators] = [actorColumns(sql, "f.creator"), actorJoins(sql, "f.creator")]
  return ({ personId, workspaceId }: Reader): Statement.Fragment =>
    sql`select ${columns}, p.slug as product, e.slug as environment, ${creator}
      from saved_filters f left join products p on p.id = f.product_id
      left join environments e on e.id = f.environment_id ${creators}
      where f.workspace_id = ${workspaceId} and (f.person_id is null or f.person_id = ${personId}::uuid)`
}

const list = (sql: PgClient.PgClient): Repo["list"] => {
  const select = selectFilters(sql)
  return (reader, screen) =>
    sql<Selected>`${select(reader)} ${screen === undefined ? sql.literal("") : sql`and f.screen = ${screen}`}`.pipe(
      Effect.map((rows) => rows.map(readFound)),
      dieOnSqlError
    )
}

const find = (sql: PgClient.PgClient, lock: "" | "for update of f"): Repo["find"] => {
  const select = selectFilters(sql)
  return (reader, id) =>
    isId(id)
      ? sql<Selected>`${select(reader)} and f.id = ${id} ${sql.literal(lock)}`.pipe(
          Effect.map((rows) => rows.map(readFound)[0]),
          dieOnSqlError
        )
      : Effect.undefined
}

/** An advisory lock: who inserts one locks no row that is there. */
const count =
  (sql: PgClient.PgClient): Repo["count"] =>
  (workspaceId, screen, personId) =>
    sql`select pg_advisory_xact_lock(hashtextextended(${`saved-filters:${workspaceId}:${screen}`}, 0))::text`.pipe(
      Effect.andThen(sql<{ count: number }>`select count(*)::int as count from saved_filters
        where workspace_id = ${workspaceId} and screen = ${screen}
          and person_id is not distinct from ${personId}::uuid`),
      Effect.map(([row]) => row!.count),
      dieOnSqlError
    )
