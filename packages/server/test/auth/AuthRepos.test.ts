import { assert } from "@effect/vitest"
import type {
  IdentityId,
  LoginId,
  MailedProofId,
  PasskeyId,
  PersonId,
  SessionId,
  SignInFlowId,
  SignInLinkId
} from "@delivery/domain/Ids"
import { Effect } from "effect"
import { IdentitiesRepo, type IdentityRow } from "../../src/auth/IdentitiesRepo.ts"
import { KnownDevicesRepo } from "../../src/auth/KnownDevicesRepo.ts"
import { type LoginRow, LoginsRepo } from "../../src/auth/LoginsRepo.ts"
import { type MailedProofRow, MailedProofsRepo } from "../../src/auth/MailedProofsRepo.ts"
import { type PasskeyRow, PasskeysRepo } from "../../src/auth/PasskeysRepo.ts"
import { type SignInFlowRow, SignInFlowsRepo } from "../../src/auth/SignInFlowsRepo.ts"
import { SignInLinksRepo } from "../../src/auth/SignInLinksRepo.ts"
import { ThrottlesRepo } from "../../src/auth/ThrottlesRepo.ts"
import { type SessionRow, SessionsRepo } from "../../src/identity/SessionsRepo.ts"
import { addMember, addPerson, addWorkspace, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

/** Both storages of sessions, links, passkeys and throttles, against the same expectations. */

const atOnce = { concurrency: "unbounded" } as const

const sessionRow = (personId: PersonId, fields: Partial<SessionRow> = {}): SessionRow => ({
  id: newId<SessionId>(),
  personId,
  tokenHash: unique("hash"),
  lastFour: "wxyz",
  method: "link",
  device: "Firefox on Linux",
  address: "203.0.113.7",
  createdAt: minute(1),
  lastSeenAt: minute(1),
  provedAt: minute(1),
  ...fields
})

const addSession = Effect.fnUntraced(function* (personId: PersonId, fields: Partial<SessionRow> = {}) {
  const session = sessionRow(personId, fields)
  yield* (yield* SessionsRepo).insert(session)
  return session
})

const isLive = Effect.fnUntraced(function* ({ tokenHash }: SessionRow) {
  return (yield* (yield* SessionsRepo).authenticate({ tokenHash, workspace: undefined })) !== undefined
})

onEachStorage("Auth repositories", (it) => {
  it.describe("SessionsRepo", () => {
    it.effect("authenticates a session, with the active membership in the workspace of the path", () =>
      Effect.gen(function* () {
        const repo = yield* SessionsRepo
        const [workspace, other, left] = [yield* addWorkspace(), yield* addWorkspace(), yield* addWorkspace()]
        const person = yield* addPerson()
        yield* addMember(workspace, "admin", { person })
        yield* addMember(left, "owner", { person, active: false })
        const session = yield* addSession(person.id)
        const { tokenHash } = session
        const asked = [workspace.slug, workspace.id, other.slug, left.slug, "none", "", newId<string>(), undefined]
        const found = yield* Effect.forEach(asked, (workspace) => repo.authenticate({ tokenHash, workspace }), atOnce)
        const membership = { id: workspace.id, slug: workspace.slug, name: workspace.name, role: "admin" }
        const { email, id, name } = person
        assert.deepStrictEqual(
          found.map((one) => one && { person: one.person, membership: one.membership }),
          asked.map((_, index) => ({
            person: { id, name, email },
            membership: index < 2 ? (membership as never) : undefined
          }))
        )
        for (const one of found) {
          // A storage may answer more of it than is asked for.
          assert.containsAllKeys(one!.session, ["id", "lastFour", "createdAt", "lastSeenAt", "provedAt"])
          assert.deepInclude(session, one!.session)
        }
        assert.isUndefined(yield* repo.authenticate({ tokenHash: "none", workspace: workspace.slug }))
      })
    )

    it.effect("gives a session one new token, whoever else proves at once", () =>
      Effect.gen(function* () {
        const repo = yield* SessionsRepo
        const session = yield* addSession((yield* addPerson()).id)
        const proofs = Array.from({ length: 5 }, () => ({
          tokenHash: unique("hash"),
          lastFour: "abcd",
          provedAt: minute(9)
        }))
        const proved = yield* Effect.forEach(
          proofs,
          (proof) => repo.prove(session.id, session.tokenHash, proof),
          atOnce
        )
        assert.deepStrictEqual(proved.filter(Boolean), [true])
        assert.isFalse(yield* isLive(session))
        const rotated = { ...session, ...proofs[proved.indexOf(true)] }
        assert.deepStrictEqual(yield* repo.ofPerson(session.personId), [rotated])
        yield* repo.end(session.personId, session.id)
        assert.isFalse(yield* repo.prove(session.id, rotated.tokenHash, proofs[0]!))
      })
    )

    it.effect("ends sessions of their person alone", () =>
      Effect.gen(function* () {
        const repo = yield* SessionsRepo
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const [first, second, third] = [
          yield* addSession(person.id),
          yield* addSession(person.id),
          yield* addSession(person.id)
        ]
        const others = yield* addSession(other.id)
        assert.isUndefined(yield* repo.end(other.id, first.id))
        assert.sameDeepMembers([...(yield* repo.endOthers(person.id, first.id))], [second, third])
        assert.deepStrictEqual(yield* repo.endOthers(person.id, first.id), [])
        assert.deepStrictEqual(yield* Effect.forEach([first, second, third, others], isLive), [
          true,
          false,
          false,
          true
        ])
        assert.deepStrictEqual(yield* repo.end(person.id, first.id), first)
        assert.isUndefined(yield* repo.end(person.id, first.id))
        assert.deepStrictEqual(yield* repo.endByToken(others.tokenHash), others)
        assert.isUndefined(yield* repo.endByToken(others.tokenHash))
        assert.deepStrictEqual(yield* Effect.forEach([first, others], isLive), [false, false])
      })
    )

    it.effect("moves the time of the last request forward, never back, and ends what is too old by either time", () =>
      Effect.gen(function* () {
        const repo = yield* SessionsRepo
        const { id } = yield* addPerson()
        // Long before the sessions of other tests.
        const ago = (minutes: number) => minute(minutes - 1_000_000)
        const seen = yield* addSession(id, { createdAt: ago(5), lastSeenAt: ago(5) })
        const unseen = yield* addSession(id, { createdAt: ago(5), lastSeenAt: ago(5) })
        const old = yield* addSession(id, { createdAt: ago(2), lastSeenAt: ago(8) })
        yield* repo.touch(
          new Map([
            [seen.id, ago(8)],
            [unseen.id, ago(4)],
            [newId<SessionId>(), ago(9)]
          ])
        )
        const times = new Map((yield* repo.ofPerson(id)).map((session) => [session.id, session.lastSeenAt]))
        assert.deepStrictEqual([times.get(seen.id), times.get(unseen.id)], [ago(8), ago(5)])
        yield* repo.endOld(ago(3), ago(6))
        assert.deepStrictEqual(yield* Effect.forEach([seen, unseen, old], isLive), [true, false, false])
      })
    )
  })

  it.describe("SignInLinksRepo", () => {
    const addLink = Effect.fnUntraced(function* (personId: PersonId) {
      const link = {
        id: newId<SignInLinkId>(),
        personId,
        tokenHash: unique("hash"),
        createdAt: minute(1),
        expiresAt: minute(61)
      }
      yield* (yield* SignInLinksRepo).insert(link)
      return link.tokenHash
    })

    it.effect("uses a link once, by whoever it is tried at once", () =>
      Effect.gen(function* () {
        const repo = yield* SignInLinksRepo
        const { id } = yield* addPerson()
        const hash = yield* addLink(id)
        const used = yield* Effect.forEach(Array.from({ length: 50 }), () => repo.use(hash, minute(2)), atOnce)
        assert.deepStrictEqual(
          used.filter((found) => found !== undefined),
          [id]
        )
      })
    )

    it.effect("leaves a link good that has expired for nobody, and for whom it is not", () =>
      Effect.gen(function* () {
        const repo = yield* SignInLinksRepo
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const hash = yield* addLink(person.id)
        assert.isUndefined(yield* repo.use(hash, minute(61)))
        assert.isUndefined(yield* repo.use(hash, minute(2), other.id))
        assert.isUndefined(yield* repo.use("none", minute(2)))
        assert.strictEqual(yield* repo.use(hash, minute(2), person.id), person.id)
      })
    )
  })

  it.describe("PasskeysRepo", () => {
    const addPasskey = Effect.fnUntraced(function* (personId: PersonId, fields: Partial<PasskeyRow> = {}) {
      const passkey: PasskeyRow = {
        id: newId<PasskeyId>(),
        personId,
        name: "Laptop",
        credentialId: unique("credential"),
        publicKey: "pQEC",
        counter: 0,
        transports: ["internal", "hybrid"],
        backupEligible: true,
        synced: false,
        createdAt: minute(1),
        lastUsedAt: null,
        ...fields
      }
      yield* (yield* PasskeysRepo).insert(passkey)
      return passkey
    })

    it.effect("finds a passkey by its credential, which no other has, and those of a person", () =>
      Effect.gen(function* () {
        const repo = yield* PasskeysRepo
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const passkey = yield* addPasskey(person.id)
        const second = yield* addPasskey(person.id, { lastUsedAt: minute(2), counter: 4_294_967_295 })
        const { credentialId } = passkey
        assert.deepStrictEqual(yield* repo.ofCredential(credentialId), passkey)
        assert.isUndefined(yield* repo.ofCredential("none"))
        assert.sameDeepMembers([...(yield* repo.ofPerson(person.id))], [passkey, second])
        assert.deepStrictEqual(yield* repo.ofPerson(other.id), [])
        const again = yield* Effect.flip(addPasskey(other.id, { credentialId }))
        assert.strictEqual(again.constraint, "passkeys_credential_id_key")
      })
    )

    it.effect("renames and removes a passkey for its person alone", () =>
      Effect.gen(function* () {
        const repo = yield* PasskeysRepo
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const passkey = yield* addPasskey(person.id)
        assert.isUndefined(yield* repo.rename(other.id, passkey.id, "Mine"))
        assert.isFalse(yield* repo.remove(other.id, passkey.id))
        const renamed = { ...passkey, name: "Key" }
        assert.deepStrictEqual(yield* repo.rename(person.id, passkey.id, "Key"), renamed)
        assert.deepStrictEqual(yield* repo.ofPerson(person.id), [renamed])
        assert.isTrue(yield* repo.remove(person.id, passkey.id))
        assert.isFalse(yield* repo.remove(person.id, passkey.id))
        assert.isFalse(yield* repo.use({ id: passkey.id, counter: 1, synced: true, lastUsedAt: minute(2) }))
      })
    )

    it.effect("stores one of the uses with one counter, and every use of a device that does not count", () =>
      Effect.gen(function* () {
        const repo = yield* PasskeysRepo
        const { id: personId } = yield* addPerson()
        const [counts, never] = [yield* addPasskey(personId, { counter: 3 }), yield* addPasskey(personId)]
        const used = (passkey: PasskeyRow, counter: number, times = 1) =>
          Effect.map(
            Effect.forEach(
              Array.from({ length: times }),
              () => repo.use({ id: passkey.id, counter, synced: true, lastUsedAt: minute(5) }),
              atOnce
            ),
            (stored) => stored.filter(Boolean).length
          )
        assert.strictEqual(yield* used(counts, 3), 0)
        assert.strictEqual(yield* used(counts, 2), 0)
        assert.strictEqual(yield* used(counts, 0), 0)
        assert.strictEqual(yield* used(counts, 4, 20), 1)
        assert.deepStrictEqual(yield* repo.ofCredential(counts.credentialId), {
          ...counts,
          counter: 4,
          synced: true,
          lastUsedAt: minute(5)
        })
        assert.strictEqual(yield* used(never, 0, 5), 5)
        assert.strictEqual(yield* used(never, 1, 5), 1)
      })
    )

    it.effect("uses a challenge once, for whom and what it is, until it expires", () =>
      Effect.gen(function* () {
        const repo = yield* PasskeysRepo
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const add = Effect.fnUntraced(function* (purpose: "sign_in" | "sudo", personId: PersonId | null) {
          const challenge = { challengeHash: unique("hash"), purpose, personId }
          yield* repo.addChallenge({ ...challenge, createdAt: minute(1), expiresAt: minute(6) })
          return challenge
        })
        const [signIn, sudo] = [yield* add("sign_in", null), yield* add("sudo", person.id)]
        assert.isFalse(yield* repo.useChallenge({ ...signIn, personId: person.id }, minute(2)))
        assert.isFalse(yield* repo.useChallenge({ ...signIn, purpose: "add" }, minute(2)))
        assert.isFalse(yield* repo.useChallenge(signIn, minute(6)))
        for (const personId of [null, other.id]) {
          assert.isFalse(yield* repo.useChallenge({ ...sudo, personId }, minute(2)))
        }
        assert.isTrue(yield* repo.useChallenge(sudo, minute(5)))
        const used = yield* Effect.forEach(
          Array.from({ length: 50 }),
          () => repo.useChallenge(signIn, minute(5)),
          atOnce
        )
        assert.deepStrictEqual(used.filter(Boolean), [true])
        // Those that have expired are forgotten with the next.
        const old = yield* add("sign_in", null)
        yield* repo.addChallenge({
          ...signIn,
          challengeHash: unique("hash"),
          createdAt: minute(6),
          expiresAt: minute(11)
        })
        assert.isFalse(yield* repo.useChallenge(old, minute(2)))
      })
    )
  })

  it.describe("MailedProofsRepo", () => {
    const addProof = Effect.fnUntraced(function* (fields: Partial<MailedProofRow> = {}) {
      const proof: MailedProofRow = {
        id: newId<MailedProofId>(),
        personId: null,
        purpose: "sign_in",
        tokenHash: unique("hash"),
        codeHash: unique("code"),
        browserHash: unique("browser"),
        tries: 0,
        createdAt: minute(1),
        expiresAt: minute(16),
        counter: unique("counter"),
        countedFrom: minute(0),
        ...fields
      }
      yield* (yield* MailedProofsRepo).insert(proof)
      return proof
    })

    it.effect("finds a proof by its token while it lasts, for what it is good for", () =>
      Effect.gen(function* () {
        const repo = yield* MailedProofsRepo
        const proof = yield* addProof({ personId: (yield* addPerson()).id })
        assert.deepStrictEqual(yield* repo.findByToken("sign_in", proof.tokenHash, minute(15)), proof)
        assert.isUndefined(yield* repo.findByToken("sign_in", proof.tokenHash, minute(16)))
        assert.isUndefined(yield* repo.findByToken("address", proof.tokenHash, minute(15)))
        assert.isUndefined(yield* repo.findByToken("sign_in", "none", minute(15)))
      })
    )

    it.effect("counts each try of a code for all proofs of its browser, and answers as many as may be", () =>
      Effect.gen(function* () {
        const repo = yield* MailedProofsRepo
        const { browserHash, ...first } = yield* addProof()
        const second = yield* addProof({ browserHash, tries: 8 })
        yield* addProof({ browserHash, purpose: "address" })
        yield* addProof({ browserHash, expiresAt: minute(2) })
        yield* addProof()
        const tried = yield* Effect.forEach(
          Array.from({ length: 50 }),
          () => repo.tryCode("sign_in", browserHash, minute(2), 10),
          atOnce
        )
        const tries = (id: MailedProofId) =>
          tried
            .flat()
            .filter((proof) => proof.id === id)
            .map((proof) => proof.tries)
            .toSorted((a, b) => a - b)
        assert.deepStrictEqual(
          tries(first.id),
          Array.from({ length: 10 }, (_, index) => index + 1)
        )
        assert.deepStrictEqual(tries(second.id), [9, 10])
        assert.lengthOf(tried.flat(), 12)
      })
    )

    it.effect("uses a proof once, by whoever it is tried at once, and not when it has expired", () =>
      Effect.gen(function* () {
        const repo = yield* MailedProofsRepo
        const proof = yield* addProof()
        const { id, tokenHash } = proof
        assert.isUndefined(yield* repo.use(id, minute(16)))
        const used = yield* Effect.forEach(Array.from({ length: 50 }), () => repo.use(id, minute(2)), atOnce)
        assert.deepStrictEqual(
          used.filter((one) => one !== undefined),
          [proof]
        )
        assert.isUndefined(yield* repo.findByToken("sign_in", tokenHash, minute(2)))
      })
    )

    it.effect("says whose mails a browser asked for, and whose link it is, also when it has expired", () =>
      Effect.gen(function* () {
        const repo = yield* MailedProofsRepo
        const [{ id: asker }, { id: other }] = [yield* addPerson(), yield* addPerson()]
        const { browserHash } = yield* addProof({ personId: asker })
        yield* addProof({ personId: asker, browserHash })
        yield* addProof({ browserHash })
        yield* addProof({ personId: (yield* addPerson()).id, browserHash, purpose: "address" })
        const { tokenHash } = yield* addProof({ personId: other, expiresAt: minute(2) })
        const whose = (of: { readonly tokenHash: string; readonly browserHash: string }) =>
          repo.personsOf("sign_in", of)
        assert.deepStrictEqual(yield* whose({ browserHash, tokenHash: "none" }), [asker])
        assert.deepStrictEqual(yield* whose({ browserHash: "none", tokenHash }), [other])
        assert.sameMembers([...(yield* whose({ browserHash, tokenHash }))], [asker, other])
        assert.deepStrictEqual(yield* whose({ browserHash: "none", tokenHash: "none" }), [])
      })
    )

    it.effect("forgets what has expired with the next proof", () =>
      Effect.gen(function* () {
        const repo = yield* MailedProofsRepo
        const old = yield* addProof({ createdAt: minute(-99), expiresAt: minute(-98) })
        yield* addProof({ createdAt: minute(-97), expiresAt: minute(-96) })
        assert.isUndefined(yield* repo.findByToken("sign_in", old.tokenHash, minute(-99)))
      })
    )
  })

  it.describe("KnownDevicesRepo", () => {
    it.effect("knows a device of a person by its words and its network, from its first sign-in on", () =>
      Effect.gen(function* () {
        const { see } = yield* KnownDevicesRepo
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const device = { personId: person.id, device: "Firefox on Linux", network: "203.0.113.7", seenAt: minute(1) }
        const firsts = yield* Effect.forEach(Array.from({ length: 20 }), () => see(device, minute(-10)), atOnce)
        assert.lengthOf(firsts.filter(Boolean), 1)
        for (const changed of [{ personId: other.id }, { device: "Safari on macOS" }, { network: "203.0.113.8" }]) {
          assert.isTrue(yield* see({ ...device, ...changed }, minute(-10)))
          assert.isFalse(yield* see({ ...device, ...changed }, minute(-10)))
        }
      })
    )

    it.effect("forgets a device that nobody signs in with", () =>
      Effect.gen(function* () {
        const { see } = yield* KnownDevicesRepo
        const { id: personId } = yield* addPerson()
        // Long before the devices of other tests.
        const ago = (minutes: number) => minute(minutes - 1_000_000)
        const device = (network: string, at: number) => ({ personId, device: "Edge", network, seenAt: ago(at) })
        yield* see(device("used", 1), ago(0))
        yield* see(device("left", 1), ago(0))
        assert.isFalse(yield* see(device("used", 5), ago(0)))
        yield* see(device("new", 6), ago(4))
        assert.isFalse(yield* see(device("used", 6), ago(4)))
        assert.isTrue(yield* see(device("left", 6), ago(4)))
      })
    )
  })

  it.describe("IdentitiesRepo", () => {
    const addIdentity = Effect.fnUntraced(function* (personId: PersonId, fields: Partial<IdentityRow> = {}) {
      const identity: IdentityRow = {
        id: newId<IdentityId>(),
        personId,
        provider: "corp",
        issuer: "https://login.corp.example",
        subject: unique("subject"),
        email: null,
        createdAt: minute(1),
        lastUsedAt: minute(1),
        ...fields
      }
      yield* (yield* IdentitiesRepo).insert(identity)
      return identity
    })

    it.effect("keeps each account of an issuer for one person", () =>
      Effect.gen(function* () {
        const repo = yield* IdentitiesRepo
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const later = yield* addIdentity(person.id, { createdAt: minute(2) })
        const { issuer, subject } = later
        const elsewhere = yield* addIdentity(person.id, { issuer: "https://other.example", subject })
        for (const { id } of [person, other]) {
          const { _tag, constraint } = yield* Effect.flip(addIdentity(id, { subject }))
          assert.deepStrictEqual([_tag, constraint], ["UniqueViolation", "identities_subject_key"])
        }
        assert.deepStrictEqual(yield* repo.findBySubject(issuer, subject), later)
        assert.isUndefined(yield* repo.findBySubject(issuer, subject.toUpperCase()))
        assert.deepStrictEqual(yield* repo.ofPerson(person.id), [elsewhere, later])
        assert.deepStrictEqual(yield* repo.ofPerson(other.id), [])
      })
    )

    it.effect("stores a use, and forgets an identity", () =>
      Effect.gen(function* () {
        const repo = yield* IdentitiesRepo
        const person = yield* addPerson()
        const [used, gone] = [yield* addIdentity(person.id), yield* addIdentity(person.id)]
        const use = { id: used.id, provider: "renamed", email: "a@example.com", lastUsedAt: minute(3) }
        yield* repo.use(use)
        yield* repo.delete(gone.id)
        yield* repo.use({ ...use, id: gone.id })
        assert.deepStrictEqual(yield* repo.ofPerson(person.id), [{ ...used, ...use }])
      })
    )
  })

  it.describe("SignInFlowsRepo", () => {
    const addFlow = Effect.fnUntraced(function* (fields: Partial<SignInFlowRow> = {}) {
      const flow: SignInFlowRow = {
        id: newId<SignInFlowId>(),
        stateHash: unique("state"),
        browserHash: unique("browser"),
        provider: "corp",
        purpose: "sign-in",
        returnTo: "/",
        sessionId: null,
        createdAt: minute(1),
        expiresAt: minute(11),
        ...fields
      }
      yield* (yield* SignInFlowsRepo).insert(flow)
      return flow
    })

    it.effect("uses a flow once, by whoever it is tried at once", () =>
      Effect.gen(function* () {
        const repo = yield* SignInFlowsRepo
        const flow = yield* addFlow({ purpose: "sudo", returnTo: "/a", sessionId: newId<SessionId>() })
        const used = yield* Effect.forEach(Array.from({ length: 50 }), () => repo.use(flow, minute(2)), atOnce)
        assert.deepStrictEqual(
          used.filter((found) => found !== undefined),
          [flow]
        )
      })
    )

    it.effect("leaves a flow good of another browser or provider, and has none that has expired", () =>
      Effect.gen(function* () {
        const repo = yield* SignInFlowsRepo
        const flow = yield* addFlow()
        for (const wrong of [{ stateHash: "none" }, { browserHash: "none" }, { provider: "other" }]) {
          assert.isUndefined(yield* repo.use({ ...flow, ...wrong }, minute(2)))
        }
        assert.isUndefined(yield* repo.use(flow, minute(11)))
        assert.deepStrictEqual(yield* repo.use(flow, minute(10)), flow)
        const old = yield* addFlow()
        yield* addFlow({ createdAt: minute(11), expiresAt: minute(21) })
        assert.isUndefined(yield* repo.use(old, minute(2)))
      })
    )
  })

  it.describe("LoginsRepo", () => {
    const addLogin = Effect.fnUntraced(function* (fields: Partial<LoginRow> = {}) {
      const login: LoginRow = {
        id: newId<LoginId>(),
        state: "pending",
        name: "delivery on laptop",
        scopes: null,
        keyExpiresAt: minute(100),
        codeChallenge: unique("challenge"),
        redirectUri: null,
        userCodeHash: unique("code"),
        address: "203.0.113.7",
        createdAt: minute(1),
        expiresAt: minute(11),
        personId: null,
        sessionId: null,
        codeHash: null,
        ...fields
      }
      yield* (yield* LoginsRepo).insert(login)
      return login
    })

    it.effect("keeps what was asked for and what was decided, until it is over", () =>
      Effect.gen(function* () {
        const repo = yield* LoginsRepo
        const login = yield* addLogin({ scopes: ["read"], redirectUri: "http://127.0.0.1:1/", userCodeHash: null })
        const other = yield* addLogin()
        assert.deepStrictEqual(yield* repo.find(login.id, minute(10)), login)
        assert.isUndefined(yield* repo.find(login.id, minute(11)))
        const decided = {
          state: "allowed" as const,
          name: "laptop",
          scopes: null,
          keyExpiresAt: minute(50),
          expiresAt: minute(3),
          personId: (yield* addPerson()).id,
          sessionId: newId<SessionId>(),
          codeHash: unique("code")
        }
        yield* repo.decide({ id: login.id, ...decided })
        assert.deepStrictEqual(yield* repo.lock(login.id, minute(2)), { ...login, ...decided })
        assert.isUndefined(yield* repo.lock(login.id, minute(3)))
        assert.deepStrictEqual(yield* repo.find(other.id, minute(2)), other)
        assert.isUndefined(yield* repo.endCode("none"))
        assert.deepStrictEqual(yield* repo.endCode(decided.codeHash), { ...login, ...decided })
        assert.isUndefined(yield* repo.find(login.id, minute(2)))
        yield* repo.delete(other.id)
        assert.isUndefined(yield* repo.find(other.id, minute(2)))
      })
    )

    it.effect("forgets those that have expired", () =>
      Effect.gen(function* () {
        const repo = yield* LoginsRepo
        const old = yield* addLogin()
        yield* addLogin({ createdAt: minute(11), expiresAt: minute(21) })
        assert.isUndefined(yield* repo.find(old.id, minute(2)))
      })
    )
  })

  it.describe("ThrottlesRepo", () => {
    it.effect("counts as many as may be of those who try at once, and begins anew after the time", () =>
      Effect.gen(function* () {
        const repo = yield* ThrottlesRepo
        const [subject, other] = [unique("subject"), unique("subject")]
        const tries = Array.from({ length: 20 })
        const counted = yield* Effect.forEach(tries, () => repo.count(subject, 12, minute(100), minute(40)), atOnce)
        assert.lengthOf(
          counted.filter(({ isCounted }) => isCounted),
          12
        )
        const full = { subject, startedAt: minute(100), isCounted: false }
        assert.deepStrictEqual(yield* repo.count(subject, 12, minute(159), minute(99)), full)
        yield* repo.giveBack(full)
        assert.deepStrictEqual(yield* repo.count(subject, 12, minute(159), minute(99)), { ...full, isCounted: true })
        assert.deepStrictEqual(yield* repo.count(subject, 12, minute(159), minute(99)), full)
        assert.isTrue((yield* repo.count(other, 1, minute(159), minute(99))).isCounted)
        const anew = { subject, startedAt: minute(160), isCounted: true }
        assert.deepStrictEqual(yield* repo.count(subject, 2, minute(160), minute(100)), anew)
        // It was taken of the counter before.
        yield* repo.giveBack(full)
        assert.deepStrictEqual(yield* repo.count(subject, 2, minute(161), minute(101)), anew)
        assert.isFalse((yield* repo.count(subject, 2, minute(162), minute(102))).isCounted)
      })
    )
  })
})
