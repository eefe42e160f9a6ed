import type { DeploymentId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RecordedTest } from "@delivery/domain/runs/TestResults"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { column, texts } from "../storage/Columns.ts"
import { date, dieOnSqlError, isoOfJson, prepared } from "../storage/Sql.ts"
import { jsonBytes } from "../storage/Json.ts"
import { columnName, columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import type { StoredRunMute } from "./RunMutes.ts"
import { SearchBlocks } from "./search/SearchBlocks.ts"
import * as TestRunIndex from "./search/TestRunIndexSql.ts"
import * as TestRunSearch from "./search/TestRunSearchSql.ts"
import { deploymentChanged, runJson } from "./TestRunJsonSql.ts"
import { expire, finish, interrupt, start, strayPublishers, takeDeployment } from "./TestRunChangesSql.ts"
import {
  foundColumns,
  foundRun,
  type FoundTestRun,
  runningRetryOf,
  type ShownRuns,
  type TestRunJson,
  testRuns,
  TestRunsRepo,
  type TestRunTestRow
} from "./TestRunsRepo.ts"

export const layer = Layer.effect(
  TestRunsRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const sizes = yield* SearchBlocks
    return TestRunsRepo.of({
      start: start(sql),
      finish: finish(sql),
      expire: expire(sql),
      interrupt: interrupt(sql),
      strayPublishers: strayPublishers(sql),
      find: find(sql),
      mutes: mutes(sql),
      findWithTests: findWithTests(sql),
      tests: tests(sql),
      list: TestRunSearch.list({ sql, sizes, readRuns: readRuns(sql) }),
      listJson: (workspaceId, filter, limit, shown) =>
        TestRunSearch.list({ sql, sizes, readRuns: readJson(sql, shown) })(workspaceId, filter, limit),
      indexBlock: TestRunIndex.indexBlock({ sql, sizes }),
      indexResults: TestRunIndex.indexResults({ sql, sizes }),
      lock: lock(sql),
      takeDeployment: takeDeployment(sql),
      locks: locks(sql),
      ofVersions: ofVersions(sql)
    })
  })
)

const productColumns = ["slug", "name"] as const
const environmentColumns = ["slug", "name", "class"] as const

const columns = [
  columnsOf(testRuns, { of: "r", only: foundColumns }),
  columnsOf(products, { of: "p", as: "product", only: productColumns }),
  columnsOf(environments, { of: "e", as: "environment", only: environmentColumns })
].join(", ")

/** The columns that `readRun` reads, of the runs `r` with `joins`. */
const runColumns = (sql: PgClient.PgClient) =>
  sql`${sql.literal(columns)}, ${sql.literal(deploymentChanged)} as "deploymentChanged",
    ${actorColumns(sql, "r.publisher")}`

const joins = (sql: PgClient.PgClient) =>
  sql`join products p on p.id = r.product_id join environments e on e.id = r.environment_id
    ${actorJoins(sql, "r.publisher")}`

type RunRow = SelectedRow & ActorRow & { readonly deploymentChanged: boolean }

const readColumns = partReaderOf(testRuns, foundColumns)
const readProduct = partReaderOf(products, productColumns, { as: "product" })
const readEnvironment = partReaderOf(environments, environmentColumns, { as: "environment" })

const readRun = (row: RunRow): FoundTestRun =>
  foundRun(readColumns(row), {
    product: readProduct(row),
    environment: readEnvironment(row),
    publisher: { kind: row.actorKind, id: row.actorId } as ActorRef,
    publishedBy: readActor(row),
    deploymentChanged: row.deploymentChanged
  })

const find = (sql: PgClient.PgClient) => {
  const select = prepared(
    sql,
    (workspaceId: WorkspaceId, number: number) =>
      sql<RunRow>`select ${runColumns(sql)} from test_runs r ${joins(sql)}
        where r.workspace_id = ${workspaceId} and r.number = ${number}`
  )
  return (workspaceId: WorkspaceId, number: number) =>
    select(workspaceId, number).pipe(
      Effect.map((rows) => rows.map(readRun)[0]),
      dieOnSqlError
    )
}

const mutes = (sql: PgClient.PgClient) => (id: TestRunId) =>
  sql<{ readonly mutes: ReadonlyArray<StoredRunMute> | null }>`select mutes from test_runs where id = ${id}`.pipe(
    Effect.map(([row]) => row?.mutes ?? []),
    dieOnSqlError
  )

/** The runs whose numbers `numbers` selects as `number`, newest first. */
const readRuns = (sql: PgClient.PgClient) => {
  const select = sql`select ${runColumns(sql)}`
  const joined = joins(sql)
  return (workspaceId: WorkspaceId, numbers: Statement.Fragment) =>
    sql<RunRow>`${select} from (${numbers}) as page
      join test_runs r on r.workspace_id = ${workspaceId} and r.number = page.number
      ${joined} order by r.number desc`.pipe(
      Effect.map((rows) => rows.map(readRun)),
      dieOnSqlError
    )
}

