import type { FileId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import {
  blobLeaseSeconds,
  fileOf,
  pendingBlobs,
  type RunBlob,
  type TestRunFile,
  testRunFiles,
  TestRunFilesRepo
} from "./TestRunFilesRepo.ts"

export const layer = Layer.effect(
  TestRunFilesRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return TestRunFilesRepo.of({
      reserve: reserve(sql),
      renew: renew(sql),
      store: store(sql),
      find: find(sql),
      isStored: isStored(sql),
      lapse: lapse(sql),
      lapsed: lapsed(sql),
      forget: (ids) => dieOnSqlError(Effect.asVoid(sql`delete from pending_blobs where id = any(${uuids(ids)})`))
    })
  })
)

/** When a blob lapses that is reserved or renewed now, by the database's clock. */
const leaseEnd = (sql: PgClient.PgClient) => sql.literal(`now() + interval '${blobLeaseSeconds} seconds'`)

const reserve = (sql: PgClient.PgClient) => (blob: RunBlob) =>
  dieOnSqlError(
    Effect.asVoid(sql`insert into pending_blobs (id, workspace_id, run_id, lapses_at)
      values (${blob.id}, ${blob.workspaceId}, ${blob.runId}, ${leaseEnd(sql)})`)
  )

const renew = (sql: PgClient.PgClient) => (ids: ReadonlyArray<FileId>) =>
  dieOnSqlError(Effect.asVoid(sql`update pending_blobs set lapses_at = ${leaseEnd(sql)} where id = any(${uuids(ids)})`))

const store = (sql: PgClient.PgClient) => (file: TestRunFile) =>
  sql<{ readonly replaced: FileId | null }>`with claimed as (
      delete from pending_blobs where id = ${file.blob.id} returning id, workspace_id, run_id
    ), replaced as (
      select f.blob_id, f.workspace_id, f.run_id
      from test_run_files f join claimed on f.run_id = claimed.run_id where f.path = ${file.path}
    ), stored as (
      insert into test_run_files (workspace_id, run_id, path, blob_id, size, content_type, sha256, created_at)
      select workspace_id, run_id, ${file.path}, id, ${file.size}, ${file.contentType}, ${file.sha256},
        ${date(file.createdAt)}::timestamptz
      from claimed
      on conflict (run_id, path) do update set blob_id = excluded.blob_id, size = excluded.size,
        content_type = excluded.content_type, sha256 = excluded.sha256, created_at = excluded.created_at
    ), garbage as (
      insert into pending_blobs (id, workspace_id, run_id, lapses_at)
      select blob_id, workspace_id, run_id, now() from replaced
    )
    select (select blob_id from replaced) as replaced from claimed`.pipe(
    Effect.map((rows) => {
      const [row] = rows
      if (row === undefined) return undefined
      return { replaced: row.replaced === null ? undefined : { ...file.blob, id: row.replaced } }
    }),
    dieOnSqlError
  )

const find = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(testRunFiles, { of: "f" }))
  const read = readerOf(testRunFiles)
  return (workspaceId: WorkspaceId, run: number, path: string) =>
    sql<SelectedRow>`select ${columns}
      from test_runs r join test_run_files f on f.run_id = r.id
      where r.workspace_id = ${workspaceId} and r.number = ${run} and f.path = ${path}`.pipe(
      Effect.map(([row]) => (row === undefined ? undefined : fileOf(read(row)))),
      dieOnSqlError
    )
}

const isStored = (sql: PgClient.PgClient) => (id: FileId) =>
  sql`select 1 from test_run_files where blob_id = ${id}`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

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
    sql<RunBlob>`select ${columns} from pending_blobs where lapses_at <= now() order by lapses_at
      limit ${sql.literal(String(limit))} for update skip locked`.pipe(dieOnSqlError)
}
