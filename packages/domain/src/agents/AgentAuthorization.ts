import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { Unauthorized } from "../Errors.ts"
import type { Caller, Membership } from "../identity/Authorization.ts"
import type { AgentRef, AgentScope, ComputerRef } from "./Agent.ts"

/** The agent whose access token a request carries. */
export class AgentCaller extends Context.Service<
  AgentCaller,
  {
    readonly agent: AgentRef
    readonly workspace: Membership
    /** Null for a sign-in made with the server URL. */
    readonly computer: ComputerRef | null
    /** By which the access token is looked up again, when a call has waited. */
    readonly tokenHash: string
    /** What the token may do now: `read` also while its member is a viewer. */
    readonly scope: AgentScope
  }
>()("@delivery/domain/agents/AgentCaller") {}

/**
 * Authentication by an agent's access token, `Authorization: Bearer atk_...` (docs/contract.md, Tokens), looked up on every
 * request: of a sign-in that lives, an agent that is not revoked, an active member. The caller is the agent, with its
 * member's present role. Fails with `Unauthorized`; an API key does, too.
 */
export class AgentAuthorization extends HttpApiMiddleware.Service<
  AgentAuthorization,
  { provides: Caller | AgentCaller }
>()("@delivery/domain/agents/AgentAuthorization", {
  error: Unauthorized,
  requiredForClient: true,
  security: {
    agentToken: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "The access token that registering an agent answers: `Authorization: Bearer atk_...`."
      )
    )
  }
}) {}
