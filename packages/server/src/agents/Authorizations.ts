import {
  type AskingClient,
  type Authorization,
  authorizationMillis,
  type DecideAuthorization,
  type DecidedAuthorization
} from "@delivery/domain/agents/Authorizations"
import { isRegisteredRedirect } from "@delivery/domain/agents/OAuthClients"
import { Conflict, type Forbidden, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { AuthorizationId } from "@delivery/domain/Ids"
import { isLoopback } from "@delivery/domain/Loopback"
import { byName } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { freshProof, sessionPersonId } from "../access/Access.ts"
import { Audit } from "../audit/Audit.ts"
import { type Throttled, Throttles } from "../auth/Throttles.ts"
import { Settings } from "../Config.ts"
import { networkOf } from "../http/RateLimits.ts"
import { Makers } from "../identity/Makers.ts"
import { type WorkspaceOfPerson, WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import {
  hostOf,
  isTrusted,
  readAccess,
  type RedirectError,
  single,
  stateOf,
  withAnswer
} from "./AuthorizationRequests.ts"
import { type AuthorizationRow, AuthorizationsRepo } from "./AuthorizationsRepo.ts"
import { OAuthClients } from "./OAuthClients.ts"
import { OAuthClientsRepo } from "./OAuthClientsRepo.ts"
import { failure, hasScope, type OAuthFailure, resourceOf, scopeOf } from "./SignIns.ts"

/** How many authorizations clients at one network address can ask for in an hour. */
const maxAuthorizations = 1_000

/** What clients ask of people who sign them in by the server's URL (docs/contract.md, Sign-in by the server's URL). */
export class Authorizations extends Context.Service<
  Authorizations,
  {
    /**
     * The authorization endpoint: where the browser goes, for somebody at the address. Fails where the client or its
     * redirect is not known, and where the redirect is not trusted with an error, so that nobody is sent there.
     */
    readonly request: (query: URLSearchParams, address: string) => Effect.Effect<string, OAuthFailure | Throttled>
    readonly client: (id: string) => Effect.Effect<AskingClient, NotFound>
    readonly get: (id: string) => Effect.Effect<Authorization, NotFound, Caller>
    readonly decide: (
      id: string,
      decision: DecideAuthorization
    ) => Effect.Effect<DecidedAuthorization, Unauthorized | NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/agents/Authorizations") {
  static readonly layer = Layer.effect(Authorizations, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly codeMillis: number
  readonly repo: AuthorizationsRepo["Service"]
  readonly clients: OAuthClients["Service"]
  readonly clientsRepo: OAuthClientsRepo["Service"]
  readonly makers: Makers["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly throttles: Throttles["Service"]
  readonly audit: Audit["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const { baseUrl, oauth } = yield* Settings
  const dependencies: Dependencies = {
    baseUrl,
    codeMillis: oauth.codeMillis,
    repo: yield* AuthorizationsRepo,
    clients: yield* OAuthClients,
    clientsRepo: yield* OAuthClientsRepo,
    makers: yield* Makers,
    workspaces: yield* WorkspacesRepo,
    throttles: yield* Throttles,
    audit: yield* Audit,
    storage: yield* Storage,
    nextId: yield* NextId,
    newToken: yield* NewToken
  }
  return Authorizations.of({
    request: request(dependencies),
    client: client(dependencies),
    get: get(dependencies),
    decide: decide(dependencies)
  })
}

const request = (dependencies: Dependencies) => {
  const { baseUrl, clients, nextId, repo, throttles } = dependencies
  return Effect.fn("Authorizations.request")(function* (query: URLSearchParams, address: string) {
    const clientId = single(query, "client_id")
    if (clientId === undefined) return yield* failure("invalid_request", "One client_id is required.")
    const client = yield* clients.find(clientId, address)
    const redirectUri = single(query, "redirect_uri")
    if (redirectUri === undefined || !isRegisteredRedirect(client.redirectUris, redirectUri)) {
      return yield* failure("invalid_request", "One redirect_uri is required, which the client has registered.")
    }
    const refuse = (error: RedirectError) =>
      isTrusted(clientId, redirectUri)
        ? Effect.succeed(withAnswer(redirectUri, { ...error, state: stateOf(query), iss: baseUrl }))
        : Effect.fail(failure(error.error, error.error_description))
    const access = readAccess(query, resourceOf(dependencies))
    if ("error" in access) return yield* refuse(access)
    const taken = throttles.take(`authorizations of ${networkOf(address)}`, maxAuthorizations)
    const isThrottled = yield* Effect.match(taken, { onSuccess: () => false, onFailure: () => true })
    if (isThrottled) {
      return yield* refuse({
        error: "temporarily_unavailable",
        error_description: "Too many requests from this network."
      })
    }
    const now = yield* Clock.currentTimeMillis
    const id = yield* nextId<AuthorizationId>()
    yield* repo.insert({
      ...access,
      id,
      clientId,
      clientName: client.name,
      client: client.agent,
      clientKind: client.kind,
      redirectUri,
      state: stateOf(query) ?? null,
      createdAt: timestamp(now),
      expiresAt: timestamp(now + authorizationMillis)
    })
    return `${baseUrl}/authorize#${id}`
  })
}

const absent = (id: string) => NotFound.of("authorization", id)

/** Where the caller is active, and the session is not blocked. */
const workspacesOf = ({ workspaces }: Dependencies) =>
  Effect.all([sessionPersonId, Caller]).pipe(
    Effect.flatMap(([personId, { credential }]) => workspaces.ofPerson(personId, credential.id)),
    Effect.map((found) => found.toSorted(byName).map(({ id, name, role, slug }) => ({ id, slug, name, role })))
  )

type Allowing = Extract<DecideAuthorization, { readonly allow: true }>

const chosenBy = <A extends Pick<WorkspaceOfPerson, "id" | "slug">>(
  workspaces: ReadonlyArray<A>,
  { workspace }: Allowing
): A | undefined => workspaces.find(({ id, slug }) => id === workspace || slug === workspace)

const find = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (id: string) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    return (isId(id) ? yield* repo.find(id, now) : undefined) ?? (yield* absent(id))
  })

const clientOf = ({ clientId: id, clientKind: kind, clientName: name }: AuthorizationRow) => ({ id, name, kind })

const placeOf = ({ redirectUri }: AuthorizationRow) => ({
  host: hostOf(redirectUri),
  loopback: isLoopback(redirectUri)
})

const client = (dependencies: Dependencies) =>
  Effect.fn("Authorizations.client")(function* (id: string) {
    const found = yield* find(dependencies)(id)
    return { ...clientOf(found), ...placeOf(found) }
  })

const get = (dependencies: Dependencies) =>
  Effect.fn("Authorizations.get")(function* (id: string) {
    const found = yield* find(dependencies)(id)
    return {
      id: found.id,
      client: clientOf(found),
      redirectUri: found.redirectUri,
      ...placeOf(found),
      scope: found.scope,
      workspaces: yield* workspacesOf(dependencies),
      expiresAt: found.expiresAt
    }
  })

const decide = (dependencies: Dependencies) => {
  const { baseUrl, makers, repo, storage, workspaces } = dependencies
  const allowed = allow(dependencies)
  const tell = tellDenied(dependencies)
  const take = Effect.fnUntraced(function* (id: string) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const taken = isId(id) ? yield* repo.take(id, now) : undefined
    yield* Effect.mapError(makers.hold, () => Unauthorized.session)
    return taken ?? (yield* absent(id))
  })
  return Effect.fn("Authorizations.decide")(function* (id: string, decision: DecideAuthorization) {
    const answer = (
      { redirectUri, state }: AuthorizationRow,
      fields: { readonly error: "access_denied" } | { readonly code: string }
    ) => ({ location: withAnswer(redirectUri, { ...fields, state: state ?? undefined, iss: baseUrl }) })
    if (!decision.allow) {
      const denied = Effect.tap(take(id), (asked) => tell(asked))
      return answer(yield* storage.transaction(denied), { error: "access_denied" })
    }
    yield* freshProof
    const chosen = chosenBy(yield* workspacesOf(dependencies), decision)
    const decided = Effect.gen(function* () {
      // Whoever deactivates the person there ends the code, or is seen.
      if (chosen !== undefined) yield* workspaces.lock(chosen.id)
      const asked = yield* take(id)
      return answer(asked, { code: yield* allowed(asked, decision) })
    })
    return yield* storage.transaction(decided)
  })
}

/** What the audit names as the client that asks. */
export const clientSubject = ({ clientId, clientName }: Pick<AuthorizationRow, "clientId" | "clientName">) => ({
  type: "client",
  id: clientId,
  label: clientName
})

/** Nobody knows for which workspace it was asked. */
const tellDenied = (dependencies: Dependencies) => (asked: AuthorizationRow) =>
  Effect.gen(function* () {
    const actor = { kind: "user", id: yield* sessionPersonId } as const
    const entry = { action: "agent_denied", subject: clientSubject(asked) } as const
    yield* dependencies.audit.recordIn(yield* workspacesOf(dependencies), actor, entry)
  })

/** In another tab of the browser somebody else has signed in. */
const otherPerson = new Conflict({
  message: "Somebody else is signed in now than the person to whom this was shown.",
  reason: "other_person"
})

/** The code by which the client gets what the caller allows it. */
const allow = (dependencies: Dependencies) => {
  const { audit, clientsRepo, codeMillis, newToken, repo } = dependencies
  return Effect.fnUntraced(function* (asked: AuthorizationRow, decision: Allowing) {
    const { client, clientId, clientKind, clientName, codeChallenge, redirectUri, scope } = asked
    const { credential } = yield* Caller
    const personId = yield* sessionPersonId
    if (decision.person !== undefined && decision.person !== personId) return yield* otherPerson
    const workspace = chosenBy(yield* workspacesOf(dependencies), decision)
    if (workspace === undefined) return yield* NotFound.reference("workspace", decision.workspace)
    const millis = yield* Clock.currentTimeMillis
    const expiresAt = timestamp(millis + codeMillis)
    const code = yield* newToken("otk_")
    const isWriting = hasScope(scope, "write") && hasScope(decision.scope ?? scope, "write")
    const granted = scopeOf(workspace.role, isWriting ? "read write" : "read")
    yield* repo.insertCode(
      {
        codeHash: hashToken(code),
        workspaceId: workspace.id,
        personId,
        clientId,
        clientName,
        client,
        redirectUri,
        scope: granted,
        codeChallenge,
        makerId: credential.id,
        expiresAt,
        signInId: null,
        keptUntil: expiresAt
      },
      timestamp(millis)
    )
    yield* audit.record(
      { workspace, actor: { kind: "user", id: personId } },
      {
        action: "agent_allowed",
        subject: clientSubject(asked),
        changes: [
          { field: "host", from: null, to: hostOf(redirectUri) },
          { field: "scope", from: null, to: granted }
        ]
      }
    )
    if (clientKind === "registered") yield* clientsRepo.use(clientId, timestamp(millis))
    return code
  })
}
