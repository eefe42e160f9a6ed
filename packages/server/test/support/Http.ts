import type { AgentClient, AgentSignIn } from "@delivery/domain/agents/Agent"
import type { Tokens } from "@delivery/domain/agents/OAuth"
import type { Passkey, PasskeyCreationOptions, PasskeyRequestOptions } from "@delivery/domain/auth/Passkey"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import type { NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { AcceptedInvite, NewInvite } from "@delivery/domain/identity/Invite"
import type { Role } from "@delivery/domain/identity/Role"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import type { ApiKeyId, PasskeyId, PersonId } from "@delivery/domain/Ids"
import type { AttemptReport, TestReport } from "@delivery/domain/runs/TestEntry"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { StartedTestRun, StartTestRun, TestRun, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { layer } from "@effect/vitest"
import { Clock, type Duration, Effect, Layer, Redacted } from "effect"
import { Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http"
import { connect, type Socket } from "node:net"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { assert } from "vitest"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { standingClock } from "../../src/testing/StandingClock.ts"
import { SoftPasskey } from "./Authenticator.ts"
import { type Servers, servers } from "./Servers.ts"

/** The HTTP suites: requests as bytes over a real socket, the contract's form of every answer, and where tests begin. */

/** An answer, read to its end. `body` is the JSON that it must then be. */
export interface Answer<A = unknown> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  readonly body: A
}

export interface ErrorBody {
  readonly _tag: string
  readonly message: string
  readonly reason?: string
  readonly current?: Readonly<Record<string, number>>
  readonly issues?: ReadonlyArray<{
    readonly _tag?: string
    readonly path: ReadonlyArray<string>
    readonly message: string
  }>
}

interface Init {
  readonly json?: unknown
  /** Sent form-encoded. */
  readonly form?: Readonly<Record<string, string>> | undefined
  /** Sent as it is; a stream is sent in chunks, unless its length stands in the headers. */
  readonly body?: string | Buffer | Readable | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** A caller: a key or the token of a session, which is sent as a browser sends it, and the workspace of paths that do not begin with a slash. */
export interface Http {
  readonly baseUrl: string
  readonly key: string | undefined
  readonly workspace: string
  readonly as: (key: string | undefined) => Http
  readonly in: (workspace: string) => Http
  /** A request whose body is yet to be written. Nothing in its path is made well-formed. */
  readonly open: (method: string, path: string, headers?: Readonly<Record<string, string>>) => ClientRequest
  /** Asserts of every answer that it has the contract's form, and nothing of its status. */
  readonly send: <A = unknown>(method: string, path: string, init?: Init) => Promise<Answer<A>>
  /** 200. */
  readonly get: <A>(path: string) => Promise<A>
  /** 201 unless another status is expected. */
  readonly post: <A>(path: string, json?: unknown, status?: 200 | 201) => Promise<A>
  /** 200. */
  readonly patch: <A>(path: string, json: unknown) => Promise<A>
  /** 204. */
  readonly delete: (path: string) => Promise<void>
  /** Fails unless the request is refused as `refusal` says it, such as `409 slug_in_use`, `400 name` or `404 product`. */
  readonly refuse: (expected: string, method: string, path: string, json?: unknown) => Promise<void>
}

const isSession = (key: string) => key.startsWith("wtk_")

/** What browsers send with a request of a page of the service. */
const ownPage = { "sec-fetch-site": "same-origin" }

export const cookieOf = (token: string) => ({ cookie: `${sessionCookie}=${token}`, ...ownPage })

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

export const http = (baseUrl: string, key: string | undefined, workspace: string): Http => {
  const open: Http["open"] = (method, path, headers = {}) =>
    request(baseUrl, {
      agent,
      method,
      path: path.startsWith("/") ? path : `/v1/workspaces/${workspace}${path === "" ? "" : "/"}${path}`,
      headers: {
        ...(key === undefined ? {} : isSession(key) ? cookieOf(key) : { authorization: `Bearer ${key}` }),
        ...(path.startsWith("/auth/") ? ownPage : {}),
        ...headers
      }
    })
  const send: Http["send"] = async <A>(method: string, path: string, { body, form, headers, json }: Init = {}) => {
    const content =
      form !== undefined ? new URLSearchParams(form).toString() : json === undefined ? body : JSON.stringify(json)
    const outgoing = open(method, path, {
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
      ...(typeof content === "string" || Buffer.isBuffer(content)
        ? { "content-length": String(Buffer.byteLength(content)) }
        : {}),
      ...headers
    })
    const answer = answerOf<A>(outgoing)
    // A request that is refused early is not read to its end.
    if (content instanceof Readable) pipeline(content, outgoing).catch(() => {})
    else outgoing.end(content)
    const answered = await answer
    if (key !== undefined && answered.status >= 400) assert.notInclude(answered.text, key)
    return answered
  }
  const expecting = async <A>(status: number, method: string, path: string, json?: unknown): Promise<A> => {
    const answer = await send<A>(method, path, { json })
    assert.strictEqual(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`)
    return answer.body
  }
  return {
    baseUrl,
    key,
    workspace,
    as: (key) => http(baseUrl, key, workspace),
    in: (workspace) => http(baseUrl, key, workspace),
    open,
    send,
    get: (path) => expecting(200, "GET", path),
    post: (path, json, status = 201) => expecting(status, "POST", path, json),
    patch: (path, json) => expecting(200, "PATCH", path, json),
    delete: async (path) => {
      const answer = await send("DELETE", path)
      assert.strictEqual(`${answer.status} ${answer.text}`, "204 ")
    },
    refuse: async (expected, method, path, json) => {
      const answer = await send(method, path, { json })
      assert.strictEqual(refusal(answer), expected, `${method} ${path} ${JSON.stringify(json)?.slice(0, 300)}`)
    }
  }
}

/** The answer to a request, also one that comes before its body was sent. Of a stream of events, its first part. */
export const answerOf = <A = unknown>(outgoing: ClientRequest): Promise<Answer<A>> =>
  new Promise((resolve, reject) => {
    outgoing.once("response", (response: IncomingMessage) => {
      const chunks: Array<Buffer> = []
      const isStream = response.headers["content-type"] === "text/event-stream"
      const finish = () => {
        try {
          resolve(checked(outgoing.path, response.statusCode!, response.headers, Buffer.concat(chunks)))
        } catch (error) {
          reject(error as Error)
        }
        if (isStream || !outgoing.writableFinished) outgoing.destroy()
      }
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        if (isStream) finish()
      })
      response.on("error", reject)
      response.on("end", finish)
    })
    outgoing.on("error", reject)
  })

/** A connection on which nothing is sent yet. */
export const openSocket = ({ baseUrl }: Http): Socket => {
  const { hostname, port } = new URL(baseUrl)
  return connect({ host: hostname, port: Number(port), allowHalfOpen: true })
}

/** The answer to bytes, after which the client sends no more, and says so, and the server closes. */
export const sendBytes = (http: Http, bytes: string): Promise<Answer> => {
  const socket = openSocket(http)
  socket.end(bytes)
  return answerOn(socket, bytes)
}

/** The answer to bytes after which the server closes. */
export const sendRequest = (http: Http, bytes: string): Promise<Answer> => {
  const socket = openSocket(http)
  socket.write(bytes)
  return answerOn(socket, bytes)
}

/** The one answer on a connection to what was sent, which the server closes then. */
export const answerOn = async (socket: Socket, sent = ""): Promise<Answer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const [head = "", ...body] = Buffer.concat(chunks).toString().split("\r\n\r\n")
  const [first = "", ...headers] = head.split("\r\n")
  const named = headers
    .map((header) => /^([^:]+): (.*)$/.exec(header))
    .map((match) => [match?.[1]?.toLowerCase(), match?.[2]])
  return checked(
    sent.split(" ")[1] ?? "",
    Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]),
    Object.fromEntries(named),
    Buffer.from(body.join("\r\n\r\n"))
  )
}

const checked = <A>(path: string, status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer<A> => {
  const text = bytes.toString()
  const answer: Answer<A> = {
    status,
    headers,
    bytes,
    text,
    get body() {
      const isJson = text !== "" && headers["content-type"] !== "text/event-stream"
      return (isJson ? JSON.parse(text) : undefined) as A
    }
  }
  assertForm(path, answer)
  return answer
}

const tags: Readonly<Record<number, string>> = {
  400: "InvalidInput",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  408: "InvalidInput",
  409: "Conflict",
  416: "InvalidInput",
  417: "InvalidInput",
  429: "TooManyRequests",
  431: "InvalidInput",
  500: "Internal"
}

/** What holds for every answer (docs/contract.md, Conventions). */
const assertForm = (path: string, answer: Answer): void => {
  const { headers, status, text } = answer
  const detail = `${status} ${text.slice(0, 300)}`
  assert.match(String(headers["x-request-id"]), /^[A-Za-z0-9_-]{8,64}$/, detail)
  if (status < 400) return
  assert.strictEqual(headers["content-type"], "application/json", detail)
  // Another method is not found there, as everywhere.
  if (path.startsWith("/agent/oauth/") && status !== 404 && status !== 429) return assertOAuthForm(answer)
  if (path === "/agent/mcp" && status !== 401 && status !== 403 && status !== 429) return assertMcpForm(answer)
  const { _tag, current, issues, message, reason, ...rest } = answer.body as ErrorBody
  // Only bodies of the vault are read strictly.
  const isStrict = status === 400 && _tag === "HttpApiDecodeError"
  assert.strictEqual(_tag, isStrict ? "HttpApiDecodeError" : tags[status], detail)
  assert.isNotEmpty(message, detail)
  const extras: ReadonlyArray<string> =
    _tag === "Conflict"
      ? ["capacity", "holders", "retryAfterMs", "runs", "names", "missing"]
      : _tag === "Internal"
        ? ["requestId"]
        : []
  assert.deepStrictEqual(
    Object.keys(rest).filter((key) => !extras.includes(key)),
    [],
    detail
  )
  assert.strictEqual(current !== undefined, reason === "version_mismatch", detail)
  assert.strictEqual("names" in rest, reason === "not_environment_names", detail)
  assert.strictEqual("runs" in rest, reason === "run_in_progress", detail)
  assert.strictEqual("missing" in rest, reason === "evidence_missing", detail)
  assert.strictEqual(issues !== undefined, isStrict || _tag === "InvalidInput", detail)
  for (const issue of issues ?? []) {
    const kind = isStrict ? { _tag: String(issue._tag) } : {}
    assert.deepStrictEqual(issue, { ...kind, path: issue.path.map(String), message: String(issue.message) }, detail)
  }
  if (_tag === "Conflict" || _tag === "Forbidden") assert.isDefined(reason, detail)
  if (reason !== undefined) assert.match(reason, /^[a-z]+(_[a-z]+)*$/, detail)
  const challenge = headers["www-authenticate"]
  const isTooNarrow = path === "/agent/mcp" && reason === "insufficient_scope"
  if (status !== 401 && !isTooNarrow) assert.isUndefined(challenge, detail)
  else if (!path.startsWith("/agent/")) assert.strictEqual(challenge, "Bearer", detail)
  else {
    const metadata = "/.well-known/oauth-protected-resource/agent/mcp"
    const error = isTooNarrow ? 'error="insufficient_scope", ' : ""
    assert.match(
      String(challenge),
      new RegExp(`^Bearer ${error}resource_metadata="http://[^"]+${metadata}", scope="read write"$`),
      detail
    )
  }
}

/** What holds for every error of the OAuth endpoints (RFC 6749, section 5.2). */
const assertOAuthForm = ({ body, headers, status, text }: Answer): void => {
  const detail = `${status} ${text.slice(0, 300)}`
  assert.oneOf(status, [400, 401], detail)
  assert.deepStrictEqual(Object.keys(body as object), ["error", "error_description"], detail)
  const { error, error_description } = body as { error: string; error_description: string }
  assert.match(error, /^[a-z]+(_[a-z]+)*$/, detail)
  // RFC 6749 allows no quotation marks, no backslashes and nothing beyond ASCII.
  assert.match(error_description, /^[ !#-[\]-~]+$/, detail)
  assert.deepStrictEqual([headers["cache-control"], headers["pragma"]], ["no-store", "no-cache"], detail)
}

/** What holds for every error of MCP's transport and protocol (JSON-RPC 2.0, section 5). */
const assertMcpForm = ({ body, status, text }: Answer): void => {
  const detail = `${status} ${text.slice(0, 300)}`
  assert.oneOf(status, [400, 404, 405, 406, 415], detail)
  const { error, jsonrpc } = body as { jsonrpc: string; error: { code: number; message: string } }
  assert.deepStrictEqual([Object.keys(body as object), jsonrpc], [["jsonrpc", "id", "error"], "2.0"], detail)
  assert.isTrue(Number.isInteger(error.code), detail)
  assert.isNotEmpty(error.message, detail)
}

/**
 * An answer in short: its status; then the reason, the fields at fault, or what does not exist. `404 product:` is of a
 * field that refers to nothing.
 */
export const refusal = (answer: Answer): string => {
  const { status } = answer
  if (status < 400) return String(status)
  const { error, issues, message, reason } = answer.body as ErrorBody & { readonly error?: string }
  if (error !== undefined) return `${status} ${error}`
  const missing =
    /^The (?<of>.+) does not exist\.$|^There is no (?<of>[^"]+?) "|^(?<field>\w+:) (?:there is no|nothing visible) /.exec(
      message
    )?.groups
  const detail =
    reason ?? issues?.map((issue) => issue.path.join(".")).join(" ") ?? missing?.["of"] ?? missing?.["field"] ?? ""
  return `${status} ${detail}`.trim()
}

export type Test<Given extends ReadonlyArray<unknown>> = (
  name: string,
  body: (...given: Given) => Promise<void>
) => void
type Environment = Readonly<Record<string, string>>

/** Runs the tests on each of the servers. They share it, and it has the time of the clock on the wall. */
export const onServers = (
  servers: Servers,
  subject: string,
  tests: (test: Test<[owner: Http]>, server: string) => void,
  environment: Environment = {}
): void => {
  for (const [name, server] of servers) {
    layer(server(environment), { excludeTestServices: true })(`${subject} on ${name}`, (it) =>
      tests(
        (title, body) => it.effect(title, () => Effect.flatMap(owner, (owner) => Effect.promise(() => body(owner)))),
        name
      )
    )
  }
}

/** The same on each server that HTTP suites run against. */
export const onEachServer = (
  subject: string,
  tests: (test: Test<[owner: Http]>, server: string) => void,
  environment: Environment = {}
): void => onServers(servers, subject, tests, environment)

type ClockTests = (
  test: (
    name: string,
    body: (owner: Http, advance: (duration: Duration.Input) => void) => Promise<void>,
    /** How long it may last, where that is longer than others. */
    millis?: number
  ) => void
) => void

/** Runs the tests on each server. They share it, and for it no time passes unless they advance it. */
export const withClockOnEachServer = (subject: string, tests: ClockTests, environment: Environment = {}): void =>
  withClockOnServers(servers, subject, tests, environment)

/** The same on each of the servers. */
export const withClockOnServers = (
  servers: Servers,
  subject: string,
  tests: ClockTests,
  environment: Environment = {}
): void => {
  for (const [name, server] of servers) {
    const { advance, clock } = standingClock()
    layer(Layer.provideMerge(server(environment), Layer.succeed(Clock.Clock, clock)), { excludeTestServices: true })(
      `${subject} on ${name}`,
      (it) =>
        tests((title, body, millis) =>
          it.effect(title, () => Effect.flatMap(owner, (owner) => Effect.promise(() => body(owner, advance))), millis)
        )
    )
  }
}

/** The owner of the workspace that the server began with. */
export const owner = Effect.map(DeliveryServer, ({ apiKey, baseUrl, signInLink, workspace }) => {
  signInLinks.set(baseUrl, signInLink)
  return http(baseUrl, Redacted.value(apiKey), workspace)
})

/** What prints sign-in links, by the address of the server. */
const signInLinks = new Map<string, DeliveryServer["Service"]["signInLink"]>()

/** The token of a new sign-in link of a person, by email or id. */
export const newLink = async ({ baseUrl }: Http, who: string): Promise<string> =>
  (await Effect.runPromise(signInLinks.get(baseUrl)!(who)))!.split("#")[1]!

/** The token in the cookie that an answer sets. */
export const sessionIn = ({ headers }: Answer): string =>
  new RegExp(`^${sessionCookie}=(wtk_[0-9A-Za-z]{42});`).exec(headers["set-cookie"]![0]!)![1]!

/** A new session of the person, by email or id, in the workspace. */
export const signIn = async (workspace: Http, who: string): Promise<Http> => {
  const token = await newLink(workspace, who)
  const answer = await workspace.as(undefined).send("POST", "/auth/v1/links/consume", { json: { token } })
  assert.strictEqual(answer.status, 200, answer.text)
  return workspace.as(sessionIn(answer))
}

/** A passkey that the person of the session has, and its id. */
export const newPasskey = async (
  session: Http,
  options: ConstructorParameters<typeof SoftPasskey>[1] & { readonly origin?: string } = {}
): Promise<SoftPasskey & { readonly passkeyId: PasskeyId }> => {
  const made = new SoftPasskey(options.origin ?? session.baseUrl, options)
  const asked = await session.post<PasskeyCreationOptions>("/auth/v1/passkeys/options", undefined, 200)
  const { id } = await session.post<Passkey>("/auth/v1/passkeys/verify", { response: made.create(asked) })
  return Object.assign(made, { passkeyId: id })
}

/** What a new sign-in with a passkey is to answer. */
export const passkeyRequest = (by: Http): Promise<PasskeyRequestOptions> =>
  by.post("/auth/v1/passkeys/sign-in/options", undefined, 200)

/** Asks until the answer is what it is to become. It has no time limit: that of the test ends it. */
export const eventually = async <A>(ask: () => Promise<A>, isDone: (answer: A) => boolean): Promise<A> => {
  for (;;) {
    const answer = await ask()
    if (isDone(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export const assertId = (id: string): void =>
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)

export const assertTimestamp = (...timestamps: ReadonlyArray<string | null>): void => {
  for (const timestamp of timestamps) {
    assert.match(String(timestamp), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  }
}

/** That the numbers of the workspace's runs, read page by page, have no gap and no repeat. Answers them, newest first. */
export const assertRunNumbers = async (caller: Http): Promise<Array<number>> => {
  const numbers: Array<number> = []
  for (let cursor: number | null = null; ;) {
    const page: { runs: ReadonlyArray<{ number: number }>; nextCursor: number | null } = await caller.get(
      cursor === null ? "test-runs" : `test-runs?cursor=${cursor}`
    )
    numbers.push(...page.runs.map((run) => run.number))
    cursor = page.nextCursor
    if (cursor === null) break
  }
  assert.deepStrictEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, index) => numbers.length - index),
    "numbers have no gap and no repeat"
  )
  return numbers
}

let count = 0
/** A slug or the local part of an email address that no other test has. */
export const unique = (prefix: string): string => `${prefix}-${++count}`

/** A team's key that no other test has. */
export const teamKey = (): string => `T${++count}`

/** The owner in a workspace of one test. */
export const newWorkspace = async (owner: Http): Promise<Http> => {
  const { slug } = await owner.post<Workspace>("/v1/workspaces", { slug: unique("team"), name: "Team" })
  return owner.in(slug)
}

/** Who accepts an invite to the workspace: a new person. */
export const accept = async (workspace: Http, role: Role, email: string, name = "Sam"): Promise<AcceptedInvite> => {
  const { token } = await workspace.post<NewInvite>("invites", { email, role, deliver: "link" })
  return workspace.as(undefined).post<AcceptedInvite>("/v1/invites/accept", { token, name })
}

/** A new person in the workspace. */
export const join = async (workspace: Http, role: Role): Promise<Http & { readonly id: PersonId }> => {
  const { apiKey, person } = await accept(workspace, role, `${unique("person")}@example.com`)
  return { ...workspace.as(apiKey!.secret), id: person.id }
}

/** A new account API key of the workspace. */
export const accountKey = async (
  workspace: Http,
  role: "viewer" | "member" | "admin",
  name = "ci"
): Promise<Http & { readonly id: ApiKeyId }> => {
  const { id, secret } = await workspace.post<NewAccountApiKey>("account-api-keys", { name, role })
  return { ...workspace.as(secret), id }
}

/** A sign-in of a client for the caller. */
export const registerAgent = (
  http: Http,
  fields: { readonly client?: AgentClient; readonly computer?: string } = {}
): Promise<AgentSignIn> => http.post("agents/register", { client: "claude", computer: "laptop", ...fields })

/** A refresh of a sign-in's tokens, whatever comes of it. */
export const refresh = (
  http: Http,
  { clientId, refresh_token }: Pick<AgentSignIn, "clientId" | "refresh_token">,
  fields: Readonly<Record<string, string>> = {}
): Promise<Answer<Tokens>> =>
  http.as(undefined).send("POST", "/agent/oauth/token", {
    form: { grant_type: "refresh_token", client_id: clientId, refresh_token, ...fields }
  })

interface DeploymentFields {
  readonly fixtureUrl?: string
  readonly version?: string
}

/** The owner in a workspace of one test, with the website `shop` deployed in `staging`. */
export const newDeployment = async (owner: Http, fields: DeploymentFields = {}): Promise<Http> => {
  const workspace = await newWorkspace(owner)
  await deploy(workspace, fields)
  return workspace
}

/** Makes the website `shop`, deployed in `staging`. */
export const deploy = async (workspace: Http, fields: DeploymentFields = {}): Promise<void> => {
  await workspace.post("products", { slug: "shop", name: "Shop", type: "website" })
  await workspace.post("environments", { slug: "staging", name: "Staging", class: "non-production" })
  await workspace.post("deployments", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://staging.shop.example",
    ...fields
  })
}

export const runOf = (fields: Partial<StartTestRun> = {}): StartTestRun => ({
  product: "shop",
  environment: "staging",
  baseUrl: "https://staging.shop.example",
  git: { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add the basket" },
  machine: { hostname: "ci-7", platform: "linux" },
  selection: { coverage: null, folders: [], caseIds: [] },
  ...fields
})

export const startRun = (http: Http, fields: Partial<StartTestRun> = {}): Promise<StartedTestRun> =>
  http.post("test-runs", runOf(fields))

export const attempt = (status: "passed" | "failed", fields: Partial<AttemptReport> = {}): AttemptReport =>
  ({ status, durationMs: 12.5, startedAt: "2026-11-21T09:30:10.000Z", ...fields }) as AttemptReport

/** A test that passed, unless it says otherwise. */
export const report = (caseId: string, fields: Partial<TestReport> = {}): TestReport => ({
  caseId,
  title: caseId,
  file: `${caseId}.spec.ts`,
  coverage: "acceptance",
  testKind: "behavior",
  attempt: attempt("passed"),
  ...fields
})

export const finishOf = (fields: Partial<FinishTestRun> = {}): FinishTestRun => ({
  interrupted: false,
  durationMs: 1000,
  tests: [report("a")],
  ...fields
})

export const finishRun = (http: Http, run: number, fields: Partial<FinishTestRun> = {}): Promise<TestRunSummary> =>
  http.post(`test-runs/${run}/finish`, finishOf(fields), 200)

export const getRun = (http: Http, run: number): Promise<TestRun> => http.get(`test-runs/${run}`)
