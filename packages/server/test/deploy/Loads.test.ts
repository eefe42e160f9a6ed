import { DeployCaller } from "@delivery/domain/deploy/DeployAuthorization"
import { Conflict } from "@delivery/domain/Errors"
import type { SecretId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AuditRepo } from "../../src/audit/AuditRepo.ts"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { DeploymentTokens } from "../../src/deploy/DeploymentTokens.ts"
import { Loads } from "../../src/deploy/Loads.ts"
import { LoadsRepo } from "../../src/deploy/LoadsRepo.ts"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { BlocksRepo } from "../../src/identity/BlocksRepo.ts"
import { Inventory } from "../../src/identity/Inventory.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { answer, as, eventsOf, now, refusal } from "../identity/Scene.ts"
import { eventually } from "../support/Eventually.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { asProduct, home, load, loadOne, makeDeployScene, newToken, readsOf } from "./Scene.ts"

withServicesOnEachStorage("What a product reads with its token", (it) => {
  const never = () => false
  const file = (format: "env" | "docker", knows: (etag: string) => boolean = never) =>
    Effect.flatMap(Loads, (loads) => loads.file(format, knows))

  it.effect("is what it is, and where", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { token } = yield* newToken(scene, { name: "boot" })
      const me = yield* Effect.flatMap(Loads, (loads) => loads.me).pipe(asProduct(token))
      assert.deepInclude(me.product, { id: scene.product.id, slug: "shop", archived: false })
      assert.deepInclude(me.environment, { id: scene.production.id, slug: "production", class: "production" })
      assert.deepStrictEqual(me.deployment, { version: "1", baseUrl: "https://shop.example" })
      assert.deepStrictEqual(me.token, { name: "boot", expiresAt: null })
    })
  )

  it.effect("are its own values in its environment, and no others", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { token } = yield* newToken(scene)
      assert.deepStrictEqual((yield* load.pipe(asProduct(token))).values, {})
      yield* scene.set("B", "b1")
      yield* scene.set("A", "a1")
      yield* scene.set("CLEARED", "gone")
      yield* scene.set("CLEARED", null)
      yield* scene.set("STAGING", "other", "staging")
      yield* scene.set("A", "a in staging", "staging")
      yield* scene.set("__proto__", "kept")
      yield* scene.set("DELETED", "gone")
      yield* (yield* Vault).delete("shop", "DELETED").pipe(as(scene.member))
      const { values } = yield* load.pipe(asProduct(token))
      assert.deepStrictEqual(Object.entries(values), [
        ["A", "a1"],
        ["B", "b1"],
        ["__proto__", "kept"]
      ])
      yield* scene.set("A", "a2")
      assert.strictEqual((yield* load.pipe(asProduct(token))).values["A"], "a2")
    })
  )

  it.effect("can be one value, with its version", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { token } = yield* newToken(scene)
      yield* scene.set("A", "a1")
      yield* scene.set("A", "a2")
      yield* scene.set("STAGING", "other", "staging")
      yield* scene.set("CLEARED", "gone")
      yield* scene.set("CLEARED", null)
      const { name, value, version } = yield* loadOne("A").pipe(asProduct(token))
      assert.deepStrictEqual([name, version, Redacted.value(value)], ["A", 2, "a2"])
      for (const absent of ["STAGING", "CLEARED", "a", "none"]) {
        assert.strictEqual(yield* refusal(loadOne(absent).pipe(asProduct(token))), "NotFound")
      }
    })
  )

  it.effect("has a revision and an ETag of names and versions, and of no value", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { token } = yield* newToken(scene)
      const other = yield* newToken(scene)
      const state = Effect.map(load, ({ etag, revision }) => ({ etag, revision }))
      yield* scene.set("A", "a")
      const first = yield* state.pipe(asProduct(token))
      assert.match(first.etag, /^"[A-Za-z0-9_-]{43}"$/)
      assert.deepStrictEqual(yield* state.pipe(asProduct(other.token)), first)
      yield* scene.set("STAGING", "other", "staging")
      assert.deepStrictEqual(yield* state.pipe(asProduct(token)), first)
      // An equal value of another version is another revision.
      yield* scene.set("A", "a")
      const second = yield* state.pipe(asProduct(token))
      assert.notStrictEqual(second.revision, first.revision)
      yield* (yield* Vault).update("shop", "A", { newName: "B" }).pipe(as(scene.member))
      const third = yield* state.pipe(asProduct(token))
      assert.notStrictEqual(third.revision, second.revision)
      yield* (yield* Environments).update("production", { name: "Live" }).pipe(as(scene.admin))
      const fourth = yield* state.pipe(asProduct(token))
      assert.strictEqual(fourth.revision, third.revision)
      assert.notStrictEqual(fourth.etag, third.etag)
      const tags = [
        fourth.etag,
        (yield* file("env").pipe(asProduct(token))).etag,
        (yield* file("docker").pipe(asProduct(token))).etag
      ]
      assert.lengthOf([...new Set(tags)], 3)
    })
  )

  it.effect("is a file where all can be written, and else nothing", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { token } = yield* newToken(scene)
      yield* scene.set("B", "it's")
      yield* scene.set("A", "$a\nb")
      const text = (format: "env" | "docker") =>
        Effect.map(file(format), (loaded) => (loaded.isKnown ? "" : Redacted.value(loaded.answer))).pipe(
          asProduct(token)
        )
      assert.strictEqual(yield* text("env"), "A='$a\nb'\nB=\"it's\"\n")
      const reads = (yield* readsOf(scene)).length
      const refused = yield* Effect.flip(text("docker"))
      assert.instanceOf(refused, Conflict)
      assert.deepInclude(refused, { reason: "not_environment_names", names: ["A"] })
      yield* scene.set("A", "a")
      assert.strictEqual(yield* text("docker"), "A=a\nB=it's\n")
      yield* scene.set("not-a-name", "a")
      const other = yield* Effect.flip(text("env"))
      assert.deepInclude(other, { reason: "not_environment_names", names: ["not-a-name"] })
      assert.notInclude(String(other), "'a'")
      // What was refused was not read.
      assert.lengthOf(yield* readsOf(scene), reads + 1)
    })
  )

  it.effect("answers nobody but a token that works", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { id, token } = yield* newToken(scene)
      yield* scene.set("A", "a")
      assert.strictEqual(yield* answer(load.pipe(asProduct(token))), "ok")
      for (const wrong of ["", "dtk_", `${token}0`, token.replace("dtk_", "ctk_"), `dtk_${"0".repeat(42)}`]) {
        assert.strictEqual(yield* refusal(load.pipe(asProduct(wrong))), "Unauthorized")
      }
      const inventory = yield* Inventory
      yield* inventory.block(id).pipe(as(scene.owner))
      const { eraseBlocks } = yield* SignInsRepo
      yield* eraseBlocks(yield* now)
      assert.strictEqual(yield* refusal(load.pipe(asProduct(token))), "Unauthorized")
      yield* inventory.unblock(id).pipe(as(scene.owner))
      assert.strictEqual(yield* answer(load.pipe(asProduct(token))), "ok")
      yield* (yield* Environments).archive("production").pipe(as(scene.admin))
      for (const call of [load, loadOne("A"), file("env")] as const) {
        assert.strictEqual(
          yield* refusal(Effect.asVoid(call as typeof load).pipe(asProduct(token))),
          "Forbidden archived"
        )
      }
      yield* (yield* Environments).restore("production").pipe(as(scene.admin))
      yield* (yield* DeploymentTokens).revoke(["shop", "production", id]).pipe(as(scene.owner))
      assert.strictEqual(yield* refusal(load.pipe(asProduct(token))), "Unauthorized")
      assert.strictEqual(yield* refusal(loadOne("A").pipe(asProduct(token))), "Unauthorized")
      // The block of what has ended is forgotten.
      const { block, list } = yield* BlocksRepo
      yield* block(scene.workspace.id, id, [id], yield* now)
      yield* eraseBlocks(yield* now)
      assert.deepStrictEqual(yield* list(scene.workspace.id), [])
    })
  )

  it.effect("is for the addresses that the token may come from", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const allowedAddresses = ["203.0.113.0/24", "2001:db8::/32"]
      const { id, token } = yield* newToken(scene, { allowedAddresses })
      for (const address of ["203.0.113.1", "::ffff:203.0.113.255", "2001:db8::1", "2001:db8:ffff::1"]) {
        assert.strictEqual(yield* answer(load.pipe(asProduct(token, address))), "ok", address)
      }
      const reads = (yield* readsOf(scene)).length
      for (const address of ["203.0.114.1", "203.0.112.255", "2001:db9::1", "::1", "unknown"]) {
        assert.strictEqual(
          yield* refusal(load.pipe(asProduct(token, address))),
          "Forbidden address_not_allowed",
          address
        )
      }
      const refused = (yield* readsOf(scene)).slice(reads)
      assert.lengthOf(refused, 5)
      for (const entry of refused) {
        assert.deepInclude(entry, { action: "token_refused", outcome: "refused", subjectId: id })
      }
      assert.deepStrictEqual(
        refused.map(({ address }) => address),
        ["203.0.114.1", "203.0.112.255", "2001:db9::1", "::1", "unknown"]
      )
    })
  )

  it.effect("is told by the audit: a burst of equal reads in a minute is one entry with a count", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { id, lastFour, token } = yield* newToken(scene, { name: "boot" })
      const other = yield* newToken(scene)
      yield* scene.set("B", "b")
      yield* scene.set("A", "a")
      yield* scene.set("A", "a")
      const times = (count: number, call: Effect.Effect<unknown, unknown, DeployCaller | Loads>, of = token) =>
        Effect.all(
          Array.from({ length: count }, () => Effect.orDie(call.pipe(asProduct(of)))),
          { concurrency: 3 }
        )
      const counts = (...expected: ReadonlyArray<number>) =>
        Effect.map(
          eventually(readsOf(scene), (entries) => expected.every((count, index) => entries[index]?.count === count)),
          (entries) => {
            assert.lengthOf(entries, expected.length)
            return entries
          }
        )
      yield* times(5, load)
      const [first] = yield* counts(5)
      assert.deepInclude(first, {
        action: "secrets_loaded",
        outcome: "allowed",
        actor: { kind: "deploymentToken", id, name: "boot" },
        credential: { kind: "deploymentToken", id, lastFour },
        subjectType: "deployment",
        subjectId: scene.deployment.id,
        subjectLabel: "Shop in Production",
        secrets: [
          { name: "A", version: 2 },
          { name: "B", version: 1 }
        ]
      })
      // Whatever the form, the same was read; also by who had it already.
      yield* file("env", () => true).pipe(asProduct(token))
      yield* file("docker").pipe(asProduct(token))
      yield* counts(7)
      // Another token, a single secret, another version and another address are other reads.
      yield* times(2, load, other.token)
      yield* times(3, loadOne("A"))
      yield* scene.set("B", "b")
      yield* times(2, load)
      yield* load.pipe(asProduct(token, "203.0.113.8"))
      const entries = yield* counts(7, 2, 3, 2, 1)
      assert.deepInclude(entries[2], {
        action: "secret_read",
        subjectType: "secret",
        subjectLabel: "A of Shop",
        environments: ["production"],
        versions: [2]
      })
      yield* TestClock.adjust("59 seconds")
      yield* times(2, load)
      yield* counts(7, 2, 3, 4, 1)
      yield* TestClock.adjust("1 second")
      yield* times(2, load)
      yield* counts(7, 2, 3, 4, 1, 2)
    })
  )

  it.effect("is kept as the versions that the product has", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { token } = yield* newToken(scene)
      const { loaded } = yield* LoadsRepo
      yield* scene.set("A", "a")
      yield* scene.set("B", "b")
      assert.isUndefined(yield* loaded(scene.deployment.id))
      const { secrets } = yield* (yield* Vault).listOfProduct("shop").pipe(as(scene.member))
      const [a, b] = secrets.map(({ id }) => id) as [SecretId, SecretId]
      yield* load.pipe(asProduct(token))
      const versions = Effect.map(loaded(scene.deployment.id), (found) => found!.versions)
      assert.deepStrictEqual(yield* versions, { [a]: 1, [b]: 1 })
      yield* scene.set("A", "a")
      yield* scene.set("B", "b")
      assert.deepStrictEqual(yield* versions, { [a]: 1, [b]: 1 })
      yield* loadOne("A").pipe(asProduct(token))
      assert.deepStrictEqual(yield* versions, { [a]: 2, [b]: 1 })
      yield* TestClock.adjust("2 minutes")
      yield* scene.set("A", null)
      yield* load.pipe(asProduct(token))
      assert.deepStrictEqual(yield* versions, { [b]: 2 })
      const found = yield* loaded(scene.deployment.id)
      const [newest] = (yield* (yield* AuditRepo).find(scene.workspace.id, { action: "secrets_loaded" }, 1)).slice(-1)
      assert.deepStrictEqual(newest!.secrets, [{ name: "B", version: 2 }])
      assert.strictEqual(found!.workspaceId, scene.workspace.id)
    })
  )

  it.effect("is an event where the token never came from that network, but for the first", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const old = yield* newToken(scene)
      const told = Effect.map(eventsOf(scene.workspace), (events) =>
        events.filter(({ kind }) => kind === "token_used_elsewhere")
      )
      yield* load.pipe(asProduct(old.token))
      yield* load.pipe(asProduct(old.token))
      yield* loadOne("none").pipe(asProduct(old.token), Effect.ignore)
      assert.lengthOf(yield* told, 0)
      yield* load.pipe(asProduct(old.token, "198.51.100.1"))
      yield* load.pipe(asProduct(old.token, "198.51.100.1"))
      const [event, ...more] = yield* told
      assert.lengthOf(more, 0)
      assert.deepInclude(event, { subjectType: "token", subjectId: old.id, changes: [] })
      assert.deepInclude(event!.actor, { kind: "deploymentToken", id: old.id })
      const [entry] = yield* (yield* AuditRepo).find(scene.workspace.id, { action: "token_used_elsewhere" }, 10)
      assert.strictEqual(entry!.address, "198.51.100.1")
      // Of IPv6, the first 64 bits are one network.
      yield* load.pipe(asProduct(old.token, "2001:db8::1"))
      yield* load.pipe(asProduct(old.token, "2001:db8::2"))
      assert.lengthOf(yield* told, 2)
      // The one that replaces it comes from where it came from.
      const rotate = (yield* DeploymentTokens).rotate(["shop", "production", old.id]).pipe(as(scene.owner))
      const fresh = yield* rotate
      for (const address of [home, "198.51.100.1", "2001:db8::3"]) yield* load.pipe(asProduct(fresh.token, address))
      assert.lengthOf(yield* told, 2)
      yield* load.pipe(asProduct(fresh.token, "198.51.100.2"))
      assert.lengthOf(yield* told, 3)
    })
  )

  it.effect("may say which version runs, as a release by the token", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const { id, token } = yield* newToken(scene, { name: "cd" })
      const setVersion = (version: string) =>
        Effect.flatMap(Loads, (loads) => loads.setVersion({ version })).pipe(asProduct(token))
      const deployment = yield* setVersion("2")
      assert.deepInclude(deployment, { id: scene.deployment.id, version: "2", active: true })
      const deployments = yield* Deployments
      assert.deepStrictEqual(yield* deployments.get("shop", "production").pipe(as(scene.viewer)), deployment)
      // The same version is no change.
      yield* setVersion("2")
      const events = (yield* eventsOf(scene.workspace)).filter(({ kind }) => kind === "deployment_updated")
      assert.lengthOf(events, 1)
      assert.deepInclude(events[0], { changes: [{ field: "version", from: "1", to: "2" }] })
      assert.deepStrictEqual(events[0]!.actor, { kind: "deploymentToken", id, name: "cd" })
      const caller = yield* Effect.map(DeployCaller, (caller) => caller).pipe(asProduct(token))
      yield* (yield* Environments).archive("production").pipe(as(scene.admin))
      assert.strictEqual(yield* refusal(setVersion("3")), "Forbidden archived")
      yield* (yield* Environments).restore("production").pipe(as(scene.admin))
      yield* (yield* DeploymentTokens).revoke(["shop", "production", id]).pipe(as(scene.owner))
      const late = Effect.flatMap(Loads, (loads) => loads.setVersion({ version: "3" })).pipe(
        Effect.provideService(DeployCaller, caller)
      )
      assert.strictEqual(yield* refusal(late), "Unauthorized")
      assert.strictEqual((yield* deployments.get("shop", "production").pipe(as(scene.viewer))).version, "2")
    })
  )
})
