import {
  type AddPasskey,
  challengeMillis,
  maxPasskeys,
  type Passkey,
  passkeyAlgorithms,
  type PasskeyCreationOptions,
  type PasskeyProof,
  type PasskeyRequestOptions
} from "@delivery/domain/auth/Passkey"
import { Conflict, type Forbidden, InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { PasskeyId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { freshProof, sessionPersonId } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { Mail } from "../identity/Mail.ts"
import { Makers } from "../identity/Makers.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { IdentitiesRepo } from "./IdentitiesRepo.ts"
import { PasskeyProofs } from "./PasskeyProofs.ts"
import { type PasskeyRow, PasskeysRepo } from "./PasskeysRepo.ts"
import { Providers } from "./Providers.ts"
import { type RelyingParty, relyingParty, userHandle } from "./RelyingParty.ts"
import { type Begun, type Browser, Sessions } from "./Sessions.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { type Throttled, Throttles } from "./Throttles.ts"
import { holdSession, holdToAdd, keepsWayIn, mayAddWaysIn } from "./WaysIn.ts"

/** Passkeys of persons (docs/contract.md, Passkeys). */
export class Passkeys extends Context.Service<
  Passkeys,
  {
    /** What the browser of whoever signs in is to ask for. */
    readonly signInOptions: (browser: Browser) => Effect.Effect<PasskeyRequestOptions, Throttled>
    readonly signIn: (proof: PasskeyProof, browser: Browser) => Effect.Effect<Begun, Unauthorized | Throttled>
    /** What the browser of a session is to ask for, to prove again whose it is: `Sessions.sudo`. */
    readonly sudoOptions: Effect.Effect<PasskeyRequestOptions, never, Caller>
    readonly list: Effect.Effect<ReadonlyArray<Passkey>, never, Caller>
    readonly addOptions: Effect.Effect<PasskeyCreationOptions, Forbidden | Conflict, Caller>
    /** Without a name, the passkey is called as the browser. */
    readonly add: (
      input: AddPasskey,
      browser: Browser
    ) => Effect.Effect<Passkey, Unauthorized | Forbidden | InvalidInput | Conflict, Caller>
    readonly rename: (id: string, name: string) => Effect.Effect<Passkey, NotFound, Caller>
    readonly remove: (id: string) => Effect.Effect<void, Unauthorized | Forbidden | NotFound | Conflict, Caller>
  }
>()("@delivery/server/auth/Passkeys") {
  static readonly layer = Layer.effect(Passkeys, Effect.gen(make))
}

interface Dependencies {
  readonly rp: RelyingParty
  readonly passkeys: PasskeysRepo["Service"]
  readonly proofs: PasskeyProofs["Service"]
  readonly sessions: Sessions["Service"]
  readonly audit: SignInAudit["Service"]
  readonly throttles: Throttles["Service"]
  readonly makers: Makers["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly mail: Mail["Service"]
  readonly identities: IdentitiesRepo["Service"]
  readonly providers: Providers["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    rp: relyingParty((yield* Settings).baseUrl),
    passkeys: yield* PasskeysRepo,
    proofs: yield* PasskeyProofs,
    sessions: yield* Sessions,
    audit: yield* SignInAudit,
    throttles: yield* Throttles,
    makers: yield* Makers,
    blocks: yield* BlocksRepo,
    persons: yield* PersonsRepo,
    mail: yield* Mail,
    identities: yield* IdentitiesRepo,
    providers: yield* Providers,
    storage: yield* Storage,
    nextId: yield* NextId
  }
  return Passkeys.of({
    signInOptions: signInOptions(dependencies),
    signIn: signIn(dependencies),
    sudoOptions: sudoOptions(dependencies),
    list: list(dependencies),
    addOptions: addOptions(dependencies),
    add: add(dependencies),
    rename: rename(dependencies),
    remove: remove(dependencies)
  })
}

const present = ({ createdAt, id, lastUsedAt, name, synced }: PasskeyRow): Passkey => ({
  id,
  name,
  createdAt,
  lastUsedAt,
  synced
})

const descriptor = ({ credentialId, transports }: PasskeyRow) => ({
  id: credentialId,
  type: "public-key" as const,
  transports
})

const requestOptions = (
  rp: RelyingParty,
  challenge: string,
  allowed: ReadonlyArray<PasskeyRow>
): PasskeyRequestOptions => ({
  rpId: rp.id,
  challenge,
  allowCredentials: allowed.map(descriptor),
  timeout: challengeMillis,
  userVerification: "required"
})

const signInOptions = ({ proofs, rp, throttles }: Dependencies) =>
  Effect.fn("Passkeys.signInOptions")(function* ({ address }: Browser) {
    yield* throttles.begin("passkeys", address)
    return requestOptions(rp, yield* proofs.challenge("sign_in", null), [])
  })

const signIn = ({ audit, passkeys, proofs, sessions, storage, throttles }: Dependencies) =>
  Effect.fn("Passkeys.signIn")(function* (proof: PasskeyProof, browser: Browser) {
    const begun = Effect.gen(function* () {
      const verified = yield* proofs.verify(proof, "sign_in", null)
      return yield* storage.transaction(
        Effect.flatMap(proofs.use(verified), (personId) => sessions.begin(personId, "passkey", browser))
      )
    })
    const failed = Effect.flatMap(passkeys.ofCredential(proof.id), (known) =>
      audit.failed("passkey", known === undefined ? [] : [known.personId])
    )
    return yield* Effect.tapError(throttles.prove(browser.address, begun), ({ _tag }) =>
      _tag === "Unauthorized" ? failed : Effect.void
    )
  })

const sudoOptions = ({ passkeys, proofs, rp }: Dependencies) =>
  Effect.gen(function* () {
    const personId = yield* sessionPersonId
    const allowed = yield* passkeys.ofPerson(personId)
    return requestOptions(rp, yield* proofs.challenge("sudo", personId), allowed)
  }).pipe(Effect.withSpan("Passkeys.sudoOptions"))

const list = ({ passkeys }: Dependencies) =>
  Effect.gen(function* () {
    return (yield* passkeys.ofPerson(yield* sessionPersonId)).map(present).toSorted(byName)
  }).pipe(Effect.withSpan("Passkeys.list"))

const tooManyPasskeys = () =>
  new Conflict({
    message: `You have ${maxPasskeys} passkeys, which is the limit. Remove one first.`,
    reason: "too_many_passkeys"
  })

const addOptions = (dependencies: Dependencies) => {
  const { passkeys, persons, proofs, rp } = dependencies
  return Effect.gen(function* () {
    yield* mayAddWaysIn(dependencies)
    yield* freshProof
    const personId = yield* sessionPersonId
    const known = yield* passkeys.ofPerson(personId)
    if (known.length >= maxPasskeys) return yield* tooManyPasskeys()
    const { email, name } = (yield* persons.find(personId))!
    return {
      rp: { id: rp.id, name: "Workspace Delivery Service" },
      user: { id: userHandle(personId), name: email, displayName: name },
      challenge: yield* proofs.challenge("add", personId),
      pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: "public-key" as const, alg })),
      timeout: challengeMillis,
      excludeCredentials: known.map(descriptor),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      attestation: "none"
    } satisfies PasskeyCreationOptions
  }).pipe(Effect.withSpan("Passkeys.addOptions"))
}

