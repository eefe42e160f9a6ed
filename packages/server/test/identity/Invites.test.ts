import { assert } from "@effect/vitest"
import { inviteLifetimeMillis } from "@delivery/domain/identity/Invite"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { PersonRow } from "../../src/access/ActorRows.ts"
import { hashToken, isToken } from "../../src/ids/Tokens.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { Members } from "../../src/identity/Members.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { baseUrl, withServicesOnEachStorage } from "../support/Storages.ts"
import {
  addPerson,
  addWorkspace,
  adminsAndUp,
  answer,
  as,
  asNobody,
  eventsOf,
  kindsOf,
  makeScene,
  newId,
  now,
  refusal,
  type Scene,
  unique,
  whoMay,
  withSession
} from "./Scene.ts"

withServicesOnEachStorage("Invites", (it) => {
  const newEmail = () => `${unique("sam")}@example.com`

  const invite = Effect.fnUntraced(function* (
    { owner }: Scene,
    { email = newEmail(), role = "member" }: { email?: string; role?: "viewer" | "member" | "admin" | "owner" } = {}
  ) {
    const made = yield* (yield* Invites).create({ email, role }).pipe(as(owner))
    return { ...made, token: made.token! }
  })

  /** Accepts without a credential. */
  const accept = Effect.fnUntraced(function* (token: string, name = "Sam") {
    return yield* (yield* Invites).accept({ token, name }).pipe(asNobody)
  })

  /** What lists show of a new invite: all but what is shown once. */
  const listed = <A extends { readonly token?: string; readonly url?: string }>({ token: _, url: __, ...rest }: A) =>
    rest

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

  it.effect("lets account keys invite nobody who could make tokens of deployments", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const { admin, adminKey } = yield* makeScene
      for (const role of ["admin", "member", "viewer"] as const) {
        const create = Effect.suspend(() => invites.create({ email: newEmail(), role }))
        assert.strictEqual(yield* answer(create.pipe(as(adminKey))), role === "admin" ? "Forbidden account_key" : "ok")
        assert.strictEqual((yield* create.pipe(as(admin))).role, role)
      }
    })
  )

  it.effect("invites an address for 7 days and shows the token once", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const { adminKey, owner, workspace } = yield* makeScene
      const email = newEmail()
      const made = yield* invites.create({ email, role: "viewer" }).pipe(as(adminKey))
      const { token, url, ...shown } = made
      assert.isTrue(isToken("itk_", token!))
      assert.strictEqual(url, `${baseUrl}/invite#${token}`)
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
      assert.notInclude(JSON.stringify(yield* invites.list.pipe(as(owner))), token!)
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
      yield* accept(accepted.token)
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
      assert.deepStrictEqual(
        (yield* invites.list.pipe(as(scene.owner))).map((invite) => invite.id),
        [id]
      )
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["invite_created"])
      yield* invite(yield* makeScene, { email })
      assert.strictEqual((yield* invite(scene, { email: inactive.email })).status, "pending")
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
      yield* accept(last.token)
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
      assert.strictEqual(yield* refusal(accept(made.token)), "NotFound")
      assert.deepStrictEqual(yield* (yield* PersonsRepo).ofAddress(made.email), [])
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
      yield* accept(accepted.token)
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
      const { apiKey, person, workspace } = yield* accept(made.token, "Sam Lee")
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
        emailVerifiedAt: null,
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

  /** A person of no workspace, as a caller. */
  const callerOf = ({ email, id, name }: PersonRow) => ({
    principal: { kind: "user", id, name, email } as const,
    membership: undefined
  })

  const acceptAs = (person: PersonRow, token: string) =>
    Effect.gen(function* () {
      const caller = yield* withSession(callerOf(person))
      return yield* (yield* Invites).accept({ token, name: "Someone Else" }).pipe(as(caller))
    })

  it.effect("joins a person by their own credential, without a key", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      for (const emailVerifiedAt of [null, yield* now]) {
        const person = yield* addPerson({ emailVerifiedAt })
        const { token } = yield* invite(scene, { email: person.email, role: "owner" })
        const joined = yield* acceptAs(person, token)
        const { email, id, name } = person
        const workspace = { id: scene.workspace.id, slug: scene.workspace.slug, name: scene.workspace.name }
        assert.deepStrictEqual(joined, {
          person: { id, name, email },
          workspace: { ...workspace, role: "owner" },
          apiKey: null
        })
        assert.deepStrictEqual(yield* (yield* ApiKeysRepo).ofPerson(id), [])
        assert.deepStrictEqual(yield* (yield* PersonsRepo).find(id), person)
        assert.strictEqual((yield* (yield* MembersRepo).find(scene.workspace.id, id))?.role, "owner")
      }
    })
  )

  it.effect("joins nobody whose address is another, and no account key", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const { token } = yield* invite(scene)
      const person = yield* addPerson()
      assert.strictEqual(yield* refusal(acceptAs(person, token)), "Conflict other_address")
      const byKey = (yield* Invites).accept({ token, name: "Sam" }).pipe(as(scene.adminKey))
      assert.strictEqual(yield* refusal(byKey), "Forbidden account_key")
      yield* accept(token)
    })
  )

  it.effect("makes a stranger of whoever accepts for an address that nobody has proven", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* makeScene, yield* makeScene]
      const one = yield* invite(first)
      const { person } = yield* accept(one.token, "Sam Lee")
      const two = yield* invite(second, { email: one.email, role: "owner" })
      const joined = yield* accept(two.token, "Someone Else")
      assert.notStrictEqual(joined.person.id, person.id)
      assert.deepStrictEqual([joined.person.name, joined.person.email], ["Someone Else", one.email])
      assert.isNotNull(joined.apiKey)
      assert.isUndefined(yield* (yield* MembersRepo).find(second.workspace.id, person.id))
      assert.isUndefined(yield* (yield* MembersRepo).find(first.workspace.id, joined.person.id))
    })
  )

  it.effect("asks for the credential of who has proven the address", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const planted = yield* addPerson()
      const proven = yield* addPerson({ email: planted.email, emailVerifiedAt: yield* now })
      const { id, token } = yield* invite(scene, { email: planted.email })
      assert.strictEqual(yield* refusal(accept(token)), "Conflict sign_in_required")
      assert.strictEqual(yield* refusal(acceptAs(planted, token)), "Conflict sign_in_required")
      const [pending] = yield* (yield* Invites).list.pipe(as(scene.owner))
      assert.deepStrictEqual([pending?.id, pending?.status], [id, "pending"])
      assert.strictEqual((yield* acceptAs(proven, token)).person.id, proven.id)
    })
  )

  it.effect("brings who was deactivated back with their own credential, with the role of the invite", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const person = yield* addPerson()
      const joinedAt = yield* now
      const row = { workspaceId: scene.workspace.id, personId: person.id, role: "owner", active: false } as const
      yield* (yield* MembersRepo).insert({ ...row, joinedAt })
      const { token } = yield* invite(scene, { email: person.email, role: "viewer" })
      yield* TestClock.adjust("1 hour")
      yield* acceptAs(person, token)
      const member = yield* (yield* MembersRepo).find(scene.workspace.id, person.id)
      assert.deepStrictEqual([member?.role, member?.active, member?.joinedAt], ["viewer", true, joinedAt])
      const event = (yield* eventsOf(scene.workspace)).at(-1)
      assert.strictEqual(event?.kind, "member_reactivated")
      assert.deepStrictEqual(event?.changes, [
        { field: "role", from: "owner", to: "viewer" },
        { field: "active", from: "false", to: "true" }
      ])
      assert.strictEqual(yield* refusal(invite(scene, { email: person.email })), "Conflict already_member")
    })
  )

  it.effect("makes a new person where who was deactivated accepts without their credential", () =>
    Effect.gen(function* () {
      const members = yield* MembersRepo
      const scene = yield* makeScene
      const person = yield* addPerson()
      const row = { workspaceId: scene.workspace.id, personId: person.id, role: "owner", active: false } as const
      yield* members.insert({ ...row, joinedAt: yield* now })
      const { token } = yield* invite(scene, { email: person.email })
      const joined = yield* accept(token)
      assert.notStrictEqual(joined.person.id, person.id)
      assert.isFalse((yield* members.find(scene.workspace.id, person.id))?.active)
      const back = (yield* Members).reactivate(person.id).pipe(as(scene.owner))
      assert.strictEqual(yield* refusal(back), "Conflict address_in_use")
      yield* (yield* Members).deactivate(joined.person.id).pipe(as(scene.owner))
      assert.isTrue((yield* back).active)
    })
  )

  it.effect("admits nobody beside an active member of the same address", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const person = yield* addPerson()
      const gone = yield* addPerson({ email: person.email })
      const row = { workspaceId: scene.workspace.id, personId: gone.id, role: "viewer", active: false } as const
      yield* (yield* MembersRepo).insert({ ...row, joinedAt: yield* now })
      const { token } = yield* invite(scene, { email: person.email })
      yield* (yield* Members).reactivate(gone.id).pipe(as(scene.owner))
      assert.strictEqual(yield* refusal(accept(token)), "Conflict address_in_use")
      assert.strictEqual(yield* refusal(acceptAs(person, token)), "Conflict address_in_use")
      assert.strictEqual(yield* refusal(acceptAs(gone, token)), "Conflict already_member")
    })
  )

  it.effect("accepts the complete token of a pending invite once, until it expires", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const made = yield* invite(scene)
      const late = yield* invite(scene)
      const accepting = (token: string) => answer(accept(token))
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
        assert.strictEqual(yield* accepting(token), "NotFound", token)
      }
      yield* TestClock.adjust(inviteLifetimeMillis - 1)
      assert.strictEqual(yield* accepting(made.token), "ok")
      assert.strictEqual(yield* accepting(made.token), "NotFound")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* accepting(late.token), "NotFound")
      assert.deepStrictEqual(yield* (yield* PersonsRepo).ofAddress(late.email), [])
    })
  )

  it.effect("lets one of many concurrent acceptances succeed", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const { email, token } = yield* invite(scene)
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => answer(accept(token))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 5 }, () => "NotFound"), "ok"])
      const [person, ...others] = yield* (yield* PersonsRepo).ofAddress(email)
      assert.deepStrictEqual(others, [])
      assert.lengthOf(yield* (yield* ApiKeysRepo).ofPerson(person!.id), 1)
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["invite_created", "invite_accepted", "member_joined"])
    })
  )

  it.effect("either accepts or revokes if both happen at once", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      for (let i = 0; i < 5; i++) {
        const scene = yield* makeScene
        const { email, id, token } = yield* invite(scene)
        const [accepted, revoked] = yield* Effect.all(
          [answer(accept(token)), answer(invites.revoke(id).pipe(as(scene.owner)))],
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
