import type { FileId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { BlobOwner } from "../files/Blob.ts"

/** A file that the database knows of. */
export interface KnownFile {
  readonly id: FileId
  readonly ownerId: BlobOwner
  readonly size: number
  readonly sha256: string
  readonly isAttachment: boolean
}

/** Something that must be none. */
export interface Finding {
  readonly rows: number
  readonly text: string
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The names of all tables. */
export const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ readonly name: string }>`select c.relname::text as name from pg_class c
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`
  return found.map(({ name }) => name)
})

/** How many rows a table has. Reads every value of each, which fails where one cannot be read. */
export const readTable = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql.unsafe<{ readonly rows: number }>(
    `select count(*)::int as rows, sum(octet_length((r.*)::text)) as bytes from ${quoted(table)} r`
  )
  return found?.rows ?? 0
})

/** The number of the last migration. */
export const lastMigration = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly number: number }>`select max(migration_id) as number from effect_sql_migrations`
  return found?.number ?? 0
})

interface ForeignKey {
  readonly name: string
  readonly child: string
  readonly parent: string
  readonly columns: ReadonlyArray<string>
  readonly parentColumns: ReadonlyArray<string>
}

const names = (relation: string, numbers: string) => `array(select a.attname::text
  from unnest(${numbers}) with ordinality k (number, place)
  join pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number order by k.place)`

/** Every reference that the database enforces. */
export const foreignKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.unsafe<ForeignKey>(`select f.conname::text as name, c.relname::text as child, p.relname::text as parent,
      ${names("f.conrelid", "f.conkey")} as columns, ${names("f.confrelid", "f.confkey")} as "parentColumns"
    from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_class p on p.oid = f.confrelid
    where f.contype = 'f' and f.connamespace = current_schema()::regnamespace order by 2, 1`)
})

/** Rows whose reference leads nowhere: restored in parts, or changed where the database did not check it. */
export const danglingRows = Effect.fnUntraced(function* ({ child, columns, name, parent, parentColumns }: ForeignKey) {
  const sql = yield* SqlClient.SqlClient
  const isSet = columns.map((column) => `c.${quoted(column)} is not null`).join(" and ")
  const isSame = columns.map((column, at) => `p.${quoted(parentColumns[at]!)} = c.${quoted(column)}`).join(" and ")
  const [found] = yield* sql.unsafe<{ readonly rows: number }>(
    `select count(*)::int as rows from ${quoted(child)} c
      where ${isSet} and not exists (select from ${quoted(parent)} p where ${isSame})`
  )
  return { rows: found?.rows ?? 0, text: `rows of ${child} refer to rows of ${parent} that are not there (${name})` }
})

/** Erased runs leave their rows behind for a while, so these have no references that the database enforces. */
const ofRuns = ["test_run_files", "test_run_tests", "test_run_retries", "test_run_shards"]

/** What the service keeps right by itself: statements that find no row, and what it means if they do. */
const rules: ReadonlyArray<readonly [text: string, statement: string]> = [
  ...ofRuns.map((table): readonly [string, string] => [
    `rows of ${table} are of test runs that are not there`,
    `select from ${table} t where not exists (select from test_runs r where r.id = t.run_id)
      and not exists (select from erased_runs e where e.run_id = t.run_id)`
  ]),
  [
    "finished test runs have other counts than their tests",
    `select from test_runs r left join (
      select run_id, count(*) as total, count(*) filter (where status = 'passed') as passed,
        count(*) filter (where status = 'flaky') as flaky, count(*) filter (where status = 'failed') as failed,
        count(*) filter (where status = 'skipped') as skipped
      from test_run_tests group by run_id
    ) t on t.run_id = r.id
    where r.state = 'finished' and (r.total, r.passed, r.flaky, r.failed, r.skipped) is distinct from
      (coalesce(t.total, 0), coalesce(t.passed, 0), coalesce(t.flaky, 0), coalesce(t.failed, 0), coalesce(t.skipped, 0))`
  ],
  [
    "test runs have another number of retries than is stored",
    `select from test_runs r left join (select run_id, count(*) as retries from test_run_retries group by run_id) t
      on t.run_id = r.id where r.retry_count <> coalesce(t.retries, 0)`
  ],
  [
    "workspaces have test runs with a number above their last one",
    `select from workspaces w join (select workspace_id, max(number) as number from test_runs group by 1) r
      on r.workspace_id = w.id where r.number > w.last_run_number`
  ],
  [
    "erased test runs have counts that do not add up",
    "select from past_runs where total <> passed + flaky + failed + skipped"
  ],
  [
    "blobs belong to a file, and are garbage as well",
    `select from pending_blobs p where exists (select from test_run_files f where f.blob_id = p.id)
      or exists (select from ticket_attachments a where a.id = p.id)`
  ],
  [
    "indexes are not valid",
    `select from pg_index i join pg_class c on c.oid = i.indexrelid
      where not i.indisvalid and c.relnamespace = current_schema()::regnamespace`
  ]
]

/** How many rules there are, and what breaks them. */
export const brokenRules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* Effect.forEach(rules, ([text, statement]) =>
    Effect.map(
      sql.unsafe<{ readonly rows: number }>(`select count(*)::int as rows from (${statement}) as broken`),
      ([counted]): Finding => ({ rows: counted?.rows ?? 0, text })
    )
  )
  return found
})

/** Files after `last`, in the order of their ids: those of runs that are there, and those of tickets. */
export const filesAfter = Effect.fnUntraced(function* (last: string, limit: number) {
  const sql = yield* PgClient.PgClient
  return yield* sql<KnownFile>`select * from (
      select f.blob_id as id, f.run_id as "ownerId", f.size, f.sha256, false as "isAttachment" from test_run_files f
        where f.blob_id > ${last}::uuid
      union all
      select id, ticket_id, size, sha256, true from ticket_attachments where id > ${last}::uuid
    ) as files order by id limit ${limit}::int`
})

/** Whether a file is still there, which others may have deleted meanwhile. */
export const isKnown = Effect.fnUntraced(function* ({ id }: KnownFile) {
  const sql = yield* PgClient.PgClient
  const found = yield* sql`select from test_run_files where blob_id = ${id}
    union all select from ticket_attachments where id = ${id}`
  return found.length > 0
})