const passkeyExists = () => new Conflict({ message: "The passkey is known already.", reason: "passkey_exists" })

const subjectOf = ({ id, name }: Pick<PasskeyRow, "id" | "name">) => ({ type: "passkey", id, label: name })

const add = (dependencies: Dependencies) => {
  const { audit, nextId, passkeys, persons, proofs, storage } = dependencies
  return Effect.fn("Passkeys.add")(function* ({ name, response }: AddPasskey, browser: Browser) {
    yield* mayAddWaysIn(dependencies)
    yield* freshProof
    const personId = yield* sessionPersonId
    const credential = yield* Effect.catchTag(proofs.verifyNew(response, personId), "NotAsAsked", () =>
      Effect.fail(
        InvalidInput.at("response", "Expected a passkey as it was asked for, once, and in the last 5 minutes")
      )
    )
    const added = Effect.gen(function* () {
      yield* persons.lock(personId)
      yield* holdToAdd(dependencies)
      if ((yield* passkeys.ofCredential(credential.credentialId)) !== undefined) return yield* passkeyExists()
      if ((yield* passkeys.ofPerson(personId)).length >= maxPasskeys) return yield* tooManyPasskeys()
      const passkey: PasskeyRow = {
        ...credential,
        id: yield* nextId<PasskeyId>(),
        personId,
        name: name ?? browser.device,
        createdAt: timestamp(yield* Clock.currentTimeMillis),
        lastUsedAt: null
      }
      yield* passkeys.insert(passkey)
      yield* audit.wayIn(personId, "passkey_added", subjectOf(passkey))
      return present(passkey)
    })
    // Another person added it at the same time.
    return yield* Effect.catchTag(storage.transaction(added), "UniqueViolation", () => Effect.fail(passkeyExists()))
  })
}

const rename = ({ audit, passkeys, storage }: Dependencies) =>
  Effect.fn("Passkeys.rename")(function* (id: string, name: string) {
    const personId = yield* sessionPersonId
    const change = Effect.gen(function* () {
      const renamed = isId(id) ? yield* passkeys.rename(personId, id as PasskeyId, name) : undefined
      if (renamed === undefined) return yield* NotFound.of("passkey", id)
      yield* audit.wayIn(personId, "passkey_renamed", subjectOf(renamed))
      return present(renamed)
    })
    return yield* storage.transaction(change)
  })

const remove = (dependencies: Dependencies) => {
  const { audit, passkeys, persons, storage } = dependencies
  const keepWayIn = keepsWayIn(dependencies)
  return Effect.fn("Passkeys.remove")(function* (id: string) {
    yield* freshProof
    const personId = yield* sessionPersonId
    const removed = Effect.gen(function* () {
      yield* persons.lock(personId)
      const known = (yield* passkeys.ofPerson(personId)).find((passkey) => passkey.id === id)
      const isRemoved = known !== undefined && (yield* passkeys.remove(personId, known.id))
      if (!isRemoved) return yield* NotFound.of("passkey", id)
      // After the row of the passkey, as whoever proves with it that the session is theirs.
      yield* holdSession(dependencies)
      yield* keepWayIn(personId)
      yield* audit.wayIn(personId, "passkey_removed", subjectOf(known))
    })
    yield* storage.transaction(removed)
  })
}
