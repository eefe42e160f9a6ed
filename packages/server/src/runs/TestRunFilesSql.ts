import type { FileId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { texts } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { fileOf, type TestRunFile, testRunFiles, TestRunFilesRepo } from "./TestRunFilesRepo.ts"

export const layer = Layer.effect(
  TestRunFilesRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const files = filesWhere(sql)
    return TestRunFilesRepo.of({
      store: store(sql),
      find: (workspaceId, run, path) => Effect.map(files(workspaceId, run, sql`f.path = ${path}`), ([file]) => file),
      findAll: (workspaceId, run, paths) => files(workspaceId, run, sql`f.path = any(${texts(paths, (path) => path)})`),
      findContent: (workspaceId, run, sha256) =>
        Effect.map(files(workspaceId, run, sql`f.sha256 = ${sha256}`), ([file]) => file),
      isStored: isStored(sql)
    })
  })
)

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

/** The files of a run that have what is asked for, by path. */
const filesWhere = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(testRunFiles, { of: "f" }))
  const read = readerOf(testRunFiles)
  return (workspaceId: WorkspaceId, run: number, condition: Statement.Fragment) =>
    sql<SelectedRow>`select ${columns}
      from test_runs r join test_run_files f on f.run_id = r.id
      where r.workspace_id = ${workspaceId} and r.number = ${run} and ${condition}
      order by f.path collate "C"`.pipe(
      Effect.map((rows) => rows.map((row) => fileOf(read(row)))),
      dieOnSqlError
    )
}

const isStored = (sql: PgClient.PgClient) => (id: FileId) =>
  sql`select 1 from test_run_files where blob_id = ${id}`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )
