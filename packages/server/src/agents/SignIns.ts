import type { AgentScope } from "@delivery/domain/agents/Agent"
import {
  accessTokenSeconds,
  type AuthorizationServerMetadata,
  type ProtectedResourceMetadata,
  refreshAgainMillis,
  refreshTokenMillis,
  type Tokens
} from "@delivery/domain/agents/OAuth"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import type { AgentId, ComputerId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import type { Maker } from "../identity/ApiKeysRepo.ts"
import { within } from "../identity/Makers.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, isToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { type LockedSignIn, SignInsRepo, type TokenPair } from "./SignInsRepo.ts"

/** Why a request at the OAuth endpoints fails (RFC 6749, section 5.2). */
export class OAuthFailure extends Data.TaggedError("OAuthFailure")<{
  readonly status: 400 | 401
  readonly error:
    | "invalid_request"
    | "invalid_client"
    | "invalid_grant"
    | "invalid_scope"
    | "invalid_target"
    | "unsupported_grant_type"
    | "invalid_redirect_uri"
    | "invalid_client_metadata"
  readonly description: string
}> {}

/** The fields of a form, each at most once; undefined where it is missing. */
export type OAuthForm = (name: string) => string | undefined

/** The sign-ins of agents' clients: their tokens, refreshed and revoked (docs/contract.md, Agent sign-in). */
export class SignIns extends Context.Service<
  SignIns,
  {
    /** A new sign-in with its first tokens; ends the one that the computer had. Called in the transaction that makes it. */
    readonly make: (
      of: { readonly workspaceId: WorkspaceId; readonly agentId: AgentId; readonly computerId: ComputerId },
      role: Role,
      /** What whoever makes it may give at most. */
      granted: AgentScope,
      maker: Maker
    ) => Effect.Effect<Tokens & { readonly clientId: SignInId }>
    /** The token endpoint. */
    readonly refresh: (form: OAuthForm) => Effect.Effect<Tokens, OAuthFailure>
    /** The revocation endpoint. */
    readonly revoke: (form: OAuthForm) => Effect.Effect<void, OAuthFailure>
    readonly authorizationServer: AuthorizationServerMetadata
    readonly protectedResource: ProtectedResourceMetadata
  }
>()("@delivery/server/agents/SignIns") {
  static readonly layer = Layer.effect(SignIns, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: SignInsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* SignInsRepo,
    storage: yield* Storage,
    nextId: yield* NextId,
    newToken: yield* NewToken
  }
  return SignIns.of({
    make: makeSignIn(dependencies),
    refresh: refresh(dependencies),
    revoke: revoke(dependencies),
    authorizationServer: authorizationServer(dependencies),
    protectedResource: protectedResource(dependencies)
  })
}

const resourceOf = ({ baseUrl }: Dependencies): string => `${baseUrl}/agent/mcp`

const authorizationServer = ({ baseUrl }: Dependencies): AuthorizationServerMetadata => ({
  issuer: baseUrl,
  token_endpoint: `${baseUrl}/agent/oauth/token`,
  revocation_endpoint: `${baseUrl}/agent/oauth/revoke`,
  registration_endpoint: `${baseUrl}/agent/oauth/register`,
  grant_types_supported: ["refresh_token"],
  response_types_supported: [],
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint_auth_methods_supported: ["none"],
  scopes_supported: ["read", "write"],
  service_documentation: `${baseUrl}/docs`
})

const protectedResource = (dependencies: Dependencies): ProtectedResourceMetadata => ({
  resource: resourceOf(dependencies),
  authorization_servers: [dependencies.baseUrl],
  scopes_supported: ["read", "write"],
  bearer_methods_supported: ["header"],
  resource_name: "Workspace Delivery Service",
  resource_documentation: `${dependencies.baseUrl}/docs`
})

/** A new pair of tokens: the part that is stored, and the part that its client gets. */
const newPair = ({ newToken }: Dependencies) =>
  Effect.fnUntraced(function* (scope: AgentScope, endsAt: Timestamp | null) {
    const [accessToken, refreshToken] = [yield* newToken("atk_"), yield* newToken("rtk_")]
    const now = yield* Clock.currentTimeMillis
    const expiry = (millis: number) => within(timestamp(now + millis), endsAt)
    const accessExpiresAt = expiry(accessTokenSeconds * 1_000)
    const pair: TokenPair = {
      access: { hash: hashToken(accessToken), scope, expiresAt: accessExpiresAt },
      refresh: { hash: hashToken(refreshToken), expiresAt: expiry(refreshTokenMillis) }
    }
    const tokens: Tokens = {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: Math.ceil((Date.parse(accessExpiresAt) - now) / 1_000),
      refresh_token: refreshToken,
      scope
    }
    return { pair, tokens }
  })

const makeSignIn = (dependencies: Dependencies): SignIns["Service"]["make"] => {
  const { nextId, repo } = dependencies
  const newTokens = newPair(dependencies)
  return Effect.fnUntraced(function* (of, role, granted, maker) {
    const id = yield* nextId<SignInId>()
    const scope = scopeOf(role, granted)
    const { expiresAt } = maker
    const { pair, tokens } = yield* newTokens(scope, expiresAt)
    const createdAt = timestamp(yield* Clock.currentTimeMillis)
    yield* repo.insert(
      { ...of, id, scope, generation: 0, refreshedAt: null, createdAt, makerId: maker.id, expiresAt },
      pair
    )
    return { ...tokens, clientId: id }
  })
}

const refresh = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  const read = refreshRequest(resourceOf(dependencies))
  const newTokens = newPair(dependencies)
  return Effect.fn("SignIns.refresh")(function* (form: OAuthForm) {
    const { clientId, scope, token } = yield* read(form)
    // The end of a sign-in must be committed, so it is not a failure inside the transaction.
    const outcome = yield* storage.transaction(
      Effect.gen(function* () {
        const held = yield* repo.lockByRefreshToken(hashToken(token))
        const now = yield* Clock.currentTimeMillis
        if (held === undefined || held.signIn.id !== clientId) return unknownToken
        if (held.role === null) return inactiveMember
        const use = useOf(held, now)
        if (use === "expired") return unknownToken
        if (use === "again") {
          yield* repo.end(held.signIn.id)
          return reusedToken
        }
        if (scope !== undefined && hasScope(scope, "write") && held.signIn.scope === "read") {
          return failure("invalid_scope", "The sign-in was granted the scope read alone.")
        }
        const { expiresAt, generation, id, refreshedAt, workspaceId } = held.signIn
        const granted = scopeOf(held.role, held.signIn.scope)
        const asked = scope === undefined || hasScope(scope, "write") ? granted : "read"
        const { pair, tokens } = yield* newTokens(asked, expiresAt)
        yield* repo.putTokens(
          use === "first"
            ? { id, workspaceId, generation: generation + 1, refreshedAt: timestamp(now) }
            : { id, workspaceId, generation, refreshedAt },
          pair,
          timestamp(now)
        )
        return tokens
      })
    )
    return outcome instanceof OAuthFailure ? yield* outcome : outcome
  })
}

