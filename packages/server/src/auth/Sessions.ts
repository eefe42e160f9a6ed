import type { SudoProof } from "@delivery/domain/auth/Passkey"
import type { ListedSession, RevokedSessions, SignedIn, SignInMethod, SignInProof } from "@delivery/domain/auth/Session"
import { type Conflict, type Forbidden, type InvalidInput, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { AcceptInvite } from "@delivery/domain/identity/Invite"
import type { PersonId, SessionId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, type Scope } from "effect"
import { setImmediate } from "node:timers/promises"
import { Settings } from "../Config.ts"
import { networkOf } from "../http/RateLimits.ts"
import { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import { mayEndOthers } from "../identity/BlockedCallers.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { Invites } from "../identity/Invites.ts"
import { Mail } from "../identity/Mail.ts"
import { Makers } from "../identity/Makers.ts"
import { Persons } from "../identity/Persons.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { sessionTimes } from "../identity/SessionAuthentication.ts"
import { type SessionRow, SessionsRepo } from "../identity/SessionsRepo.ts"
import { SessionUsage } from "../identity/SessionUsage.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import type { Browser } from "./Browser.ts"
import { IdentitiesRepo } from "./IdentitiesRepo.ts"
import { KnownDevicesRepo } from "./KnownDevicesRepo.ts"
import { newDeviceLetter } from "./Letters.ts"
import { MailedProofs } from "./MailedProofs.ts"
import { Outbox } from "./Outbox.ts"
import { PasskeyProofs } from "./PasskeyProofs.ts"
import { PasskeysRepo } from "./PasskeysRepo.ts"
import { Providers } from "./Providers.ts"
import { offersPasskeys } from "./RelyingParty.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { SignInLinks } from "./SignInLinks.ts"
import { findSignInProof, withinLimits } from "./SignInProofs.ts"
import { Throttles, type Throttled } from "./Throttles.ts"
import { waysInOf } from "./WaysIn.ts"

export type { Browser } from "./Browser.ts"

/** Who is signed in, with the token that the browser is to keep, and for how many milliseconds at most. */
export interface Begun {
  readonly token: string
  readonly millis: number
  readonly signedIn: SignedIn
  /** Tells the person that the device is new, where it is; to be run once the session is stored. */
  readonly announce?: Effect.Effect<void>
}

/** Sessions of persons in browsers (docs/contract.md, Sessions). */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Begins a session of a person who proved who they are, now or at an earlier time, in place of the one that the browser had. */
    readonly begin: (
      personId: PersonId,
      method: SignInMethod,
      browser: Browser,
      provedAt?: Timestamp
    ) => Effect.Effect<Begun>
    /** Signs in with a link or a code. */
    readonly consumeLink: (
      proof: SignInProof,
      browser: Browser
    ) => Effect.Effect<Begun, Unauthorized | Forbidden | Throttled>
    /** Accepts an invite as the person of a session, or as a new person, who is signed in then. */
    readonly acceptInvite: (
      input: AcceptInvite,
      as: Caller["Service"] | undefined,
      browser: Browser
    ) => Effect.Effect<Begun | SignedIn, InvalidInput | NotFound | Conflict | Unauthorized>
    /** What a pending invite is for. */
    readonly previewInvite: Invites["Service"]["preview"]
    /** Accepts an invite to the caller's proven address. */
    readonly acceptReceived: (id: string) => Effect.Effect<SignedIn, NotFound | Conflict | Unauthorized, Caller>
    /** Proves again who the caller is: the session goes on with another token. */
    readonly sudo: (
      proof: SudoProof,
      browser: Browser
    ) => Effect.Effect<Begun, Unauthorized | Forbidden | Throttled, Caller>
    /** Proves the caller's address with what was mailed to it. */
    readonly proveAddress: (
      proof: SignInProof,
      browser: Browser
    ) => Effect.Effect<SignedIn, Unauthorized | Conflict | Throttled, Caller>
    /** The same for who has proven it already; called in the transaction of the proof. */
    readonly renew: (browser: Browser, method: SignInMethod) => Effect.Effect<Begun, Unauthorized, Caller>
    readonly current: Effect.Effect<SignedIn, Unauthorized, Caller>
    readonly list: Effect.Effect<ReadonlyArray<ListedSession>, never, Caller>
    /** Answers whether it was the session of the request. */
    readonly end: (id: string) => Effect.Effect<{ readonly wasCurrent: boolean }, Forbidden | NotFound, Caller>
    readonly endOthers: Effect.Effect<RevokedSessions, Forbidden, Caller>
    /** Ends the session of the browser, if it has one. */
    readonly signOut: (browser: Browser) => Effect.Effect<void>
  }
>()("@delivery/server/auth/Sessions") {
  static readonly layer = Layer.effect(Sessions, Effect.gen(make))
}

interface Dependencies {
  readonly settings: Settings["Service"]
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly makers: Makers["Service"]
  readonly repo: SessionsRepo["Service"]
  readonly usage: SessionUsage["Service"]
  readonly links: SignInLinks["Service"]
  readonly mailed: MailedProofs["Service"]
  readonly devices: KnownDevicesRepo["Service"]
  readonly outbox: Outbox["Service"]
  readonly passkeys: PasskeyProofs["Service"]
  readonly audit: SignInAudit["Service"]
  readonly invites: Invites["Service"]
  readonly throttles: Throttles["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly waysIn: ReturnType<typeof waysInOf>
  readonly proofs: Persons["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
  /** Of the service: what happens after an answer ends with it. */
  readonly scope: Scope.Scope
}

function* make() {
  const persons = yield* PersonsRepo
  const dependencies: Dependencies = {
    settings: yield* Settings,
    apiKeys: yield* ApiKeysRepo,
    blocks: yield* BlocksRepo,
    makers: yield* Makers,
    repo: yield* SessionsRepo,
    usage: yield* SessionUsage,
    links: yield* SignInLinks,
    mailed: yield* MailedProofs,
    devices: yield* KnownDevicesRepo,
    outbox: yield* Outbox,
    passkeys: yield* PasskeyProofs,
    audit: yield* SignInAudit,
    invites: yield* Invites,
    throttles: yield* Throttles,
    persons,
    waysIn: waysInOf({
      identities: yield* IdentitiesRepo,
      mail: yield* Mail,
      passkeys: yield* PasskeysRepo,
      persons,
      providers: yield* Providers
    }),
    proofs: yield* Persons,
    workspaces: yield* WorkspacesRepo,
    storage: yield* Storage,
    nextId: yield* NextId,
    newToken: yield* NewToken,
    scope: yield* Effect.scope
  }
  return Sessions.of({
    begin: begin(dependencies),
    consumeLink: consumeLink(dependencies),
    acceptInvite: acceptInvite(dependencies),
    previewInvite: dependencies.invites.preview,
    acceptReceived: acceptReceived(dependencies),
    sudo: sudo(dependencies),
    proveAddress: proveAddress(dependencies),
    renew: renew(dependencies),
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

/** A session of the person as it is stored, if it has not ended. */
const sessionOf = ({ repo }: Dependencies, personId: PersonId, sessionId: SessionId) =>
  Effect.map(repo.ofPerson(personId), (sessions) => sessions.find(({ id }) => id === sessionId))

/** The session with what is not yet written of its use. */
const seen = ({ usage }: Dependencies, session: SessionRow): SessionRow => ({
  ...session,
  lastSeenAt: usage.latest(session.id, session.lastSeenAt)
})

const describe = (dependencies: Dependencies) => {
  const { invites, persons, settings, waysIn, workspaces } = dependencies
  const times = sessionTimes(settings)
  const hasPasskeys = offersPasskeys(settings.baseUrl)
  return Effect.fnUntraced(function* (row: SessionRow) {
    const session = seen(dependencies, row)
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
      workspaces: (yield* workspaces.ofPerson(id, session.id)).toSorted(byName),
      invites: emailVerifiedAt === null ? [] : yield* invites.pendingTo(email),
      waysIn: (yield* waysIn(id)).filter((way) => way !== "passkey" || hasPasskeys)
    }
  })
}

const begin = (dependencies: Dependencies) => {
  const { audit, devices, newToken, nextId, repo, settings, storage } = dependencies
  const { idleMillis, maxMillis } = settings.sessions
  const signedIn = describe(dependencies)
  const announceDevice = announce(dependencies)
  return Effect.fn("Sessions.begin")(function* (
    personId: PersonId,
    method: SignInMethod,
    browser: Browser,
    provedAt?: Timestamp
  ) {
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
      provedAt: provedAt ?? now
    }
    const begun = Effect.gen(function* () {
      yield* repo.endOld(timestamp(millis - maxMillis), timestamp(millis - idleMillis))
      const replaced = browser.token === undefined ? undefined : yield* repo.endByToken(hashToken(browser.token))
      if (replaced !== undefined) yield* audit.session(replaced, "signed_out")
      yield* repo.insert(session)
      yield* audit.session(session, "signed_in", method)
      const device = { personId, device: browser.device, network: networkOf(browser.address), seenAt: now }
      const isNew = yield* devices.see(device, timestamp(millis - deviceMillis))
      return { isNew, signedIn: yield* signedIn(session) }
    })
    const { isNew, ...answer } = yield* storage.transaction(begun)
    // Whom an invite made has had no device before.
    const isTold = isNew && method !== "invite"
    return { token, millis: maxMillis, ...answer, ...(isTold ? { announce: announceDevice(session) } : {}) }
  })
}

/** How long a device is known that nobody signs in with: 180 days. */
const deviceMillis = 180 * 86_400_000

/** Has a mail sent to the person, if they have proven their address. */
const announce =
  ({ outbox, persons, settings }: Dependencies) =>
  (asker: SessionRow) => {
    const write = Effect.map(persons.find(asker.personId), (person) =>
      person === undefined || person.emailVerifiedAt === null
        ? undefined
        : newDeviceLetter({ to: person.email, asker, at: asker.createdAt }, settings.baseUrl)
    )
    return outbox.isSet ? Effect.asVoid(outbox.post(write)) : Effect.void
  }

const consumeLink = (dependencies: Dependencies) => {
  const { storage, throttles } = dependencies
  const findProof = findSignInProof(dependencies)
  const beginSession = begin(dependencies)
  const note = noteFailure(dependencies)
  return Effect.fn("Sessions.consumeLink")(function* (proof: SignInProof, browser: Browser) {
    const begun = Effect.flatMap(findProof(proof, browser), ({ method, use }) =>
      storage.transaction(Effect.flatMap(use, (personId) => beginSession(personId, method, browser)))
    )
    return yield* begun.pipe(
      withinLimits(throttles, proof, browser),
      Effect.tapError(({ _tag }) => (_tag === "Throttled" ? Effect.void : note(proof, browser)))
    )
  })
}

/**
 * Of whoever asked for the mail, as far as the link or the browser tells. After the answer: else the time that it takes would
 * tell strangers who has an account.
 */
const noteFailure = ({ audit, mailed, scope }: Dependencies) => {
  const note = Effect.fnUntraced(function* (proof: SignInProof, browser: Browser) {
    yield* Effect.promise(() => setImmediate())
    const persons = yield* mailed.whose(proof, browser.asked)
    yield* audit.failed(proof.token === undefined || persons.length > 0 ? "mail" : "link", persons)
  })
  return (proof: SignInProof, browser: Browser) =>
    note(proof, browser).pipe(
      Effect.catchCause((cause) => Effect.logWarning("The audit could not be told of a sign-in that failed.", cause)),
      Effect.forkIn(scope)
    )
}

const acceptInvite = (dependencies: Dependencies): Sessions["Service"]["acceptInvite"] => {
  const { invites } = dependencies
  const beginSession = begin(dependencies)
  const currentSession = held(dependencies)
  return (input, as, browser) =>
    as === undefined
      ? invites.join(input, undefined, (personId) => beginSession(personId, "invite", browser))
      : Effect.provideService(
          invites.join(input, as.principal.id as PersonId, () => currentSession),
          Caller,
          as
        )
}

const acceptReceived = (dependencies: Dependencies) => {
  const { invites } = dependencies
  const currentSession = held(dependencies)
  return Effect.fn("Sessions.acceptReceived")(function* (id: string) {
    const { personId } = yield* callingSession
    return yield* invites.joinReceived(id, personId, currentSession)
  })
}

const proveAddress = (dependencies: Dependencies) => {
  const { audit, mailed, proofs, storage, throttles } = dependencies
  const currentSession = held(dependencies)
  return Effect.fn("Sessions.proveAddress")(function* (proof: SignInProof, browser: Browser) {
    const { personId } = yield* callingSession
    const proved = Effect.gen(function* () {
      const found = yield* mailed.find("address", proof, browser.token)
      if (found?.personId !== personId) return yield* Effect.fail(Unauthorized.signInFailed)
      const used = Effect.andThen(mailed.use(found.id), proofs.prove(personId))
      const told = Effect.andThen(used, audit.addressProven(personId))
      return yield* storage.transaction(Effect.andThen(told, currentSession))
    })
    return yield* proved.pipe(
      withinLimits(throttles, proof, browser),
      Effect.tapError(({ _tag }) =>
        _tag === "Unauthorized" ? audit.failed("mail", [personId], "proof_failed") : Effect.void
      )
    )
  })
}

/** The caller's session goes on with another token and a fresh proof; called in a transaction. */
const renew = (dependencies: Dependencies) => {
  const { audit, newToken, repo, settings } = dependencies
  const signedIn = describe(dependencies)
  return Effect.fnUntraced(function* (browser: Browser, method: SignInMethod) {
    const { personId, sessionId } = yield* callingSession
    const token = yield* newToken("wtk_")
    const provedAt = timestamp(yield* Clock.currentTimeMillis)
    const to = { tokenHash: hashToken(token), lastFour: token.slice(-4), provedAt }
    // Of two at once, the second has a token that no longer works.
    const isProved = yield* repo.prove(sessionId, hashToken(browser.token ?? ""), to)
    const session = yield* sessionOf(dependencies, personId, sessionId)
    if (!isProved || session === undefined) return yield* Effect.fail(Unauthorized.session)
    yield* audit.session(session, "session_proved", method)
    const millis = Date.parse(session.createdAt) + settings.sessions.maxMillis - Date.parse(provedAt)
    return { token, millis, signedIn: yield* signedIn(session) } satisfies Begun
  })
}

const sudo = (dependencies: Dependencies) => {
  const { audit, passkeys, storage, throttles } = dependencies
  const findProof = findSignInProof(dependencies)
  const renewed = renew(dependencies)
  return Effect.fn("Sessions.sudo")(function* (proof: SudoProof, browser: Browser) {
    const { personId } = yield* callingSession
    const verified =
      "passkey" in proof
        ? Effect.map(passkeys.verify(proof.passkey, "sudo", personId), (passkey) => ({
            method: "passkey" as const,
            use: passkeys.use(passkey)
          }))
        : findProof(proof, browser, personId)
    // What is verified is used up with what it is for.
    const proved = Effect.flatMap(verified, ({ method, use }) =>
      storage.transaction(Effect.andThen(use, renewed(browser, method)))
    )
    return yield* proved.pipe(
      "passkey" in proof
        ? (attempt) => throttles.prove(browser.address, attempt)
        : withinLimits(throttles, proof, browser),
      Effect.tapError(({ _tag }) =>
        _tag === "Unauthorized" ? audit.failed(kindOf(proof), [personId], "proof_failed") : Effect.void
      )
    )
  })
}

/** How a proof should have worked that nobody knows. */
const kindOf = (proof: SudoProof): SignInMethod =>
  "passkey" in proof ? "passkey" : proof.token === undefined ? "mail" : "link"

const current = (dependencies: Dependencies) => {
  const signedIn = describe(dependencies)
  return Effect.gen(function* () {
    const { personId, sessionId } = yield* callingSession
    const session = yield* sessionOf(dependencies, personId, sessionId)
    return session === undefined ? yield* Effect.fail(Unauthorized.session) : yield* signedIn(session)
  }).pipe(Effect.withSpan("Sessions.current"))
}

/** The same in the transaction of what the session does: nobody ends it until that ends. */
const held = (dependencies: Dependencies) =>
  Effect.andThen(
    Effect.mapError(dependencies.makers.hold, () => Unauthorized.session),
    current(dependencies)
  )

const list = (dependencies: Dependencies) => {
  const { expiresAt } = sessionTimes(dependencies.settings)
  return Effect.gen(function* () {
    const { personId, sessionId } = yield* callingSession
    const now = timestamp(yield* Clock.currentTimeMillis)
    return (yield* dependencies.repo.ofPerson(personId))
      .map((session) => seen(dependencies, session))
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

const end = (dependencies: Dependencies) => {
  const { audit, repo, storage } = dependencies
  return Effect.fn("Sessions.end")(function* (id: string) {
    const { personId, sessionId } = yield* callingSession
    const ended = Effect.gen(function* () {
      if (id !== sessionId) yield* mayEndOthers(dependencies)
      const session = isId(id) ? yield* repo.end(personId, id as SessionId) : undefined
      if (session === undefined) return yield* NotFound.of("session", id)
      yield* audit.session(session, "session_ended")
      return { wasCurrent: id === sessionId }
    })
    return yield* storage.transaction(ended)
  })
}

const endOthers = (dependencies: Dependencies) => {
  const { audit, repo, storage } = dependencies
  return Effect.gen(function* () {
    const { personId, sessionId } = yield* callingSession
    const ended = Effect.gen(function* () {
      yield* mayEndOthers(dependencies)
      const sessions = yield* repo.endOthers(personId, sessionId)
      for (const session of sessions) yield* audit.session(session, "session_ended")
      return { revoked: sessions.length }
    })
    return yield* storage.transaction(ended)
  }).pipe(Effect.withSpan("Sessions.endOthers"))
}

const signOut = ({ audit, repo, storage }: Dependencies) =>
  Effect.fn("Sessions.signOut")(function* ({ token }: Browser) {
    if (token === undefined) return
    const ended = Effect.gen(function* () {
      const session = yield* repo.endByToken(hashToken(token))
      if (session !== undefined) yield* audit.session(session, "signed_out")
    })
    yield* storage.transaction(ended)
  })
