import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { Forbidden, Internal, InvalidInput, TooManyRequests, Unauthorized } from "../Errors.ts"
import type { AgentId, ApiKeyId, PersonId, WorkspaceId } from "../Ids.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Person } from "./Actor.ts"
import type { Role } from "./Role.ts"
import type { Scopes } from "../Scope.ts"

/** Whom the credential of a request belongs to. */
export type Principal =
  | { readonly kind: "user"; readonly id: PersonId; readonly name: string; readonly email: string }
  | { readonly kind: "agent"; readonly id: AgentId; readonly name: string; readonly person: Person }
  | { readonly kind: "apiKey"; readonly id: ApiKeyId; readonly name: string }

/** The workspace of the path, if the principal is an active member of it. */
export interface Membership {
  readonly id: WorkspaceId
  readonly slug: string
  readonly name: string
  readonly role: Role
}

/** The credential that a request was authenticated by (docs/contract.md, Tokens). Never the token itself. */
export interface Credential {
  readonly kind: "apiKey" | "accountApiKey" | "session" | "agent"
  readonly id: string
  /** The last 4 characters of the token. */
  readonly lastFour: string
  /** Of an API key that is limited to some scopes. Absent or null: all. */
  readonly scopes?: Scopes
  /** Of a session: until when its last proof is fresh (docs/contract.md, Sessions). */
  readonly sudoUntil?: Timestamp
}

/**
 * The authenticated caller of a request. `membership` is that of the workspace in the path. On paths without a workspace
 * it is undefined for people, and the key's own workspace for account API keys.
 */
export class Caller extends Context.Service<
  Caller,
  {
    readonly principal: Principal
    readonly membership: Membership | undefined
    readonly credential: Credential
  }
>()("@delivery/domain/identity/Caller") {}

/** Who calls an endpoint that needs no credential: undefined where the request shows none. */
export class OptionalCaller extends Context.Service<
  OptionalCaller,
  { readonly caller: Caller["Service"] | undefined }
>()("@delivery/domain/identity/OptionalCaller") {}

/** What every request passes through: rate limits, limits of the body, and the form of errors. */
export class Edge extends HttpApiMiddleware.Service<Edge>()("@delivery/domain/Edge", {
  error: [InvalidInput, TooManyRequests, Internal]
}) {}

/** The cookie of a session. The prefix makes browsers insist on `Secure`, on the path `/` and on this host alone. */
export const sessionCookie = "__Host-delivery_session"

/**
 * In a request with the cookie of a session: the id of the person that its page takes to be signed in. Another person's
 * session is refused, as one that has ended (docs/contract.md, Sessions).
 */
export const personHeader = "delivery-person"

export const sessionScheme = HttpApiSecurity.apiKey({ key: sessionCookie, in: "cookie" }).pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "The session of a person who signed in with a browser. A key in a header wins over it. With `Delivery-Person: {id}`, a page says who it takes to be signed in: if the session is another person's, the answer is 401."
  )
)

/**
 * Authentication by API key (docs/contract.md, Tokens): `Authorization: Bearer` or `X-API-Key`; both at once
 * must be equal. Without either, by the cookie of a session. Fails with `Unauthorized`. A key without the scope of the
 * endpoint is refused before its handler runs, and so is the cookie where another site sent it: `Forbidden`.
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Caller }>()(
  "@delivery/domain/identity/Authorization",
  {
    error: [Unauthorized, Forbidden, TooManyRequests],
    requiredForClient: true,
    security: {
      bearer: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(OpenApi.Description, "An API key: `Authorization: Bearer ctk_...`.")
      ),
      apiKey: HttpApiSecurity.apiKey({ key: "x-api-key" }).pipe(
        HttpApiSecurity.annotate(OpenApi.Description, "An API key: `X-API-Key: ctk_...`.")
      ),
      // The last: its error is the one that is answered where no scheme succeeds.
      session: sessionScheme
    }
  }
) {}

/**
 * Like `Authorization`, for endpoints that can also be called without a credential. One that is shown must be valid:
 * fails with `Unauthorized`.
 */
export class OptionalAuthorization extends HttpApiMiddleware.Service<
  OptionalAuthorization,
  { provides: OptionalCaller }
>()("@delivery/domain/identity/OptionalAuthorization", {
  error: [Unauthorized, Forbidden, TooManyRequests],
  requiredForClient: true
}) {}
