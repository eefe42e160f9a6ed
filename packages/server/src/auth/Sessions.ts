import type { SudoProof } from "@delivery/domain/auth/Passkey"
import type { ListedSession, RevokedSessions, SignedIn, SignInMethod, SignInProof } from "@delivery/domain/auth/Session"
import { type Conflict, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { AcceptInvite } from "@delivery/domain/identity/Invite"
import type { PersonId, SessionId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import { Invites } from "../identity/Invites.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { sessionTimes } from "../identity/SessionAuthentication.ts"
import { type SessionRow, SessionsRepo } from "../identity/SessionsRepo.ts"
import { SessionUsage } from "../identity/SessionUsage.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { PasskeyProofs } from "./PasskeyProofs.ts"
import { SignInLinks } from "./SignInLinks.ts"
import { Throttles, type Throttled } from "./Throttles.ts"

/** Where a request of a browser comes from. */
export interface Browser {
  readonly device: string
  readonly address: string
  /** The token in its cookie, of whatever form. */
  readonly token: string | undefined
}

/** Who is signed in, with the token that the browser is to keep, and for how many milliseconds at most. */
export interface Begun {
  readonly token: string
  readonly millis: number
  readonly signedIn: SignedIn
}

/** Sessions of persons in browsers (docs/contract.md, Sessions). */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Begins a session of a person who proved who they are, in place of the one that the browser had. */
    readonly begin: (personId: PersonId, method: SignInMethod, browser: Browser) => Effect.Effect<Begun>
    /** Signs in with the token of a link. */
    readonly consumeLink: (proof: SignInProof, browser: Browser) => Effect.Effect<Begun, Unauthorized | Throttled>
    /** Accepts an invite as the person of a session, or as a new person, who is signed in then. */
    readonly acceptInvite: (
      input: AcceptInvite,
      as: Caller["Service"] | undefined,
      browser: Browser
    ) => Effect.Effect<Begun | SignedIn, NotFound | Conflict | Unauthorized>
    /** Proves again who the caller is: the session goes on with another token. */
    readonly sudo: (proof: SudoProof, browser: Browser) => Effect.Effect<Begun, Unauthorized | Throttled, Caller>
    readonly current: Effect.Effect<SignedIn, Unauthorized, Caller>
    readonly list: Effect.Effect<ReadonlyArray<ListedSession>, never, Caller>
    /** Answers whether it was the session of the request. */
    readonly end: (id: string) => Effect.Effect<{ readonly wasCurrent: boolean }, NotFound, Caller>
    readonly endOthers: Effect.Effect<RevokedSessions, never, Caller>
    /** Ends the session of the browser, if it has one. */
    readonly signOut: (browser: Browser) => Effect.Effect<void>
  }
>()("@delivery/server/auth/Sessions") {
  static readonly layer = Layer.effect(Sessions, Effect.gen(make))
}

interface Dependencies {
  readonly settings: Settings["Service"]
  readonly repo: SessionsRepo["Service"]
  readonly usage: SessionUsage["Service"]
  readonly links: SignInLinks["Service"]
  readonly passkeys: PasskeyProofs["Service"]
  readonly invites: Invites["Service"]
  readonly throttles: Throttles["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    settings: yield* Settings,
    repo: yield* SessionsRepo,
    usage: yield* SessionUsage,
    links: yield* SignInLinks,
    passkeys: yield* PasskeyProofs,
    invites: yield* Invites,
    throttles: yield* Throttles,
    persons: yield* PersonsRepo,
    workspaces: yield* WorkspacesRepo,
    storage: yield* Storage,
    nextId: yield* NextId,
    newToken: yield* NewToken
  }
  return Sessions.of({
    begin: begin(dependencies),
    consumeLink: consumeLink(dependencies),
    acceptInvite: acceptInvite(dependencies),
    sudo: sudo(dependencies),
    current: current(dependencies),
    list: list(dependencies),
    end: end(dependencies),
    endOthers: endOthers(dependencies),
    signOut: signOut(dependencies)
  })
}

/** The person and session of the caller. */
const callingSession = Effect.map(Caller, ({ credential, principal }) => ({
  personId: principal.id as PersonId,
  sessionId: credential.id as SessionId
}))

const describe = ({ persons, settings, usage, workspaces }: Dependencies) => {
  const times = sessionTimes(settings)
  return Effect.fnUntraced(function* (row: SessionRow) {
    const session = { ...row, lastSeenAt: usage.latest(row.id, row.lastSeenAt) }
    const { email, emailVerifiedAt, id, name } = (yield* persons.find(session.personId))!
    const sudoUntil = times.sudoUntil(session)
    const now = timestamp(yield* Clock.currentTimeMillis)
    return {
      session: {
        id: session.id,
        method: session.method,
        createdAt: session.createdAt,
        lastSeenAt: session.lastSeenAt,
        expiresAt: times.expiresAt(session),
        sudoUntil: sudoUntil > now ? sudoUntil : null
      },
      person: { id, name, email, emailVerifiedAt },
      workspaces: (yield* workspaces.ofPerson(id)).toSorted(byName)
    }
  })
}

const begin = (dependencies: Dependencies) => {
  const { newToken, nextId, repo, settings, storage } = dependencies
  const { idleMillis, maxMillis } = settings.sessions
  const signedIn = describe(dependencies)
  return Effect.fn("Sessions.begin")(function* (personId: PersonId, method: SignInMethod, browser: Browser) {
    const token = yield* newToken("wtk_")
    const millis = yield* Clock.currentTimeMillis
    const now = timestamp(millis)
    const session: SessionRow = {
      id: yield* nextId<SessionId>(),
      personId,
      tokenHash: hashToken(token),
      lastFour: token.slice(-4),
      method,
      device: browser.device,
      address: browser.address,
      createdAt: now,
      lastSeenAt: now,
      provedAt: now
    }
    const begun = Effect.gen(function* () {
      yield* repo.endOld(timestamp(millis - maxMillis), timestamp(millis - idleMillis))
      if (browser.token !== undefined) yield* repo.endByToken(hashToken(browser.token))
      yield* repo.insert(session)
      return yield* signedIn(session)
    })
    return { token, millis: maxMillis, signedIn: yield* storage.transaction(begun) }
  })
}

const consumeLink = (dependencies: Dependencies) => {
  const { links, storage, throttles } = dependencies
  const beginSession = begin(dependencies)
  return Effect.fn("Sessions.consumeLink")(function* ({ token }: SignInProof, browser: Browser) {
    const begun = Effect.flatMap(links.use(token), (personId) => beginSession(personId, "link", browser))
    return yield* throttles.attempt(browser.address, storage.transaction(begun))
  })
}

const acceptInvite = (dependencies: Dependencies): Sessions["Service"]["acceptInvite"] => {
  const { invites } = dependencies
  const beginSession = begin(dependencies)
  const currentSession = current(dependencies)
  return (input, as, browser) =>
    as === undefined
      ? invites.join(input, undefined, (personId) => beginSession(personId, "invite", browser))
      : invites.join(input, as.principal.id as PersonId, () => Effect.provideService(currentSession, Caller, as))
}

/** The caller's session goes on with another token and a fresh proof; called in a transaction. */
const renew = (dependencies: Dependencies) => {
  const { newToken, repo, settings } = dependencies
  const signedIn = describe(dependencies)
  return Effect.fnUntraced(function* (browser: Browser) {
    const { personId, sessionId } = yield* callingSession
    const token = yield* newToken("wtk_")
    const provedAt = timestamp(yield* Clock.currentTimeMillis)
    const to = { tokenHash: hashToken(token), lastFour: token.slice(-4), provedAt }
    // Of two at once, the second has a token that no longer works.
    const isProved = yield* repo.prove(sessionId, hashToken(browser.token ?? ""), to)
    const session = (yield* repo.ofPerson(personId)).find(({ id }) => id === sessionId)
    if (!isProved || session === undefined) return yield* Effect.fail(Unauthorized.session)
    const millis = Date.parse(session.createdAt) + settings.sessions.maxMillis - Date.parse(provedAt)
    return { token, millis, signedIn: yield* signedIn(session) } satisfies Begun
  })
}

const sudo = (dependencies: Dependencies) => {
  const { links, passkeys, storage, throttles } = dependencies
  const renewed = renew(dependencies)
  return Effect.fn("Sessions.sudo")(function* (proof: SudoProof, browser: Browser) {
    const { personId } = yield* callingSession
    const verified =
      "passkey" in proof
        ? Effect.map(passkeys.verify(proof.passkey, "sudo", personId), passkeys.use)
        : Effect.succeed(links.use(proof.token, personId))
    // What is verified is used up with what it is for.
    const proved = Effect.flatMap(verified, (use) => storage.transaction(Effect.andThen(use, renewed(browser))))
    return yield* throttles.attempt(browser.address, proved)
  })
}

const current = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const signedIn = describe(dependencies)
  return Effect.gen(function* () {
    const { personId, sessionId } = yield* callingSession
    const session = (yield* repo.ofPerson(personId)).find(({ id }) => id === sessionId)
    return session === undefined ? yield* Effect.fail(Unauthorized.session) : yield* signedIn(session)
  }).pipe(Effect.withSpan("Sessions.current"))
}

