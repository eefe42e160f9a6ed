import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import { assert } from "@effect/vitest"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { AuditRepo } from "../../src/audit/AuditRepo.ts"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Products } from "../../src/catalog/Products.ts"
import { DeploymentTokens } from "../../src/deploy/DeploymentTokens.ts"
import { Members } from "../../src/identity/Members.ts"
import { answer, as, eventsOf, kindsOf, refusal, whoMay } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { asProduct, type DeployScene, load, makeDeployScene, newToken } from "./Scene.ts"

const hour = 3_600_000

/** The time of so many milliseconds from now: the tests of a storage share its clock. */
const after = (millis: number) => Effect.map(Clock.currentTimeMillis, (now) => timestamp(now + millis))

withServicesOnEachStorage("Deployment tokens", (it) => {
  const call = <A, E, R>(use: (tokens: DeploymentTokens["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(DeploymentTokens, use)
  const list = (scene: DeployScene) => call((tokens) => tokens.list("shop", "production")).pipe(as(scene.owner))
  const create = (scene: DeployScene, fields: object = {}) =>
    call((tokens) => tokens.create("shop", "production", { name: "ci", ...fields })).pipe(as(scene.owner))
  const rotate = (scene: DeployScene, id: string, overlapSeconds?: number) =>
    call((tokens) =>
      tokens.rotate(["shop", "production", id], overlapSeconds === undefined ? undefined : { overlapSeconds })
    ).pipe(as(scene.owner))
  const revoke = (scene: DeployScene, id: string) =>
    call((tokens) => tokens.revoke(["shop", "production", id])).pipe(as(scene.owner))
  const works = ({ token }: NewDeploymentToken) => answer(load.pipe(asProduct(token)))

  const inPerson = {
    viewer: "role_too_low",
    member: "role_too_low",
    admin: "may",
    owner: "may",
    viewerKey: "role_too_low",
    memberKey: "role_too_low",
    adminKey: "account_key",
    outsider: "no workspace"
  }

  it.effect("are for admins and owners in person, before anything is found", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const tokens = yield* DeploymentTokens
      assert.deepStrictEqual(yield* whoMay(scene, tokens.list("none", "none")), inPerson)
      assert.deepStrictEqual(yield* whoMay(scene, tokens.create("none", "none", { name: "ci" })), inPerson)
      assert.deepStrictEqual(yield* whoMay(scene, tokens.rotate(["none", "none", "none"])), inPerson)
      assert.deepStrictEqual(yield* whoMay(scene, tokens.revoke(["none", "none", "none"])), inPerson)
    })
  )

  it.effect("are shown once, and then listed without what they are", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const createdAt = yield* after(0)
      const expiresAt = yield* after(hour)
      const first = yield* create(scene, {
        name: "first",
        allowedAddresses: ["10.0.0.0/8"],
        expiresAt: expiresAt.replace("Z", "+00:00")
      })
      yield* TestClock.adjust("1 second")
      const second = yield* create(scene, { name: "second" })
      assert.match(first.token, /^dtk_[0-9A-Za-z]{42}$/)
      assert.deepStrictEqual([first.tokenPrefix, first.lastFour], [first.token.slice(0, 8), first.token.slice(-4)])
      const { id, email, name } = scene.owner.principal
      const { token: _, ...shown } = first
      assert.deepStrictEqual<unknown>(shown, {
        id: first.id,
        name: "first",
        tokenPrefix: first.tokenPrefix,
        lastFour: first.lastFour,
        createdBy: { kind: "user", id, name, email, active: true },
        createdAt,
        lastUsedAt: null,
        lastUsedFrom: null,
        expiresAt,
        allowedAddresses: ["10.0.0.0/8"],
        replacedBy: null,
        makerEndedAt: null
      })
      const { token: __, ...other } = second
      assert.deepStrictEqual(yield* list(scene), [other, shown])
      const elsewhere = call((tokens) => tokens.list("shop", "staging")).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* elsewhere, [])
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["token_created", "token_created"])
      const [event] = yield* eventsOf(scene.workspace)
      assert.deepInclude(event, {
        subjectType: "token",
        subjectId: first.id,
        subjectLabel: "first of Shop in Production"
      })
    })
  )

  it.effect("tell when and from where they were used last", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const made = yield* newToken(scene)
      yield* TestClock.adjust("1 minute")
      yield* load.pipe(asProduct(made.token, "198.51.100.4"))
      const [shown] = yield* list(scene)
      assert.deepInclude(shown, { lastUsedAt: yield* after(0), lastUsedFrom: "198.51.100.4" })
    })
  )

  it.effect("are five at most in a deployment, those in an overlap not counted", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const made: Array<NewDeploymentToken> = []
      for (let count = 0; count < 5; count++) made.push(yield* create(scene))
      assert.strictEqual(yield* refusal(create(scene)), "Conflict too_many_tokens")
      assert.lengthOf(yield* list(scene), 5)
      const fresh = yield* rotate(scene, made[0]!.id)
      assert.strictEqual(yield* refusal(create(scene)), "Conflict too_many_tokens")
      assert.lengthOf(yield* list(scene), 6)
      // The one that is in its overlap was not counted: its end makes no room.
      yield* revoke(scene, made[0]!.id)
      assert.strictEqual(yield* refusal(create(scene)), "Conflict too_many_tokens")
      yield* revoke(scene, fresh.id)
      yield* create(scene)
      // Another deployment has five of its own.
      yield* call((tokens) => tokens.create("shop", "staging", { name: "ci" })).pipe(as(scene.owner))
      // What has expired is no longer one of them.
      yield* revoke(scene, made[1]!.id)
      yield* create(scene, { expiresAt: yield* after(hour) })
      assert.strictEqual(yield* refusal(create(scene)), "Conflict too_many_tokens")
      yield* TestClock.adjust("1 hour")
      yield* create(scene)
    })
  )

  it.effect("rotate with an overlap, and keep their name, addresses and time", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const fields = {
        name: "kubernetes",
        expiresAt: yield* after(48 * hour),
        allowedAddresses: ["203.0.113.0/24"]
      }
      const old = yield* create(scene, fields)
      const fresh = yield* rotate(scene, old.id)
      assert.deepInclude(fresh, fields)
      assert.notStrictEqual(fresh.token, old.token)
      const shown = (yield* list(scene)).find(({ id }) => id === old.id)
      assert.deepInclude(shown, { replacedBy: fresh.id, expiresAt: yield* after(24 * hour) })
      assert.deepStrictEqual([yield* works(old), yield* works(fresh)], ["ok", "ok"])
      assert.strictEqual(yield* refusal(rotate(scene, old.id)), "Conflict rotated")
      yield* TestClock.adjust("23 hours")
      assert.strictEqual(yield* works(old), "ok")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([yield* works(old), yield* works(fresh)], ["Unauthorized", "ok"])
      assert.deepStrictEqual(
        (yield* list(scene)).map(({ id }) => id),
        [fresh.id]
      )
      assert.strictEqual(yield* refusal(rotate(scene, old.id)), "Conflict rotated")
      yield* Effect.flatMap(DeploymentTokens, ({ expire }) => expire)
      assert.strictEqual(yield* refusal(rotate(scene, old.id)), "Conflict rotated")
      assert.strictEqual(yield* refusal(revoke(scene, old.id)), "NotFound")
      // The time of the token, which is the end of its overlap too, comes before a day has passed.
      const last = yield* rotate(scene, fresh.id, 604_800)
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual([yield* works(fresh), yield* works(last)], ["Unauthorized", "Unauthorized"])
    })
  )

  it.effect("rotate without an overlap: the old one ends at once", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const old = yield* create(scene)
      const fresh = yield* rotate(scene, old.id, 0)
      assert.deepStrictEqual([yield* works(old), yield* works(fresh)], ["Unauthorized", "ok"])
      assert.strictEqual(yield* refusal(rotate(scene, old.id)), "Conflict rotated")
      assert.strictEqual(yield* refusal(revoke(scene, old.id)), "NotFound")
    })
  )

  it.effect("end when they are revoked, once", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const [made, other] = [yield* create(scene), yield* create(scene)]
      assert.strictEqual(yield* works(made), "ok")
      yield* revoke(scene, made.id)
      assert.deepStrictEqual([yield* works(made), yield* works(other)], ["Unauthorized", "ok"])
      for (const id of [made.id, "none", scene.deployment.id]) {
        assert.strictEqual(yield* refusal(revoke(scene, id)), "NotFound")
        assert.strictEqual(yield* refusal(rotate(scene, id)), "NotFound")
      }
      const ofOther = call((tokens) => tokens.revoke(["shop", "staging", other.id])).pipe(as(scene.owner))
      assert.strictEqual(yield* refusal(ofOther), "NotFound")
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["token_created", "token_created", "token_revoked"])
    })
  )

  it.effect("end at their time, and the audit tells of each, once", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      for (const millis of [0, -1, 732 * 24 * hour]) {
        assert.strictEqual(yield* refusal(create(scene, { expiresAt: yield* after(millis) })), "InvalidInput")
      }
      const made = yield* create(scene, { expiresAt: yield* after(hour) })
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(yield* works(made), "ok")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* works(made), "Unauthorized")
      assert.deepStrictEqual(yield* list(scene), [])
      const { expire } = yield* DeploymentTokens
      yield* expire
      yield* expire
      const entries = yield* (yield* AuditRepo).find(scene.workspace.id, { action: "token_expired" }, 10)
      assert.lengthOf(entries, 1)
      assert.deepInclude(entries[0], { subjectId: made.id, credential: { kind: "server", id: "", lastFour: "" } })
      assert.deepInclude(entries[0]!.actor, { kind: "deploymentToken", name: "ci" })
    })
  )

  it.effect("end with their deployment, and do not come back with another one", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const [made, rotated] = [yield* create(scene), yield* create(scene)]
      yield* rotate(scene, rotated.id)
      const deployments = yield* Deployments
      yield* deployments.delete("shop", "production").pipe(as(scene.member))
      assert.deepStrictEqual([yield* works(made), yield* works(rotated)], ["Unauthorized", "Unauthorized"])
      assert.strictEqual(yield* refusal(create(scene)), "NotFound")
      yield* deployments.create({ product: "shop", environment: "production" }).pipe(as(scene.member))
      assert.strictEqual(yield* works(made), "Unauthorized")
      assert.deepStrictEqual(yield* list(scene), [])
      const kinds = (yield* kindsOf(scene.workspace)).filter((kind) => kind === "token_revoked")
      assert.lengthOf(kinds, 3)
    })
  )

  it.effect("are not made for what is archived, and can be revoked there", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const made = yield* create(scene)
      const products = yield* Products
      yield* products.archive("shop").pipe(as(scene.admin))
      assert.strictEqual(yield* refusal(create(scene)), "Conflict archived")
      assert.strictEqual(yield* refusal(rotate(scene, made.id)), "Conflict archived")
      assert.strictEqual(yield* works(made), "Forbidden archived")
      yield* products.restore("shop").pipe(as(scene.admin))
      assert.strictEqual(yield* works(made), "ok")
      yield* products.archive("shop").pipe(as(scene.admin))
      yield* revoke(scene, made.id)
      assert.strictEqual(yield* works(made), "Unauthorized")
    })
  )

  it.effect("stay when who made them leaves, and say so", () =>
    Effect.gen(function* () {
      const scene = yield* makeDeployScene
      const make = call((tokens) => tokens.create("shop", "production", { name: "ci" }))
      const made = yield* make.pipe(as(scene.admin))
      yield* (yield* Members).deactivate(scene.admin.principal.id).pipe(as(scene.owner))
      assert.strictEqual(yield* works(made), "ok")
      const [shown] = yield* list(scene)
      assert.deepInclude(shown!.createdBy, { id: scene.admin.principal.id, active: false })
      assert.strictEqual(yield* refusal(make.pipe(as(scene.admin))), "NotFound")
    })
  )
})
