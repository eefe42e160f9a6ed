import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Forbidden } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { AgentMe, ReportedSession, ReportSession, SessionName } from "./Agent.ts"
import { AgentAuthorization } from "./AgentAuthorization.ts"
import { Schema } from "effect"

const session = { session: SessionName }

/** What a signed-in agent calls, with its access token (docs/contract.md, Agent API). */
export class AgentApi extends HttpApiGroup.make("agent")
  .add(
    HttpApiEndpoint.get("me", "/agent/v1/me", { success: AgentMe }).annotateMerge(
      doc("Get the agent", "Whom the access token stands for, where it is signed in, and what it may do now.")
    ),
    HttpApiEndpoint.put("reportSession", "/agent/v1/sessions/:session", {
      params: session,
      payload: [ReportSession, Schema.Null],
      success: ReportedSession,
      error: Forbidden
    }).annotateMerge(
      doc(
        "Report a session",
        "A heartbeat: makes the session of the token's computer, or says that it goes on. Live for a minute after the last one. What the body leaves out stays as it was; the body may be left out. A computer keeps its 100 most recent sessions. A sign-in made with the server URL has no computer: 403 `no_computer`.",
        { isBodyOptional: true }
      )
    ),
    HttpApiEndpoint.delete("endSession", "/agent/v1/sessions/:session", {
      params: session,
      success: HttpApiSchema.NoContent.annotate({ description: "The session is no more, now or before." })
    }).annotateMerge(doc("End a session", "Takes the session off the token's computer. One that is not there: 204."))
  )
  .middleware(AgentAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent",
      description:
        "What a signed-in agent calls. These calls take the access token of a sign-in (`atk_...`) and no API key; access tokens are no API keys elsewhere."
    })
  ) {}
