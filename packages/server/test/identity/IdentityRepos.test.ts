import { assert, expect } from "@effect/vitest"
import type { ApiKeyId, InviteId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { Deferred, Effect, Fiber } from "effect"
import { ApiKeysRepo, type KeyOwnerId } from "../../src/identity/ApiKeysRepo.ts"
import type { ActorRef } from "../../src/access/Access.ts"
import { type InviteRow, InvitesRepo } from "../../src/identity/InvitesRepo.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { TrustedPublishersRepo } from "../../src/identity/TrustedPublishersRepo.ts"
import { WorkspacesRepo } from "../../src/identity/WorkspacesRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { onEachStorage } from "../support/Storages.ts"
import {
  addMember,
  addPerson,
  addWorkspace,
  apiKeyRow,
  assertHolds,
  awaitsThis,
  keyOfPerson,
  keyOfWorkspace,
  minute,
  newestFirst,
  newId,
  personRow,
  publisherRow,
  shuffled,
  unique,
  whileItWaits,
  workspaceRow
} from "./Scene.ts"

/** Revokes the owner's key alone, as far as tests here made nothing with it. */
const revoke = (keys: ApiKeysRepo["Service"], id: ApiKeyId, owner: KeyOwnerId, at: string) =>
  Effect.map(keys.end(id, owner, { at, keptBy: undefined }), ([ended]) => ended)

onEachStorage("Identity repositories", (it) => {
  it.describe("PersonsRepo", () => {
    it.effect("finds the persons of an address, who has proven it first, then the oldest", () =>
      Effect.gen(function* () {
        const persons = yield* PersonsRepo
        const first = yield* addPerson({ createdAt: minute(2) })
        const { email } = first
        const younger = yield* addPerson({ email, createdAt: minute(3) })
        const proven = yield* addPerson({ email, createdAt: minute(4), emailVerifiedAt: minute(5) })
        const older = yield* addPerson({ email, createdAt: minute(1) })
        const found = [proven, older, first, younger]
        assert.deepStrictEqual(yield* persons.ofAddress(email), found)
        assert.deepStrictEqual(
          (yield* persons.list).filter((person) => person.email === email),
          found
        )
        for (const person of found) assert.deepStrictEqual(yield* persons.find(person.id), person)
        assert.deepStrictEqual(yield* persons.ofAddress(email.slice(1)), [])
        assert.isUndefined(yield* persons.find(newId()))
      })
    )

    it.effect("lets one person prove an address, once", () =>
      Effect.gen(function* () {
        const persons = yield* PersonsRepo
        const { email, id } = yield* addPerson()
        const stranger = yield* addPerson({ email })
        yield* persons.prove(id, minute(1))
        yield* persons.prove(id, minute(2))
        assert.strictEqual((yield* persons.find(id))?.emailVerifiedAt, minute(1))
        for (const refused of [
          persons.prove(stranger.id, minute(3)),
          persons.insert(personRow({ email, emailVerifiedAt: minute(3) }))
        ]) {
          assert.strictEqual((yield* Effect.flip(refused)).constraint, "persons_verified_email_key")
        }
        assert.isNull((yield* persons.find(stranger.id))?.emailVerifiedAt)
        yield* persons.insert(personRow({ email }))
        yield* persons.prove((yield* addPerson()).id, minute(3))
      })
    )

    it.effect("is not empty once there is a person", () =>
      Effect.gen(function* () {
        yield* addPerson()
        assert.isFalse(yield* (yield* PersonsRepo).isEmpty)
      })
    )

    it.effect("locks persons for one transaction at a time", () =>
      Effect.gen(function* () {
        const { id } = yield* addPerson()
        yield* assertHolds((yield* PersonsRepo).lock(id))
      })
    )
  })

  it.describe("WorkspacesRepo", () => {
    it.effect("finds a workspace by id as it was stored", () =>
      Effect.gen(function* () {
        const workspaces = yield* WorkspacesRepo
        const stored = yield* addWorkspace({ name: "Ünïcode 🚀 'quoted'", updatedAt: "2026-02-03T04:05:06.789Z" })
        assert.deepStrictEqual(yield* workspaces.find(stored.id), stored)
        assert.isUndefined(yield* workspaces.find(newId<WorkspaceId>()))
      })
    )

    it.effect("updates one workspace", () =>
      Effect.gen(function* () {
        const workspaces = yield* WorkspacesRepo
        const [one, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const changed = { ...one, slug: unique("renamed"), name: "Renamed", updatedAt: minute(5) }
        yield* workspaces.update(changed)
        assert.deepStrictEqual(yield* workspaces.find(one.id), changed)
        assert.deepStrictEqual(yield* workspaces.find(other.id), other)
      })
    )

    it.effect("rejects a second workspace with the same slug", () =>
      Effect.gen(function* () {
        const workspaces = yield* WorkspacesRepo
        const [one, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const inserted = yield* Effect.flip(workspaces.insert(workspaceRow({ slug: one.slug })))
        assert.strictEqual(inserted.constraint, "workspaces_slug_key")
        const updated = yield* Effect.flip(workspaces.update({ ...other, slug: one.slug }))
        assert.strictEqual(updated.constraint, "workspaces_slug_key")
        assert.deepStrictEqual(yield* workspaces.find(other.id), other)
        yield* workspaces.update(one)
      })
    )

    it.effect("lists the workspaces in which a person is active, with the role", () =>
      Effect.gen(function* () {
        const workspaces = yield* WorkspacesRepo
        const person = yield* addPerson()
        const [one, two, left] = [yield* addWorkspace(), yield* addWorkspace(), yield* addWorkspace()]
        yield* addMember(one, "viewer", { person })
        yield* addMember(two, "owner", { person })
        yield* addMember(left, "admin", { person, active: false })
        yield* addMember(yield* addWorkspace(), "admin")
        assert.sameDeepMembers(
          [...(yield* workspaces.ofPerson(person.id))],
          [
            { ...one, role: "viewer" },
            { ...two, role: "owner" }
          ]
        )
        assert.deepStrictEqual(yield* workspaces.ofPerson(newId<PersonId>()), [])
      })
    )

    it.effect("locks a workspace for one transaction at a time", () =>
      Effect.gen(function* () {
        const { id } = yield* addWorkspace()
        yield* assertHolds((yield* WorkspacesRepo).lock(id))
      })
    )
  })

  it.describe("MembersRepo", () => {
    it.effect("finds a member of the workspace by id and by email", () =>
      Effect.gen(function* () {
        const members = yield* MembersRepo
        const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
        const { email, id, name } = yield* addPerson()
        yield* members.insert({
          workspaceId: workspace.id,
          personId: id,
          role: "admin",
          active: false,
          joinedAt: minute(3)
        })
        const expected = {
          id,
          name,
          email,
          emailVerifiedAt: null,
          role: "admin",
          active: false,
          joinedAt: minute(3)
        } as const
        assert.deepStrictEqual(yield* members.find(workspace.id, id), expected)
        assert.deepStrictEqual(yield* members.findByEmail(workspace.id, email), expected)
        assert.deepStrictEqual(yield* members.list(workspace.id), [expected])
        assert.isUndefined(yield* members.find(elsewhere.id, id))
        assert.isUndefined(yield* members.findByEmail(elsewhere.id, email))
        assert.deepStrictEqual(yield* members.list(elsewhere.id), [])
      })
    )

    it.effect("finds the active member of an address, or who joined last", () =>
      Effect.gen(function* () {
        const members = yield* MembersRepo
        const workspace = yield* addWorkspace()
        const { email } = personRow()
        const join = Effect.fnUntraced(function* (joinedAt: string) {
          const { id } = yield* addPerson({ email })
          yield* members.insert({ workspaceId: workspace.id, personId: id, role: "viewer", active: false, joinedAt })
          return id
        })
        const ids = [yield* join(minute(2)), yield* join(minute(3)), yield* join(minute(1))]
        assert.strictEqual((yield* members.findByEmail(workspace.id, email))?.id, ids[1])
        yield* members.update({ workspaceId: workspace.id, personId: ids[0]!, role: "viewer", active: true })
        assert.strictEqual((yield* members.findByEmail(workspace.id, email))?.id, ids[0])
      })
    )

    it.effect("lets a person be one member of a workspace", () =>
      Effect.gen(function* () {
        const members = yield* MembersRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const person = yield* addPerson()
        const member = {
          workspaceId: workspace.id,
          personId: person.id,
          role: "viewer",
          active: true,
          joinedAt: minute(0)
        } as const
        yield* members.insert(member)
        const error = yield* Effect.flip(members.insert({ ...member, role: "owner" }))
        assert.strictEqual(error.constraint, "members_key")
        expect(yield* members.find(workspace.id, person.id)).toMatchObject({ role: "viewer" })
        yield* members.insert({ ...member, workspaceId: other.id })
      })
    )

    it.effect("updates one member in one workspace", () =>
      Effect.gen(function* () {
        const members = yield* MembersRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const person = yield* addPerson()
        yield* addMember(workspace, "viewer", { person })
        yield* addMember(other, "viewer", { person })
        yield* addMember(workspace, "viewer")
        yield* members.update({ workspaceId: workspace.id, personId: person.id, role: "owner", active: false })
        const { email, id, name } = person
        assert.deepStrictEqual(yield* members.find(workspace.id, id), {
          id,
          name,
          email,
          emailVerifiedAt: null,
          role: "owner",
          active: false,
          joinedAt: minute(0)
        })
        expect(yield* members.find(other.id, id)).toMatchObject({ role: "viewer", active: true })
        const roles = (yield* members.list(workspace.id)).map((member) => member.role)
        assert.sameMembers(roles, ["owner", "viewer"])
      })
    )

    it.effect("counts the active owners of the workspace", () =>
      Effect.gen(function* () {
        const members = yield* MembersRepo
        const workspace = yield* addWorkspace()
        assert.strictEqual(yield* members.countActiveOwners(workspace.id), 0)
        yield* addMember(workspace, "owner")
        yield* addMember(workspace, "owner")
        yield* addMember(workspace, "owner", { active: false })
        yield* addMember(workspace, "admin")
        yield* addMember(yield* addWorkspace(), "owner")
        assert.strictEqual(yield* members.countActiveOwners(workspace.id), 2)
      })
    )
  })

  it.describe("InvitesRepo", () => {
    const inviteRow = (workspaceId: WorkspaceId, inviter: ActorRef, fields: Partial<InviteRow> = {}): InviteRow => {
      const name = unique("invited")
      return {
        id: newId<InviteId>(),
        workspaceId,
        email: `${name}@example.com`,
        role: "member",
        tokenHash: name,
        delivery: "link",
        inviter,
        createdAt: minute(1),
        expiresAt: minute(10),
        acceptedAt: null,
        revokedAt: null,
        makerId: null,
        ...fields
      }
    }

    it.effect("lists the workspace's invites, newest first", () =>
      Effect.gen(function* () {
        const invites = yield* InvitesRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const { id } = yield* addPerson()
        const inviter = { kind: "user", id } as const
        const expected = newestFirst((createdAt, id) =>
          inviteRow(workspace.id, inviter, { createdAt, id: id as InviteId })
        )
        for (const row of shuffled(expected)) yield* invites.insert(row)
        yield* invites.insert(inviteRow(other.id, inviter))
        const listed = (yield* invites.list(workspace.id)).map((invite) => invite.id)
        assert.deepStrictEqual(
          listed,
          expected.map((invite) => invite.id)
        )
      })
    )

    it.effect("shows the inviter by the current name, and a deleted one as removed", () =>
      Effect.gen(function* () {
        const invites = yield* InvitesRepo
        const workspace = yield* addWorkspace()
        const { email, id, name } = yield* addPerson()
        const key = apiKeyRow(keyOfWorkspace(workspace.id))
        yield* (yield* ApiKeysRepo).insert(key)
        const shown = (inviter: ActorRef) =>
          Effect.gen(function* () {
            const row = inviteRow(workspace.id, inviter)
            yield* invites.insert(row)
            expect(yield* invites.lock(workspace.id, row.id)).toMatchObject({ ...row, inviter: {} })
            return (yield* invites.lock(workspace.id, row.id))!.inviter
          })
        assert.deepStrictEqual(yield* shown({ kind: "user", id }), { kind: "user", id, name, email })
        assert.deepStrictEqual(yield* shown({ kind: "apiKey", id: key.id }), {
          kind: "apiKey",
          id: key.id,
          name: key.name
        })
        assert.deepStrictEqual(yield* shown({ kind: "user", id: newId<PersonId>() }), { kind: "removed" })
        assert.deepStrictEqual(yield* shown({ kind: "apiKey", id: newId<ApiKeyId>() }), { kind: "removed" })
        assert.deepStrictEqual(yield* shown({ kind: "user", id: key.id as string as PersonId }), { kind: "removed" })
      })
    )

    it.effect("finds an invite in its workspace, anywhere, and by its token's hash", () =>
      Effect.gen(function* () {
        const invites = yield* InvitesRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const row = inviteRow(workspace.id, { kind: "user", id: (yield* addPerson()).id })
        yield* invites.insert(row)
        expect(yield* invites.lock(workspace.id, row.id)).toMatchObject({ id: row.id, email: row.email })
        expect(yield* invites.findByTokenHash(row.tokenHash)).toMatchObject({ id: row.id })
        assert.isUndefined(yield* invites.lock(other.id, row.id))
        assert.isUndefined(yield* invites.lock(workspace.id, newId<InviteId>()))
        expect(yield* invites.find(row.id)).toMatchObject({ id: row.id, workspaceId: workspace.id })
        assert.isUndefined(yield* invites.findByTokenHash(unique("unknown")))
        assert.isUndefined(yield* invites.find(newId<InviteId>()))
      })
    )

    it.effect("ends an invite as accepted or as revoked", () =>
      Effect.gen(function* () {
        const invites = yield* InvitesRepo
        const workspace = yield* addWorkspace()
        const inviter = { kind: "user", id: (yield* addPerson()).id } as const
        const rows = [1, 2, 3].map(() => inviteRow(workspace.id, inviter)) as [InviteRow, InviteRow, InviteRow]
        for (const row of rows) yield* invites.insert(row)
        yield* invites.end(rows[0].id, "accepted", minute(4))
        yield* invites.end(rows[1].id, "revoked", minute(5))
        const ends = (yield* invites.list(workspace.id)).map(({ acceptedAt, id, revokedAt }) => ({
          id,
          acceptedAt,
          revokedAt
        }))
        assert.sameDeepMembers(ends, [
          { id: rows[0].id, acceptedAt: minute(4), revokedAt: null },
          { id: rows[1].id, acceptedAt: null, revokedAt: minute(5) },
          { id: rows[2].id, acceptedAt: null, revokedAt: null }
        ])
      })
    )

    it.effect("locks an invite for one transaction at a time", () =>
      Effect.gen(function* () {
        const invites = yield* InvitesRepo
        const workspace = yield* addWorkspace()
        const row = inviteRow(workspace.id, { kind: "user", id: (yield* addPerson()).id })
        yield* invites.insert(row)
        yield* assertHolds(invites.lock(workspace.id, row.id))
      })
    )
  })

  it.describe("ApiKeysRepo", () => {
    it.effect("lists the keys of a person and of a workspace that are not revoked, newest first", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const [workspace, person] = [yield* addWorkspace(), yield* addPerson()]
        yield* addMember(workspace, "owner", { person })
        for (const owner of [keyOfPerson(person.id), keyOfWorkspace(workspace.id, "viewer")]) {
          const expected = newestFirst((createdAt, id) => apiKeyRow(owner, { createdAt, id: id as ApiKeyId }))
          for (const row of shuffled(expected)) yield* keys.insert(row)
          yield* keys.insert(apiKeyRow(owner, { revokedAt: minute(4) }))
          const listed =
            owner.personId === null ? yield* keys.ofWorkspace(owner.workspaceId) : yield* keys.ofPerson(owner.personId)
          // Of account keys, it is known who made them.
          const shown = owner.personId === null ? expected.map((key) => ({ ...key, createdBy: null })) : expected
          assert.deepStrictEqual<unknown>(listed, shown)
        }
        assert.deepStrictEqual(yield* keys.ofPerson((yield* addPerson()).id), [])
        assert.deepStrictEqual(yield* keys.ofWorkspace((yield* addWorkspace()).id), [])
      })
    )

    it.effect("revokes the owner's key once", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const workspace = yield* addWorkspace()
        const [person, other] = [yield* addPerson(), yield* addPerson()]
        const own = apiKeyRow(keyOfPerson(person.id))
        const account = apiKeyRow(keyOfWorkspace(workspace.id))
        for (const key of [own, account]) yield* keys.insert(key)

        assert.isUndefined(yield* revoke(keys, own.id, { personId: other.id }, minute(1)))
        assert.isUndefined(yield* revoke(keys, own.id, { workspaceId: workspace.id }, minute(1)))
        assert.isUndefined(yield* revoke(keys, account.id, { workspaceId: (yield* addWorkspace()).id }, minute(1)))
        assert.isUndefined(yield* revoke(keys, account.id, { personId: person.id }, minute(1)))
        assert.isUndefined(yield* revoke(keys, newId<ApiKeyId>(), { personId: person.id }, minute(1)))
        assert.deepStrictEqual(yield* keys.ofPerson(person.id), [own])
        assert.deepStrictEqual(yield* keys.ofWorkspace(workspace.id), [{ ...account, createdBy: null }])

        assert.deepStrictEqual(yield* revoke(keys, own.id, { personId: person.id }, minute(2)), {
          ...own,
          revokedAt: minute(2)
        })
        assert.deepStrictEqual(yield* revoke(keys, account.id, { workspaceId: workspace.id }, minute(2)), {
          ...account,
          revokedAt: minute(2)
        })
        assert.isUndefined(yield* revoke(keys, own.id, { personId: person.id }, minute(3)))
        assert.isUndefined(yield* revoke(keys, account.id, { workspaceId: workspace.id }, minute(3)))
        assert.deepStrictEqual(yield* keys.ofPerson(person.id), [])
      })
    )

    /** A key of a person, an account key that was made with it, and one that was made with that. */
    const makeChain = Effect.gen(function* () {
      const keys = yield* ApiKeysRepo
      const [workspace, person] = [yield* addWorkspace(), yield* addPerson()]
      const root = apiKeyRow(keyOfPerson(person.id))
      const made = (maker: ApiKeyId) =>
        apiKeyRow(keyOfWorkspace(workspace.id), { makerId: maker, familyId: root.id, createdAt: minute(1) })
      const account = made(root.id)
      const [nested, beside] = [made(account.id), made(root.id)]
      for (const key of [root, account, nested, beside]) yield* keys.insert(key)
      const rows = Effect.forEach([root, account, nested, beside], ({ tokenHash }) => keys.ofToken(tokenHash))
      return { root, account, nested, beside, rows }
    })

    it.effect("makes an account key that is kept the first of a chain, unless its own family keeps it", () =>
      Effect.gen(function* () {
        const [keys, storage] = [yield* ApiKeysRepo, yield* Storage]
        const { account, beside, nested, root, rows } = yield* makeChain
        const cutOff = (by: string) => storage.transaction(keys.cutOff([account.id], by))
        for (const by of [root.id, account.id, nested.id, beside.id]) yield* cutOff(by)
        assert.deepStrictEqual(yield* rows, [root, account, nested, beside])
        const kept = [root, { ...account, makerId: null, familyId: null }, { ...nested, familyId: account.id }, beside]
        for (const _ of [1, 2]) {
          yield* cutOff(newId())
          assert.deepStrictEqual(yield* rows, kept)
        }
        const chains = storage.transaction(Effect.all([keys.holdChain(root.id), keys.holdChain(account.id)]))
        assert.deepStrictEqual(
          (yield* chains).map((chain) => chain.toSorted()),
          [[root.id, beside.id].toSorted(), [account.id, nested.id].toSorted()]
        )
        const owner = { personId: root.personId! }
        const ended = yield* storage.transaction(keys.end(root.id, owner, { at: minute(2), keptBy: newId() }))
        assert.deepStrictEqual(ended, [{ ...root, revokedAt: minute(2) }])
        assert.deepStrictEqual(yield* rows, [
          ...ended,
          ...kept.slice(1, 3),
          { ...beside, makerId: null, familyId: null }
        ])
      })
    )

    it.effect("holds the family in which a credential is once the lock was waited for", () =>
      Effect.gen(function* () {
        const [keys, storage] = [yield* ApiKeysRepo, yield* Storage]
        const holds = {
          maker: (id: string) => Effect.map(keys.holdMaker(id), (maker) => maker?.family),
          chain: (id: string) => Effect.map(keys.holdChain(id), ([first]) => first)
        }
        for (const how of ["maker", "chain"] as const) {
          const { account, nested, root } = yield* makeChain
          const isHeld = yield* Deferred.make<void>()
          const alone = storage.transaction(keys.holdFamilies([account.id], "alone"))
          const third = yield* Effect.forkChild(Effect.andThen(Deferred.await(isHeld), alone))
          const second = storage.transaction(
            Effect.gen(function* () {
              const held = yield* holds[how](nested.id)
              yield* Deferred.succeed(isHeld, undefined)
              yield* awaitsThis(third)
              return { held, isWaiting: third.pollUnsafe() === undefined }
            })
          )
          const cut = keys.cutOff([account.id], newId())
          const { held, isWaiting } = yield* whileItWaits(second, keys.holdFamilies([root.id], "alone"), cut)
          assert.deepStrictEqual([held, isWaiting], [how === "maker" ? account.id : nested.id, true])
          yield* Fiber.join(third)
        }
      })
    )

    it.effect("authenticates a person's key with the role in the workspace of the path", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const [mine, viewed, left, foreign] = [
          yield* addWorkspace(),
          yield* addWorkspace(),
          yield* addWorkspace(),
          yield* addWorkspace()
        ]
        const person = yield* addPerson()
        yield* addMember(mine, "owner", { person })
        yield* addMember(viewed, "viewer", { person })
        yield* addMember(left, "admin", { person, active: false })
        yield* addMember(foreign, "owner")
        const key = apiKeyRow(keyOfPerson(person.id))
        yield* keys.insert(key)

        const principal = { kind: "user", id: person.id, name: person.name, email: person.email }
        const cases = [
          [undefined, undefined],
          [mine.slug, { id: mine.id, slug: mine.slug, name: mine.name, role: "owner" }],
          [mine.id, { id: mine.id, slug: mine.slug, name: mine.name, role: "owner" }],
          [viewed.slug, { id: viewed.id, slug: viewed.slug, name: viewed.name, role: "viewer" }],
          [left.slug, undefined],
          [left.id, undefined],
          [foreign.slug, undefined],
          [foreign.id, undefined],
          [unique("unknown"), undefined],
          [newId(), undefined],
          ["", undefined]
        ] as const
        for (const [workspace, membership] of cases) {
          assert.deepStrictEqual(
            yield* keys.authenticate(key.tokenHash, workspace),
            { keyId: key.id, scopes: null, principal, membership } as never,
            `workspace ${workspace}`
          )
        }
      })
    )

    it.effect("authenticates an account key in its own workspace, also without one in the path", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const [own, foreign] = [yield* addWorkspace(), yield* addWorkspace()]
        const key = apiKeyRow(keyOfWorkspace(own.id, "admin"))
        yield* keys.insert(key)

        const principal = { kind: "apiKey", id: key.id, name: key.name }
        const membership = { id: own.id, slug: own.slug, name: own.name, role: "admin" }
        const cases = [
          [undefined, membership],
          [own.slug, membership],
          [own.id, membership],
          [foreign.slug, undefined],
          [foreign.id, undefined],
          [unique("unknown"), undefined],
          ["", undefined]
        ] as const
        for (const [workspace, membership] of cases) {
          assert.deepStrictEqual(
            yield* keys.authenticate(key.tokenHash, workspace),
            { keyId: key.id, scopes: null, principal, membership } as never,
            `workspace ${workspace}`
          )
        }
      })
    )

    it.effect("authenticates neither revoked nor unknown keys", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const workspace = yield* addWorkspace()
        const person = yield* addPerson()
        yield* addMember(workspace, "owner", { person })
        const [own, account] = [apiKeyRow(keyOfPerson(person.id)), apiKeyRow(keyOfWorkspace(workspace.id))]
        for (const key of [own, account]) {
          yield* keys.insert(key)
          assert.isDefined((yield* keys.authenticate(key.tokenHash, workspace.slug))?.membership)
        }
        yield* revoke(keys, own.id, { personId: person.id }, minute(1))
        yield* revoke(keys, account.id, { workspaceId: workspace.id }, minute(1))
        for (const key of [own, account]) {
          assert.isUndefined(yield* keys.authenticate(key.tokenHash, workspace.slug))
          assert.isUndefined(yield* keys.authenticate(key.tokenHash, undefined))
        }
        assert.isUndefined(yield* keys.authenticate(unique("unknown"), workspace.slug))
      })
    )

    it.effect("answers each of many concurrent look-ups by its own key and workspace", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const workspaces = yield* Effect.replicateEffect(addWorkspace(), 5)
        const owners = yield* Effect.forEach(workspaces, (workspace, index) =>
          Effect.gen(function* () {
            const person = yield* addPerson()
            yield* addMember(workspace, index % 2 === 0 ? "admin" : "viewer", { person })
            const own = apiKeyRow(keyOfPerson(person.id))
            const account = apiKeyRow(keyOfWorkspace(workspace.id))
            yield* keys.insert(own)
            yield* keys.insert(account)
            return { workspace, own, account, role: index % 2 === 0 ? "admin" : "viewer" }
          })
        )
        const asked = owners.flatMap(({ account, own, role, workspace }) =>
          owners.flatMap((other) => {
            const isOwn = other.workspace === workspace
            return [
              { hash: own.tokenHash, ref: other.workspace.slug, id: own.id, role: isOwn ? role : undefined },
              { hash: own.tokenHash, ref: other.workspace.id, id: own.id, role: isOwn ? role : undefined },
              {
                hash: account.tokenHash,
                ref: other.workspace.slug,
                id: account.id,
                role: isOwn ? "member" : undefined
              },
              { hash: account.tokenHash, ref: undefined, id: account.id, role: "member" },
              { hash: unique("unknown"), ref: other.workspace.slug, id: undefined, role: undefined }
            ]
          })
        )
        const found = yield* Effect.forEach(asked, ({ hash, ref }) => keys.authenticate(hash, ref), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          found.map((one) => [one?.keyId, one?.membership?.role]),
          asked.map(({ id, role }) => [id, role])
        )
      })
    )

    it.effect("finds no revoked key in a look-up that begins after the revocation, with others in flight", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const workspace = yield* addWorkspace()
        const person = yield* addPerson()
        yield* addMember(workspace, "owner", { person })
        const key = apiKeyRow(keyOfPerson(person.id))
        yield* keys.insert(key)
        let isRevoked = false
        const lookUp = Effect.suspend(() => {
          const wasRevoked = isRevoked
          return Effect.map(keys.authenticate(key.tokenHash, workspace.slug), (found) => {
            if (wasRevoked) assert.isUndefined(found)
            return found !== undefined
          })
        })
        const looking = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 20 }), () => Effect.replicateEffect(lookUp, 20), {
            concurrency: "unbounded"
          })
        )
        assert.isTrue(yield* lookUp)
        yield* revoke(keys, key.id, { personId: person.id }, minute(1))
        isRevoked = true
        assert.isFalse(yield* lookUp)
        yield* Fiber.join(looking)
      })
    )

    it.effect("reflects changes of the member and the workspace", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const workspace = yield* addWorkspace()
        const person = yield* addPerson()
        yield* addMember(workspace, "member", { person })
        const key = apiKeyRow(keyOfPerson(person.id))
        yield* keys.insert(key)
        const membership = (ref: string) =>
          Effect.map(keys.authenticate(key.tokenHash, ref), (authenticated) => authenticated?.membership)

        const member = { workspaceId: workspace.id, personId: person.id }
        yield* (yield* MembersRepo).update({ ...member, role: "admin", active: false })
        assert.isUndefined(yield* membership(workspace.id))
        yield* (yield* MembersRepo).update({ ...member, role: "admin", active: true })
        const renamed = { ...workspace, slug: unique("renamed"), name: "Renamed" }
        yield* (yield* WorkspacesRepo).update(renamed)
        assert.isUndefined(yield* membership(workspace.slug))
        assert.deepStrictEqual(yield* membership(renamed.slug), {
          id: workspace.id,
          slug: renamed.slug,
          name: "Renamed",
          role: "admin"
        })
      })
    )

    it.effect("moves the last use of keys forward, never back", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeysRepo
        const person = yield* addPerson()
        const [never, used, untouched] = [
          apiKeyRow(keyOfPerson(person.id), { createdAt: minute(3) }),
          apiKeyRow(keyOfPerson(person.id), { createdAt: minute(2), lastUsedAt: minute(5) }),
          apiKeyRow(keyOfPerson(person.id), { createdAt: minute(1) })
        ]
        for (const key of [never, used, untouched]) yield* keys.insert(key)
        const lastUses = Effect.map(keys.ofPerson(person.id), (rows) => rows.map((row) => row.lastUsedAt))

        yield* keys.touch(
          new Map([
            [never.id, minute(4)],
            [used.id, minute(4)],
            [newId<ApiKeyId>(), minute(4)]
          ])
        )
        assert.deepStrictEqual(yield* lastUses, [minute(4), minute(5), null])
        yield* keys.touch(
          new Map([
            [never.id, minute(3)],
            [used.id, minute(6)]
          ])
        )
        assert.deepStrictEqual(yield* lastUses, [minute(4), minute(6), null])
      })
    )
  })

  it.describe("TrustedPublishersRepo", () => {
    it.effect("gives a publisher for use until the key that made it expires or is revoked", () =>
      Effect.gen(function* () {
        const [keys, publishers] = [yield* ApiKeysRepo, yield* TrustedPublishersRepo]
        const workspace = yield* addWorkspace()
        const person = yield* addPerson()
        const maker = apiKeyRow(keyOfPerson(person.id), { expiresAt: minute(10) })
        // The maker has one, too.
        const older = apiKeyRow(keyOfPerson(person.id))
        for (const key of [older, { ...maker, makerId: older.id, familyId: older.id }]) yield* keys.insert(key)
        const { expiresAt, id: makerId } = maker
        const publisher = publisherRow(workspace.id, person.id, { expiresAt, makerId })
        yield* publishers.insert(publisher)
        assert.deepStrictEqual(yield* publishers.use(publisher.id, minute(9)), { ...publisher, lastUsedAt: minute(9) })
        assert.isUndefined(yield* publishers.use(publisher.id, minute(10)))
        assert.isDefined(yield* publishers.use(publisher.id, minute(9)))
        yield* revoke(keys, maker.id, { personId: person.id }, minute(9))
        assert.isUndefined(yield* publishers.use(publisher.id, minute(9)))
        assert.isUndefined(yield* publishers.use(newId(), minute(9)))
      })
    )
  })
})
