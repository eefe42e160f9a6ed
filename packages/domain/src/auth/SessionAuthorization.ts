import { HttpApiMiddleware } from "effect/http-api"
import { Forbidden, TooManyRequests, Unauthorized } from "../Errors.ts"
import { type Caller, sessionScheme } from "../identity/Authorization.ts"

/**
 * Authentication by the cookie of a session alone: with a key in a header, it fails. An unsafe method must come from a page
 * of the service itself, else `Forbidden` (`cross_site`).
 */
export class SessionAuthorization extends HttpApiMiddleware.Service<SessionAuthorization, { provides: Caller }>()(
  "@delivery/domain/auth/SessionAuthorization",
  { error: [Unauthorized, Forbidden, TooManyRequests], security: { session: sessionScheme } }
) {}

/** Calls that sign in or out without a credential: from a page of the service itself, else `Forbidden` (`cross_site`). */
export class OwnPages extends HttpApiMiddleware.Service<OwnPages>()("@delivery/domain/auth/OwnPages", {
  error: Forbidden
}) {}

/** Calls of programs without a credential: a page of another site that makes one is `Forbidden` (`cross_site`). */
export class NoOtherSites extends HttpApiMiddleware.Service<NoOtherSites>()("@delivery/domain/auth/NoOtherSites", {
  error: Forbidden
}) {}
