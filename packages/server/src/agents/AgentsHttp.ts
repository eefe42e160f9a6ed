import { DeliveryApi } from "@delivery/domain/Api"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Agents } from "./Agents.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { OAuthHttp } from "./OAuthHttp.ts"

/** Handlers of the agents room. */
export const AgentsHttp = Layer.mergeAll(
  OAuthHttp,

  HttpApiBuilder.group(DeliveryApi, "agents", (handlers) =>
    Effect.map(Agents, (agents) =>
      handlers
        .handle("list", ({ query }) => Effect.map(agents.list(query.person), (agents) => ({ agents })))
        .handle("register", ({ payload }) => agents.register(payload))
        .handle("revoke", ({ params }) => agents.revoke(params.agent))
    )
  ),

  HttpApiBuilder.group(DeliveryApi, "agent", (handlers) =>
    Effect.map(AgentSessions, (sessions) =>
      handlers
        .handle("me", () => sessions.me)
        .handle("reportSession", ({ params, payload }) => sessions.report(params.session, payload ?? {}))
        .handle("endSession", ({ params }) => sessions.end(params.session))
    )
  )
)
