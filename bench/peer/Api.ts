import Fastify, { type FastifyReply, type FastifyRequest } from "fastify"
import { createDecipheriv, hash, randomBytes, randomUUID } from "node:crypto"
import { crc32 } from "node:zlib"
import { connect, type Driver } from "./Database.ts"
import * as Schemas from "./Schemas.ts"
import * as Statements from "./Statements.ts"

/**
 * The endpoints of `bench/api.ts` as a good engineer would write them with Fastify: prepared statements, schemas for
 * what comes in and goes out, the same checks and rows. Paths name workspaces, products and environments by slug only.
 *
 * `DATABASE_URL`, `DATABASE_POOL`, `VAULT_KEYS`, `PORT` as for the service; `DRIVER` is `pg` or `postgres.js`.
 */
const { DATABASE_POOL, DATABASE_URL = "", DRIVER, PORT, VAULT_KEYS = "" } = process.env
const baseUrl = process.env["BASE_URL"]!
const database = connect(DRIVER as Driver, DATABASE_URL, Number(DATABASE_POOL))
const { query } = database

class ApiError extends Error {
  readonly statusCode: number
  readonly body: object
  constructor(statusCode: number, _tag: string, message: string, more: object = {}) {
    super(message)
    this.statusCode = statusCode
    this.body = { _tag, message, ...more }
  }
}
const unauthorized = new ApiError(401, "Unauthorized", "A valid API key is required.")
const notFound = (noun: string) => new ApiError(404, "NotFound", `The ${noun} does not exist.`)
const conflict = (reason: string, message: string) => new ApiError(409, "Conflict", message, { reason })

const app = Fastify({
  logger: false,
  bodyLimit: 1024 * 1024,
  genReqId: (request) => {
    const id = request.headers["x-request-id"]
    return typeof id === "string" && /^[A-Za-z0-9_-]{8,64}$/.test(id) ? id : randomUUID()
  },
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true } }
})

app.addHook("onRequest", (request, reply, done) => {
  reply.header("x-request-id", request.id)
  done()
})

app.setErrorHandler((error: Error & { validation?: ReadonlyArray<AjvError>; statusCode?: number }, request, reply) => {
  if (error instanceof ApiError) {
    if (error.statusCode === 401) reply.header("www-authenticate", "Bearer")
    return reply.code(error.statusCode).send(error.body)
  }
  if (error.validation !== undefined) {
    const issues = error.validation.slice(0, 20).map((one) => ({
      path: one.instancePath.split("/").slice(1),
      message: problem(one)
    }))
    const message = `${issues[0]!.path.join(".")}: ${issues[0]!.message}`
    return reply.code(400).send({ _tag: "InvalidInput", message, issues })
  }
  if (error.statusCode === 400) {
    const message = "The body could not be read."
    return reply.code(400).send({ _tag: "InvalidInput", message, issues: [{ path: [], message }] })
  }
  console.error(error)
  return reply.code(500).send({ _tag: "Internal", message: "Something went wrong.", requestId: request.id })
})

interface AjvError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}
const problem = ({ keyword, message, params }: AjvError): string =>
  keyword === "type" ? `Expected ${[params["type"]].flat().join(" | ")}` : (message ?? keyword)

