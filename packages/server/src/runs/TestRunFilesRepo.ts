import type { FileId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { StoredFile } from "@delivery/domain/runs/StoredFile"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Result } from "effect"
import type { BlobRef } from "../files/Blob.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import type { ShownTestRun } from "./TestRunRows.ts"

/** A blob of a workspace's run. */
export interface RunBlob extends BlobRef {
  readonly workspaceId: WorkspaceId
}

/** A file of a run and the blob that has its bytes. */
export interface TestRunFile extends StoredFile {
  readonly blob: RunBlob
}

/** How long a blob may be in upload, in seconds, unless that is renewed. */
const blobLeaseSeconds = 15

/**
 * Stores the files of runs. A blob is visible once a file has it. Until then it is pending, from before its first byte
 * is written, so that nobody's garbage is forgotten. A pending blob that lapses is garbage; the storage's clock decides.
 */
export class TestRunFilesRepo extends Context.Service<
  TestRunFilesRepo,
  {
    /** Says that a blob is about to be written. */
    readonly reserve: (blob: RunBlob) => Effect.Effect<void>
    /** Says that the blobs are still being written. */
    readonly renew: (ids: ReadonlyArray<FileId>) => Effect.Effect<void>
    /**
     * Makes the file visible and its blob no longer pending; a file with its path is replaced, and the blob of that is
     * pending and lapsed from then on. Undefined where the blob had lapsed and is gone.
     */
    readonly store: (file: TestRunFile) => Effect.Effect<{ readonly replaced: RunBlob | undefined } | undefined>
    readonly find: (workspaceId: WorkspaceId, run: number, path: string) => Effect.Effect<TestRunFile | undefined>
    /** Whether a file has the blob. */
    readonly isStored: (id: FileId) => Effect.Effect<boolean>
    /**
     * Makes a pending blob lapse, in so many seconds or at once, after any change of it in progress. False where it is
     * not pending.
     */
    readonly lapse: (id: FileId, inSeconds?: number) => Effect.Effect<boolean>
    /** Pending blobs that have lapsed; holds them until the transaction ends, and passes over those held by others. */
    readonly lapsed: (limit: number) => Effect.Effect<ReadonlyArray<RunBlob>>
    /** Says that the pending blobs are gone. */
    readonly forget: (ids: ReadonlyArray<FileId>) => Effect.Effect<void>
  }
