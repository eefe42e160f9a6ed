import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { AgentSignIn, PersonFilter, RegisterAgent, RegisteredAgent, RevokedAgent } from "./Agent.ts"

const path = `${workspacePath}/agents` as const
const AgentIdRef = PathRef.annotate({
  description: "The id of the agent.",
  examples: ["0197a1b2-0000-7000-8000-0000000000e1"]
})

/** The coding agents of the members of a workspace (docs/contract.md, Agents). */
export class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: { person: Schema.optional(PersonFilter) },
      success: Schema.Struct({ agents: Schema.Array(RegisteredAgent) }).annotate({
        identifier: "RegisteredAgents",
        description: "Agents, by name of their member, then client."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List agents",
        "Lists the agents of all members, by name of the member, then client. Revoked agents and agents of inactive members are left out. For an account API key, `person=me` is an empty list. Returns 404 if the person of the filter is not a member. Any role may call this."
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
          "admin",
          "Register an agent",
          "Signs a coding-agent client in on a computer, to work for you. The first sign-in of a client creates the agent. Registering the same computer again ends its earlier sign-in. The tokens are shown once, in this response; the server stores only their hashes. The access token works for an hour; the refresh token gets the next pair at `/agent/oauth/token`. The sign-in of a viewer has the scope `read`, until the client is registered again. Any role may call this, but no account API key (403 `account_key`)."
        )
      ),
    HttpApiEndpoint.post("revoke", `${path}/:agent/revoke`, {
      params: { slug: WorkspaceRef, agent: AgentIdRef },
      success: RevokedAgent,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Revoke an agent",
        "Ends all sign-ins of the agent at once, declines the messages that wait in its inbox, and notifies their senders. Registering the client again creates a new agent. Returns 404 if the agent is revoked already. Only the member that the agent works for can revoke it (403 `other_member`)."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agents",
      description: "A coding agent is one client that works for one member, on one or more computers."
    })
  ) {}
