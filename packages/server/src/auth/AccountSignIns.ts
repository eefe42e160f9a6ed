import { maxIdentities, type SingleSignOnError } from "@delivery/domain/auth/SingleSignOn"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { IdentityId, PersonId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { sessionPersonId } from "../access/Access.ts"
import type { PersonRow } from "../access/ActorRows.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { InvitesRepo } from "../identity/InvitesRepo.ts"
import { Makers } from "../identity/Makers.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { Storage } from "../storage/Storage.ts"
import { IdentitiesRepo, type IdentityRow } from "./IdentitiesRepo.ts"
import type { Provider, ProvenAccount } from "./Provider.ts"
import { type Begun, type Browser, Sessions } from "./Sessions.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { holdToAdd } from "./WaysIn.ts"

/**
 * What an account at a provider is good for, once the provider has said whose it is (docs/contract.md, Single sign-on). An
 * account that is known is its person's. One that is not becomes a person's by an address that the provider has verified
 * and the person has proven. Nobody becomes a member of a workspace by it.
 */
export class AccountSignIns extends Context.Service<
  AccountSignIns,
  {
    readonly signIn: (
      provider: Provider,
      account: ProvenAccount,
      browser: Browser
    ) => Effect.Effect<Begun, SingleSignOnError>
    /** Adds the account to the ways in of the caller. */
    readonly link: (provider: Provider, account: ProvenAccount) => Effect.Effect<void, SingleSignOnError, Caller>
    /** The session of the caller goes on with a fresh proof; `other_account` where the account is not theirs. */
    readonly sudo: (
      provider: Provider,
      account: ProvenAccount,
      browser: Browser
    ) => Effect.Effect<Begun, SingleSignOnError, Caller>
  }
>()("@delivery/server/auth/AccountSignIns") {
  static readonly layer = Layer.effect(AccountSignIns, Effect.gen(make))
}

interface Dependencies {
  readonly audit: SignInAudit["Service"]
  readonly repo: IdentitiesRepo["Service"]
  readonly makers: Makers["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly invites: InvitesRepo["Service"]
  readonly sessions: Sessions["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    audit: yield* SignInAudit,
    repo: yield* IdentitiesRepo,
    makers: yield* Makers,
    blocks: yield* BlocksRepo,
    persons: yield* PersonsRepo,
    invites: yield* InvitesRepo,
    sessions: yield* Sessions,
    storage: yield* Storage,
    nextId: yield* NextId
  }
  return AccountSignIns.of({
    signIn: signIn(dependencies),
    link: link(dependencies),
    sudo: sudo(dependencies)
  })
}

/** In one transaction, and again where somebody stores the same account, or proves the same address, meanwhile: each once. */
const decided =
  ({ storage }: Dependencies) =>
  <A, E, R>(decide: Effect.Effect<A, E | UniqueViolation, R>): Effect.Effect<A, Exclude<E, UniqueViolation>, R> => {
    const isDuplicate = (error: E | UniqueViolation): error is UniqueViolation => error instanceof UniqueViolation
    return storage
      .transaction(decide)
      .pipe(Effect.retry({ times: 2, while: isDuplicate }), Effect.catchIf(isDuplicate, Effect.die)) as Effect.Effect<
      A,
      Exclude<E, UniqueViolation>,
      R
    >
  }

const isProven = (person: PersonRow | undefined): person is PersonRow =>
  person !== undefined && person.emailVerifiedAt !== null

/** Who has proven the address of the account, if the provider has verified it. */
const proverOf = Effect.fnUntraced(function* ({ persons }: Dependencies, { email, isVerified }: ProvenAccount) {
  if (!isVerified || email === null) return undefined
  const [first] = yield* persons.ofAddress(email)
  return isProven(first) ? first : undefined
})

/** Stores that the account is the person's, which nobody knew before. */
const add = Effect.fnUntraced(function* (
  { audit, nextId, persons, repo }: Dependencies,
  personId: PersonId,
  provider: Provider,
  { email, issuer, subject }: ProvenAccount,
  now: Timestamp
) {
  // Of two who add an account to the same person at once, the second counts the first.
  yield* persons.lock(personId)
  if ((yield* repo.ofPerson(personId)).length >= maxIdentities) return yield* Effect.fail("too_many" as const)
  const id = yield* nextId<IdentityId>()
  yield* repo.insert({ id, personId, provider: provider.id, issuer, subject, email, createdAt: now, lastUsedAt: now })
  yield* audit.wayIn(personId, "identity_added", { type: "identity", id, label: provider.id })
})

/** Stores a use of an account that is known. */
const use = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  { id, personId }: IdentityRow,
  provider: Provider,
  account: ProvenAccount,
  now: Timestamp
) {
  // As whoever adds an account does: in another order, two would wait for each other.
  yield* dependencies.persons.lock(personId)
  yield* dependencies.repo.use({ id, provider: provider.id, email: account.email, lastUsedAt: now })
  yield* proveAddress(dependencies, personId, account, now)
})

