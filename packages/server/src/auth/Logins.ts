import type {
  AskingProgram,
  DecidedLogin,
  DecideLogin,
  Login,
  RedeemLogin,
  StartedLogin,
  StartLogin
} from "@delivery/domain/auth/Logins"
import { loginIntervalSeconds, loginKeyMillis, loginMillis } from "@delivery/domain/auth/Logins"
import { Conflict, Forbidden, InvalidInput, NotFound, Unauthorized } from "@delivery/domain/Errors"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { LoginId } from "@delivery/domain/Ids"
import { distinctScopes, hasScopes } from "@delivery/domain/Scope"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { freshProof, sessionPersonId } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { ApiKeys } from "../identity/ApiKeys.ts"
import { expiryOf } from "../identity/Expiry.ts"
import { limitsOfKey } from "../identity/KeyChains.ts"
import { Makers } from "../identity/Makers.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { SessionsRepo } from "../identity/SessionsRepo.ts"
import { hashCode, NewCode, readCode } from "../ids/Codes.ts"
import { NextId } from "../ids/NextId.ts"
import { isVerified } from "../ids/Pkce.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { type LoginRow, LoginsRepo } from "./LoginsRepo.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { type Throttled, Throttles } from "./Throttles.ts"

/** Sign-ins of the command line through a browser (docs/contract.md, Sign-in of the command line). */
export class Logins extends Context.Service<
  Logins,
  {
    /** Begins a login for a program at the address. */
    readonly start: (input: StartLogin, address: string) => Effect.Effect<StartedLogin, InvalidInput | Throttled>
    readonly program: (id: string) => Effect.Effect<AskingProgram, NotFound>
    readonly get: (id: string) => Effect.Effect<Login, NotFound>
    /** Decides about a login, with a browser at the address. */
    readonly decide: (
      id: string,
      decision: DecideLogin,
      address: string
    ) => Effect.Effect<DecidedLogin, Unauthorized | InvalidInput | NotFound | Forbidden | Conflict | Throttled, Caller>
    /** Makes the key that was allowed, for a program at the address. */
    readonly redeem: (
      id: string,
      proof: RedeemLogin,
      address: string
    ) => Effect.Effect<NewApiKey, Unauthorized | Forbidden | Conflict | Throttled>
  }
