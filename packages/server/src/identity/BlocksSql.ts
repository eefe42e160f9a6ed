import type { WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { BlocksRepo, credentialBlocks } from "./BlocksRepo.ts"

export const layer = Layer.effect(
  BlocksRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    BlocksRepo.of({
      block: block(sql),
      unblock: unblock(sql),
      release: release(sql),
      inherit: inherit(sql),
      isBlockedAnywhere: isBlockedAnywhere(sql),
      list: list(sql)
    })
  )
)

const block =
  (sql: SqlClient.SqlClient) =>
  (workspaceId: WorkspaceId, rootId: string, credentials: ReadonlyArray<string>, at: Timestamp) =>
    dieOnSqlError(
      Effect.asVoid(sql`insert into credential_blocks (workspace_id, credential_id, root_id, created_at)
        select ${workspaceId}::uuid, id, ${rootId}::uuid, ${date(at)}::timestamptz
        from unnest(${uuids(credentials)}::uuid[]) as c (id)
        on conflict do nothing`)
    )

const unblock = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId, rootId: string) =>
  dieOnSqlError(
    Effect.asVoid(sql`delete from credential_blocks where workspace_id = ${workspaceId} and root_id = ${rootId}`)
  )

const release =
  (sql: SqlClient.SqlClient) =>
  (workspaceId: WorkspaceId, credentials: ReadonlyArray<string>, roots: ReadonlyArray<string>) =>
    dieOnSqlError(
      Effect.asVoid(sql`delete from credential_blocks where workspace_id = ${workspaceId}
        and credential_id = any(${uuids(credentials)}::uuid[]) and root_id = any(${uuids(roots)}::uuid[])`)
    )

const inherit = (sql: SqlClient.SqlClient) => (maker: string | null, made: string) =>
  maker === null
    ? Effect.void
    : dieOnSqlError(
        Effect.asVoid(sql`insert into credential_blocks (workspace_id, credential_id, root_id, created_at)
          select workspace_id, ${made}::uuid, root_id, created_at from credential_blocks where credential_id = ${maker}
          on conflict do nothing`)
      )

const isBlockedAnywhere = (sql: SqlClient.SqlClient) => (credentialId: string) =>
  sql`select 1 from credential_blocks where credential_id = ${credentialId} limit 1`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

const readRow = readerOf(credentialBlocks)

const list = (sql: SqlClient.SqlClient) => {
  const select = selectFrom(sql, credentialBlocks)
  return (workspaceId: WorkspaceId) =>
    sql<SelectedRow>`${select} where workspace_id = ${workspaceId}`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )
}
