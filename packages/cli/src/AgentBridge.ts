import { Effect, Redacted, Schedule } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { randomUUID } from "node:crypto"
import type { AccessTokens } from "./AgentSignIn.ts"
import { callFailure } from "./Failure.ts"
import { runProxy, type Send } from "./McpProxy.ts"

/**
 * The computer's side of `/agent/mcp`: an MCP server over standard input and output that passes every message on as it is,
 * with a valid access token; and a heartbeat, which reports what is worked on here.
 */

/** Milliseconds between reports of the session, which is live for 60 seconds after each. */
const heartbeatMillis = 30_000

/** Sends with an access token, and once more with another one where the server refuses it. */
const makeSend = (http: HttpClient.HttpClient, tokens: AccessTokens): Send =>
  Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
    const sendWith = (token: string) =>
      http
        .execute(HttpClientRequest.bearerToken(request, Redacted.make(token)))
        .pipe(Effect.mapError(callFailure(tokens)))
    const token = yield* tokens.next()
    const response = yield* sendWith(token)
    return response.status === 401 ? yield* sendWith(yield* tokens.next(token)) : response
  })

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
const heartbeat = Effect.fnUntraced(function* (tokens: AccessTokens, send: Send) {
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
  yield* runProxy(`${tokens.url}/agent/mcp`, send)
}, Effect.scoped)