/** The word of a provider that it has verified an address proves it, unless somebody else has proven it. */
const proveAddress = Effect.fnUntraced(function* (
  { audit, persons }: Dependencies,
  personId: PersonId,
  { email, isVerified }: ProvenAccount,
  now: Timestamp
) {
  if (!isVerified || email === null) return
  const person = yield* persons.find(personId)
  if (person?.email !== email || isProven(person)) return
  const [first] = yield* persons.ofAddress(email)
  if (isProven(first)) return
  yield* persons.prove(personId, now)
  yield* audit.addressProven(personId)
})

const currentTime = Effect.map(Clock.currentTimeMillis, timestamp)

const signIn = (dependencies: Dependencies): AccountSignIns["Service"]["signIn"] => {
  const { repo, sessions } = dependencies
  const once = decided(dependencies)
  return Effect.fn("AccountSignIns.signIn")(function* (provider, account, browser) {
    const begun = Effect.gen(function* () {
      const now = yield* currentTime
      const known = yield* repo.findBySubject(account.issuer, account.subject)
      if (known !== undefined) yield* use(dependencies, known, provider, account, now)
      const personId = known?.personId ?? (yield* adopt(dependencies, provider, account, now))
      // A provider that knows the browser asks nobody anything: that proves no more than it did when it asked.
      const provedAt =
        account.provedAt === null ? undefined : timestamp(Math.min(account.provedAt, yield* Clock.currentTimeMillis))
      return yield* sessions.begin(personId, provider.method, browser, provedAt)
    })
    return yield* once(begun)
  })
}

/** Whose an account becomes that nobody has used yet: who has proven its address, or a new person whom somebody invited. */
const adopt = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  provider: Provider,
  account: ProvenAccount,
  now: Timestamp
) {
  const { invites, nextId, persons } = dependencies
  const { email, isVerified, name } = account
  if (!isVerified || email === null) return yield* Effect.fail("address_not_verified" as const)
  const prover = yield* proverOf(dependencies, account)
  if (prover === undefined && (yield* invites.pendingTo(email, now)).length === 0) {
    return yield* Effect.fail("no_account" as const)
  }
  const personId = prover?.id ?? (yield* nextId<PersonId>())
  if (prover === undefined) {
    const named = name ?? email.slice(0, email.indexOf("@")).slice(0, 100)
    yield* persons.insert({ id: personId, name: named, email, emailVerifiedAt: now, createdAt: now })
  }
  yield* add(dependencies, personId, provider, account, now)
  return personId
})

const link = (dependencies: Dependencies): AccountSignIns["Service"]["link"] => {
  const { persons, repo } = dependencies
  const once = decided(dependencies)
  return Effect.fn("AccountSignIns.link")(function* (provider, account) {
    const personId = yield* sessionPersonId
    const linked = Effect.gen(function* () {
      yield* persons.lock(personId)
      // Ended or blocked since it went to the provider.
      yield* Effect.mapError(holdToAdd(dependencies), () => "failed" as const)
      const now = yield* currentTime
      const known = yield* repo.findBySubject(account.issuer, account.subject)
      if (known === undefined) {
        yield* add(dependencies, personId, provider, account, now)
        return yield* proveAddress(dependencies, personId, account, now)
      }
      if (known.personId !== personId) return yield* Effect.fail("other_person" as const)
      return yield* use(dependencies, known, provider, account, now)
    })
    return yield* once(linked)
  })
}

const sudo = (dependencies: Dependencies): AccountSignIns["Service"]["sudo"] => {
  const { persons, repo, sessions } = dependencies
  const once = decided(dependencies)
  return Effect.fn("AccountSignIns.sudo")(function* (provider, account, browser) {
    const personId = yield* sessionPersonId
    const proved = Effect.gen(function* () {
      const now = yield* currentTime
      const known = yield* repo.findBySubject(account.issuer, account.subject)
      const owner = known?.personId ?? (yield* proverOf(dependencies, account))?.id
      if (owner !== personId) return yield* Effect.fail("other_account" as const)
      if (known === undefined) {
        // It becomes a way in, as one that is linked.
        yield* persons.lock(personId)
        yield* Effect.mapError(holdToAdd(dependencies), () => "failed" as const)
        yield* add(dependencies, personId, provider, account, now)
      } else yield* use(dependencies, known, provider, account, now)
      return yield* Effect.mapError(sessions.renew(browser, provider.method), () => "failed" as const)
    })
    return yield* once(proved)
  })
}
