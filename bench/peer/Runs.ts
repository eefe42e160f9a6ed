import type { FastifyInstance } from "fastify"
import * as Schemas from "./Schemas.ts"
import { authenticate, baseUrl, byName, compare, member, notFound, query, withError, workspace } from "./Server.ts"
import * as Statements from "./Statements.ts"

export interface RunRow {
  readonly id: string
  readonly number: number
  readonly state: string
  readonly result: string | null
  readonly gateResult: string | null
  readonly error: string | null
  readonly total: number
  readonly passed: number
  readonly flaky: number
  readonly failed: number
  readonly skipped: number
  readonly passRate: number | null
  readonly firstAttemptPassRate: number | null
  readonly productSlug: string
  readonly productName: string
  readonly environmentSlug: string
  readonly environmentName: string
  readonly environmentClass: string
  readonly baseUrl: string
  readonly deploymentBaseUrl: string | null
  readonly deploymentVersion: string | null
  readonly release: number | null
  readonly deploymentChanged: boolean
  readonly locked: boolean
  readonly partOfTests: boolean
  readonly gitBranch: string
  readonly gitSha: string
  readonly gitDirty: boolean
  readonly gitSubject: string
  readonly hostname: string
  readonly platform: string
  readonly ciUrl: string | null
  readonly shardTotal: number | null
  readonly shardsStarted: number | null
  readonly shardsFinished: number | null
  readonly coverage: string | null
  readonly fixtureScope: string | null
  readonly cleanupStatus: string | null
  readonly cleanupDeleted: number | null
  readonly cleanupRemaining: number | null
  readonly durationMs: number
  readonly startedAt: Date
  readonly expiresAt: Date
  readonly finishedAt: Date | null
  readonly publisherKind: string
  readonly publisherId: string
  readonly publisherName: string | null
  readonly publisherEmail: string | null
}
/** A run that is overdue counts as interrupted. */
const asOf = (row: RunRow, now: Date): RunRow =>
  row.state !== "running" || row.expiresAt > now
    ? row
    : {
        ...row,
        state: "interrupted",
        finishedAt: row.expiresAt,
        cleanupStatus: row.cleanupStatus === null ? null : "incomplete"
      }
const publishedBy = (row: RunRow) =>
  row.publisherName === null
    ? { kind: "removed" }
    : row.publisherKind === "user"
      ? { kind: "user", id: row.publisherId, name: row.publisherName, email: row.publisherEmail ?? "" }
      : { kind: row.publisherKind, id: row.publisherId, name: row.publisherName }
export const presentRun = (slug: string, row: RunRow) => ({
  id: row.id,
  number: row.number,
  url: `${baseUrl}/w/${slug}/test-runs/${row.number}`,
  state: row.state,
  result: row.result,
  gateResult: row.result === "failed" ? (row.gateResult ?? "failed") : row.result,
  counts: { total: row.total, passed: row.passed, flaky: row.flaky, failed: row.failed, skipped: row.skipped },
  passRate: row.passRate,
  firstAttemptPassRate: row.firstAttemptPassRate,
  error: row.error,
  product: { slug: row.productSlug, name: row.productName },
  environment: { slug: row.environmentSlug, name: row.environmentName, class: row.environmentClass },
  baseUrl: row.baseUrl,
  deploymentBaseUrl: row.deploymentBaseUrl,
  deploymentVersion: row.deploymentVersion,
  release: row.release,
  deploymentChanged: row.deploymentChanged,
  locked: row.locked,
  partOfTests: row.partOfTests,
  git: { branch: row.gitBranch, sha: row.gitSha, dirty: row.gitDirty, subject: row.gitSubject },
  machine: { hostname: row.hostname, platform: row.platform },
  ciUrl: row.ciUrl,
  shards:
    row.shardTotal === null
      ? null
      : { total: row.shardTotal, started: row.shardsStarted ?? 0, finished: row.shardsFinished ?? 0 },
  coverage: row.coverage,
  cleanup:
    row.fixtureScope === null
      ? null
      : {
          scope: row.fixtureScope,
          expiresAt: row.expiresAt,
          status: row.cleanupStatus,
          deleted: row.cleanupDeleted,
          remaining: row.cleanupRemaining
        },
  publishedBy: publishedBy(row),
  startedAt: row.startedAt,
  finishedAt: row.finishedAt,
  durationMs: row.durationMs
})

type TestRow = readonly [
  caseId: string,
  title: string,
  file: string,
  coverage: string,
  testKind: string,
  priority: string | null,
  status: "failed" | "flaky" | "passed" | "skipped",
  files: ReadonlyArray<string>,
  attemptStatus: string | null,
  attemptDurationMs: number,
  attemptStartedAt: string,
  attemptErrorMessage: string | null,
  attemptErrorStack: string | null,
  attemptFiles: ReadonlyArray<string>
]
const statusOrder = { failed: 0, flaky: 1, passed: 2, skipped: 3 }
const presentTest = ([caseId, title, file, coverage, testKind, priority, status, files, ...attempt]: TestRow) => {
  const [attemptStatus, durationMs, startedAt, errorMessage, errorStack, attemptFiles] = attempt
  return {
    caseId,
    title,
    file,
    coverage,
    testKind,
    priority,
    status,
    durationMs: durationMs ?? 0,
    errorMessage: attemptStatus === "failed" ? errorMessage : null,
    files,
    attempts:
      attemptStatus === null
        ? []
        : [
            {
              number: 1,
              retry: null,
              status: attemptStatus,
              durationMs,
              startedAt: new Date(startedAt),
              errorMessage,
              errorStack,
              files: attemptFiles
            }
          ]
  }
}

export const runs = async (app: FastifyInstance) => {
  app.get(
    `${workspace}/test-runs`,
    { onRequest: authenticate, schema: { response: withError({ 200: Schemas.runs }) } },
    async (request) => {
      const { slug, workspaceId } = member(request)
      const rows = await query<RunRow>(Statements.runs, [workspaceId])
      const now = new Date()
      const runs = rows.slice(0, 50).map((row) => presentRun(slug, asOf(row, now)))
      return { runs, nextCursor: rows.length > 50 ? runs.at(-1)!.number : null }
    }
  )

  app.get(
    `${workspace}/test-runs/:run`,
    { onRequest: authenticate, schema: { response: withError({ 200: Schemas.run }) } },
    async (request) => {
      const { run } = request.params as { run: string }
      const { slug, workspaceId } = member(request)
      const [row] = await query<
        RunRow & {
          mutes: ReadonlyArray<object> | null
          tests: ReadonlyArray<TestRow>
          retries: ReadonlyArray<object>
        }
      >(Statements.runWithTests, [workspaceId, Number(run)])
      if (row === undefined) throw notFound("test run")
      const tests = row.tests
        .map(presentTest)
        .toSorted(
          (a, b) =>
            statusOrder[a.status] - statusOrder[b.status] ||
            byName({ name: a.title, id: a.caseId }, { name: b.title, id: b.caseId }) ||
            compare(a.file, b.file)
        )
      return { ...presentRun(slug, asOf(row, new Date())), mutes: row.mutes ?? [], retries: row.retries, tests }
    }
  )
}
