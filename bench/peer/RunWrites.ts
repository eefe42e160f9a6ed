import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { randomBytes } from "node:crypto"
import { type DeploymentRow, refuseArchived } from "./Deployments.ts"
import { presentRun, type RunRow } from "./Runs.ts"
import * as Schemas from "./Schemas.ts"
import {
  ApiError,
  authenticate,
  baseUrl,
  conflict,
  hashToken,
  makeToken,
  notFound,
  query,
  uuid,
  withError,
  workspace,
  writer
} from "./Server.ts"
import * as Statements from "./Statements.ts"

interface StartBody {
  readonly product: string
  readonly environment: string
  readonly baseUrl: string
  readonly fixtureUrl?: string | null
  readonly git: { readonly branch: string; readonly sha: string; readonly dirty: boolean; readonly subject: string }
  readonly machine: { readonly hostname: string; readonly platform: string }
  readonly selection: {
    readonly coverage: string | null
    readonly folders: ReadonlyArray<string>
    readonly caseIds: ReadonlyArray<string>
  }
}
const runLimitMillis = 6 * 60 * 60 * 1000

const startRun = async (request: FastifyRequest, reply: FastifyReply) => {
  const body = request.body as StartBody
  const caller = writer(request)
  const [target] = await query<DeploymentRow>(Statements.deployment, [
    caller.workspaceId,
    body.product,
    body.environment
  ])
  if (target === undefined) throw notFound("product")
  refuseArchived(target)
  if (target.id === null) throw conflict("not_deployed", "The product has no deployment in the environment.")
  const id = uuid()
  const token = makeToken("stk_")
  const now = new Date()
  const expiresAt = new Date(now.getTime() + runLimitMillis)
  // A Fixture API would add a signed token here.
  const fixtureUrl = body.fixtureUrl ?? target.fixtureUrl
  const search = [body.git.branch, body.git.subject].map((text) => text.toLowerCase().replaceAll("\n", " ")).join("\n")
  const [started] = await query<{ number: number; muted: ReadonlyArray<string> }>(Statements.startRun, [
    id,
    caller.workspaceId,
    target.productId,
    target.environmentId,
    caller.personId,
    body.baseUrl,
    target.baseUrl,
    target.version,
    body.git.branch,
    body.git.sha,
    body.git.dirty,
    body.git.subject,
    search,
    body.machine.hostname,
    body.machine.platform,
    body.selection.coverage,
    JSON.stringify({ folders: body.selection.folders, caseIds: body.selection.caseIds }),
    hashToken(token),
    fixtureUrl === null ? null : randomBytes(8).toString("hex"),
    fixtureUrl,
    now,
    expiresAt,
    uuid()
  ])
  const semaphores = {
    url: `${baseUrl}/v1/workspaces/${caller.slug}/semaphores`,
    token,
    expiresAt: expiresAt.toISOString()
  }
  const { muted, number } = started!
  reply.code(201)
  return { number, url: `${baseUrl}/w/${caller.slug}/test-runs/${number}`, fixture: null, semaphores, muted }
}

interface FinishBody {
  readonly interrupted: boolean
  readonly error?: string | null
  readonly durationMs: number
  readonly cleanup?: { readonly status: string; readonly deleted: number; readonly remaining: number } | null
  readonly tests: ReadonlyArray<{
    readonly caseId: string
    readonly title: string
    readonly file: string
    readonly coverage: string
    readonly testKind: string
    readonly priority?: string | null
    readonly files?: ReadonlyArray<string>
    readonly attempt: {
      readonly status: "failed" | "passed" | "skipped"
      readonly durationMs?: number
      readonly startedAt?: string
      readonly errorMessage?: string | null
      readonly errorStack?: string | null
      readonly files?: ReadonlyArray<string>
    } | null
  }>
}
/** PostgreSQL takes no NUL, UTF-8 no lone surrogate. */
const storable = (text: string): string => (text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text).toWellFormed()
const storableOrNull = (text: string | null | undefined): string | null => (text == null ? null : storable(text))

type Test = Omit<FinishBody["tests"][number], "attempt"> & {
  readonly status: "failed" | "passed" | "skipped"
  readonly attempt: FinishBody["tests"][number]["attempt"]
}

const testsOf = (body: FinishBody): ReadonlyArray<Test> => {
  const tests = body.tests.map((test) => {
    const attempt = test.attempt === null || test.attempt.status === "skipped" ? null : test.attempt
    return { ...test, caseId: storable(test.caseId), attempt, status: attempt?.status ?? "skipped" }
  })
  if (new Set(tests.map(({ caseId }) => caseId)).size < tests.length) {
    const message = "Expected each caseId once"
    throw new ApiError(400, "InvalidInput", `tests: ${message}`, { issues: [{ path: ["tests"], message }] })
  }
  return tests
}

