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
import type { ActorRef } from "../access/Access.ts"
import { asServer } from "../audit/ActsInstead.ts"
import { Audit } from "../audit/Audit.ts"
import { Settings } from "../Config.ts"
import type { Maker } from "../identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { within } from "../identity/Makers.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, isToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { recordEnds, signInSubject } from "./SignInEnds.ts"
import { clientIdOf, type LockedSignIn, type SignInRow, SignInsRepo, type TokenPair } from "./SignInsRepo.ts"

/** Why a request at the OAuth endpoints fails (RFC 6749, sections 4.1.2.1 and 5.2). */
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
    | "unsupported_response_type"
    | "temporarily_unavailable"
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
      of: {
        readonly workspaceId: WorkspaceId
        readonly agentId: AgentId
        /** Null, and then a client, of a sign-in by the server's URL. */
        readonly computerId: ComputerId | null
        readonly clientId: string | null
      },
      role: Role,
      /** What whoever makes it may give at most. */
      granted: AgentScope,
      maker: Maker,
      by: ActorRef
    ) => Effect.Effect<{ readonly id: SignInId; readonly tokens: Tokens }>
    /** The token endpoint, for a refresh token. */
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
  readonly graceMillis: number
  readonly audit: Audit["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly repo: SignInsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const { baseUrl, oauth } = yield* Settings
  const dependencies: Dependencies = {
    baseUrl,
    graceMillis: oauth.refreshGraceMillis,
    audit: yield* Audit,
    blocks: yield* BlocksRepo,
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

/** What access tokens are for. */
export const resourceOf = ({ baseUrl }: Pick<Dependencies, "baseUrl">): string => `${baseUrl}/agent/mcp`

const authorizationServer = ({ baseUrl }: Dependencies): AuthorizationServerMetadata => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/agent/oauth/authorize`,
  token_endpoint: `${baseUrl}/agent/oauth/token`,
  revocation_endpoint: `${baseUrl}/agent/oauth/revoke`,
  registration_endpoint: `${baseUrl}/agent/oauth/register`,
  grant_types_supported: ["authorization_code", "refresh_token"],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
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
  const { audit, blocks, nextId, repo } = dependencies
  const newTokens = newPair(dependencies)
  const record = recordEnds(audit)
  return Effect.fnUntraced(function* (of, role, granted, maker, by) {
    const id = yield* nextId<SignInId>()
    const scope = scopeOf(role, granted)
    const { expiresAt } = maker
    const { pair, tokens } = yield* newTokens(scope, expiresAt)
    const createdAt = timestamp(yield* Clock.currentTimeMillis)
    const ended = yield* repo.insert(
      { ...of, id, scope, generation: 0, refreshedAt: null, createdAt, makerId: maker.id, expiresAt },
      pair
    )
    yield* of.computerId === null ? asServer(record(ended, "expired")) : record(ended, "replaced", by)
    yield* blocks.inherit(maker.id, id)
    return { id, tokens }
  })
}

const refresh = (dependencies: Dependencies) => {
  const { audit, graceMillis, repo, storage } = dependencies
  const record = recordEnds(audit)
  const read = refreshRequest(resourceOf(dependencies))
  const newTokens = newPair(dependencies)
  return Effect.fn("SignIns.refresh")(function* (form: OAuthForm) {
    const { clientId, scope, token } = yield* read(form)
    // The end of a sign-in must be committed, so it is not a failure inside the transaction.
    const outcome = yield* storage.transaction(
      Effect.gen(function* () {
        const held = yield* repo.lockByRefreshToken(hashToken(token))
        const now = yield* Clock.currentTimeMillis
        if (held === undefined || clientIdOf(held.signIn) !== clientId) return unknownToken
        if (held.role === null) return noAccess
        const use = held.signIn.clientId === null ? useOf(held, now) : useOfShared(held, now, graceMillis)
        if (use === "expired") return unknownToken
        if (use === "again") {
          const shown = { kind: "agent", id: held.signIn.id, lastFour: token.slice(-4) } as const
          yield* record(yield* repo.end(held.signIn.id), "reused", undefined, shown)
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
          use === "repeated"
            ? { id, workspaceId, generation, refreshedAt }
            : { id, workspaceId, generation: generation + 1, refreshedAt: timestamp(now) },
          pair,
          timestamp(now),
          ...(held.signIn.clientId === null ? [] : [hashToken(token)])
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
      return yield* failure("unsupported_grant_type", "Grant types are authorization_code and refresh_token.")
    }
    const clientId = yield* required(form, "client_id")
    const token = yield* required(form, "refresh_token")
    const scope = form("scope")
    if (scope !== undefined && !isScope(scope)) return yield* failure("invalid_scope", "Scopes are read and write.")
    yield* meantFor(resource, form)
    if (!isToken("rtk_", token)) return yield* unknownToken
    return { clientId, token, scope }
  })

/** Refuses a request whose tokens would be for something else. */
export const meantFor = (resource: string, form: OAuthForm): Effect.Effect<void, OAuthFailure> => {
  const target = form("resource")
  return target === undefined || target === resource
    ? Effect.void
    : Effect.fail(failure("invalid_target", `The only resource is ${resource}.`))
}

const revoke = ({ audit, repo, storage }: Dependencies) =>
  Effect.fn("SignIns.revoke")(function* (form: OAuthForm) {
    const token = yield* required(form, "token")
    const clientId = form("client_id")
    const isOther = (signIn: Pick<SignInRow, "id" | "clientId">) =>
      clientId !== undefined && clientId !== clientIdOf(signIn)
    const lastFour = token.slice(-4)
    const accessEnded = Effect.gen(function* () {
      const held = yield* repo.ofAccessToken(hashToken(token))
      if (held === undefined) return
      if (isOther(held)) return yield* otherClient
      const signIn = yield* repo.endAccessToken(hashToken(token))
      if (signIn === undefined) return
      yield* audit.record(
        { workspace: { id: signIn.workspaceId }, actor: { kind: "agent", id: signIn.agent.id } },
        {
          action: "agent_token_revoked",
          subject: signInSubject(signIn),
          credential: { kind: "agent", id: signIn.id, lastFour }
        }
      )
    })
    const signInEnded = Effect.gen(function* () {
      const held = yield* repo.lockByRefreshToken(hashToken(token))
      if (held === undefined) return
      if (isOther(held.signIn)) return yield* otherClient
      const shown = { kind: "agent", id: held.signIn.id, lastFour } as const
      yield* recordEnds(audit)(yield* repo.end(held.signIn.id), "revoked", undefined, shown)
    })
    if (isToken("atk_", token)) yield* storage.transaction(accessEnded)
    else if (isToken("rtk_", token)) yield* storage.transaction(signInEnded)
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

/**
 * The same of a sign-in by the server's URL, whose tokens a computer's processes share and refresh from old memory: each
 * token works until so long after its first use, and what it gave before goes on working.
 */
const useOfShared = (
  { tokenExpiresAt, tokenUsedAt }: LockedSignIn,
  now: number,
  graceMillis: number
): "first" | "sibling" | "again" | "expired" => {
  if (tokenExpiresAt <= timestamp(now)) return "expired"
  if (tokenUsedAt === null) return "first"
  return tokenUsedAt > timestamp(now - graceMillis) ? "sibling" : "again"
}

/** Whether a scope holds the one, and whether it is one at all. */
export const hasScope = (scope: string, one: string): boolean => scope.split(" ").includes(one)
export const isScope = (scope: string): boolean => scope.split(" ").every((one) => one === "read" || one === "write")

export const failure = (error: OAuthFailure["error"], description: string, status: 400 | 401 = 400) =>
  new OAuthFailure({ status, error, description })

export const required = (form: OAuthForm, name: string) => {
  const value = form(name)
  return value === undefined ? Effect.fail(failure("invalid_request", `${name} is missing.`)) : Effect.succeed(value)
}

const unknownToken = failure("invalid_grant", "The refresh token is not valid.")
const reusedToken = failure("invalid_grant", "The refresh token was used before, so the sign-in has ended.")
const otherClient = failure("invalid_grant", "The token belongs to another client.")
const noAccess = failure(
  "invalid_client",
  "The member whom the agent works for is inactive, or the workspace has blocked the sign-in.",
  401
)