/** The request in the form of the token endpoint. Fails before anything is read from the database. */
const refreshRequest = (resource: string) =>
  Effect.fnUntraced(function* (form: OAuthForm) {
    const grantType = yield* required(form, "grant_type")
    if (grantType !== "refresh_token") {
      return yield* failure("unsupported_grant_type", "The only grant type is refresh_token.")
    }
    const clientId = yield* required(form, "client_id")
    const token = yield* required(form, "refresh_token")
    const scope = form("scope")
    if (scope !== undefined && !isScope(scope)) return yield* failure("invalid_scope", "Scopes are read and write.")
    const target = form("resource")
    if (target !== undefined && target !== resource) {
      return yield* failure("invalid_target", `The only resource is ${resource}.`)
    }
    if (!isToken("rtk_", token)) return yield* unknownToken
    return { clientId, token, scope }
  })

const revoke = ({ repo, storage }: Dependencies) =>
  Effect.fn("SignIns.revoke")(function* (form: OAuthForm) {
    const token = yield* required(form, "token")
    const clientId = form("client_id")
    const isOther = (id: SignInId) => clientId !== undefined && clientId !== id
    if (isToken("atk_", token)) {
      const signInId = yield* repo.ofAccessToken(hashToken(token))
      if (signInId === undefined) return
      if (isOther(signInId)) return yield* otherClient
      return yield* repo.endAccessToken(hashToken(token))
    }
    if (!isToken("rtk_", token)) return
    const ended = Effect.gen(function* () {
      const held = yield* repo.lockByRefreshToken(hashToken(token))
      if (held === undefined) return
      if (isOther(held.signIn.id)) return yield* otherClient
      yield* repo.end(held.signIn.id)
    })
    yield* storage.transaction(ended)
  })

/** The scope of a token now: what was granted, within its member's current role. */
export const scopeOf = (role: Role, granted: AgentScope): AgentScope => (isAtLeast(role, "member") ? granted : "read")

/**
 * Which use of a refresh token this is (docs/contract.md, Agent sign-in): the first; `repeated`, of the previous token,
 * whose successor was lost; or `again`, by somebody who should not have the token. A successor that is sent after it was
 * replaced was not lost: two have it.
 */
const useOf = (
  { signIn, tokenExpiresAt, tokenGeneration }: LockedSignIn,
  now: number
): "first" | "repeated" | "again" | "expired" => {
  if (tokenExpiresAt <= timestamp(now)) return "expired"
  if (tokenGeneration === signIn.generation) return "first"
  const isLast = tokenGeneration === signIn.generation - 1
  return isLast && signIn.refreshedAt! > timestamp(now - refreshAgainMillis) ? "repeated" : "again"
}

const hasScope = (scope: string, one: string): boolean => scope.split(" ").includes(one)
const isScope = (scope: string): boolean => scope.split(" ").every((one) => one === "read" || one === "write")

const failure = (error: OAuthFailure["error"], description: string, status: 400 | 401 = 400) =>
  new OAuthFailure({ status, error, description })

const required = (form: OAuthForm, name: string) => {
  const value = form(name)
  return value === undefined ? Effect.fail(failure("invalid_request", `${name} is missing.`)) : Effect.succeed(value)
}

const unknownToken = failure("invalid_grant", "The refresh token is not valid.")
const reusedToken = failure("invalid_grant", "The refresh token was used before, so the sign-in has ended.")
const otherClient = failure("invalid_grant", "The token belongs to another client.")
const inactiveMember = failure("invalid_client", "The member whom the agent works for is inactive.", 401)
