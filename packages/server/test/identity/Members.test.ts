import { assert } from "@effect/vitest"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import type { PersonId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { Inventory } from "../../src/identity/Inventory.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { Members } from "../../src/identity/Members.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { WorkspacesRepo } from "../../src/identity/WorkspacesRepo.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import {
  addMember,
  addWorkspace,
  adminsAndUp,
  answer,
  apiKeyRow,
  as,
  everyRole,
  eventsOf,
  keyOfPerson,
  makeScene,
  newId,
  now,
  refusal,
  unique,
  whileItWaits,
  whoMay
} from "./Scene.ts"

withServicesOnEachStorage("Members", (it) => {
  /** A workspace with two owners and no one else. */
  const makeOwners = Effect.gen(function* () {
    const workspace = yield* addWorkspace()
    return { workspace, one: yield* addMember(workspace, "owner"), two: yield* addMember(workspace, "owner") }
  })

  it.effect("lists all members by name", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const workspace = yield* addWorkspace()
      for (const name of ["Zoë", "ana 10", "Ana 2", "émile", "Emil"]) yield* addMember(workspace, "member", { name })
      const viewer = yield* addMember(workspace, "viewer", { name: "Left" })
      yield* addMember(workspace, "admin", { name: "Inactive", active: false })
      const listed = yield* members.list.pipe(as(viewer))
      assert.deepStrictEqual(
        listed.map((member) => member.name),
        ["Ana 2", "ana 10", "Emil", "émile", "Inactive", "Left", "Zoë"]
      )
      assert.deepStrictEqual(
        listed.map((member) => member.active),
        [true, true, true, true, false, true, true]
      )
      const scene = yield* makeScene
      assert.deepStrictEqual(yield* whoMay(scene, members.list), everyRole)
    })
  )

  it.effect("checks roles before it looks for the member", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const scene = yield* makeScene
      const unknown = newId()
      assert.deepStrictEqual(yield* whoMay(scene, members.update(unknown, { role: "viewer" })), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, members.deactivate(unknown)), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, members.reactivate(unknown)), adminsAndUp)
    })
  )

  it.effect("lets everybody leave, and the last owner not", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { admin, member, owner, viewer, workspace } = yield* makeScene
      assert.strictEqual(
        yield* refusal(members.deactivate(admin.principal.id).pipe(as(member))),
        "Forbidden role_too_low"
      )
      for (const leaving of [viewer, member, admin]) {
        const { active, id } = yield* members.deactivate(leaving.principal.id).pipe(as(leaving))
        assert.deepStrictEqual([active, id], [false, leaving.principal.id as PersonId])
        const event = (yield* eventsOf(workspace)).at(-1)
        assert.deepStrictEqual([event?.kind, event?.actor], ["member_deactivated", leaving.principal])
        // A request that was let in before finds no workspace any more.
        assert.strictEqual(yield* refusal(members.deactivate(id).pipe(as(leaving))), "NotFound")
        assert.strictEqual(
          yield* refusal(members.reactivate(id).pipe(as(leaving))),
          leaving === admin ? "NotFound" : "Forbidden role_too_low"
        )
      }
      assert.strictEqual(yield* refusal(members.deactivate(owner.principal.id).pipe(as(owner))), "Conflict last_owner")
    })
  )

  it.effect("finds only members of the workspace", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { outsider, owner } = yield* makeScene
      const foreign = yield* makeOwners
      for (const id of [newId(), outsider.principal.id, foreign.one.principal.id, "ana@example.com", "", "me"]) {
        for (const call of [members.update(id, { role: "viewer" }), members.deactivate(id), members.reactivate(id)]) {
          const error = yield* Effect.flip(call.pipe(as(owner)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `There is no member "${id}" that you can see.`]
          )
        }
      }
    })
  )

  it.effect("changes a role and records an event", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { admin, member, workspace } = yield* makeScene
      const before = (yield* (yield* MembersRepo).find(workspace.id, member.principal.id))!
      const after = yield* members.update(member.principal.id, { role: "admin" }).pipe(as(admin))
      assert.deepStrictEqual(after, { ...before, role: "admin" })
      assert.deepStrictEqual(yield* (yield* MembersRepo).find(workspace.id, member.principal.id), after)
      yield* members.update(member.principal.id, { role: "admin" }).pipe(as(admin))
      const [event, ...more] = yield* eventsOf(workspace)
      assert.strictEqual(event?.kind, "member_updated")
      assert.deepStrictEqual(event?.actor, admin.principal)
      assert.deepStrictEqual(
        [event?.subjectType, event?.subjectId, event?.subjectLabel],
        ["member", member.principal.id, member.principal.name]
      )
      assert.deepStrictEqual(event?.changes, [{ field: "role", from: "member", to: "admin" }])
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("lets only owners grant, remove and change owners", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { admin, adminKey, member, owner, workspace } = yield* makeScene
      yield* addMember(workspace, "owner")
      for (const caller of [admin, adminKey]) {
        for (const call of [
          members.update(member.principal.id, { role: "owner" }),
          members.update(admin.principal.id, { role: "owner" }),
          members.update(owner.principal.id, { role: "admin" }),
          members.update(owner.principal.id, { role: "owner" }),
          members.deactivate(owner.principal.id),
          members.reactivate(owner.principal.id)
        ]) {
          assert.strictEqual(yield* refusal(call.pipe(as(caller))), "Forbidden owner_only")
        }
      }
      assert.deepStrictEqual(yield* eventsOf(workspace), [])
      yield* members.update(member.principal.id, { role: "owner" }).pipe(as(owner))
      yield* members.update(member.principal.id, { role: "viewer" }).pipe(as(owner))
      yield* members.update(owner.principal.id, { role: "viewer" }).pipe(as(owner))
    })
  )

  it.effect("lets account keys make nobody an admin, and reactivate none", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { adminKey, member, owner, workspace } = yield* makeScene
      const { id } = member.principal
      const to = (role: Role) => Effect.asVoid(members.update(id, { role }))
      assert.strictEqual(yield* refusal(to("admin").pipe(as(adminKey))), "Forbidden account_key")
      yield* to("viewer").pipe(as(adminKey))
      yield* to("member").pipe(as(adminKey))
      yield* to("admin").pipe(as(owner))
      yield* to("admin").pipe(as(adminKey))
      yield* members.deactivate(id).pipe(as(adminKey))
      assert.strictEqual(yield* refusal(members.reactivate(id).pipe(as(adminKey))), "Forbidden account_key")
      assert.strictEqual(yield* refusal(to("owner").pipe(as(adminKey))), "Forbidden owner_only")
      assert.isFalse((yield* (yield* MembersRepo).find(workspace.id, id))!.active)
    })
  )

  it.effect("keeps the last active owner", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { admin, owner, workspace } = yield* makeScene
      yield* addMember(workspace, "owner", { active: false })
      const { id } = owner.principal
      for (const call of [members.update(id, { role: "admin" }), members.deactivate(id)]) {
        assert.strictEqual(yield* refusal(call.pipe(as(owner))), "Conflict last_owner")
      }
      assert.deepStrictEqual(yield* eventsOf(workspace), [])
      yield* members.update(id, { role: "owner" }).pipe(as(owner))
      yield* members.update(admin.principal.id, { role: "owner" }).pipe(as(owner))
      yield* members.deactivate(id).pipe(as(owner))
      assert.strictEqual(yield* (yield* MembersRepo).countActiveOwners(workspace.id), 1)
    })
  )

  it.effect("lets an inactive owner be demoted", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { owner, workspace } = yield* makeScene
      yield* addMember(workspace, "owner", { active: false })
      const inactive = (yield* members.list.pipe(as(owner))).find((member) => !member.active)!
      yield* members.update(inactive.id, { role: "viewer" }).pipe(as(owner))
    })
  )

  it.effect("lets exactly one of two concurrent changes by the last two owners succeed", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const away = {
        demote: (id: string) => members.update(id, { role: "member" }),
        deactivate: (id: string) => members.deactivate(id)
      }
      for (const first of ["demote", "deactivate"] as const) {
        for (const second of ["demote", "deactivate"] as const) {
          for (const each of ["oneself", "the other"]) {
            const { one, two, workspace } = yield* makeOwners
            const [ofOne, ofTwo] = each === "oneself" ? [one, two] : [two, one]
            const answers = yield* Effect.all(
              [
                answer(away[first](ofOne.principal.id).pipe(as(one))),
                answer(away[second](ofTwo.principal.id).pipe(as(two)))
              ],
              { concurrency: "unbounded" }
            )
            // Who was demoted or deactivated by the other meanwhile may do nothing any more.
            const lost = each === "oneself" ? ["Conflict last_owner"] : ["Forbidden role_too_low", "NotFound"]
            const [won, refused] = answers.toSorted((a, b) => Number(b === "ok") - Number(a === "ok"))
            assert.strictEqual(won, "ok", `${first} and ${second} ${each}`)
            assert.include(lost, refused, `${first} and ${second} ${each}`)
            assert.strictEqual(yield* (yield* MembersRepo).countActiveOwners(workspace.id), 1)
            assert.lengthOf(yield* eventsOf(workspace), 1)
          }
        }
      }
    })
  )

  it.effect("lets a key that was revoked while its request waited give and take no access", () =>
    Effect.gen(function* () {
      const [members, invites, inventory] = [yield* Members, yield* Invites, yield* Inventory]
      const [keys, repo, workspaces] = [yield* ApiKeys, yield* ApiKeysRepo, yield* WorkspacesRepo]
      const { admin, adminKey, member, owner, workspace } = yield* makeScene
      const invited = yield* invites.create({ email: `${unique("sam")}@example.com`, role: "viewer" }).pipe(as(owner))
      const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string; readonly message: string }, Caller>> =
        [
          members.update(member.principal.id, { role: "viewer" }),
          members.deactivate(member.principal.id),
          invites.create({ email: `${unique("sam")}@example.com`, role: "viewer" }),
          invites.revoke(invited.id),
          inventory.block(adminKey.principal.id),
          keys.revokeAccount(adminKey.principal.id)
        ]
      const before = yield* eventsOf(workspace)
      for (const call of calls) {
        const personId = admin.principal.id as PersonId
        const { id } = yield* keys.issue(keyOfPerson(personId), "key")
        const caller = { ...admin, credential: { kind: "apiKey", id, lastFour: "" } as const }
        const revoked = Effect.flatMap(now, (at) => repo.end(id, { personId }, { at, keptBy: undefined }))
        const asked = answer(Effect.provideService(call, Caller, caller))
        assert.strictEqual(yield* whileItWaits(asked, workspaces.lock(workspace.id), revoked), "Unauthorized")
      }
      assert.deepStrictEqual(yield* eventsOf(workspace), before)
    })
  )

  it.effect("lets nobody revoke an invite who was deactivated while the request waited", () =>
    Effect.gen(function* () {
      const invites = yield* Invites
      const [repo, workspaces] = [yield* MembersRepo, yield* WorkspacesRepo]
      const { admin, owner, workspace } = yield* makeScene
      const { id } = yield* invites.create({ email: `${unique("sam")}@example.com`, role: "viewer" }).pipe(as(owner))
      const row = { workspaceId: workspace.id, personId: admin.principal.id as PersonId, role: "admin" } as const
      const given = yield* whileItWaits(
        answer(invites.revoke(id).pipe(as(admin))),
        workspaces.lock(workspace.id),
        repo.update({ ...row, active: false })
      )
      assert.strictEqual(given, "NotFound")
      assert.strictEqual((yield* invites.list.pipe(as(owner)))[0]?.status, "pending")
    })
  )

  it.effect("deactivates and reactivates once each, and records events", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { adminKey, viewer, workspace } = yield* makeScene
      const { id } = viewer.principal
      const before = (yield* (yield* MembersRepo).find(workspace.id, id))!
      const ended = { accountApiKeys: [], invites: [], agentSignIns: 0, runs: 0 }
      for (const _ of [1, 2]) {
        assert.deepStrictEqual(yield* members.deactivate(id).pipe(as(adminKey)), { ...before, active: false, ended })
      }
      for (const _ of [1, 2]) {
        assert.deepStrictEqual(yield* members.reactivate(id).pipe(as(adminKey)), before)
      }
      const events = yield* eventsOf(workspace)
      assert.deepStrictEqual(
        events.map(({ actor, changes, kind }) => ({ kind, actor, changes })),
        [
          {
            kind: "member_deactivated",
            actor: adminKey.principal,
            changes: [{ field: "active", from: "true", to: "false" }]
          },
          {
            kind: "member_reactivated",
            actor: adminKey.principal,
            changes: [{ field: "active", from: "false", to: "true" }]
          }
        ]
      )
    })
  )

  it.effect("disables the keys of a deactivated member in this workspace only, at once", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const keys = yield* ApiKeysRepo
      const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
      const owner = yield* addMember(workspace, "owner")
      const member = yield* addMember(workspace, "member")
      const { id, name } = member.principal
      const person = { id, name, email: `${name}@example.com`, emailVerifiedAt: null, createdAt: "" }
      yield* addMember(elsewhere, "admin", { person })
      const key = apiKeyRow(keyOfPerson(id))
      yield* keys.insert(key)
      const roleIn = (slug: string) =>
        Effect.map(keys.authenticate(key.tokenHash, slug), (authenticated) => authenticated?.membership?.role)
      assert.strictEqual(yield* roleIn(workspace.slug), "member")
      yield* members.deactivate(id).pipe(as(owner))
      assert.isUndefined(yield* roleIn(workspace.slug))
      assert.strictEqual(yield* roleIn(elsewhere.slug), "admin")
      yield* members.reactivate(id).pipe(as(owner))
      assert.strictEqual(yield* roleIn(workspace.slug), "member")
    })
  )
})
