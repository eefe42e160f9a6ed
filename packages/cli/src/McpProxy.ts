import { Cause, Console, Effect, FiberSet, type PlatformError, Semaphore, Stdio, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { Failure } from "./Failure.ts"

/** Forwards MCP messages between standard input and output and a server over HTTP. */

/** Sends a request with a valid access token. */
export type Send = (
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<HttpClientResponse.HttpClientResponse, Failure>

/** The parts of a message that the proxy reads. */
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
  /** Its `initialize` message, which is sent again if the server has lost the session. */
  readonly initialize: string
}

interface Proxy {
  readonly url: string
  readonly send: Send
  /** Writes a message to standard output, one at a time. */
  readonly write: (message: unknown) => Effect.Effect<void, PlatformError.PlatformError>
  /** Locked while a lost session is restarted. */
  readonly beginning: Semaphore.Semaphore
  session: Session | undefined
}

/** Codes of errors (JSON-RPC 2.0, section 5.1). */
const parseError = -32_700
const internalError = -32_603

/** Forwards messages until standard input ends and all requests are answered; then ends the session. */
export const runProxy = Effect.fnUntraced(function* (url: string, send: Send) {
  const stdio = yield* Stdio.Stdio
  const writing = yield* Semaphore.make(1)
  const proxy: Proxy = {
    url,
    send,
    write: (message) =>
      writing.withPermits(1)(
        Stream.run(Stream.succeed(`${JSON.stringify(message)}\n`), stdio.stdout({ endOnDone: false }))
      ),
    beginning: yield* Semaphore.make(1),
    session: undefined
  }
  const running = yield* FiberSet.make()
  yield* stdio.stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      const message = messageOf(line)
      if (message === undefined) return Effect.void
      if (message === "malformed") {
        return proxy.write({ jsonrpc: "2.0", id: null, error: { code: parseError, message: "This is not JSON." } })
      }
      const passed = pass(proxy, line, message)
      // Requests are answered in any order. What begins the session, and notifications, come before what follows them.
      return message.id === undefined || message.method === "initialize"
        ? passed
        : Effect.asVoid(FiberSet.run(running, passed))
    })
  )
  yield* FiberSet.awaitEmpty(running)
  yield* endSession(proxy)
})

/** The message of a line; undefined for an empty line. */
const messageOf = (line: string): Message | "malformed" | undefined => {
  if (line.trim() === "") return undefined
  const value = parse(line)
  if (value === undefined) return "malformed"
  return isRecord(value) ? value : {}
}

/** Forwards a message and writes the answers. A failure is answered as a JSON-RPC error and logged. */
const pass = (proxy: Proxy, text: string, message: Message) =>
  Effect.gen(function* () {
    const { messages, response } = yield* exchange(proxy, text, message)
    let count = 0
    yield* Stream.runForEach(messages, (answer) => {
      count++
      // An error of the transport names no request.
      return proxy.write(isRecord(answer) && answer["id"] === null ? { ...answer, id: message.id ?? null } : answer)
    })
    if (count === 0 && response.status >= 300) {
      return yield* new Failure({ message: `${proxy.url} answered ${response.status}.` })
    }
  }).pipe(
    Effect.catchCause((cause) => {
      const error = Cause.squash(cause)
      const text = error instanceof Failure ? error.message : "The bridge failed."
      return Effect.andThen(
        Console.error(text),
        message.id === undefined || message.method === undefined
          ? Effect.void
          : proxy.write({ jsonrpc: "2.0", id: message.id, error: { code: internalError, message: text } })
      )
    })
  )

const exchange = Effect.fnUntraced(function* (proxy: Proxy, text: string, message: Message) {
  if (message.method === "initialize") return yield* initialize(proxy, text)
  const used = proxy.session
  const headers = headersOf(message, used)
  let response = yield* post(proxy, text, headers)
  if (response.status === 404 && used !== undefined && headers["mcp-session-id"] !== undefined) {
    yield* restartSession(proxy, used)
    response = yield* post(proxy, text, headersOf(message, proxy.session))
  }
  return { response, messages: messagesOf(response) }
})

const post = ({ send, url }: Proxy, text: string, headers: Readonly<Record<string, string>>) =>
  send(
    HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeaders({ accept: "application/json, text/event-stream", ...headers }),
      HttpClientRequest.bodyText(text, "application/json")
    )
  )

/** Sends `initialize`. The session begins as its answer is read. */
const initialize = (proxy: Proxy, text: string) =>
  Effect.map(post(proxy, text, {}), (response) => ({
    response,
    messages: Stream.tap(messagesOf(response), (message) =>
      Effect.sync(() => {
        const result = isRecord(message) ? message["result"] : undefined
        if (isRecord(result) && typeof result["protocolVersion"] === "string") {
          proxy.session = {
            id: response.headers["mcp-session-id"],
            version: result["protocolVersion"],
            initialize: text
          }
        }
      })
    )
  }))

/** Starts a new session where the server does not know the old one: it was restarted, or another server answers. */
const restartSession = (proxy: Proxy, lost: Session) =>
  proxy.beginning.withPermits(1)(
    Effect.gen(function* () {
      if (proxy.session !== lost) return
      yield* Effect.flatMap(initialize(proxy, lost.initialize), ({ messages }) => Stream.runDrain(messages))
      yield* post(proxy, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headersOf({}, proxy.session))
    })
  )

const endSession = ({ send, session, url }: Proxy) =>
  session?.id === undefined
    ? Effect.void
    : Effect.ignore(send(HttpClientRequest.delete(url).pipe(HttpClientRequest.setHeaders(headersOf({}, session)))))

/** The headers that a message needs: those of its session or, from 2026-07-28 on, those that the message itself says. */
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

/** The messages of JSON-RPC in an answer. Anything else, such as an error of HTTP, is left out. */
const messagesOf = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<unknown, Failure> => {
  const texts =
    response.headers["content-type"]?.startsWith("text/event-stream") === true
      ? response.stream.pipe(
          Stream.decodeText(),
          Stream.pipeThroughChannelOrFail(Sse.decode()),
          Stream.map(({ data }) => data)
        )
      : Stream.fromEffect(response.text)
  return texts.pipe(
    Stream.mapError(() => new Failure({ message: "The answer of the server ended early." })),
    Stream.map(parse),
    Stream.filter((message) => Array.isArray(message) || (isRecord(message) && message["jsonrpc"] === "2.0"))
  )
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