// Who calls.

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ""
  for (let i = 0; i < 6; i++) {
    digits = alphabet[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
const isToken = (token: string): boolean =>
  /^(ctk|stk)_[0-9A-Za-z]{42}$/.test(token) && checksum(token.slice(0, -6)) === token.slice(-6)
const makeToken = (prefix: string): string => {
  let text = prefix
  while (text.length < prefix.length + 36) {
    for (const byte of randomBytes(72)) {
      if (byte < 248 && text.length < prefix.length + 36) text += alphabet[byte % 62]
    }
  }
  return text + checksum(text)
}
const hashToken = (token: string): string => hash("sha256", token, "base64url")

const bearer = (request: FastifyRequest, prefix: string): string => {
  const header = request.headers.authorization ?? ""
  const token = header.startsWith("Bearer ") ? header.slice(7) : ""
  if (!token.startsWith(prefix) || !isToken(token)) throw unauthorized
  return token
}

interface Caller {
  readonly keyId: string
  readonly personId: string
  readonly personName: string
  readonly email: string
  readonly workspaceId: string
  readonly slug: string
  readonly role: "viewer" | "member" | "admin" | "owner" | null
}
const callers = new WeakMap<FastifyRequest, Caller>()
const uses = new Map<string, Date>()

/** Before the body is read: 401. */
const authenticate = async (request: FastifyRequest) => {
  const { slug } = request.params as { slug: string }
  const [caller] = await query<Caller>(Statements.authenticate, [hashToken(bearer(request, "ctk_")), slug])
  if (caller === undefined) throw unauthorized
  uses.set(caller.keyId, new Date())
  callers.set(request, caller)
}
setInterval(() => {
  if (uses.size === 0) return
  const batch = [...uses]
  uses.clear()
  query(Statements.touchKeys, [batch.map(([id]) => id), batch.map(([, at]) => at.toISOString())]).catch(console.error)
}, 500)

/** After the body is valid: 404, then 403. */
const member = (request: FastifyRequest): Caller => {
  const caller = callers.get(request)!
  if (caller.role === null) throw notFound("workspace")
  return caller
}
const writer = (request: FastifyRequest): Caller => {
  const caller = member(request)
  if (caller.role !== "viewer") return caller
  const message = "This needs the role member or more; yours is viewer."
  throw new ApiError(403, "Forbidden", message, { reason: "role_too_low" })
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" })
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
interface Named {
  readonly id: string
  readonly name: string
}
const byName = (a: Named, b: Named): number =>
  collator.compare(a.name, b.name) || compare(a.name, b.name) || compare(a.id, b.id)

const uuid = (): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

// Deployments.

interface DeploymentRow {
  readonly id: string | null
  readonly productId: string
  readonly productSlug: string
  readonly productName: string
  readonly productType: string
  readonly productArchivedAt: Date | null
  readonly environmentId: string
  readonly environmentSlug: string
  readonly environmentName: string
  readonly environmentClass: string
  readonly environmentEmoji: string | null
  readonly environmentArchivedAt: Date | null
  readonly baseUrl: string | null
  readonly fixtureUrl: string | null
  readonly version: string | null
  readonly versionUpdatedAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
}
const shownDeployment = (row: DeploymentRow) => ({
  id: row.id!,
  product: {
    id: row.productId,
    slug: row.productSlug,
    name: row.productName,
    type: row.productType,
    archived: row.productArchivedAt !== null
  },
  environment: {
    id: row.environmentId,
    slug: row.environmentSlug,
    name: row.environmentName,
    class: row.environmentClass,
    emoji: row.environmentEmoji,
    archived: row.environmentArchivedAt !== null
  },
  baseUrl: row.baseUrl,
  fixtureUrl: row.fixtureUrl,
  version: row.version,
  versionUpdatedAt: row.versionUpdatedAt,
  active: row.productArchivedAt === null && row.environmentArchivedAt === null,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt
})
const refuseArchived = (row: DeploymentRow) => {
  if (row.productArchivedAt !== null) throw conflict("archived", "The product is archived.")
  if (row.environmentArchivedAt !== null) throw conflict("archived", "The environment is archived.")
}

const workspace = "/v1/workspaces/:slug"
const withError = (success: Readonly<Record<string, object>>) => ({
  ...success,
  "4xx": Schemas.error,
  "5xx": Schemas.error
})
const pair = `${workspace}/deployments/:product/:environment`

app.get(
  pair,
  { onRequest: authenticate, schema: { response: withError({ 200: Schemas.deployment }) } },
  async (request) => {
    const { environment, product } = request.params as Record<"product" | "environment", string>
    const [row] = await query<DeploymentRow>(Statements.deployment, [member(request).workspaceId, product, environment])
    if (row === undefined || row.id === null) throw notFound("deployment")
    return shownDeployment(row)
  }
)

app.get(
  `${workspace}/deployments`,
  { onRequest: authenticate, schema: { response: withError({ 200: Schemas.deployments }) } },
  async (request) => {
    const rows = await query<DeploymentRow>(Statements.deployments, [member(request).workspaceId])
    return {
      deployments: rows
        .map(shownDeployment)
        .filter(({ active }) => active)
        .toSorted((a, b) => byName(a.product, b.product) || byName(a.environment, b.environment))
    }
  }
)

app.patch(
  pair,
  {
    onRequest: authenticate,
    schema: { body: Schemas.changeVersion, response: withError({ 200: Schemas.deployment }) }
  },
  async (request) => {
    const { environment, product } = request.params as Record<"product" | "environment", string>
    const { version } = request.body as { version?: string | null }
    const caller = writer(request)
    for (;;) {
      const [row] = await query<DeploymentRow>(Statements.deployment, [caller.workspaceId, product, environment])
      if (row === undefined || row.id === null) throw notFound("deployment")
      refuseArchived(row)
      if (version === undefined || version === row.version) return shownDeployment(row)
      const now = new Date(Math.max(Date.now(), row.updatedAt.getTime() + 1))
      const changed = await query(Statements.changeVersion, [
        row.id,
        version,
        now,
        row.updatedAt,
        uuid(),
        caller.workspaceId,
        caller.personId,
        `${row.productName} in ${row.environmentName}`,
        `deployments/${row.productSlug}/${row.environmentSlug}`,
        JSON.stringify([{ field: "version", from: row.version, to: version }])
      ])
      if (changed.length === 1) return shownDeployment({ ...row, version, versionUpdatedAt: now, updatedAt: now })
    }
  }
)

// Test runs.

interface RunRow {
  readonly id: string
  readonly number: number
  readonly state: string
  readonly result: string | null
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
  readonly gitBranch: string
  readonly gitSha: string
  readonly gitDirty: boolean
  readonly gitSubject: string
  readonly hostname: string
  readonly platform: string
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
const shownRun = (slug: string, row: RunRow) => ({
  id: row.id,
  number: row.number,
  url: `${baseUrl}/w/${slug}/test-runs/${row.number}`,
  state: row.state,
  result: row.result,
  counts: { total: row.total, passed: row.passed, flaky: row.flaky, failed: row.failed, skipped: row.skipped },
  passRate: row.passRate,
  firstAttemptPassRate: row.firstAttemptPassRate,
  error: row.error,
  product: { slug: row.productSlug, name: row.productName },
  environment: { slug: row.environmentSlug, name: row.environmentName, class: row.environmentClass },
  baseUrl: row.baseUrl,
  deploymentBaseUrl: row.deploymentBaseUrl,
  deploymentVersion: row.deploymentVersion,
  git: { branch: row.gitBranch, sha: row.gitSha, dirty: row.gitDirty, subject: row.gitSubject },
  machine: { hostname: row.hostname, platform: row.platform },
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

app.get(
  `${workspace}/test-runs`,
  { onRequest: authenticate, schema: { response: withError({ 200: Schemas.runs }) } },
  async (request) => {
    const { slug, workspaceId } = member(request)
    const rows = await query<RunRow>(Statements.runs, [workspaceId])
    const now = new Date()
    const runs = rows.slice(0, 50).map((row) => shownRun(slug, asOf(row, now)))
    return { runs, nextCursor: rows.length > 50 ? runs.at(-1)!.number : null }
  }
)

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
const shownTest = ([caseId, title, file, coverage, testKind, priority, status, files, ...attempt]: TestRow) => {
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

app.get(
  `${workspace}/test-runs/:run`,
  { onRequest: authenticate, schema: { response: withError({ 200: Schemas.run }) } },
  async (request) => {
    const { run } = request.params as { run: string }
    const { slug, workspaceId } = member(request)
    const [row] = await query<RunRow & { tests: ReadonlyArray<TestRow>; retries: ReadonlyArray<object> }>(
      Statements.runWithTests,
      [workspaceId, Number(run)]
    )
    if (row === undefined) throw notFound("test run")
    const tests = row.tests
      .map(shownTest)
      .toSorted(
        (a, b) =>
          statusOrder[a.status] - statusOrder[b.status] ||
          byName({ name: a.title, id: a.caseId }, { name: b.title, id: b.caseId }) ||
          compare(a.file, b.file)
      )
    return { ...shownRun(slug, asOf(row, new Date())), retries: row.retries, tests }
  }
)

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

app.post(
  `${workspace}/test-runs`,
  { onRequest: authenticate, schema: { body: Schemas.startRun, response: withError({ 201: Schemas.started }) } },
  async (request, reply) => {
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
    const search = [body.git.branch, body.git.subject]
      .map((text) => text.toLowerCase().replaceAll("\n", " "))
      .join("\n")
    const [started] = await query<{ number: number }>(Statements.startRun, [
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
    const { number } = started!
    reply.code(201)
    return { number, url: `${baseUrl}/w/${caller.slug}/test-runs/${number}`, fixture: null, semaphores }
  }
)

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

app.post(
  `${workspace}/test-runs/:run/finish`,
  {
    onRequest: authenticate,
    bodyLimit: 64 * 1024 * 1024,
    schema: { body: Schemas.finishRun, response: withError({ 200: Schemas.summary }) }
  },
  async (request) => {
    const body = request.body as FinishBody
    const tests = body.tests.map((test) => {
      const attempt = test.attempt === null || test.attempt.status === "skipped" ? null : test.attempt
      return { ...test, caseId: storable(test.caseId), attempt, status: attempt?.status ?? "skipped" }
    })
    if (new Set(tests.map(({ caseId }) => caseId)).size < tests.length) {
      const message = "Expected each caseId once"
      throw new ApiError(400, "InvalidInput", `tests: ${message}`, { issues: [{ path: ["tests"], message }] })
    }
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
    const finished = {
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
    const done = await query(Statements.finishRun, [
      row.id,
      finished.state,
      result,
      error,
      counts.total,
      counts.passed,
      counts.flaky,
      counts.failed,
      counts.skipped,
      rate,
      rate,
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
      JSON.stringify(result === null ? [] : [{ field: "result", from: null, to: result }]),
      body.interrupted ? "run_interrupted" : "run_finished",
      cleanup.status,
      cleanup.deleted,
      cleanup.remaining
    ])
    if (done.length === 0) throw notRunning
    return shownRun(caller.slug, finished)
  }
)

// Projects.

interface ProjectRow {
  readonly teams: ReadonlyArray<Named>
  readonly products: ReadonlyArray<Named>
}

app.get(
  `${workspace}/projects`,
  { onRequest: authenticate, schema: { response: withError({ 200: Schemas.projects }) } },
  async (request) => {
    const { personId, role, workspaceId } = member(request)
    const rows = await query<ProjectRow>(Statements.projects, [
      workspaceId,
      role === "admin" || role === "owner",
      personId
    ])
    return {
      projects: rows.map((row) => ({
        ...row,
        teams: row.teams.toSorted(byName),
        products: row.products.toSorted(byName)
      }))
    }
  }
)

// Semaphores.

interface Owner {
  readonly workspaceId: string
  readonly runId: string
  readonly run: number
  readonly retry: number | null
  readonly expiresAt: Date
}
const owner = async (request: FastifyRequest): Promise<Owner> => {
  const { slug } = request.params as { slug: string }
  const [found] = await query<Owner>(Statements.authenticateRun, [hashToken(bearer(request, "stk_")), slug])
  if (found === undefined) throw unauthorized
  return found
}
const owners = new WeakMap<FastifyRequest, Owner>()
const authenticateRun = async (request: FastifyRequest) => void owners.set(request, await owner(request))

/** One flush of the log serves all who ask before it begins. */
let flushing: Promise<unknown> = Promise.resolve()
let next: Promise<unknown> | undefined
const flushed = (): Promise<unknown> =>
  (next ??= flushing.then(() => {
    next = undefined
    return (flushing = query(Statements.flush, []))
  }))

const leases = `${workspace}/semaphores/:name/leases`
interface TakenJson {
  readonly outcome: string
  readonly since: string
  readonly expiresAt: string
}
app.post(
  leases,
  { onRequest: authenticateRun, schema: { body: Schemas.takeLease, response: withError({ 201: Schemas.lease }) } },
  async (request, reply) => {
    const { name } = request.params as { name: string }
    const { capacity, ttlMs } = request.body as { capacity: number; ttlMs?: number }
    const by = owners.get(request)!
    const [row] = await query<{ json: TakenJson }>(Statements.takeLease, [
      uuid(),
      by.workspaceId,
      name,
      capacity,
      by.runId,
      by.run,
      by.retry,
      by.expiresAt,
      ttlMs ?? 60_000
    ])
    const taken = row!.json
    if (taken.outcome !== "held") throw conflict(taken.outcome, "All leases of the semaphore are held or waited for.")
    await flushed()
    reply.code(201)
    const [since, expiresAt] = [taken.since, taken.expiresAt].map((at) => new Date(at).toISOString())
    return { ...taken, since, expiresAt }
  }
)

app.delete(`${leases}/:lease`, { onRequest: authenticateRun }, async (request, reply: FastifyReply) => {
  const { lease, name } = request.params as Record<"name" | "lease", string>
  const by = owners.get(request)!
  const [row] = await query<{ outcome: string }>(Statements.releaseLease, [
    lease,
    by.workspaceId,
    name,
    by.runId,
    by.retry
  ])
  if (row!.outcome === "unknown") throw notFound("lease")
  if (row!.outcome === "foreign") {
    throw new ApiError(403, "Forbidden", "Another run or retry holds the lease.", { reason: "not_holder" })
  }
  return reply.code(204).send()
})

// The vault.

const vaultKeys = new Map(
  VAULT_KEYS.split(",").map((key) => {
    const [id = "", bytes = ""] = key.split(":")
    return [id, Buffer.from(bytes, "base64")]
  })
)
const open = (key: Uint8Array, authenticated: string, sealed: Buffer): Buffer => {
  const decrypt = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12), { authTagLength: 16 })
  decrypt.setAAD(Buffer.from(authenticated))
  decrypt.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decrypt.update(sealed.subarray(12, -16)), decrypt.final()])
}
const dataKeys = new Map<string, { readonly id: string; readonly bytes: Buffer }>()
const dataKey = async (workspaceId: string) => {
  const known = dataKeys.get(workspaceId)
  if (known !== undefined) return known
  const [row] = await query<{ id: string; sealed: string }>(Statements.dataKey, [workspaceId])
  const [format, keyId = "", sealed = ""] = row!.sealed.split(":")
  const purpose = `${format}:${keyId}:data-key:${row!.id}:${workspaceId}`
  const key = { id: row!.id, bytes: open(vaultKeys.get(keyId)!, purpose, Buffer.from(sealed, "base64url")) }
  dataKeys.set(workspaceId, key)
  return key
}

interface SecretRow extends Named {
  readonly secretId: string
  readonly secretName: string
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly productId: string
  readonly productSlug: string
  readonly productName: string
  readonly slug: string
  readonly class: string
  readonly emoji: string | null
  readonly archivedAt: Date | null
  readonly version: number | null
  readonly deployed: boolean
  readonly at: Date | null
  readonly hasValue: boolean
  readonly readable: boolean
  readonly sealed: Buffer | null
  readonly actorKind: string | null
  readonly actorId: string | null
  readonly actorName: string | null
  readonly actorEmail: string | null
}

app.get(
  `${workspace}/products/:product/secrets/:name`,
  { onRequest: authenticate, schema: { response: withError({ 200: Schemas.secret }) } },
  async (request, reply) => {
    const { name, product } = request.params as Record<"product" | "name", string>
    const { personId, role, workspaceId } = member(request)
    const rows = await query<SecretRow>(Statements.secret, [
      workspaceId,
      product,
      name,
      role !== "viewer",
      uuid(),
      personId,
      request.id,
      new Date()
    ])
    const [first] = rows
    if (first === undefined) throw notFound("secret")
    const key = await dataKey(workspaceId)
    const environments = rows.toSorted(byName).map((row) => ({
      environment: {
        id: row.id,
        slug: row.slug,
        name: row.name,
        class: row.class,
        emoji: row.emoji,
        archived: row.archivedAt !== null
      },
      version: row.version ?? 0,
      hasValue: row.hasValue,
      deployed: row.deployed,
      updatedAt: row.at,
      updatedBy:
        row.actorKind === null
          ? null
          : row.actorName === null
            ? { kind: "removed" }
            : { kind: row.actorKind, id: row.actorId, name: row.actorName, email: row.actorEmail ?? undefined },
      value:
        row.sealed === null
          ? null
          : open(
              key.bytes,
              `vault:1:${key.id}:${workspaceId}:${row.secretId}:${row.id}:${row.version}`,
              row.sealed.subarray(17)
            ).toString("utf8"),
      valueHidden: !row.readable
    }))
    reply.header("cache-control", "no-store")
    return {
      id: first.secretId,
      name: first.secretName,
      product: { id: first.productId, slug: first.productSlug, name: first.productName },
      environments,
      createdAt: first.createdAt,
      updatedAt: first.updatedAt
    }
  }
)

await app.listen({ port: Number(PORT), host: "127.0.0.1" })
process.on("SIGTERM", () => {
  void app.close().then(() => process.exit(0))
})
