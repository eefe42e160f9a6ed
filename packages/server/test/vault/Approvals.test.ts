import type { ApprovalState } from "@delivery/domain/catalog/Approval"
import type { ApiKeyId, PersonId, SessionId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AuditRepo } from "../../src/audit/AuditRepo.ts"
import { Approvals } from "../../src/catalog/Approvals.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../../src/identity/BlocksRepo.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { SessionsRepo } from "../../src/identity/SessionsRepo.ts"
import { Vault } from "../../src/vault/Vault.ts"
import {
  addAccountKey,
  addMember,
  adminsAndUp,
  answer,
  apiKeyRow,
  as,
  type CallerOf,
  eventsOf,
  everyRole,
  keyOfPerson,
  keyOfWorkspace,
  kindsOf,
  makeScene,
  membersAndUp,
  newId,
  now,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { makeVaultScene, onEachStorage, secret, values, type VaultScene } from "./Scene.ts"

/** Writes that need the approval of a second person (docs/contract.md, Approvals). */

const required = "Conflict approval_required"

onEachStorage("Approvals", (it) => {
  /** A workspace whose production needs approvals, with a secret that has a value everywhere. */
  const guardedScene = Effect.gen(function* () {
    const scene = yield* makeVaultScene
    yield* (yield* Vault)
      .create("shop", { name: "A", values: values({ production: "1", staging: "1" }) })
      .pipe(as(scene.member))
    yield* (yield* Environments).update("production", { approvals: true }).pipe(as(scene.admin))
    return scene
  })

  const ask = (by: CallerOf, fields: { readonly environment?: string; readonly minutes?: number } = {}) =>
    Effect.flatMap(Approvals, (approvals) =>
      approvals.request({ environment: "production", reason: "Rotate a key", minutes: 30, ...fields })
    ).pipe(as(by))

  /** An approval that counts. */
  const approved = Effect.fnUntraced(function* (by: CallerOf, approver: CallerOf, minutes = 30) {
    const { id } = yield* ask(by, { minutes })
    return yield* (yield* Approvals).approve(id).pipe(as(approver))
  })

  const write = (by: CallerOf, environments: Record<string, string | null> = { production: "2" }) =>
    Effect.flatMap(Vault, (vault) => vault.update("shop", "A", { values: values(environments) })).pipe(as(by), answer)

  const stateOf = (scene: VaultScene, id: string) =>
    Effect.flatMap(Approvals, (approvals) => approvals.get(id)).pipe(
      as(scene.viewer),
      Effect.map(({ state }) => state)
    )

  /** All writes of the vault that touch production, each on a secret of its own. */
  const writesOf = Effect.gen(function* () {
    const vault = yield* Vault
    const update = (name: string, input: Parameters<typeof vault.update>[2]) => vault.update("shop", name, input)
    const bulk = { products: ["shop", "search"], name: "BULK" }
    return {
      create: vault.create("shop", { name: "NEW", values: values({ staging: "1", production: "1" }) }),
      set: update("SET", { values: values({ production: "2" }) }),
      clear: update("CLEAR", { values: values({ production: null }) }),
      "set in several": update("SEVERAL", { values: values({ staging: "2", production: "2" }) }),
      restore: update("RESTORE", { restore: { production: 1 } }),
      "rename what has a value there": update("RENAME", { newName: "RENAMED" }),
      assign: vault.assign({ ...bulk, environments: ["staging", "production"], value: secret("1") }),
      generate: vault.generate({
        ...bulk,
        name: "GENERATED",
        environments: ["production", "ci"],
        generator: { type: "uuid" }
      }),
      delete: vault.delete("shop", "DELETE")
    }
  })
  const written = ["SET", "CLEAR", "SEVERAL", "RESTORE", "RENAME", "DELETE"]

  it.effect("checks the role before it finds anything", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const scene = yield* makeScene
      const input = { environment: "none", reason: "Why", minutes: 5 }
      assert.deepStrictEqual(yield* whoMay(scene, approvals.list({})), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, approvals.get(newId())), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, approvals.request(input)), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, approvals.approve(newId())), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, approvals.reject(newId())), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, approvals.end(newId())), everyRole)
    })
  )

  it.effect("are off by default, and turned on by an admin, which events and the audit tell", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeVaultScene
      const { admin, workspace } = scene
      assert.isFalse((yield* environments.get("production").pipe(as(admin))).approvals)
      yield* (yield* Vault).create("shop", { name: "A", values: values({ production: "1" }) }).pipe(as(scene.member))
      assert.strictEqual(yield* refusal(ask(scene.member)), "Conflict approvals_off")
      const on = yield* environments.update("production", { approvals: true }).pipe(as(admin))
      assert.isTrue(on.approvals)
      assert.deepStrictEqual(yield* environments.get("production").pipe(as(scene.viewer)), on)
      const change = { field: "approvals", from: "false", to: "true" }
      assert.deepStrictEqual((yield* eventsOf(workspace)).at(-1)?.changes, [change])
      const [entry] = yield* (yield* AuditRepo).find(workspace.id, { action: "environment_updated" }, 10)
      assert.deepStrictEqual([entry?.changes, entry?.subjectId], [[change], on.id])
      yield* environments.update("staging", { name: "Stage" }).pipe(as(admin))
      assert.lengthOf(yield* (yield* AuditRepo).find(workspace.id, { action: "environment_updated" }, 10), 1)
    })
  )

  it.effect("are on in an environment that is made with them, as the event and the audit tell", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeVaultScene
      const { adminKey, workspace } = scene
      const make = (slug: string, approvals?: boolean) =>
        environments
          .create({ slug, name: slug, class: "non-production", ...(approvals === undefined ? {} : { approvals }) })
          .pipe(as(adminKey))
      assert.isFalse((yield* make("off", false)).approvals)
      const made = yield* make("guarded", true)
      assert.isTrue(made.approvals)
      assert.deepStrictEqual(yield* environments.get("guarded").pipe(as(scene.viewer)), made)
      const change = { field: "approvals", from: "false", to: "true" }
      const newest = (yield* eventsOf(workspace)).at(-1)
      assert.deepStrictEqual([newest?.kind, newest?.changes], ["environment_created", [change]])
      const entries = yield* (yield* AuditRepo).find(workspace.id, { action: "environment_created" }, 10)
      assert.deepStrictEqual(
        entries.map(({ changes, subjectId }) => [changes, subjectId]),
        [[[change], made.id]]
      )
      // As where they were turned on: turning them off needs one.
      const off = environments.update("guarded", { approvals: false })
      assert.strictEqual(yield* refusal(off.pipe(as(adminKey))), "Conflict approval_required")
    })
  )

  it.effect("refuse every write of values there, whole, and let each be made with one", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const scene = yield* makeVaultScene
      const { member, workspace } = scene
      for (const name of written) {
        yield* vault.create("shop", { name, values: values({ production: "1", staging: "1" }) }).pipe(as(member))
      }
      yield* (yield* Environments).update("production", { approvals: true }).pipe(as(scene.admin))
      const before = yield* vault.list.pipe(as(member))
      const events = yield* kindsOf(workspace)
      for (const [name, call] of Object.entries(yield* writesOf)) {
        const error = yield* Effect.flip(call.pipe(as(member)))
        assert.strictEqual("reason" in error && error.reason, "approval_required", name)
        assert.include(error.message, `Production: writes there need the approval of a second person.`)
        assert.include(error.message, "`delivery approvals request production`")
        assert.include(error.message, `POST /v1/workspaces/${workspace.slug}/approvals`)
      }
      assert.deepStrictEqual(yield* vault.list.pipe(as(member)), before)
      assert.deepStrictEqual(yield* kindsOf(workspace), events)
      const { id } = yield* approved(member, scene.admin)
      for (const [name, call] of Object.entries(yield* writesOf)) {
        assert.strictEqual(yield* call.pipe(as(member), answer), "ok", name)
        const entries = yield* (yield* AuditRepo).find(workspace.id, {}, 5)
        // Some answers have values, which is another entry.
        const entry = entries.find(({ action }) => action !== "secret_read")
        const approval = entry?.changes?.filter(({ field }) => field === "environments.production.approval")
        assert.deepStrictEqual(approval, [{ field: "environments.production.approval", from: null, to: id }], name)
      }
    })
  )

  it.effect("let values of other environments be written, and everything be read", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const scene = yield* guardedScene
      const { member } = scene
      assert.strictEqual(yield* write(member, { staging: "2", ci: "2" }), "ok")
      const only = vault.create("shop", { name: "ONLY", values: values({ staging: "1" }) })
      assert.strictEqual(yield* only.pipe(as(member), answer), "ok")
      assert.strictEqual(yield* vault.update("shop", "ONLY", { newName: "B" }).pipe(as(member), answer), "ok")
      assert.strictEqual(yield* vault.delete("shop", "B").pipe(as(member), answer), "ok")
      assert.strictEqual(yield* vault.get("shop", "A").pipe(as(member), answer), "ok")
      const versions = vault.versions({ product: "shop", name: "A", environment: "production" })
      assert.lengthOf(yield* versions.pipe(as(scene.viewer)), 1)
      const [entry] = yield* (yield* AuditRepo).find(scene.workspace.id, { action: "secret_changed" }, 1)
      assert.isNull(entry?.changes)
    })
  )

  it.effect("need one for each environment that a call writes to", () =>
    Effect.gen(function* () {
      const scene = yield* guardedScene
      const { admin, member } = scene
      yield* (yield* Environments).update("ci", { approvals: true }).pipe(as(admin))
      yield* approved(member, admin)
      assert.strictEqual(yield* write(member, { production: "2", ci: "2" }), required)
      assert.strictEqual(yield* write(member), "ok")
      const { id } = yield* ask(member, { environment: "ci" })
      yield* (yield* Approvals).approve(id).pipe(as(admin))
      assert.strictEqual(yield* write(member, { production: "2", ci: "2" }), "ok")
    })
  )

  it.effect("are asked for, approved, and over after their minutes", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const scene = yield* guardedScene
      const { admin, member, production } = scene
      const requestedAt = yield* now
      const asked = yield* ask(member)
      const {
        archivedAt: _,
        approvals: __,
        createdAt: ___,
        updatedAt: ____,
        workspaceId: _____,
        ...environment
      } = production
      const pending = {
        id: asked.id,
        environment: { ...environment, archived: false },
        state: "pending",
        reason: "Rotate a key",
        minutes: 30,
        requestedBy: member.principal,
        requestedAt,
        decidedBy: null,
        decidedAt: null,
        decisionReason: null,
        expiresAt: "1970-01-02T00:00:00.000Z",
        endedBy: null,
        endedAt: null
      } as const
      assert.deepStrictEqual(asked, pending)
      assert.strictEqual(yield* write(member), required)
      yield* TestClock.adjust("2 hours")
      const state = yield* approvals.approve(asked.id).pipe(as(admin))
      const expected = {
        ...pending,
        state: "approved",
        decidedBy: admin.principal,
        decidedAt: "1970-01-01T02:00:00.000Z",
        expiresAt: "1970-01-01T02:30:00.000Z"
      } as const
      assert.deepStrictEqual(state, expected)
      assert.deepStrictEqual(yield* approvals.get(asked.id).pipe(as(scene.viewer)), expected)
      yield* TestClock.adjust(30 * 60_000 - 1)
      assert.strictEqual(yield* write(member), "ok")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* write(member), required)
      assert.deepStrictEqual(yield* approvals.get(asked.id).pipe(as(member)), { ...expected, state: "expired" })
      for (const call of [approvals.end(asked.id).pipe(as(member)), approvals.approve(asked.id).pipe(as(admin))]) {
        assert.strictEqual(yield* refusal(call), "Conflict approval_closed")
      }
      const told = (yield* eventsOf(scene.workspace)).filter(({ subjectType }) => subjectType === "approval")
      assert.deepStrictEqual(
        told.map(({ actor, changes, kind, subjectLabel, subjectPath }) => ({
          actor,
          changes,
          kind,
          subject: [subjectLabel, subjectPath]
        })),
        [
          {
            actor: member.principal,
            changes: [
              { field: "environment", from: null, to: "production" },
              { field: "reason", from: null, to: "Rotate a key" },
              { field: "minutes", from: null, to: "30" }
            ],
            kind: "approval_requested",
            subject: ["Production", "environments/production"]
          },
          {
            actor: admin.principal,
            changes: [
              { field: "requestedBy", from: null, to: member.principal.name },
              { field: "expiresAt", from: pending.expiresAt, to: expected.expiresAt }
            ],
            kind: "approval_approved",
            subject: ["Production", "environments/production"]
          }
        ]
      )
      for (const { actor, changes, kind } of told) {
        const [entry, ...more] = yield* (yield* AuditRepo).find(scene.workspace.id, { action: kind }, 10)
        assert.deepStrictEqual([entry?.changes, entry?.actor, more], [changes, actor, []])
      }
    })
  )

  it.effect("can be approved for a day, and asked for anew then", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const scene = yield* guardedScene
      const { id } = yield* ask(scene.member)
      assert.strictEqual(yield* refusal(ask(scene.member)), "Conflict already_requested")
      yield* ask(scene.memberKey)
      yield* TestClock.adjust(24 * 3_600_000 - 1)
      assert.strictEqual(yield* stateOf(scene, id), "pending")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* stateOf(scene, id), "expired")
      for (const call of [approvals.approve(id), approvals.reject(id)]) {
        assert.strictEqual(yield* refusal(call.pipe(as(scene.admin))), "Conflict approval_closed")
      }
      yield* approved(scene.member, scene.admin)
      // One that counts does not keep from asking for the next.
      yield* ask(scene.member)
    })
  )

  it.effect("are rejected with a reason or without, or withdrawn, and let nobody write", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const scene = yield* guardedScene
      const { admin, member } = scene
      for (const reason of [undefined, null, "Not today"]) {
        const { id } = yield* ask(member)
        const rejected = yield* approvals.reject(id, reason).pipe(as(admin))
        assert.deepStrictEqual([rejected.state, rejected.decisionReason], ["rejected", reason ?? null])
        assert.strictEqual(yield* refusal(approvals.approve(id).pipe(as(admin))), "Conflict approval_closed")
      }
      const { id } = yield* ask(member)
      const withdrawn = yield* approvals.end(id).pipe(as(member))
      assert.deepStrictEqual(
        [withdrawn.state, withdrawn.endedBy, withdrawn.endedAt],
        ["withdrawn", member.principal, yield* now]
      )
      assert.strictEqual(yield* refusal(approvals.approve(id).pipe(as(admin))), "Conflict approval_closed")
      assert.strictEqual(yield* write(member), required)
      assert.deepStrictEqual(
        (yield* kindsOf(scene.workspace)).filter((kind) => kind.startsWith("approval_")).slice(-2),
        ["approval_requested", "approval_withdrawn"]
      )
    })
  )

  it.effect("are decided by another person alone, who is an admin", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const apiKeys = yield* ApiKeysRepo
      const scene = yield* guardedScene
      const { admin, workspace } = scene
      const other = yield* addMember(workspace, "admin")
      /** A key of the workspace that the actor made. */
      const keyOf = Effect.fnUntraced(function* (by: { readonly kind: "user" | "apiKey"; readonly id: string }) {
        const row = apiKeyRow(keyOfWorkspace(workspace.id, "admin"), {
          createdByKind: by.kind,
          createdById: by.id as ApiKeyId
        })
        yield* apiKeys.insert(row)
        const principal = { kind: "apiKey", id: row.id, name: row.name } as const
        return { principal, membership: { ...admin.membership!, role: "admin" as const } }
      })
      const key = yield* keyOf(admin.principal)
      const keyOfKey = yield* keyOf(key.principal)
      for (const requester of [admin, key, keyOfKey]) {
        const { id } = yield* ask(requester)
        for (const [by, why] of [
          [admin, "own_approval"],
          [scene.adminKey, "account_key"],
          [key, "account_key"],
          [scene.member, "role_too_low"]
        ] as const) {
          const calls = [approvals.approve(id), approvals.reject(id)]
          for (const call of calls) assert.strictEqual(yield* refusal(call.pipe(as(by))), `Forbidden ${why}`)
        }
        assert.strictEqual(yield* write(requester), required)
        yield* approvals.approve(id).pipe(as(other))
        assert.strictEqual(yield* write(requester), "ok")
        yield* approvals.end(id).pipe(as(other))
      }
      // Whose key it was, when it is revoked.
      const revoked = yield* keyOf(key.principal)
      const { id } = yield* ask(revoked)
      yield* apiKeys.end(key.principal.id, { workspaceId: workspace.id }, { at: yield* now, keptBy: undefined })
      assert.strictEqual(yield* refusal(approvals.approve(id).pipe(as(admin))), "Forbidden own_approval")
      yield* approvals.approve(id).pipe(as(scene.owner))
    })
  )

  it.effect("count for who asked alone, with each of their sessions and keys", () =>
    Effect.gen(function* () {
      const scene = yield* guardedScene
      const { admin, member } = scene
      yield* approved(member, admin)
      for (const by of [admin, scene.owner, scene.memberKey, scene.adminKey]) {
        assert.strictEqual(yield* write(by), required)
      }
      const key = apiKeyRow(keyOfPerson(member.principal.id))
      yield* (yield* ApiKeysRepo).insert(key)
      const credential = { kind: "apiKey", id: key.id, lastFour: key.lastFour } as const
      assert.strictEqual(yield* write({ ...member, credential }), "ok")
      yield* approved(scene.memberKey, admin)
      assert.strictEqual(yield* write(scene.memberKey), "ok")
      assert.strictEqual(yield* write(yield* addAccountKey(scene.workspace, "member")), required)
    })
  )

  it.effect("are ended by either side and by every admin, and by nobody else", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const scene = yield* guardedScene
      const { admin, member, owner, workspace } = scene
      const stranger = yield* addMember(workspace, "member")
      for (const by of [member, admin, owner, scene.adminKey]) {
        const { id } = yield* approved(member, admin)
        assert.strictEqual(yield* refusal(approvals.end(id).pipe(as(stranger))), "Forbidden role_too_low")
        assert.strictEqual(yield* write(member), "ok")
        const ended = yield* approvals.end(id).pipe(as(by))
        assert.deepStrictEqual([ended.state, ended.endedBy], ["ended", by.principal])
        assert.strictEqual(yield* write(member), required)
        assert.strictEqual(yield* refusal(approvals.end(id).pipe(as(by))), "Conflict approval_closed")
        assert.strictEqual((yield* kindsOf(workspace)).at(-1), "approval_ended")
      }
      // An admin ends one that is pending: nobody has withdrawn it.
      const { id } = yield* ask(member)
      assert.strictEqual((yield* approvals.end(id).pipe(as(owner))).state, "ended")
    })
  )

  it.effect("end with the membership, the role and the credential of who asked and of who approved", () =>
    Effect.gen(function* () {
      const scene = yield* guardedScene
      const { workspace } = scene
      const [members, sessions] = [yield* MembersRepo, yield* SessionsRepo]
      const [apiKeys, blocks] = [yield* ApiKeysRepo, yield* BlocksRepo]
      const workspaceId = workspace.id
      const idOf = (caller: CallerOf) => caller.principal.id as PersonId
      const asMember = (caller: CallerOf, role: "viewer" | "member", active = true) =>
        members.update({ workspaceId, personId: idOf(caller), role, active })
      /** A person who calls with a key of their own. */
      const byKey = Effect.fnUntraced(function* (role: "member" | "admin") {
        const person = yield* addMember(workspace, role)
        const key = apiKeyRow(keyOfPerson(person.principal.id))
        yield* apiKeys.insert(key)
        return { ...person, credential: { kind: "apiKey", id: key.id, lastFour: key.lastFour } as const }
      })
      const endKey = ({ credential, principal }: CallerOf) =>
        Effect.flatMap(now, (at) =>
          apiKeys.end(credential!.id as ApiKeyId, { personId: principal.id as PersonId }, { at, keptBy: undefined })
        )
      const block = (caller: CallerOf) =>
        Effect.flatMap(now, (at) => blocks.block(workspaceId, caller.principal.id, [caller.principal.id], at))
      const signOut = (caller: CallerOf) => sessions.end(idOf(caller), idOf(caller) as string as SessionId)
      const [asker, approver] = [() => addMember(workspace, "member"), () => addMember(workspace, "admin")]
      const ends = {
        "who asked is deactivated": [asker(), approver(), (by: CallerOf) => asMember(by, "member", false)],
        "who asked becomes a viewer": [asker(), approver(), (by: CallerOf) => asMember(by, "viewer")],
        "who asked signs out": [asker(), approver(), signOut],
        "the session of who asked is blocked": [asker(), approver(), block],
        "the key of who asked ends": [byKey("member"), approver(), endKey],
        "who approved is deactivated": [
          asker(),
          approver(),
          (_: CallerOf, by: CallerOf) => asMember(by, "member", false)
        ],
        "who approved is an admin no more": [
          asker(),
          approver(),
          (_: CallerOf, by: CallerOf) => asMember(by, "member")
        ],
        "who approved signs out": [asker(), approver(), (_: CallerOf, by: CallerOf) => signOut(by)],
        "the session of who approved is blocked": [asker(), approver(), (_: CallerOf, by: CallerOf) => block(by)],
        "the key of who approved ends": [asker(), byKey("admin"), (_: CallerOf, by: CallerOf) => endKey(by)]
      } as const
      for (const [name, [makeAsker, makeApprover, happens]] of Object.entries(ends)) {
        const [by, decider] = [yield* makeAsker, yield* makeApprover]
        const { id } = yield* approved(by, decider)
        assert.strictEqual(yield* write(by), "ok", name)
        yield* happens(by, decider)
        assert.strictEqual(yield* write(by), required, name)
        assert.strictEqual(yield* stateOf(scene, id), "ended", name)
      }
      // One that is pending ends with who asked, too.
      const by = yield* asker()
      const { id } = yield* ask(by)
      yield* signOut(by)
      const call = (yield* Approvals).approve(id).pipe(as(scene.admin))
      assert.strictEqual(yield* refusal(call), "Conflict approval_closed")
    })
  )

  it.effect("guard the class, archiving, and whether they are needed at all, but no name", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* guardedScene
      const { admin, owner, workspace } = scene
      const changes = {
        class: environments.update("ci", { class: "production" }),
        off: environments.update("ci", { approvals: false }),
        "off and a name": environments.update("ci", { approvals: false, name: "Other" }),
        archive: environments.archive("ci")
      }
      yield* environments.update("ci", { approvals: true }).pipe(as(admin))
      for (const [name, call] of Object.entries(changes)) {
        for (const by of [admin, owner, scene.adminKey]) {
          assert.strictEqual(yield* refusal(call.pipe(as(by))), required, name)
        }
      }
      const slug = unique("renamed")
      yield* environments.update("production", { slug, name: "Live" }).pipe(as(admin))
      yield* environments.create({ slug: "production", name: "Production", class: "production" }).pipe(as(admin))
      assert.strictEqual(yield* write(scene.member, { [slug]: "2" }), required)
      const { id } = yield* ask(admin, { environment: "ci" })
      yield* (yield* Approvals).approve(id).pipe(as(owner))
      const approval = { field: "environments.ci.approval", from: null, to: id }
      yield* environments.update("ci", { class: "production" }).pipe(as(admin))
      const audit = yield* AuditRepo
      const [updated] = yield* audit.find(workspace.id, { action: "environment_updated" }, 1)
      assert.deepStrictEqual(updated?.changes, [{ field: "class", from: "non-production", to: "production" }, approval])
      yield* environments.archive("ci").pipe(as(admin))
      const [archived] = yield* audit.find(workspace.id, { action: "environment_archived" }, 1)
      assert.deepStrictEqual(archived?.changes, [approval])
      assert.strictEqual(yield* refusal(ask(scene.member, { environment: "ci" })), "Conflict archived")
      yield* environments.restore("ci").pipe(as(admin))
      yield* environments.update("ci", { approvals: false }).pipe(as(admin))
      assert.strictEqual(yield* write(scene.member, { ci: "2" }), "ok")
    })
  )

  it.effect("are listed newest first, by environment and state, within the workspace", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const scene = yield* guardedScene
      const { admin, member, viewer } = scene
      yield* (yield* Environments).update("ci", { approvals: true }).pipe(as(admin))
      const foreign = yield* guardedScene
      const other = yield* ask(foreign.member)
      const made = [
        yield* approved(member, admin),
        yield* ask(member),
        yield* ask(member, { environment: "ci" }),
        yield* ask(scene.memberKey)
      ]
      const [first, pending, ofCi, ofKey] = made.map(({ id }) => id)
      const list = (query: { environment?: string; state?: ApprovalState; cursor?: string }) =>
        Effect.map(approvals.list(query).pipe(as(viewer)), (page) => page.approvals.map(({ id }) => id))
      assert.deepStrictEqual(yield* list({}), [ofKey, ofCi, pending, first])
      assert.deepStrictEqual(yield* list({ environment: "production" }), [ofKey, pending, first])
      assert.deepStrictEqual(yield* list({ environment: scene.ci.id, state: "pending" }), [ofCi])
      assert.deepStrictEqual(yield* list({ state: "approved" }), [first])
      assert.deepStrictEqual(yield* list({ state: "rejected" }), [])
      assert.deepStrictEqual(yield* list({ cursor: ofCi! }), [pending, first])
      assert.deepStrictEqual(yield* approvals.list({ state: "approved" }).pipe(as(viewer)), {
        approvals: [made[0]!],
        nextCursor: null
      })
      assert.strictEqual(yield* refusal(list({ environment: "none" })), "NotFound")
      for (const id of [other.id, newId(), "none", ""]) {
        for (const call of [approvals.get(id), approvals.approve(id), approvals.reject(id), approvals.end(id)]) {
          assert.strictEqual(yield* refusal(call.pipe(as(admin))), "NotFound")
        }
      }
    })
  )

  it.effect("are listed a hundred a page", () =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const scene = yield* guardedScene
      const made: Array<string> = []
      for (let count = 0; count < 101; count++) {
        const { id } = yield* ask(scene.member)
        yield* approvals.end(id).pipe(as(scene.member))
        made.unshift(id)
      }
      const first = yield* approvals.list({}).pipe(as(scene.viewer))
      assert.deepStrictEqual([first.approvals.map(({ id }) => id), first.nextCursor], [made.slice(0, 100), made[99]!])
      const second = yield* approvals.list({ cursor: made[99]! }).pipe(as(scene.viewer))
      assert.deepStrictEqual([second.approvals.map(({ id }) => id), second.nextCursor], [made.slice(100), null])
    })
  )
})
