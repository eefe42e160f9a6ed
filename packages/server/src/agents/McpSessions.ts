import type { AgentId } from "@delivery/domain/Ids"
import { Clock, Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"

/** How many sessions of the protocol an agent has in a process; the next one ends that which was used least recently. */
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
 * client deletes it, and clients seldom do: here they are bounded, and an agent's own.
 */
export class McpSessions extends Context.Service<
  McpSessions,
  {
    /** Begins one that the server has made for the agent, and ends what is too old or too many. */
    readonly begin: (id: string, agent: AgentId) => Effect.Effect<void>
    /** Whether it is the agent's; used then. */
    readonly use: (id: string, agent: AgentId) => Effect.Effect<boolean>
    /** One that the server has ended. */
    readonly forget: (id: string) => void
  }
>()("@delivery/server/agents/McpSessions") {
  /** Also the router, which tells how a session is ended: only the route of DELETE can. */
  static readonly layer = Layer.effectContext(
    Effect.gen(function* () {
      const router = yield* HttpRouter.HttpRouter
      let end: End | undefined
      // The least recently used first.
      const sessions = new Map<string, McpSession>()

      const drop = (id: string) =>
        Effect.suspend(() => {
          sessions.delete(id)
          const url = "http://localhost/agent/mcp"
          const request = new Request(url, { method: "DELETE", headers: { "mcp-session-id": id } })
          return end === undefined ? Effect.void : Effect.asVoid(end(HttpServerRequest.fromWeb(request)))
        })

      const add: HttpRouter.HttpRouter["add"] = (method, path, handler, options) => {
        if (method === "DELETE" && typeof handler === "function") end = handler as unknown as End
        return router.add(method, path, handler, options)
      }

      return Context.make(McpSessions, {
        begin: Effect.fnUntraced(function* (id: string, agent: AgentId) {
          const now = yield* Clock.currentTimeMillis
          sessions.set(id, { agent, usedAt: now })
          const own: Array<string> = []
          for (const [id, session] of sessions) {
            if (session.usedAt <= now - mcpSessionMillis) yield* drop(id)
            else if (session.agent === agent) own.push(id)
          }
          yield* Effect.forEach(own.slice(0, -maxMcpSessions), drop, { discard: true })
        }),
        use: Effect.fnUntraced(function* (id: string, agent: AgentId) {
          const session = sessions.get(id)
          if (session?.agent !== agent) return false
          const now = yield* Clock.currentTimeMillis
          if (session.usedAt <= now - mcpSessionMillis) {
            yield* drop(id)
            return false
          }
          sessions.delete(id)
          sessions.set(id, { agent, usedAt: now })
          return true
        }),
        forget: (id) => void sessions.delete(id)
      }).pipe(Context.add(HttpRouter.HttpRouter, HttpRouter.HttpRouter.of({ ...router, add })))
    })
  )
}