/** The same runs as JSON. */
const readJson = (sql: PgClient.PgClient, { at, pages }: ShownRuns) => {
  const json = sql.literal(jsonBytes(runJson))
  const joined = joins(sql)
  return (workspaceId: WorkspaceId, numbers: Statement.Fragment) =>
    sql<TestRunJson>`select r.number, ${json} as json from (${numbers}) as page
      join test_runs r on r.workspace_id = ${workspaceId} and r.number = page.number
      ${joined} cross join (select ${date(at)}::timestamptz as at, ${pages}::text as pages) as shown
      order by r.number desc`.pipe(dieOnSqlError)
}

const ofVersions = (sql: PgClient.PgClient): TestRunsRepo["Service"]["ofVersions"] => {
  const read = readRuns(sql)
  return (workspaceId, versions, limit) =>
    read(
      workspaceId,
      sql`select tested.number from unnest(${column(versions, PgTypes.OID.uuid, ({ productId }) => productId)},
          ${texts(versions, ({ version }) => version)}) as named (product_id, version)
        join test_runs tested on tested.workspace_id = ${workspaceId} and tested.product_id = named.product_id
          and tested.deployment_version = named.version
        order by tested.number desc limit ${limit}`
    )
}

const locks = (sql: PgClient.PgClient) => (deployment: DeploymentId, now: Timestamp) =>
  sql<{ readonly number: number }>`select number from test_runs
    where case when locked and state = 'running' then deployment_id end = ${deployment} and expires_at > ${date(now)}
    order by number`.pipe(
    Effect.map((rows) => rows.map(({ number }) => number)),
    dieOnSqlError
  )

const testColumns = [
  "caseId",
  "title",
  "file",
  "coverage",
  "testKind",
  "priority",
  "status",
  "files",
  "attemptStatus",
  "attemptDurationMs",
  "attemptStartedAt",
  "attemptErrorMessage",
  "attemptErrorStack",
  "attemptFiles"
] as const satisfies ReadonlyArray<keyof TestRunTestRow>

type Values<Columns extends ReadonlyArray<keyof TestRunTestRow>> = {
  readonly [Index in keyof Columns]: TestRunTestRow[Columns[Index]]
}

/** A test as JSON, in the order of its columns. */
type TestJson = Values<typeof testColumns>

/** The tests of the run `r` as one JSON text, which is parsed in less time than thousands of values are decoded. */
const testsColumn = (sql: PgClient.PgClient, condition: Statement.Fragment = sql``) =>
  sql`(
    select coalesce(json_agg(json_build_array(${sql.literal(
      testColumns.map((column) => `t.${columnName(column)}`).join(", ")
    )})), '[]')
    from test_run_tests t where t.run_id = r.id ${condition}) as tests`

const findWithTests = (sql: PgClient.PgClient): TestRunsRepo["Service"]["findWithTests"] => {
  const select = prepared(
    sql,
    (workspaceId: WorkspaceId, number: number) =>
      sql<RunRow & { readonly tests: ReadonlyArray<TestJson>; readonly retryCount: number }>`
        select ${runColumns(sql)}, r.retry_count as "retryCount", ${testsColumn(sql)} from test_runs r ${joins(sql)}
        where r.workspace_id = ${workspaceId} and r.number = ${number}`
  )
  return (workspaceId, number) =>
    select(workspaceId, number).pipe(
      Effect.map(([row]) =>
        row === undefined
          ? undefined
          : { run: readRun(row), tests: row.tests.map(readTest), retryCount: row.retryCount }
      ),
      dieOnSqlError
    )
}

const tests = (sql: PgClient.PgClient): TestRunsRepo["Service"]["tests"] => {
  const all = testsColumn(sql)
  return (id, caseId) => {
    const column = caseId === undefined ? all : testsColumn(sql, sql`and t.case_id = ${caseId}`)
    return sql<{ readonly tests: ReadonlyArray<TestJson> }>`select ${column} from test_runs r where r.id = ${id}`.pipe(
      Effect.map(([row]) => row?.tests.map(readTest) ?? []),
      dieOnSqlError
    )
  }
}

const readTest = ([
  caseId,
  title,
  file,
  coverage,
  testKind,
  priority,
  status,
  files,
  ...attempt
]: TestJson): RecordedTest => {
  const [attemptStatus, durationMs, startedAt, errorMessage, errorStack, attemptFiles] = attempt
  return {
    caseId,
    title,
    file,
    coverage,
    testKind,
    priority,
    status,
    files,
    attempts:
      attemptStatus === null || startedAt === null
        ? []
        : [
            {
              number: 1,
              retry: null,
              status: attemptStatus,
              durationMs: durationMs ?? 0,
              startedAt: isoOfJson(startedAt),
              errorMessage,
              errorStack,
              files: attemptFiles ?? []
            }
          ]
  }
}

const lockColumns = ["state", "expiresAt", "runningRetry", "runningRetryExpiresAt"] as const
const readLock = partReaderOf(testRuns, lockColumns)

const lock = (sql: PgClient.PgClient) => {
  const selected = sql.literal(columnsOf(testRuns, { only: lockColumns }))
  return (id: TestRunId) =>
    sql<SelectedRow>`select ${selected} from test_runs where id = ${id} for update`.pipe(
      Effect.map(([found]) => {
        if (found === undefined) return undefined
        const row = readLock(found)
        return { state: row.state, expiresAt: row.expiresAt, runningRetry: runningRetryOf(row) }
      }),
      dieOnSqlError
    )
}
