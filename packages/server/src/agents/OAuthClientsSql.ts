import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { date, dateOrNull, dieOnSqlError } from "../storage/Sql.ts"
import { readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { type OAuthClientRow, oauthClients, OAuthClientsRepo } from "./OAuthClientsRepo.ts"

export const layer = Layer.effect(
  OAuthClientsRepo,
  Effect.map(PgClient.PgClient, (sql) => OAuthClientsRepo.of({ insert: insert(sql), find: find(sql), use: use(sql) }))
)

const insert = (sql: PgClient.PgClient) => (client: OAuthClientRow, unusedUntil: Timestamp) =>
  dieOnSqlError(
    Effect.asVoid(sql`with unused as (
        delete from oauth_clients where used_at is null and created_at <= ${date(unusedUntil)}
      )
      insert into oauth_clients (id, name, redirect_uris, created_at, used_at)
      values (${client.id}, ${client.name}, ${JSON.stringify(client.redirectUris)}::jsonb, ${date(client.createdAt)},
        ${dateOrNull(client.usedAt)})`)
  )

const find = (sql: PgClient.PgClient) => {
  const select = selectFrom(sql, oauthClients)
  const read = readerOf(oauthClients)
  return (id: string) =>
    sql<SelectedRow>`${select} where id = ${id}`.pipe(
      Effect.map((rows) => rows.map(read)[0]),
      dieOnSqlError
    )
}

const use = (sql: PgClient.PgClient) => (id: string, at: Timestamp) =>
  dieOnSqlError(Effect.asVoid(sql`update oauth_clients set used_at = ${date(at)} where id = ${id}`))
