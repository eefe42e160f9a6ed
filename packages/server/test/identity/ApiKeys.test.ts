import { maxAccountApiKeys } from "@delivery/domain/identity/AccountApiKey"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { hashToken, isToken } from "../../src/ids/Tokens.ts"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { TrustedPublishers } from "../../src/identity/TrustedPublishers.ts"
import { ApiKeyUsage } from "../../src/identity/ApiKeyUsage.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import {
  addMember,
  addWorkspace,
  adminsAndUp,
  answer,
  apiKeyRow,
  as,
  eventsOf,
  keyOfPerson,
  keyOfWorkspace,
  kindsOf,
  makeScene,
  newId,
  now,
  refusal,
  whoMay
} from "./Scene.ts"

withServicesOnEachStorage("ApiKeys", (it) => {
  it.effect("creates a person's key and shows its secret once", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { member, workspace } = yield* makeScene
      const made = yield* keys.create({ name: "laptop" }).pipe(as(member))
      assert.isTrue(isToken("ctk_", made.secret))
      assert.deepStrictEqual(made, {
        id: made.id,
        name: "laptop",
        tokenPrefix: made.secret.slice(0, 8),
        lastFour: made.secret.slice(-4),
        scopes: null,
        expiresAt: null,
        secret: made.secret
      })
      const [listed, ...more] = yield* keys.list.pipe(as(member))
      const { createdAt, expiresAt, id, lastFour, lastUsedAt, name, scopes, tokenPrefix } = listed!
      const { secret, ...shown } = made
      assert.deepStrictEqual({ id, name, tokenPrefix, lastFour, scopes, expiresAt }, shown)
      assert.deepStrictEqual([createdAt, lastUsedAt], [yield* now, null])
      assert.deepStrictEqual(more, [])
      assert.notInclude(JSON.stringify(yield* (yield* ApiKeysRepo).ofPerson(member.principal.id)), secret)
      const authenticated = yield* (yield* ApiKeysRepo).authenticate(hashToken(secret), workspace.slug)
      assert.deepStrictEqual(authenticated?.membership?.role, "member")
      const [event] = yield* eventsOf(workspace)
      assert.deepStrictEqual([event?.kind, event?.subjectId, event?.actor], ["key_created", made.id, member.principal])
    })
  )

  it.effect("lists a person's own keys, newest first", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { admin, member } = yield* makeScene
      for (const name of ["a", "b"]) yield* keys.create({ name }).pipe(as(member))
      yield* TestClock.adjust("1 minute")
      yield* keys.create({ name: "c" }).pipe(as(member))
      yield* keys.create({ name: "another's" }).pipe(as(admin))
      const names = (yield* keys.list.pipe(as({ ...member, membership: undefined }))).map((key) => key.name)
      assert.deepStrictEqual(names, ["c", "b", "a"])
    })
  )

  it.effect("rejects account keys that ask for keys of their own", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { adminKey } = yield* makeScene
      assert.strictEqual(yield* refusal(keys.list.pipe(as(adminKey))), "Forbidden account_key")
      assert.strictEqual(yield* refusal(keys.create({ name: "mine" }).pipe(as(adminKey))), "Forbidden account_key")
      assert.strictEqual(yield* refusal(keys.revoke(adminKey.principal.id).pipe(as(adminKey))), "Forbidden account_key")
    })
  )

  it.effect("revokes one's own key once", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { admin, adminKey, member } = yield* makeScene
      const [kept, made] = [
        yield* keys.create({ name: "kept" }).pipe(as(member)),
        yield* keys.create({ name: "laptop" }).pipe(as(member))
      ]
      const revoke = (id: string) => keys.revoke(id).pipe(as(member))
      const foreign = yield* keys.create({ name: "another's" }).pipe(as(admin))
      for (const id of [foreign.id, adminKey.principal.id, newId(), "", "laptop", made.secret]) {
        assert.strictEqual(yield* refusal(revoke(id)), "NotFound", id)
      }
      yield* revoke(made.id)
      assert.strictEqual(yield* refusal(revoke(made.id)), "NotFound")
      assert.deepStrictEqual(
        (yield* keys.list.pipe(as(member))).map((key) => key.id),
        [kept.id]
      )
      assert.isUndefined(yield* (yield* ApiKeysRepo).authenticate(hashToken(made.secret), undefined))
      assert.isDefined(yield* (yield* ApiKeysRepo).authenticate(hashToken(foreign.secret), undefined))
      assert.lengthOf(yield* keys.list.pipe(as(admin)), 1)
    })
  )

  it.effect("rejects the 21st active key until one is revoked", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const repo = yield* ApiKeysRepo
      const { admin, member } = yield* makeScene
      for (let i = 0; i < 19; i++) yield* repo.insert(apiKeyRow(keyOfPerson(member.principal.id)))
      yield* repo.insert(apiKeyRow(keyOfPerson(member.principal.id), { revokedAt: yield* now }))
      const create = keys.create({ name: "one more" })
      const last = yield* create.pipe(as(member))
      assert.strictEqual(yield* refusal(create.pipe(as(member))), "Conflict too_many_keys")
      assert.lengthOf(yield* keys.list.pipe(as(member)), 20)
      yield* create.pipe(as(admin))
      yield* keys.revoke(last.id).pipe(as(member))
      yield* create.pipe(as(member))
    })
  )

  it.effect("keeps the limit of 20 active keys under 30 concurrent requests", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { member } = yield* makeScene
      const answers = yield* Effect.all(
        Array.from({ length: 30 }, (_, n) => answer(keys.create({ name: `key ${n}` }).pipe(as(member)))),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        answers.filter((answer) => answer === "ok"),
        20
      )
      assert.lengthOf(
        answers.filter((answer) => answer === "Conflict too_many_keys"),
        10
      )
      assert.lengthOf(yield* keys.list.pipe(as(member)), 20)
    })
  )

  it.effect("checks roles before it looks for an account key", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const scene = yield* makeScene
      assert.deepStrictEqual(yield* whoMay(scene, keys.listAccount), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, keys.createAccount({ name: "ci", role: "viewer" })), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, keys.revokeAccount(newId())), adminsAndUp)
    })
  )

  it.effect("creates account keys with a role, lists them, and records events", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const workspace = yield* addWorkspace()
      const admin = yield* addMember(workspace, "admin")
      for (const role of ["viewer", "member", "admin"] as const) {
        const { secret, ...made } = yield* keys.createAccount({ name: `ci ${role}`, role }).pipe(as(admin))
        assert.isTrue(isToken("ctk_", secret))
        const [newest] = yield* keys.listAccount.pipe(as(admin))
        const { createdAt, id, lastFour, lastUsedAt, name, role: shownRole, tokenPrefix } = newest!
        assert.deepStrictEqual(
          { id, name, tokenPrefix, lastFour, role: shownRole },
          { id: made.id, name: `ci ${role}`, tokenPrefix: secret.slice(0, 8), lastFour: secret.slice(-4), role }
        )
        assert.deepStrictEqual(made, { id, name, tokenPrefix, lastFour, scopes: null, expiresAt: null, role })
        assert.deepStrictEqual([createdAt, lastUsedAt], [yield* now, null])
        const authenticated = yield* (yield* ApiKeysRepo).authenticate(hashToken(secret), undefined)
        assert.deepStrictEqual(authenticated, {
          keyId: id,
          scopes: null,
          principal: { kind: "apiKey", id, name },
          membership: { id: workspace.id, slug: workspace.slug, name: workspace.name, role }
        })
        const event = (yield* eventsOf(workspace)).at(-1)
        assert.strictEqual(event?.kind, "key_created")
        assert.deepStrictEqual(event?.actor, admin.principal)
        assert.deepStrictEqual([event?.subjectType, event?.subjectId, event?.subjectLabel], ["key", id, name])
        assert.deepStrictEqual(event?.changes, [{ field: "role", from: null, to: role }])
        assert.notInclude(JSON.stringify(event), secret)
        yield* TestClock.adjust("1 minute")
      }
      const names = (yield* keys.listAccount.pipe(as(admin))).map((key) => key.name)
      assert.deepStrictEqual(names, ["ci admin", "ci member", "ci viewer"])
    })
  )

  it.effect("limits how many account keys work, those of trusted publishers not counted", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [repo, publishers] = [yield* ApiKeysRepo, yield* TrustedPublishers]
      const { admin, workspace } = yield* makeScene
      const create = answer(keys.createAccount({ name: "ci", role: "viewer" }).pipe(as(admin)))
      const before = (yield* repo.ofWorkspace(workspace.id)).length
      const owner = keyOfWorkspace(workspace.id, "viewer")
      const rows = Array.from({ length: maxAccountApiKeys - before - 1 }, () => apiKeyRow(owner))
      yield* Effect.forEach(rows, repo.insert, { discard: true })
      const { id } = yield* publishers
        .create({
          issuer: "https://token.actions.githubusercontent.com",
          repositoryId: "1",
          ownerId: "2",
          workflow: "ci.yml",
          role: "viewer",
          scopes: null
        })
        .pipe(as(admin))
      yield* repo.insert(apiKeyRow(owner, { makerId: id, familyId: id }))
      const answers = yield* Effect.all([create, create, create], { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.toSorted(), ["Conflict too_many_keys", "Conflict too_many_keys", "ok"])
      yield* keys.revokeAccount(rows[0]!.id).pipe(as(admin))
      assert.strictEqual(yield* create, "ok")
    })
  )

  it.effect("revokes an account key of the workspace once, and records an event", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { admin, member, workspace } = yield* makeScene
      const foreign = yield* makeScene
      const own = yield* keys.create({ name: "mine" }).pipe(as(admin))
      const made = yield* keys.createAccount({ name: "ci", role: "member" }).pipe(as(admin))
      const revoke = (id: string) => keys.revokeAccount(id).pipe(as(admin))
      for (const id of [foreign.adminKey.principal.id, own.id, member.principal.id, newId(), "ci"]) {
        assert.strictEqual(yield* refusal(revoke(id)), "NotFound", id)
      }
      yield* revoke(made.id)
      assert.strictEqual(yield* refusal(revoke(made.id)), "NotFound")
      assert.isUndefined(yield* (yield* ApiKeysRepo).authenticate(hashToken(made.secret), undefined))
      assert.notInclude(
        (yield* keys.listAccount.pipe(as(admin))).map((key) => key.id),
        made.id
      )
      // The first is the admin's own.
      assert.deepStrictEqual(yield* kindsOf(workspace), ["key_created", "key_created", "key_revoked"])
      const event = (yield* eventsOf(workspace))[2]
      assert.deepStrictEqual([event?.subjectType, event?.subjectId, event?.subjectLabel], ["key", made.id, "ci"])
      // Who is gone is still named.
      const { adminKey } = yield* makeScene
      yield* keys.revokeAccount(adminKey.principal.id).pipe(as(adminKey))
      const [last] = yield* eventsOf(adminKey.membership)
      assert.deepStrictEqual(last?.actor, adminKey.principal as never)
    })
  )

  it.effect("lets one of many concurrent revocations succeed", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { admin, memberKey, workspace } = yield* makeScene
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => answer(keys.revokeAccount(memberKey.principal.id).pipe(as(admin)))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 5 }, () => "NotFound"), "ok"])
      assert.deepStrictEqual(yield* kindsOf(workspace), ["key_revoked"])
    })
  )

  it.effect("shows the last use of keys", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const usage = yield* ApiKeyUsage
      const { admin, member, memberKey } = yield* makeScene
      const { id } = yield* keys.create({ name: "laptop" }).pipe(as(member))
      const shown = Effect.gen(function* () {
        const [own] = yield* keys.list.pipe(as(member))
        const account = (yield* keys.listAccount.pipe(as(admin))).find((key) => key.id === memberKey.principal.id)
        return [own?.lastUsedAt, account?.lastUsedAt]
      })
      assert.deepStrictEqual(yield* shown, [null, null])
      yield* usage.note(id)
      yield* usage.note(memberKey.principal.id)
      const used = yield* now
      assert.deepStrictEqual(yield* shown, [used, used])
    })
  )
})