>()("@delivery/server/auth/Logins") {
  static readonly layer = Layer.effect(Logins, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly codeMillis: number
  readonly repo: LoginsRepo["Service"]
  readonly apiKeys: ApiKeys["Service"]
  readonly makers: Makers["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly sessions: SessionsRepo["Service"]
  readonly throttles: Throttles["Service"]
  readonly audit: SignInAudit["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
  readonly newCode: NewCode["Service"]
}

function* make() {
  const { baseUrl, oauth } = yield* Settings
  const dependencies: Dependencies = {
    baseUrl,
    codeMillis: oauth.codeMillis,
    repo: yield* LoginsRepo,
    apiKeys: yield* ApiKeys,
    makers: yield* Makers,
    persons: yield* PersonsRepo,
    sessions: yield* SessionsRepo,
    throttles: yield* Throttles,
    audit: yield* SignInAudit,
    storage: yield* Storage,
    nextId: yield* NextId,
    newToken: yield* NewToken,
    newCode: yield* NewCode
  }
  return Logins.of({
    start: start(dependencies),
    program: program(dependencies),
    get: get(dependencies),
    decide: decide(dependencies),
    redeem: redeem(dependencies)
  })
}

const start = ({ baseUrl, newCode, nextId, repo, throttles }: Dependencies) =>
  Effect.fn("Logins.start")(function* (input: StartLogin, address: string) {
    const now = yield* Clock.currentTimeMillis
    const keyExpiresAt = (yield* expiry(input.keyExpiresAt)) ?? timestamp(now + loginKeyMillis)
    yield* throttles.login(address)
    const id = yield* nextId<LoginId>()
    const userCode = input.redirectUri === undefined ? yield* newCode.code : null
    const expiresAt = timestamp(now + loginMillis)
    yield* repo.insert({
      id,
      state: "pending",
      name: input.name,
      scopes: distinctScopes(input.scopes ?? null),
      keyExpiresAt,
      codeChallenge: input.codeChallenge,
      redirectUri: input.redirectUri ?? null,
      // It proves nothing by itself: who knows it still has to have somebody type it.
      userCodeHash: userCode && hashCode(id, userCode),
      address,
      createdAt: timestamp(now),
      expiresAt,
      personId: null,
      sessionId: null,
      codeHash: null
    })
    return {
      id,
      url: `${baseUrl}/cli#${id}`,
      userCode: userCode && `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
      expiresAt,
      interval: loginIntervalSeconds
    }
  })

/** When a key is to end, checked as for any key. */
const expiry = (asked: string | undefined) =>
  Effect.mapError(expiryOf(asked), ({ issues }) => InvalidInput.at("keyExpiresAt", issues[0]!.message))

const absent = (id: string) => NotFound.of("login", id)

/** The login, whatever was decided, unless it has expired. */
const look = ({ repo }: Dependencies, how: "find" | "lock") =>
  Effect.fnUntraced(function* (id: string) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    return isId(id) ? yield* repo[how](id as LoginId, now) : undefined
  })

const ifPending = (id: string, login: LoginRow | undefined) =>
  login?.state === "pending" ? Effect.succeed(login) : Effect.fail(absent(id))

/** The login, if somebody can still decide about it. */
const pending = (dependencies: Dependencies) => {
  const find = look(dependencies, "find")
  return (id: string) => Effect.flatMap(find(id), (login) => ifPending(id, login))
}

const asking = ({ name, redirectUri }: LoginRow) => ({
  name,
  host: redirectUri === null ? null : new URL(redirectUri).host
})

const program = (dependencies: Dependencies) => {
  const find = pending(dependencies)
  return Effect.fn("Logins.program")(function* (id: string) {
    return asking(yield* find(id))
  })
}

const get = (dependencies: Dependencies) => {
  const find = pending(dependencies)
  return Effect.fn("Logins.get")(function* (id: string) {
    const login = yield* find(id)
    const { address, createdAt, expiresAt, keyExpiresAt, scopes } = login
    return { id: login.id, ...asking(login), address, scopes, keyExpiresAt, createdAt, expiresAt }
  })
}

const decide = (dependencies: Dependencies) => {
  const { audit, makers, repo, storage } = dependencies
  const find = pending(dependencies)
  const lock = look(dependencies, "lock")
  const check = checkAllowed(dependencies)
  const allowed = allow(dependencies)
  const held = Effect.mapError(makers.hold, () => Unauthorized.session)
  return Effect.fn("Logins.decide")(function* (id: string, decision: DecideLogin, address: string) {
    const personId = yield* sessionPersonId
    if (decision.allow) {
      yield* freshProof
      yield* check(yield* find(id), decision, address)
    }
    const decided = Effect.gen(function* () {
      const login = yield* Effect.flatMap(Effect.tap(lock(id), held), (login) => ifPending(id, login))
      if (decision.allow) return yield* allowed(login, decision)
      yield* repo.decide({ ...login, state: "denied" })
      yield* audit.login(personId, "login_denied", login)
      return { location: answerTo(login, { error: "access_denied" }) }
    })
    return yield* storage.transaction(decided)
  })
}

type Allowing = Extract<DecideLogin, { readonly allow: true }>

/** In another tab of the browser somebody else has signed in. */
const otherPerson = new Conflict({
  message: "Somebody else is signed in now than the person to whom this was shown.",
  reason: "other_person"
})

/** What is allowed must be what was asked for, or less, by whoever sees the terminal. */
const checkAllowed = ({ throttles }: Dependencies) =>
  Effect.fnUntraced(function* (login: LoginRow, decision: Allowing, address: string) {
    if (decision.person !== undefined && decision.person !== (yield* sessionPersonId)) return yield* otherPerson
    const keyExpiresAt = yield* expiry(decision.keyExpiresAt)
    if (keyExpiresAt !== null && keyExpiresAt > login.keyExpiresAt) {
      return yield* InvalidInput.at("keyExpiresAt", "Expected a time that is not after the one that was asked for")
    }
    if (decision.scopes !== undefined && !hasScopes(login.scopes, decision.scopes)) {
      return yield* InvalidInput.at("scopes", "Expected no scopes but those that were asked for")
    }
    if (login.userCodeHash !== null) yield* throttles.guess(address, typed(login, decision))
  })

const typed = ({ id, userCodeHash }: LoginRow, { userCode }: Allowing) =>
  Effect.suspend(() => {
    const code = userCode === undefined ? undefined : readCode(userCode)
    return code !== undefined && hashCode(id, code) === userCodeHash
      ? Effect.void
      : Effect.fail(InvalidInput.at("userCode", "Expected the code that the terminal shows"))
  })

const allow = ({ audit, codeMillis, newToken, repo }: Dependencies) =>
  Effect.fnUntraced(function* (login: LoginRow, decision: Allowing) {
    const personId = yield* sessionPersonId
    const { credential } = yield* Caller
    const now = yield* Clock.currentTimeMillis
    const code = login.redirectUri === null ? null : yield* newToken("otk_")
    const name = decision.name ?? login.name
    const scopes = decision.scopes === undefined ? login.scopes : distinctScopes(decision.scopes)
    const keyExpiresAt = (yield* expiry(decision.keyExpiresAt)) ?? login.keyExpiresAt
    yield* repo.decide({
      id: login.id,
      state: "allowed",
      name,
      scopes,
      keyExpiresAt,
      // A program that asks by itself has what is left of the ten minutes.
      expiresAt: code === null ? login.expiresAt : timestamp(now + codeMillis),
      personId,
      sessionId: credential.id as LoginRow["sessionId"],
      codeHash: code && hashToken(code)
    })
    yield* audit.login(personId, "login_allowed", { id: login.id, name }, [
      { field: "address", from: null, to: login.address },
      ...limitsOfKey({ scopes, expiresAt: keyExpiresAt })
    ])
    return { location: code && answerTo(login, { code }) }
  })

/** Where the browser brings the answer to the program; null where the program asks by itself. */
const answerTo = ({ id, redirectUri }: LoginRow, answer: Readonly<Record<string, string>>): string | null => {
  if (redirectUri === null) return null
  const url = new URL(redirectUri)
  for (const [field, value] of Object.entries({ ...answer, state: id })) url.searchParams.set(field, value)
  return url.href
}

const notDecided = new Conflict({
  message: "Nobody has decided yet. Ask again later.",
  reason: "authorization_pending"
})
const denied = new Forbidden({ message: "The sign-in was refused in the browser.", reason: "access_denied" })

const redeem = (dependencies: Dependencies) => {
  const { repo, storage, throttles } = dependencies
  const makeKey = keyOf(dependencies)
  return Effect.fn("Logins.redeem")(function* (id: string, { code, codeVerifier }: RedeemLogin, address: string) {
    const proved = Effect.fnUntraced(function* (how: "find" | "lock") {
      const login = yield* look(dependencies, how)(id)
      if (login === undefined || !isVerified(login.codeChallenge, codeVerifier)) return yield* Unauthorized.signInFailed
      if (login.state === "pending") return yield* notDecided
      if (login.state === "denied") return yield* denied
      if (login.codeHash !== null && hashToken(code ?? "") !== login.codeHash) return yield* Unauthorized.signInFailed
      return login
    })
    const redeemed = Effect.gen(function* () {
      const login = yield* proved("lock")
      yield* repo.delete(login.id)
      return yield* makeKey(login)
    })
    // Whoever asks again and again takes no lock for it.
    return yield* throttles.prove(address, Effect.andThen(proved("find"), storage.transaction(redeemed)))
  })
}

/** The key, as the person makes it in the session in which they allowed it: one that has ended makes nothing. */
const keyOf = ({ apiKeys, persons, sessions }: Dependencies) =>
  Effect.fnUntraced(function* ({ keyExpiresAt, name, personId, scopes, sessionId }: LoginRow) {
    const person = personId === null ? undefined : yield* persons.find(personId)
    const session = (personId === null ? [] : yield* sessions.ofPerson(personId)).find(({ id }) => id === sessionId)
    if (person === undefined || session === undefined) return yield* Unauthorized.signInFailed
    const caller = Caller.of({
      principal: { kind: "user", id: person.id, name: person.name, email: person.email },
      membership: undefined,
      // The proof was fresh when it was allowed.
      credential: { kind: "session", id: session.id, lastFour: session.lastFour }
    })
    return yield* apiKeys.create({ name, scopes, expiresAt: keyExpiresAt }).pipe(
      Effect.provideService(Caller, caller),
      // The session has ended, or the key would have expired by now.
      Effect.catchTags({
        Unauthorized: () => Effect.fail(Unauthorized.signInFailed),
        InvalidInput: () => Effect.fail(Unauthorized.signInFailed)
      })
    )
  })
