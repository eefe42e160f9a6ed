import type { AgentId } from "@delivery/domain/Ids"
import { Clock, Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"

/** How many sessions of the protocol an agent has in a process. The next one ends the one that was used least recently. */
export const maxMcpSessions = 32
/** After so long without a request a session ends, in milliseconds. */
const mcpSessionMillis = 86_400_000

interface McpSession {
  readonly agent: AgentId
  readonly usedAt: number
}

type End = (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/**
 * The sessions of MCP revisions before 2026-07-28 that live in this process. Effect's `McpServer` keeps each until its
 * client deletes it, and clients seldom do. Here their number is limited, and each belongs to one agent.
 */
export class McpSessions extends Context.Service<
  McpSessions,
  {
    /** Begins a session that the server has made for the agent, and ends those that are too old or too many. */
    readonly begin: (id: string, agent: AgentId) => Effect.Effect<void>
    /** Whether the session is the agent's. If so, it counts as used now. */
    readonly use: (id: string, agent: AgentId) => Effect.Effect<boolean>
    /** Forgets a session that the server has ended. */
    readonly forget: (id: string) => void
  }
>()("@delivery/server/agents/McpSessions") {
  /** Supplies the router, too, in which the route of DELETE is noted: only that route can end a session. */
  static readonly layer = Layer.effectContext(Effect.gen(make))
}

interface State {
  /** By id, the least recently used first. */
  readonly sessions: Map<string, McpSession>
  /** The server's route of DELETE. */
  end: End | undefined
}

function* make() {
  const router = yield* HttpRouter.HttpRouter
  const state: State = { sessions: new Map(), end: undefined }
  const add: HttpRouter.HttpRouter["add"] = (method, path, handler, options) => {
    if (method === "DELETE" && typeof handler === "function") state.end = handler as unknown as End
    return router.add(method, path, handler, options)
  }
  const sessions = McpSessions.of({
    begin: begin(state),
    use: use(state),
    forget: (id) => void state.sessions.delete(id)
  })
  return Context.make(McpSessions, sessions).pipe(
    Context.add(HttpRouter.HttpRouter, HttpRouter.HttpRouter.of({ ...router, add }))
  )
}

/** Ends a session, here and in the server. */
const drop = (state: State, id: string) =>
  Effect.suspend(() => {
    state.sessions.delete(id)
    const url = "http://localhost/agent/mcp"
    const request = new Request(url, { method: "DELETE", headers: { "mcp-session-id": id } })
    return state.end === undefined ? Effect.void : Effect.asVoid(state.end(HttpServerRequest.fromWeb(request)))
  })

const begin = (state: State) =>
  Effect.fnUntraced(function* (id: string, agent: AgentId) {
    const now = yield* Clock.currentTimeMillis
    state.sessions.set(id, { agent, usedAt: now })
    const own: Array<string> = []
    for (const [id, session] of state.sessions) {
      if (session.usedAt <= now - mcpSessionMillis) yield* drop(state, id)
      else if (session.agent === agent) own.push(id)
    }
    yield* Effect.forEach(own.slice(0, -maxMcpSessions), (id) => drop(state, id), { discard: true })
  })

const use = (state: State) =>
  Effect.fnUntraced(function* (id: string, agent: AgentId) {
    const session = state.sessions.get(id)
    if (session?.agent !== agent) return false
    const now = yield* Clock.currentTimeMillis
    if (session.usedAt <= now - mcpSessionMillis) {
      yield* drop(state, id)
      return false
    }
    state.sessions.delete(id)
    state.sessions.set(id, { agent, usedAt: now })
    return true
  })
