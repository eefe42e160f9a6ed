import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Forbidden } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { AgentMe, ReportedSession, ReportSession, SessionName } from "./Agent.ts"
import { AgentAuthorization, AnyScope } from "./AgentAuthorization.ts"
import { Schema } from "effect"

const session = { session: SessionName }

/** The agent behind an access token, and its sessions (docs/contract.md, Agent API). */
export class AgentApi extends HttpApiGroup.make("agent")
  .add(
    HttpApiEndpoint.get("me", "/agent/v1/me", { success: AgentMe }).annotateMerge(
      doc(
        "read",
        "Get the agent",
        "Returns the agent behind the access token, the computer on which it is signed in, and what the token allows now."
      )
    ),
    HttpApiEndpoint.put("reportSession", "/agent/v1/sessions/:session", {
      params: session,
      payload: [ReportSession, Schema.Null],
      success: ReportedSession,
      error: Forbidden
    })
      .annotate(AnyScope, true)
      .annotateMerge(
        doc(
          "write",
          "Report a session",
          "Creates the session on the computer of the access token, or says that it is still running. Call this at least once a minute: a session is live for a minute after its last report. Fields that the body leaves out stay as they were, and the whole body may be left out. A computer keeps its 100 latest sessions.",
          { isBodyOptional: true }
        )
      ),
    HttpApiEndpoint.delete("endSession", "/agent/v1/sessions/:session", {
      params: session,
      success: HttpApiSchema.NoContent.annotate({ description: "The session has ended." })
    })
      .annotate(AnyScope, true)
      .annotateMerge(
        doc(
          "write",
          "End a session",
          "Removes the session from the computer of the access token. Ending a session that does not exist is 204 too."
        )
      )
  )
  .middleware(AgentAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent",
      description:
        "Calls of a signed-in agent. They require an access token (`atk_...`). API keys are rejected here; access tokens are rejected everywhere else, except by `/agent/mcp`. Those of sign-ins that were made with the server URL are accepted by `/agent/mcp` alone."
    })
  ) {}
