import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { AgentSignIn, PersonFilter, RegisterAgent, RegisteredAgent, RevokedAgent } from "./Agent.ts"

const path = `${workspacePath}/agents` as const
const AgentIdRef = PathRef.annotate({
  description: "The agent's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000e1"]
})

/** Coding agents of a workspace's members (docs/contract.md, Agents). */
export class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: { person: Schema.optional(PersonFilter) },
      success: Schema.Struct({ agents: Schema.Array(RegisteredAgent) }).annotate({
        identifier: "RegisteredAgents",
        description: "Registered agents, by member name, then client."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List agents",
        "Every member's, by member name, then client. Revoked agents and those of inactive members are left out. `person=me` of an account API key is empty. A person who is no member: 404. Every role."
      )
    ),
    HttpApiEndpoint.post("register", `${path}/register`, {
      params: { slug: WorkspaceRef },
      payload: RegisterAgent,
      success: AgentSignIn.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "Register an agent",
          "Signs a coding-agent client in on a computer, for the caller. The first sign-in of a client makes the agent; the same computer again ends its earlier sign-in. The tokens are shown this once; only their hashes are kept. The access token lives an hour; the refresh token gets the next pair at `/agent/oauth/token`. A viewer's tokens have the scope `read`, and keep it until the next registration. Every role; account API keys: 403."
        )
      ),
    HttpApiEndpoint.post("revoke", `${path}/:agent/revoke`, {
      params: { slug: WorkspaceRef, agent: AgentIdRef },
      success: RevokedAgent,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Revoke an agent",
        "Ends every sign-in of the agent at once, and declines the messages that wait in its inbox; their senders are notified. Only the member it works for (403). Already revoked: 404. The member's next registration of the client makes a new agent."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agents",
      description: "Coding agents: one client that works for one member, on one or more computers."
    })
  ) {}
