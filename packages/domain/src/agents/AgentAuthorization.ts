import { Context } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { TooManyRequests, Unauthorized } from "../Errors.ts"
import type { Caller, Membership } from "../identity/Authorization.ts"
import type { AgentRef, AgentScope, ComputerRef } from "./Agent.ts"

/** The agent whose access token the request carries. */
export class AgentCaller extends Context.Service<
  AgentCaller,
  {
    readonly agent: AgentRef
    readonly workspace: Membership
    /** Null for a sign-in that was made with the server URL. */
    readonly computer: ComputerRef | null
    /** The hash by which the access token is looked up again when a call has waited. */
    readonly tokenHash: string
    /** What the token allows now: `read` also while its member is a viewer. */
    readonly scope: AgentScope
  }
>()("@delivery/domain/agents/AgentCaller") {}

/**
 * Authentication by an agent's access token, `Authorization: Bearer atk_...` (docs/contract.md, Tokens), looked up on every
 * request: the sign-in must live, the agent must not be revoked, and its member must be active. The caller is the agent,
 * with the present role of its member. Fails with `Unauthorized`, also for an API key.
 */
export class AgentAuthorization extends HttpApiMiddleware.Service<
  AgentAuthorization,
  { provides: Caller | AgentCaller }
>()("@delivery/domain/agents/AgentAuthorization", {
  error: [Unauthorized, TooManyRequests],
  requiredForClient: true,
  security: {
    agentToken: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "The access token of an agent, from the response to registering it: `Authorization: Bearer atk_...`."
      )
    )
  }
}) {}

/**
 * Annotates an endpoint or tool that changes something, but that an access token of any scope may call, such as the
 * agent's own inbox (docs/contract.md, Agent API).
 */
export const AnyScope = Context.Reference<boolean>("@delivery/domain/agents/AnyScope", { defaultValue: () => false })

/** Whether an endpoint needs the scope `write`: all do that are neither a GET nor annotated with `AnyScope`. */
export const needsWriteScope = ({
  annotations,
  method
}: Pick<HttpApiEndpoint.Top, "annotations" | "method">): boolean =>
  method !== "GET" && !Context.get(annotations, AnyScope)