const list = ({ repo, settings, usage }: Dependencies) => {
  const { expiresAt } = sessionTimes(settings)
  return Effect.gen(function* () {
    const { personId, sessionId } = yield* callingSession
    const now = timestamp(yield* Clock.currentTimeMillis)
    return (yield* repo.ofPerson(personId))
      .map((session) => ({ ...session, lastSeenAt: usage.latest(session.id, session.lastSeenAt) }))
      .map((session) => ({
        id: session.id,
        device: session.device,
        address: session.address,
        method: session.method,
        createdAt: session.createdAt,
        lastSeenAt: session.lastSeenAt,
        expiresAt: expiresAt(session),
        current: session.id === sessionId
      }))
      .filter((session) => session.expiresAt > now)
      .toSorted((a, b) => compare(b.lastSeenAt, a.lastSeenAt) || compare(b.id, a.id))
  }).pipe(Effect.withSpan("Sessions.list"))
}

const end = ({ repo }: Dependencies) =>
  Effect.fn("Sessions.end")(function* (id: string) {
    const { personId, sessionId } = yield* callingSession
    const isEnded = isId(id) && (yield* repo.end(personId, id as SessionId))
    return isEnded ? { wasCurrent: id === sessionId } : yield* NotFound.of("session", id)
  })

const endOthers = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { personId, sessionId } = yield* callingSession
    return { revoked: yield* repo.endOthers(personId, sessionId) }
  }).pipe(Effect.withSpan("Sessions.endOthers"))

const signOut = ({ repo }: Dependencies) =>
  Effect.fn("Sessions.signOut")(function* ({ token }: Browser) {
    if (token !== undefined) yield* repo.endByToken(hashToken(token))
  })