/** The run as the body ends it. */
const finishedRow = (row: RunRow, body: FinishBody, tests: ReadonlyArray<Test>, now: Date) => {
  const count = (status: string) => tests.filter((test) => test.status === status).length
  const counts = {
    total: tests.length,
    passed: count("passed"),
    flaky: 0,
    failed: count("failed"),
    skipped: count("skipped")
  }
  const rate = counts.total === counts.skipped ? null : counts.passed / (counts.total - counts.skipped)
  const reported = body.error == null || body.error.trim() === "" ? null : storable(body.error)
  const error = body.interrupted ? null : (reported ?? (tests.length === 0 ? "No tests ran." : null))
  const result = body.interrupted ? null : error !== null || counts.failed > 0 ? "failed" : "passed"
  const cleanup =
    row.cleanupStatus === null
      ? { status: null, deleted: null, remaining: null }
      : (body.cleanup ?? { status: "incomplete", deleted: null, remaining: null })
  return {
    ...row,
    ...counts,
    state: body.interrupted ? "interrupted" : "finished",
    result,
    error,
    passRate: rate,
    firstAttemptPassRate: rate,
    durationMs: body.durationMs,
    finishedAt: now,
    cleanupStatus: cleanup.status,
    cleanupDeleted: cleanup.deleted,
    cleanupRemaining: cleanup.remaining
  }
}

const finishRun = async (request: FastifyRequest) => {
  const body = request.body as FinishBody
  const tests = testsOf(body)
  const caller = writer(request)
  const number = Number((request.params as { run: string }).run)
  const [row] = await query<RunRow>(Statements.run, [caller.workspaceId, number])
  if (row === undefined) throw notFound("test run")
  if (row.publisherKind !== "user" || row.publisherId !== caller.personId) {
    throw new ApiError(403, "Forbidden", "Only the publisher of the run may do this.", { reason: "not_publisher" })
  }
  const notRunning = conflict("not_running", "The run is no longer running.")
  const now = new Date()
  if (row.state !== "running" || row.expiresAt <= now) throw notRunning
  const finished = finishedRow(row, body, tests, now)
  const [done] = await query<Pick<RunRow, "deploymentChanged">>(Statements.finishRun, [
    row.id,
    finished.state,
    finished.result,
    finished.error,
    finished.total,
    finished.passed,
    finished.flaky,
    finished.failed,
    finished.skipped,
    finished.passRate,
    finished.firstAttemptPassRate,
    body.durationMs,
    now,
    tests.map((test) => test.caseId),
    tests.map((test) => storable(test.title)),
    tests.map((test) => storable(test.file)),
    tests.map((test) => test.coverage),
    tests.map((test) => storable(test.testKind)),
    tests.map((test) => storableOrNull(test.priority)),
    tests.map((test) => test.status),
    tests.map((test) => JSON.stringify((test.files ?? []).map(storable))),
    tests.map((test) => test.attempt?.status ?? null),
    tests.map((test) => test.attempt?.durationMs ?? null),
    tests.map((test) => (test.attempt === null ? null : new Date(test.attempt.startedAt!).toISOString())),
    tests.map((test) => storableOrNull(test.attempt?.errorMessage)),
    tests.map((test) => storableOrNull(test.attempt?.errorStack)),
    tests.map((test) => (test.attempt === null ? null : JSON.stringify((test.attempt.files ?? []).map(storable)))),
    uuid(),
    caller.personId,
    `Run ${number}`,
    `test-runs/${number}`,
    JSON.stringify(finished.result === null ? [] : [{ field: "result", from: null, to: finished.result }]),
    body.interrupted ? "run_interrupted" : "run_finished",
    finished.cleanupStatus,
    finished.cleanupDeleted,
    finished.cleanupRemaining
  ])
  if (done === undefined) throw notRunning
  return presentRun(caller.slug, { ...finished, deploymentChanged: done.deploymentChanged })
}

export const runWrites = async (app: FastifyInstance) => {
  app.post(
    `${workspace}/test-runs`,
    { onRequest: authenticate, schema: { body: Schemas.startRun, response: withError({ 201: Schemas.started }) } },
    startRun
  )
  app.post(
    `${workspace}/test-runs/:run/finish`,
    {
      onRequest: authenticate,
      bodyLimit: 64 * 1024 * 1024,
      schema: { body: Schemas.finishRun, response: withError({ 200: Schemas.summary }) }
    },
    finishRun
  )
}
