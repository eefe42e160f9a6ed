import type { FileId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, type Row } from "../storage/Table.ts"
import { blobLeaseSeconds, blobOf, pendingBlobs, PendingBlobsRepo, type WorkspaceBlob } from "./PendingBlobsRepo.ts"

export const layer = Layer.effect(
  PendingBlobsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    PendingBlobsRepo.of({
      reserve: reserve(sql),
      renew: renew(sql),
      lapse: lapse(sql),
      lapsed: lapsed(sql),
      forget: (ids) => dieOnSqlError(Effect.asVoid(sql`delete from pending_blobs where id = any(${uuids(ids)})`))
    })
  )
)

/** When a blob lapses that is reserved or renewed now, by the database's clock. */
const leaseEnd = (sql: PgClient.PgClient) => sql.literal(`now() + interval '${blobLeaseSeconds} seconds'`)

const reserve = (sql: PgClient.PgClient) => (blob: WorkspaceBlob) =>
  dieOnSqlError(
    Effect.asVoid(sql`insert into pending_blobs (id, workspace_id, run_id, lapses_at)
      values (${blob.id}, ${blob.workspaceId}, ${blob.ownerId}, ${leaseEnd(sql)})`)
  )

const renew = (sql: PgClient.PgClient) => (ids: ReadonlyArray<FileId>) =>
  dieOnSqlError(Effect.asVoid(sql`update pending_blobs set lapses_at = ${leaseEnd(sql)} where id = any(${uuids(ids)})`))

const lapse =
  (sql: PgClient.PgClient) =>
  (id: FileId, inSeconds = 0) =>
    sql`update pending_blobs set lapses_at = now() + make_interval(secs => ${inSeconds}) where id = ${id}
      returning id`.pipe(
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )

const lapsed = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(pendingBlobs, { only: ["id", "workspaceId", "runId"] }))
  return (limit: number) =>
    sql<Row<typeof pendingBlobs>>`select ${columns} from pending_blobs where lapses_at <= now() order by lapses_at
      limit ${sql.literal(String(limit))} for update skip locked`.pipe(
      Effect.map((rows) => rows.map(blobOf)),
      dieOnSqlError
    )
}
