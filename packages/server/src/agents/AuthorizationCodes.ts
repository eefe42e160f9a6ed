import { refreshTokenMillis, type Tokens } from "@delivery/domain/agents/OAuth"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { AgentId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Settings } from "../Config.ts"
import { Makers } from "../identity/Makers.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { SessionsRepo } from "../identity/SessionsRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { isVerified } from "../ids/Pkce.ts"
import { hashToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { subjectOf } from "./Agents.ts"
import { AgentsRepo } from "./AgentsRepo.ts"
import { type AuthorizationCodeRow, AuthorizationsRepo } from "./AuthorizationsRepo.ts"
import { failure, meantFor, OAuthFailure, type OAuthForm, required, resourceOf, SignIns } from "./SignIns.ts"
import { recordEnds } from "./SignInEnds.ts"
import { SignInsRepo } from "./SignInsRepo.ts"

/** Codes of people who let a client in, exchanged for a sign-in (docs/contract.md, Sign-in by the server's URL). */
export class AuthorizationCodes extends Context.Service<
  AuthorizationCodes,
  {
    /** The token endpoint, for a code. */
    readonly exchange: (form: OAuthForm) => Effect.Effect<Tokens, OAuthFailure>
  }
>()("@delivery/server/agents/AuthorizationCodes") {
  static readonly layer = Layer.effect(AuthorizationCodes, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: AuthorizationsRepo["Service"]
  readonly agents: AgentsRepo["Service"]
  readonly makers: Makers["Service"]
  readonly members: MembersRepo["Service"]
  readonly signIns: SignIns["Service"]
  readonly signInsRepo: SignInsRepo["Service"]
  readonly sessions: SessionsRepo["Service"]
  readonly audit: Audit["Service"]
  readonly events: AuditedEvents["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* AuthorizationsRepo,
    agents: yield* AgentsRepo,
    makers: yield* Makers,
    members: yield* MembersRepo,
    signIns: yield* SignIns,
    signInsRepo: yield* SignInsRepo,
    sessions: yield* SessionsRepo,
    audit: yield* Audit,
    events: yield* AuditedEvents,
    storage: yield* Storage,
    nextId: yield* NextId
  }
  return AuthorizationCodes.of({ exchange: exchange(dependencies) })
}

/** What a client sends with its code. */
interface Exchange {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
}

const exchange = (dependencies: Dependencies) => {
  const { audit, repo, signInsRepo, storage } = dependencies
  const record = recordEnds(audit)
  const begin = beginSignIn(dependencies)
  return Effect.fn("AuthorizationCodes.exchange")(function* (form: OAuthForm) {
    const sent: Exchange = {
      clientId: yield* required(form, "client_id"),
      code: yield* required(form, "code"),
      redirectUri: yield* required(form, "redirect_uri"),
      verifier: yield* required(form, "code_verifier")
    }
    yield* meantFor(resourceOf(dependencies), form)
    // The end of a sign-in must be committed, so it is not a failure inside the transaction.
    const outcome = yield* storage.transaction(
      Effect.gen(function* () {
        const held = yield* repo.lockCode(hashToken(sent.code))
        // Whoever has the code alone can neither use it up nor end the sign-in.
        if (held === undefined || !isMeantBy(held, sent)) return invalidCode
        if (held.signInId !== null) {
          yield* record(yield* signInsRepo.end(held.signInId), "reused")
          return usedCode
        }
        const now = timestamp(yield* Clock.currentTimeMillis)
        return held.expiresAt <= now ? invalidCode : yield* begin(held)
      })
    )
    return outcome instanceof OAuthFailure ? yield* outcome : outcome
  })
}

const isMeantBy = (code: AuthorizationCodeRow, { clientId, redirectUri, verifier }: Exchange): boolean =>
  code.clientId === clientId && code.redirectUri === redirectUri && isVerified(code.codeChallenge, verifier)

/** The sign-in of the agent that the client is, which the code is exchanged for. */
const beginSignIn = (dependencies: Dependencies) => {
  const { agents, events, members, nextId, repo, signIns } = dependencies
  const holdSession = holdingSession(dependencies)
  return Effect.fnUntraced(function* (code: AuthorizationCodeRow) {
    const { client, clientId, clientName, personId, scope, workspaceId } = code
    const member = yield* members.find(workspaceId, personId)
    if (member?.active !== true) return invalidCode
    const session = yield* holdSession(code)
    if (session === undefined) return invalidCode
    const { credential, maker } = session
    const actor = { kind: "user", id: personId } as const
    const now = yield* Clock.currentTimeMillis
    const agent = yield* agents.register({
      id: yield* nextId<AgentId>(),
      workspaceId,
      personId,
      client,
      clientName: client === "other" ? clientName : null,
      createdAt: timestamp(now),
      revokedAt: null
    })
    const { id, tokens } = yield* signIns.make(
      { workspaceId, agentId: agent.id, computerId: null, clientId },
      member.role,
      scope,
      maker,
      actor
    )
    yield* repo.useCode(code.codeHash, id, timestamp(now + refreshTokenMillis))
    yield* events.record(
      { workspace: { id: workspaceId }, actor },
      {
        kind: "agent_registered",
        subject: subjectOf(agent, member.name),
        changes: [{ field: "serverUrl", from: null, to: "true" }]
      },
      { credential }
    )
    return tokens
  })
}

/** The session in which it was allowed: its person makes the sign-in, whoever exchanges the code. None where it has ended. */
const holdingSession = ({ makers, sessions }: Dependencies) =>
  Effect.fnUntraced(function* ({ makerId, personId }: AuthorizationCodeRow) {
    const session = (yield* sessions.ofPerson(personId)).find(({ id }) => id === makerId)
    if (session === undefined) return undefined
    const credential = { kind: "session", id: session.id, lastFour: session.lastFour } as const
    return yield* makers.hold.pipe(
      Effect.provideService(Caller, {
        // What is held is the credential alone.
        principal: { kind: "user", id: personId, name: "", email: "" },
        membership: undefined,
        credential
      }),
      Effect.map((maker) => ({ credential, maker })),
      Effect.orElseSucceed(() => undefined)
    )
  })

const invalidCode = failure("invalid_grant", "The code is not valid for this client, redirect and verifier.")
const usedCode = failure("invalid_grant", "The code was used before, so the sign-in has ended.")