>()("@delivery/server/runs/TestRunFilesRepo") {
  static readonly layerSql = Layer.effect(
    TestRunFilesRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const lease = sql.literal(`now() + interval '${blobLeaseSeconds} seconds'`)
      const pending = sql.literal(`id, workspace_id as "workspaceId", run_id as "runId"`)
      const uuids = (ids: ReadonlyArray<FileId>) => Result.getOrThrow(PgTypes.array(ids, PgTypes.OID.uuid))

      return TestRunFilesRepo.of({
        reserve: (blob) =>
          dieOnSqlError(
            Effect.asVoid(sql`insert into pending_blobs (id, workspace_id, run_id, lapses_at)
              values (${blob.id}, ${blob.workspaceId}, ${blob.runId}, ${lease})`)
          ),
        renew: (ids) =>
          dieOnSqlError(
            Effect.asVoid(sql`update pending_blobs set lapses_at = ${lease} where id = any(${uuids(ids)})`)
          ),
        store: (file) =>
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
          ),
        find: (workspaceId, run, path) =>
          sql<SqlRow>`select f.workspace_id as "workspaceId", f.run_id as "runId", f.blob_id as "blobId", f.path, f.size,
              f.content_type as "contentType", f.sha256, f.created_at as "createdAt"
            from test_runs r join test_run_files f on f.run_id = r.id
            where r.workspace_id = ${workspaceId} and r.number = ${run} and f.path = ${path}`.pipe(
            Effect.map((rows) => rows.map(readRow)[0]),
            dieOnSqlError
          ),
        isStored: (id) =>
          sql`select 1 from test_run_files where blob_id = ${id}`.pipe(
            Effect.map((rows) => rows.length > 0),
            dieOnSqlError
          ),
        lapse: (id, inSeconds = 0) =>
          sql`update pending_blobs set lapses_at = now() + make_interval(secs => ${inSeconds}) where id = ${id}
            returning id`.pipe(
            Effect.map((rows) => rows.length > 0),
            dieOnSqlError
          ),
        lapsed: (limit) =>
          sql<RunBlob>`select ${pending} from pending_blobs where lapses_at <= now() order by lapses_at
            limit ${sql.literal(String(limit))} for update skip locked`.pipe(dieOnSqlError),
        forget: (ids) => dieOnSqlError(Effect.asVoid(sql`delete from pending_blobs where id = any(${uuids(ids)})`))
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    TestRunFilesRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const write = <A>(write: (database: MemoryDatabase, now: number) => A): Effect.Effect<A> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          memory.write((database) => Effect.sync(() => write(database, now)))
        )
      const lease = blobLeaseSeconds * 1000

      return TestRunFilesRepo.of({
        reserve: (blob) =>
          write((database, now) => pendingOf(database).set(blob.id, { ...blob, lapsesAt: now + lease })),
        renew: (ids) =>
          write((database, now) => {
            for (const id of ids) {
              const blob = pendingOf(database).get(id)
              if (blob !== undefined) pendingOf(database).set(id, { ...blob, lapsesAt: now + lease })
            }
          }),
        store: (file) =>
          write((database, now) => {
            if (pendingOf(database).get(file.blob.id) === undefined) return undefined
            const replaced = filesOf(database).get(keyOf(file))?.blob
            pendingOf(database).delete(file.blob.id)
            filesOf(database).set(keyOf(file), file)
            if (replaced !== undefined) pendingOf(database).set(replaced.id, { ...replaced, lapsesAt: now })
            return { replaced }
          }),
        find: (workspaceId, number, path) =>
          memory.read((database) => {
            const run = database
              .table<Pick<ShownTestRun, "id" | "workspaceId" | "number">>("test_runs")
              .find((run) => run.workspaceId === workspaceId && run.number === number)
            return run === undefined ? undefined : filesOf(database).get(`${run.id}/${path}`)
          }),
        isStored: (id) =>
          memory.read((database) => filesOf(database).find((file) => file.blob.id === id) !== undefined),
        lapse: (id, inSeconds = 0) =>
          write((database, now) => {
            const blob = pendingOf(database).get(id)
            if (blob === undefined) return false
            pendingOf(database).set(id, { ...blob, lapsesAt: now + inSeconds * 1000 })
            return true
          }),
        lapsed: (limit) =>
          write((database, now) =>
            pendingOf(database)
              .filter((blob) => blob.lapsesAt <= now)
              .toSorted((a, b) => a.lapsesAt - b.lapsesAt)
              .slice(0, limit)
              .map(({ id, runId, workspaceId }) => ({ id, runId, workspaceId }))
          ),
        forget: (ids) =>
          write((database) => {
            for (const id of ids) pendingOf(database).delete(id)
          })
      })
    })
  )
}

interface SqlRow {
  readonly workspaceId: WorkspaceId
  readonly runId: TestRunId
  readonly blobId: FileId
  readonly path: string
  readonly size: number
  readonly contentType: string
  readonly sha256: string
  readonly createdAt: Date
}

const readRow = ({ blobId, createdAt, runId, workspaceId, ...row }: SqlRow): TestRunFile => ({
  ...row,
  createdAt: iso(createdAt),
  blob: { id: blobId, runId, workspaceId }
})

const filesOf = (database: MemoryDatabase) => database.table<TestRunFile>("test_run_files")
const pendingOf = (database: MemoryDatabase) => database.table<RunBlob & { readonly lapsesAt: number }>("pending_blobs")

const keyOf = (file: TestRunFile): string => `${file.blob.runId}/${file.path}`
