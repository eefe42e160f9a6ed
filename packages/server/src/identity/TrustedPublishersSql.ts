import type { TrustedPublisherId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { type Repository, trustedPublishers, TrustedPublishersRepo } from "./TrustedPublishersRepo.ts"

export const layer = Layer.effect(
  TrustedPublishersRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const insert = insertInto(sql, trustedPublishers)
    return TrustedPublishersRepo.of({
      insert: (publisher) => dieOnSqlError(insert(publisher)),
      list: list(sql),
      ofRepository: ofRepository(sql),
      use: use(sql),
      delete: remove(sql),
      deleteMadeWith: deleteMadeWith(sql)
    })
  })
)

const readRow = readerOf(trustedPublishers)

const list = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId) =>
  sql<SelectedRow & ActorRow>`select ${sql.literal(columnsOf(trustedPublishers, { of: "p" }))},
      ${actorColumns(sql, "p.created_by")}
    from trusted_publishers p ${actorJoins(sql, "p.created_by")}
    where p.workspace_id = ${workspaceId} order by p.created_at desc, p.id desc`.pipe(
    Effect.map((rows) => rows.map((row) => ({ ...readRow(row), createdBy: readActor(row) }))),
    dieOnSqlError
  )

const ofRepository =
  (sql: PgClient.PgClient) =>
  (workspaceId: WorkspaceId, { issuer, ownerId, repositoryId }: Repository) =>
    sql<SelectedRow>`${selectFrom(sql, trustedPublishers)} where workspace_id = ${workspaceId} and issuer = ${issuer}
      and repository_id = ${repositoryId} and owner_id = ${ownerId} order by created_at, id`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )

const use = (sql: PgClient.PgClient) => (id: TrustedPublisherId, now: Timestamp) =>
  sql<SelectedRow>`update trusted_publishers set last_used_at = greatest(last_used_at, ${date(now)}::timestamptz)
    where id = ${id} and not exists (select from api_keys k where k.id = trusted_publishers.maker_id
      and (k.revoked_at is not null or k.expires_at <= ${date(now)}))
    returning ${sql.literal(columnsOf(trustedPublishers))}`.pipe(
    Effect.map((rows) => rows.map(readRow)[0]),
    dieOnSqlError
  )

const remove = (sql: PgClient.PgClient) => (id: TrustedPublisherId) =>
  sql<SelectedRow>`delete from trusted_publishers where id = ${id}
    returning ${sql.literal(columnsOf(trustedPublishers))}`.pipe(
    Effect.map((rows) => rows.map(readRow)[0]),
    dieOnSqlError
  )

const deleteMadeWith = (sql: PgClient.PgClient) => (makers: ReadonlyArray<string>) =>
  sql<SelectedRow>`delete from trusted_publishers where maker_id = any(${uuids(makers)}::uuid[])
    returning ${sql.literal(columnsOf(trustedPublishers))}`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )
