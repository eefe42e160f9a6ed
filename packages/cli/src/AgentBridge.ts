import { Cause, Console, Effect, FiberSet, Redacted, Schedule, Semaphore, Stdio, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { AgentError } from "./AgentError.ts"
import { type AccessTokens, unreachable } from "./AgentSignIn.ts"
import { randomUUID } from "node:crypto"

/**
 * The plugin's side of `/agent/mcp`: an MCP server over standard input and output that passes every message on as it
 * is, with an access token that works; and a heartbeat, which tells the server what is worked on here.
 */

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: {
    readonly _meta?: Readonly<Record<string, unknown>>
    readonly name?: unknown
    readonly uri?: unknown
  }
}

/** A session that the server gave at `initialize` (protocols before 2026-07-28). */
interface Session {
  readonly id: string | undefined
  readonly version: string
  /** What to send again where the server has forgotten the session. */
  readonly initialize: string
}

/** Milliseconds between reports of the session, which is live for 60 seconds after each. */
const heartbeatMillis = 30_000

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Sends with an access token; once more with another one where the server refuses it. */
const makeSend = (http: HttpClient.HttpClient, tokens: AccessTokens) =>
  Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
    const sendWith = (token: string) =>
      http
        .execute(HttpClientRequest.bearerToken(request, Redacted.make(token)))
        .pipe(Effect.mapError(unreachable(tokens.url)))
    const token = yield* tokens.next()
    const response = yield* sendWith(token)
    return response.status === 401 ? yield* sendWith(yield* tokens.next(token)) : response
  })

/** The headers that a message needs: those of its session, or, from 2026-07-28 on, those that it says itself. */
const headersOf = (message: Message, session: Session | undefined): Record<string, string> => {
  const version = message.params?._meta?.["io.modelcontextprotocol/protocolVersion"]
  if (typeof version === "string") {
    const name = message.method === "resources/read" ? message.params?.uri : message.params?.name
    return {
      "mcp-protocol-version": version,
      ...(typeof message.method === "string" ? { "mcp-method": message.method } : {}),
      ...(typeof name === "string" && /^[!-~]+$/.test(name) ? { "mcp-name": name } : {})
    }
  }
  return {
    ...(session?.version === undefined ? {} : { "mcp-protocol-version": session.version }),
    ...(session?.id === undefined ? {} : { "mcp-session-id": session.id })
  }
}

/** The messages of an answer. What is no JSON-RPC, such as an error of HTTP, is none. */
const messagesOf = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<unknown, AgentError> => {
  const texts =
    response.headers["content-type"]?.startsWith("text/event-stream") === true
      ? response.stream.pipe(
          Stream.decodeText(),
          Stream.pipeThroughChannelOrFail(Sse.decode()),
          Stream.map(({ data }) => data)
        )
      : Stream.fromEffect(response.text)
  return texts.pipe(
    Stream.mapError(() => new AgentError({ message: "The server broke off its answer." })),
    Stream.map(parsed),
    Stream.filter((message) => Array.isArray(message) || (isRecord(message) && message["jsonrpc"] === "2.0"))
  )
}

/** Passes messages on until standard input ends, and what is still to be answered then. */
const proxy = Effect.fnUntraced(function* (
  tokens: AccessTokens,
  send: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, AgentError>
) {
  const stdio = yield* Stdio.Stdio
  const url = `${tokens.url}/agent/mcp`
  const [writing, beginning] = [yield* Semaphore.make(1), yield* Semaphore.make(1)]
  let session: Session | undefined

  const write = (message: unknown) =>
    writing.withPermits(1)(
      Stream.run(Stream.succeed(`${JSON.stringify(message)}\n`), stdio.stdout({ endOnDone: false }))
    )

  const post = (text: string, headers: Readonly<Record<string, string>>) =>
    send(
      HttpClientRequest.post(url).pipe(
        HttpClientRequest.setHeaders({ accept: "application/json, text/event-stream", ...headers }),
        HttpClientRequest.bodyText(text, "application/json")
      )
    )

  const initialize = (text: string) =>
    Effect.map(post(text, {}), (response) => ({
      response,
      messages: Stream.tap(messagesOf(response), (message) =>
        Effect.sync(() => {
          const result = isRecord(message) ? message["result"] : undefined
          if (isRecord(result) && typeof result["protocolVersion"] === "string") {
            session = {
              id: response.headers["mcp-session-id"],
              version: result["protocolVersion"],
              initialize: text
            }
          }
        })
      )
    }))

  /** The server does not know the session any more: it was started anew, or another server answers. */
  const beginAgain = (lost: Session) =>
    beginning.withPermits(1)(
      Effect.gen(function* () {
        if (session !== lost) return
        yield* Effect.flatMap(initialize(lost.initialize), ({ messages }) => Stream.runDrain(messages))
        yield* post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, headersOf({}, session))
      })
    )

  const answersTo = Effect.fnUntraced(function* (text: string, message: Message) {
    if (message.method === "initialize") return yield* initialize(text)
    const used = session
    const headers = headersOf(message, used)
    let response = yield* post(text, headers)
    if (response.status === 404 && used !== undefined && headers["mcp-session-id"] !== undefined) {
      yield* beginAgain(used)
      response = yield* post(text, headersOf(message, session))
    }
    return { response, messages: messagesOf(response) }
  })

  const pass = (text: string, message: Message) =>
    Effect.gen(function* () {
      const { messages, response } = yield* answersTo(text, message)
      let count = 0
      yield* Stream.runForEach(messages, (answer) => {
        count++
        // What is refused by the transport names no request.
        return write(isRecord(answer) && answer["id"] === null ? { ...answer, id: message.id ?? null } : answer)
      })
      if (count === 0 && response.status >= 300) {
        return yield* new AgentError({ message: `${url} answered ${response.status}.` })
      }
    }).pipe(
      Effect.catchCause((cause) => {
        const error = Cause.squash(cause)
        const said = error instanceof AgentError ? error.message : "The bridge failed."
        return Effect.andThen(
          Console.error(said),
          message.id === undefined || message.method === undefined
            ? Effect.void
            : write({ jsonrpc: "2.0", id: message.id, error: { code: internalError, message: said } })
        )
      })
    )

  const running = yield* FiberSet.make()
  yield* stdio.stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      if (line.trim() === "") return Effect.void
      const value = parsed(line)
      if (value === undefined) {
        return write({ jsonrpc: "2.0", id: null, error: { code: parseError, message: "This is no JSON." } })
      }
      const message: Message = isRecord(value) ? value : {}
      const passed = pass(line, message)
      // Requests are answered in any order; what begins the session, and notifications, come before what follows them.
      return message.id === undefined || message.method === "initialize"
        ? passed
        : Effect.asVoid(FiberSet.run(running, passed))
    })
  )
  yield* FiberSet.awaitEmpty(running)
  const ended = session
  if (ended?.id !== undefined) {
    yield* Effect.ignore(send(HttpClientRequest.delete(url).pipe(HttpClientRequest.setHeaders(headersOf({}, ended)))))
  }
})

/** JSON-RPC 2.0, section 5.1. */
const parseError = -32_700
const internalError = -32_603

/** `owner/name` of a remote's address; undefined for one of another form. */
export const repositoryOf = (remote: string): string | undefined =>
  /[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(remote.trim())?.[1]

/** The repository and branch of the working directory, as far as git knows. */
const workplace = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const git = (...args: ReadonlyArray<string>) =>
    spawner.string(ChildProcess.make("git", args)).pipe(
      Effect.map((output) => output.trim() || null),
      Effect.orElseSucceed(() => null)
    )
  const remote = yield* git("remote", "get-url", "origin")
  return {
    repository: (remote === null ? undefined : repositoryOf(remote)) ?? null,
    branch: yield* git("symbolic-ref", "--short", "--quiet", "HEAD")
  }
})

/** Reports the session of this process until the scope closes. What fails is tried again with the next heartbeat. */
const heartbeat = Effect.fnUntraced(function* (
  tokens: AccessTokens,
  send: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, AgentError>
) {
  const url = `${tokens.url}/agent/v1/sessions/${randomUUID()}`
  yield* Effect.addFinalizer(() => send(HttpClientRequest.delete(url)).pipe(Effect.timeout("2 seconds"), Effect.ignore))
  yield* Effect.flatMap(workplace, (session) =>
    send(HttpClientRequest.put(url).pipe(HttpClientRequest.bodyJsonUnsafe(session)))
  ).pipe(Effect.ignore, Effect.repeat(Schedule.spaced(heartbeatMillis)), Effect.forkScoped)
})

/** Serves a client that started this process, until it closes standard input. */
export const runBridge = Effect.fnUntraced(function* (tokens: AccessTokens) {
  const send = makeSend(yield* HttpClient.HttpClient, tokens)
  yield* heartbeat(tokens, send)
  yield* proxy(tokens, send)
}, Effect.scoped)
