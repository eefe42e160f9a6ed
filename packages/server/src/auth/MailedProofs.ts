import type { AskForLink, SignInProof } from "@delivery/domain/auth/Session"
import { Conflict, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { MailedProofId, PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { sessionPersonId } from "../access/Access.ts"
import { auditedRequest } from "../audit/Audit.ts"
import { Settings } from "../Config.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { hashCode, isSecret, NewCode, readCode } from "../ids/Codes.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, isToken, NewToken } from "../ids/Tokens.ts"
import type { Browser } from "./Browser.ts"
import { proofLetter, signInLetter } from "./Letters.ts"
import { type MailedProofRow, MailedProofsRepo, type MailedPurpose } from "./MailedProofsRepo.ts"
import { Outbox } from "./Outbox.ts"
import { Storage } from "../storage/Storage.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { Throttles, type Throttled, tooMuchMail } from "./Throttles.ts"
import type { Counted } from "./ThrottlesRepo.ts"

/** How often a code may be tried. */
export const mostTries = 10

/** What a browser keeps to use what is mailed to it, and for how many milliseconds. */
export interface AskingBrowser {
  readonly secret: string
  readonly millis: number
}

/** A proof that works, until it is used. */
export interface FoundProof {
  readonly id: MailedProofId
  readonly personId: PersonId
  /** Whether it came from the browser that asked for it. */
  readonly isFromAsker: boolean
}

/** Links and codes that are mailed, to sign in and to prove an address (docs/contract.md, Sessions). */
export class MailedProofs extends Context.Service<
  MailedProofs,
  {
    /** Whether the server sends mail. */
    readonly isOffered: boolean
    /** Has a link and a code mailed to the address, if a person has proven it; the answer is the same if nobody has. */
    readonly askForLink: (input: AskForLink, browser: Browser) => Effect.Effect<AskingBrowser, Conflict | Throttled>
    /** Has a link and a code mailed to the caller, for the session of the browser. */
    readonly askForProof: (browser: Browser) => Effect.Effect<void, Conflict | Throttled, Caller>
    /** The proof, if it was mailed and works. Of a code this is a try, which counts whatever becomes of the transaction. */
    readonly find: (
      purpose: MailedPurpose,
      proof: SignInProof,
      secret: string | undefined
    ) => Effect.Effect<FoundProof | undefined>
    /** Whose proof it should have been that did not work to sign in: known by the link, or by the browser that asked for mail. */
    readonly whose: (proof: SignInProof, secret: string | undefined) => Effect.Effect<ReadonlyArray<PersonId>>
    /**
     * Uses a proof up, the link and the code: of those who do so at once, one succeeds. Then it does not count as a mail
     * that was asked for. Called in a transaction.
     */
    readonly use: (id: MailedProofId) => Effect.Effect<void, Unauthorized>
  }
>()("@delivery/server/auth/MailedProofs") {
  static readonly layer = Layer.effect(MailedProofs, Effect.gen(make))
}

interface Dependencies {
  readonly settings: Settings["Service"]
  readonly repo: MailedProofsRepo["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly outbox: Outbox["Service"]
  readonly throttles: Throttles["Service"]
  readonly audit: SignInAudit["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
  readonly newCode: NewCode["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    settings: yield* Settings,
    repo: yield* MailedProofsRepo,
    persons: yield* PersonsRepo,
    outbox: yield* Outbox,
    throttles: yield* Throttles,
    audit: yield* SignInAudit,
    storage: yield* Storage,
    nextId: yield* NextId,
    newToken: yield* NewToken,
    newCode: yield* NewCode
  }
  return MailedProofs.of({
    isOffered: dependencies.outbox.isSet,
    askForLink: askForLink(dependencies),
    askForProof: askForProof(dependencies),
    find: find(dependencies),
    whose: whose(dependencies),
    use: use(dependencies)
  })
}

const noMail = new Conflict({ message: "This server sends no mail.", reason: "no_mail" })

const askForLink = (dependencies: Dependencies) => {
  const { audit, newCode, outbox, persons, settings, storage, throttles } = dependencies
  const store = storeProof(dependencies)
  return Effect.fn("MailedProofs.askForLink")(function* ({ email }: AskForLink, browser: Browser) {
    if (!outbox.isSet) return yield* noMail
    const counted = yield* throttles.mail(browser.address, email)
    const { asked } = browser
    const secret = asked !== undefined && isSecret(asked) ? asked : yield* newCode.secret
    const now = yield* Clock.currentTimeMillis
    const request = yield* auditedRequest
    // All that depends on who has the address, or on nobody having it, happens after the answer.
    const write = Effect.gen(function* () {
      const [first] = yield* persons.ofAddress(email)
      const person = first === undefined || first.emailVerifiedAt === null ? undefined : first
      const personId = person?.id ?? null
      const stored = store({ purpose: "sign_in", personId, secret, now, counted })
      const told = personId === null ? stored : Effect.tap(stored, () => audit.linkMailed(personId, request))
      const { code, token } = yield* storage.transaction(told)
      if (person === undefined) return undefined
      const url = `${settings.baseUrl}/sign-in#${token}`
      const millis = settings.mailedProofMillis
      return signInLetter({ to: person.email, code, url, millis, asker: browser }, settings.baseUrl)
    })
    if (!(yield* outbox.post(write))) return yield* Effect.fail(tooMuchMail)
    return { secret, millis: settings.mailedProofMillis }
  })
}

const askForProof = (dependencies: Dependencies) => {
  const { audit, outbox, persons, settings, storage, throttles } = dependencies
  const store = storeProof(dependencies)
  return Effect.fn("MailedProofs.askForProof")(function* (browser: Browser) {
    if (!outbox.isSet) return yield* noMail
    const person = (yield* persons.find(yield* sessionPersonId))!
    const { credential } = yield* Caller
    const counted = yield* throttles.ownMail(browser.address, person.email)
    const now = yield* Clock.currentTimeMillis
    const request = yield* auditedRequest
    const write = Effect.gen(function* () {
      const secret = browser.token ?? ""
      const stored = store({ purpose: "address", personId: person.id, secret, now, counted })
      const told = Effect.tap(stored, () => audit.proofMailed(person.id, { credential, request }))
      const { code, token } = yield* storage.transaction(told)
      const url = `${settings.baseUrl}/sign-in#prove-${token}`
      const millis = settings.mailedProofMillis
      return proofLetter({ to: person.email, code, url, millis, asker: browser }, settings.baseUrl)
    })
    if (!(yield* outbox.post(write))) return yield* Effect.fail(tooMuchMail)
  })
}

/** A proof that is asked for, at a time. */
interface AskedProof extends Pick<MailedProofRow, "purpose" | "personId"> {
  readonly secret: string
  readonly now: number
  readonly counted: Counted
}

/** Stores a new proof for whoever has the secret. What is answered is in the letter, and nowhere else. */
const storeProof = ({ newCode, newToken, nextId, repo, settings }: Dependencies) =>
  Effect.fnUntraced(function* ({ counted, now, personId, purpose, secret }: AskedProof) {
    const token = yield* newToken("ltk_")
    const code = yield* newCode.code
    const proof: MailedProofRow = {
      id: yield* nextId<MailedProofId>(),
      personId,
      purpose,
      tokenHash: hashToken(token),
      codeHash: hashCode(secret, code),
      browserHash: hashToken(secret),
      tries: 0,
      createdAt: timestamp(now),
      expiresAt: timestamp(now + settings.mailedProofMillis),
      counter: counted.subject,
      countedFrom: counted.startedAt
    }
    yield* repo.insert(proof)
    return { token, code }
  })

const find = ({ repo }: Dependencies) =>
  Effect.fn("MailedProofs.find")(function* (purpose: MailedPurpose, proof: SignInProof, secret: string | undefined) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const { code: typed = "", token } = proof
    if (token !== undefined) {
      if (!isToken("ltk_", token)) return undefined
      const found = yield* repo.findByToken(purpose, hashToken(token), now)
      return found && foundProof(found, secret !== undefined && hashToken(secret) === found.browserHash)
    }
    const code = readCode(typed)
    if (secret === undefined || code === undefined) return undefined
    const tried = yield* repo.tryCode(purpose, hashToken(secret), now, mostTries)
    const codeHash = hashCode(secret, code)
    const found = tried.find((proof) => proof.codeHash === codeHash)
    return found && foundProof(found, true)
  })

const foundProof = ({ id, personId }: MailedProofRow, isFromAsker: boolean): FoundProof | undefined =>
  personId === null ? undefined : { id, personId, isFromAsker }

const whose = ({ repo }: Dependencies) =>
  Effect.fn("MailedProofs.whose")(function* ({ token = "" }: SignInProof, secret: string | undefined) {
    return yield* repo.personsOf("sign_in", { tokenHash: hashToken(token), browserHash: hashToken(secret ?? "") })
  })

const use = ({ repo, throttles }: Dependencies) =>
  Effect.fn("MailedProofs.use")(function* (id: MailedProofId) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const used = yield* repo.use(id, now)
    if (used === undefined) return yield* Effect.fail(Unauthorized.signInFailed)
    const { counter, countedFrom } = used
    if (counter !== null && countedFrom !== null)
      yield* throttles.giveBack({ subject: counter, startedAt: countedFrom })
  })
