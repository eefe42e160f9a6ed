import { assert } from "@effect/vitest"
import { inviteLifetimeMillis } from "@delivery/domain/identity/Invite"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { hashToken, isToken } from "../../src/ids/Tokens.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { baseUrl, withServicesOnEachStorage } from "../support/Storages.ts"
import {
  addPerson,
  addWorkspace,
  adminsAndUp,
  answer,
  as,
  eventsOf,
  kindsOf,
  makeScene,
  newId,
  now,
  refusal,
  type Scene,
  unique,
  whoMay
} from "./Scene.ts"

withServicesOnEachStorage("Invites", (it) => {
  const newEmail = () => `${unique("sam")}@example.com`

  const invite = Effect.fnUntraced(function* (
    { owner }: Scene,
    { email = newEmail(), role = "member" }: { email?: string; role?: "viewer" | "member" | "admin" | "owner" } = {}
  ) {
    return yield* (yield* Invites).create({ email, role }).pipe(as(owner))
  })

  /** What lists show of a new invite: all but what is shown once. */
  const listed = <A extends { readonly token: string; readonly url: string }>({ token: _, url: __, ...rest }: A) => rest

  it.effect("checks roles before anything else", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      assert.deepStrictEqual(yield* whoMay(scene, invites.list), adminsAndUp)
      const create = Effect.suspend(() => invites.create({ email: newEmail(), role: "viewer" }))
      assert.deepStrictEqual(yield* whoMay(scene, create), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, invites.revoke(newId())), adminsAndUp)
    })
  )

  it.effect("lets only owners invite owners", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const { admin, adminKey, owner, workspace } = yield* makeScene
      const create = Effect.suspend(() => invites.create({ email: newEmail(), role: "owner" }))
      assert.strictEqual(yield* refusal(create.pipe(as(admin))), "Forbidden owner_only")
      assert.strictEqual(yield* refusal(create.pipe(as(adminKey))), "Forbidden owner_only")
      assert.deepStrictEqual(yield* eventsOf(workspace), [])
      assert.strictEqual((yield* create.pipe(as(owner))).role, "owner")
    })
  )

  it.effect("invites an address for 7 days and shows the token once", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const { adminKey, owner, workspace } = yield* makeScene
      const email = newEmail()
      const made = yield* invites.create({ email, role: "viewer" }).pipe(as(adminKey))
      const { token, url, ...shown } = made
      assert.isTrue(isToken("itk_", token))
      assert.strictEqual(url, `${baseUrl}/invites/${token}`)
      const at = yield* now
      assert.deepStrictEqual(shown, {
        id: made.id,
        email,
        role: "viewer",
        status: "pending",
        inviter: adminKey.principal,
        createdAt: at,
        expiresAt: new Date(Date.parse(at) + 7 * 24 * 3_600_000).toISOString(),
        acceptedAt: null
      })
      assert.deepStrictEqual(yield* invites.list.pipe(as(owner)), [shown])
      assert.notInclude(JSON.stringify(yield* invites.list.pipe(as(owner))), token)
      const [event, ...more] = yield* eventsOf(workspace)
      assert.strictEqual(event?.kind, "invite_created")
      assert.deepStrictEqual(event?.actor, adminKey.principal)
      assert.deepStrictEqual([event?.subjectType, event?.subjectId, event?.subjectLabel], ["invite", made.id, email])
      assert.deepStrictEqual(event?.changes, [{ field: "role", from: null, to: "viewer" }])
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("lists the newest invite first, in any state", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const [expired, revoked, accepted, pending] = [
        yield* invite(scene),
        (yield* TestClock.adjust("3 days"), yield* invite(scene)),
        (yield* TestClock.adjust("1 minute"), yield* invite(scene)),
        yield* invite(scene)
      ]
      yield* invite(yield* makeScene)
      yield* invites.revoke(revoked.id).pipe(as(scene.owner))
      yield* invites.accept({ token: accepted.token, name: "Sam" })
      yield* TestClock.adjust("5 days")
      assert.deepStrictEqual(
        (yield* invites.list.pipe(as(scene.owner))).map(({ id, status }) => [id, status]),
        [
          [pending.id, "pending"],
          [accepted.id, "accepted"],
          [revoked.id, "revoked"],
          [expired.id, "expired"]
        ]
      )
    })
  )

  it.effect("rejects a second pending invite of an address, and a member's address", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const { email, id } = yield* invite(scene)
      assert.strictEqual(yield* refusal(invite(scene, { email })), "Conflict already_invited")
      const address = (caller: Scene["owner"]) => `${caller.principal.name}@example.com`
      for (const caller of [scene.viewer, scene.owner]) {
        assert.strictEqual(yield* refusal(invite(scene, { email: address(caller) })), "Conflict already_member")
      }
      const inactive = yield* addPerson()
      yield* (yield* MembersRepo).insert({
        workspaceId: scene.workspace.id,
        personId: inactive.id,
        role: "viewer",
        active: false,
        joinedAt: yield* now
      })
      assert.strictEqual(yield* refusal(invite(scene, { email: inactive.email })), "Conflict already_member")
      assert.deepStrictEqual(
        (yield* invites.list.pipe(as(scene.owner))).map((invite) => invite.id),
        [id]
      )
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["invite_created"])
      yield* invite(yield* makeScene, { email })
    })
  )

  it.effect("invites an address again after a revoked or expired invite", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const { email, id } = yield* invite(scene)
      yield* invites.revoke(id).pipe(as(scene.owner))
      yield* invite(scene, { email })
      yield* TestClock.adjust("7 days")
      const last = yield* invite(scene, { email })
      assert.deepStrictEqual(
        (yield* invites.list.pipe(as(scene.owner))).map((invite) => invite.status),
        ["pending", "expired", "revoked"]
      )
      yield* invites.accept({ token: last.token, name: "Sam" })
    })
  )

  it.effect("keeps one pending invite of an address under concurrent invites", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      // Several rounds, since a database may happen to take them one by one.
      for (let round = 0; round < 5; round++) {
        const email = newEmail()
        const answers = yield* Effect.all(
          Array.from({ length: 6 }, () => answer(invite(scene, { email }))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(answers.toSorted(), [
          ...Array.from({ length: 5 }, () => "Conflict already_invited"),
          "ok"
        ])
      }
    })
  )

  it.effect("revokes a pending invite once", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const made = yield* invite(scene)
      for (const _ of [1, 2]) {
        const revoked = yield* invites.revoke(made.id).pipe(as(scene.admin))
        assert.deepStrictEqual(revoked, { ...listed(made), status: "revoked" })
      }
      assert.deepStrictEqual(yield* invites.list.pipe(as(scene.owner)), [{ ...listed(made), status: "revoked" }])
      assert.strictEqual(yield* refusal(invites.accept({ token: made.token, name: "Sam" })), "NotFound")
      assert.isUndefined(yield* (yield* PersonsRepo).findByEmail(made.email))
      const events = yield* eventsOf(scene.workspace)
      assert.deepStrictEqual(
        events.map((event) => event.kind),
        ["invite_created", "invite_revoked"]
      )
      assert.deepStrictEqual(events[1]?.actor, scene.admin.principal)
      assert.deepStrictEqual([events[1]?.subjectId, events[1]?.subjectLabel], [made.id, made.email])
    })
  )

  it.effect("rejects revoking ended invites and those of other workspaces", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const foreign = yield* invite(yield* makeScene)
      const accepted = yield* invite(scene)
      yield* invites.accept({ token: accepted.token, name: "Sam" })
      const expired = yield* invite(scene)
      yield* TestClock.adjust(inviteLifetimeMillis)
      const revoke = (id: string) => refusal(invites.revoke(id).pipe(as(scene.owner)))
      assert.strictEqual(yield* revoke(accepted.id), "Conflict not_pending")
      assert.strictEqual(yield* revoke(expired.id), "Conflict not_pending")
      for (const id of [foreign.id, newId(), "", accepted.token]) assert.strictEqual(yield* revoke(id), "NotFound")
      assert.notInclude(yield* kindsOf(scene.workspace), "invite_revoked")
    })
  )

  it.effect("creates a person with a first key for a new address", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const made = yield* invite(scene, { role: "admin" })
      yield* TestClock.adjust("1 hour")
      const { apiKey, person, workspace } = yield* invites.accept({ token: made.token, name: "Sam Lee" })
      const at = yield* now
      assert.deepStrictEqual(person, { id: person.id, name: "Sam Lee", email: made.email })
      const { id, name, slug } = scene.workspace
      assert.deepStrictEqual(workspace, { id, slug, name, role: "admin" })
      const secret = apiKey!.secret
      assert.isTrue(isToken("ctk_", secret))
      assert.deepStrictEqual([apiKey?.tokenPrefix, apiKey?.lastFour], [secret.slice(0, 8), secret.slice(-4)])
      assert.deepStrictEqual(yield* (yield* ApiKeysRepo).authenticate(hashToken(secret), slug), {
        keyId: apiKey!.id,
        scopes: null,
        principal: { kind: "user", ...person },
        membership: { id, slug, name, role: "admin" }
      })
      assert.deepStrictEqual(yield* (yield* MembersRepo).find(id, person.id), {
        ...person,
        role: "admin",
        active: true,
        joinedAt: at
      })
      assert.deepStrictEqual(yield* invites.list.pipe(as(scene.owner)), [
        { ...listed(made), status: "accepted", acceptedAt: at }
      ])
      const events = yield* eventsOf(scene.workspace)
      assert.deepStrictEqual(
        events
          .map(({ actor, changes, kind, subjectId, subjectLabel }) => ({
            kind,
            actor,
            subjectId,
            subjectLabel,
            changes
          }))
          .slice(1),
        [
          {
            kind: "invite_accepted",
            actor: { kind: "user", ...person },
            subjectId: made.id,
            subjectLabel: made.email,
            changes: []
          },
          {
            kind: "member_joined",
            actor: { kind: "user", ...person },
            subjectId: person.id,
            subjectLabel: "Sam Lee",
            changes: [{ field: "role", from: null, to: "admin" }]
          }
        ]
      )
    })
  )

  it.effect("joins a known address as its person, without a key", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const [first, second] = [yield* makeScene, yield* makeScene]
      const one = yield* invite(first)
      const { person } = yield* invites.accept({ token: one.token, name: "Sam Lee" })
      const keys = yield* (yield* ApiKeysRepo).ofPerson(person.id)
      const two = yield* invite(second, { email: one.email, role: "owner" })
      const joined = yield* invites.accept({ token: two.token, name: "Someone Else" })
      const { id, name, slug } = second.workspace
      assert.deepStrictEqual(joined, { person, workspace: { id, slug, name, role: "owner" }, apiKey: null })
      assert.deepStrictEqual(yield* (yield* ApiKeysRepo).ofPerson(person.id), keys)
      assert.strictEqual((yield* (yield* PersonsRepo).findByEmail(one.email))?.name, "Sam Lee")
      assert.strictEqual((yield* (yield* MembersRepo).find(id, person.id))?.role, "owner")
    })
  )

  it.effect("accepts the complete token of a pending invite once, until it expires", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const made = yield* invite(scene)
      const late = yield* invite(scene)
      const accept = (token: string) => answer(invites.accept({ token, name: "Sam" }))
      const last = made.token.at(-1) === "0" ? "1" : "0"
      for (const token of [
        "",
        "itk_",
        made.token.slice(0, -1),
        made.token.slice(0, -1) + last,
        ` ${made.token}`,
        made.id,
        made.token.replace("itk_", "ctk_"),
        made.token.toUpperCase()
      ]) {
        assert.strictEqual(yield* accept(token), "NotFound", token)
      }
      yield* TestClock.adjust(inviteLifetimeMillis - 1)
      assert.strictEqual(yield* accept(made.token), "ok")
      assert.strictEqual(yield* accept(made.token), "NotFound")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* accept(late.token), "NotFound")
      assert.isUndefined(yield* (yield* PersonsRepo).findByEmail(late.email))
    })
  )

  it.effect("lets one of many concurrent acceptances succeed", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const scene = yield* makeScene
      const { email, token } = yield* invite(scene)
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => answer(invites.accept({ token, name: "Sam" }))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 5 }, () => "NotFound"), "ok"])
      const person = (yield* (yield* PersonsRepo).findByEmail(email))!
      assert.lengthOf(yield* (yield* ApiKeysRepo).ofPerson(person.id), 1)
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["invite_created", "invite_accepted", "member_joined"])
    })
  )

  it.effect("creates one person for a new address that accepts in several workspaces at once", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const email = newEmail()
      const made = yield* Effect.all(
        Array.from({ length: 4 }, () => Effect.flatMap(makeScene, (scene) => invite(scene, { email })))
      )
      const accepted = yield* Effect.all(
        made.map(({ token }) => invites.accept({ token, name: "Sam" })),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(new Set(accepted.map(({ person }) => person.id)), 1)
      assert.lengthOf(
        accepted.filter(({ apiKey }) => apiKey !== null),
        1
      )
      assert.lengthOf(new Set(accepted.map(({ workspace }) => workspace.id)), 4)
    })
  )

  it.effect("either accepts or revokes if both happen at once", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      for (let i = 0; i < 5; i++) {
        const scene = yield* makeScene
        const { email, id, token } = yield* invite(scene)
        const [accepted, revoked] = yield* Effect.all(
          [answer(invites.accept({ token, name: "Sam" })), answer(invites.revoke(id).pipe(as(scene.owner)))],
          { concurrency: "unbounded" }
        )
        assert.include(["ok and Conflict not_pending", "NotFound and ok"], `${accepted} and ${revoked}`)
        const member = yield* (yield* MembersRepo).findByEmail(scene.workspace.id, email)
        assert.strictEqual(member !== undefined, accepted === "ok")
      }
    })
  )

  it.effect("shows no invites of other workspaces", () =>
    Effect.gen(function* () {
      yield* invite(yield* makeScene)
      const { owner } = yield* makeScene
      assert.deepStrictEqual(yield* (yield* Invites).list.pipe(as(owner)), [])
      assert.deepStrictEqual(yield* eventsOf(yield* addWorkspace()), [])
    })
  )
})
