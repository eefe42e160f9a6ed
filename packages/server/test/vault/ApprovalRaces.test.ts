import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { Approval } from "@delivery/domain/catalog/Approval"
import type { Environment } from "@delivery/domain/catalog/Environment"
import type { SecretVersion } from "@delivery/domain/vault/Secret"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeDatabase } from "../support/Databases.ts"
import { eventually, type Http, join, refusal } from "../support/Http.ts"
import { startServerOn } from "../support/SeveralServers.ts"

/** Approvals at two servers of one PostgreSQL, all at once. */

const times = (count: number) => Array.from({ length: count }, (_, index) => index)

interface Scene {
  /** The owner at one server and at the other. */
  readonly at: Http
  readonly other: Http
  readonly member: Http
  readonly admins: ReadonlyArray<Http>
}

const withServers = (body: (scene: Scene) => Promise<void>) =>
  Effect.gen(function* () {
    const { url } = yield* makeDatabase
    const [at, other] = [yield* startServerOn(url), yield* startServerOn(url)]
    yield* Effect.promise(async () => {
      await at.post("products", { slug: "shop", name: "Shop", type: "library" })
      await at.post("environments", { slug: "production", name: "Production", class: "production" })
      await at.post("products/shop/secrets", { name: "A", values: { production: "0" } })
      const member = await join(at, "member")
      const admins = [await join(at, "admin"), await join(at, "admin")]
      await at.patch("environments/production", { approvals: true })
      await body({ at, other, member, admins })
    })
  }).pipe(Effect.scoped)

/** The caller at one of the servers, in turn. */
const turnOf = ({ at, other }: Scene, by: Http, index: number): Http => (index % 2 === 0 ? at : other).as(by.key)

const ask = (by: Http) => by.send<Approval>("POST", "approvals", { json: { ...asked, environment: "production" } })
const asked = { reason: "Rotate a key", minutes: 30 }
const pending = async (by: Http) => (await ask(by)).body.id
const approved = async ({ admins, member }: Scene) => {
  const id = await pending(member)
  await admins[0]!.post(`approvals/${id}/approve`, undefined, 200)
  return id
}
const write = (by: Http, value: string) =>
  by.send("PATCH", "products/shop/secrets/A", { json: { values: { production: value } } })
const versions = async (by: Http) =>
  (await by.get<{ versions: ReadonlyArray<SecretVersion> }>("products/shop/secrets/A/environments/production/versions"))
    .versions

it.live("one of many who decide at once decides, and one of many who ask with one key asks", () =>
  withServers(async (scene) => {
    for (const round of times(6)) {
      const requests = await Promise.all(times(6).map((index) => ask(turnOf(scene, scene.member, index))))
      assert.sameMembers(requests.map(refusal), ["201", ...Array(5).fill("409 already_requested")], `round ${round}`)
      const { id } = requests.find(({ status }) => status === 201)!.body
      const decisions = await Promise.all(
        times(8).map((index) =>
          turnOf(scene, scene.admins[(index >> 1) % 2]!, index).send<Approval>(
            "POST",
            `approvals/${id}/${index % 3 === 2 ? "reject" : "approve"}`
          )
        )
      )
      assert.sameMembers(decisions.map(refusal), ["200", ...Array(7).fill("409 approval_closed")])
      const decided = decisions.find(({ status }) => status === 200)!.body
      assert.deepStrictEqual(await scene.at.get<Approval>(`approvals/${id}`), decided)
      const { entries } = await scene.at.get<AuditPage>(`audit?subject=${id}`)
      assert.lengthOf(entries, 2)
      if (decided.state === "approved") await scene.member.post(`approvals/${id}/end`, undefined, 200)
    }
  })
)

it.live("one that is approved while who asked withdraws it counts no more, either way", () =>
  withServers(async (scene) => {
    const { admins, member } = scene
    for (const round of times(16)) {
      const id = await pending(member)
      const [approval, end] = await Promise.all([
        turnOf(scene, admins[0]!, round).send("POST", `approvals/${id}/approve`),
        turnOf(scene, member, round + 1).send("POST", `approvals/${id}/end`)
      ])
      assert.strictEqual(refusal(end), "200")
      assert.include(["200", "409 approval_closed"], refusal(approval))
      const { state } = await member.get<Approval>(`approvals/${id}`)
      assert.strictEqual(state, approval.status === 200 ? "ended" : "withdrawn")
      assert.strictEqual(refusal(await write(member, "late")), "409 approval_required")
    }
    assert.lengthOf(await versions(member), 1)
  })
)

/** How an approval ends before its time. */
const ends: ReadonlyArray<readonly [name: string, end: (scene: Scene, id: string, by: Http) => Promise<unknown>]> = [
  ["is ended", (_, id, by) => by.post(`approvals/${id}/end`, undefined, 200)],
  [
    "loses its approver",
    async ({ admins: [approver] }, _, by) => {
      const { id } = approver as Http & { readonly id: string }
      await by.patch(`members/${id}`, { role: "member" })
    }
  ]
]

for (const [name, end] of ends) {
  it.live(`a write while its approval ${name} is made before or refused`, () =>
    withServers(async (scene) => {
      const { member } = scene
      const id = await approved(scene)
      let [made, hasEnded] = [0, false]
      const writer = async (index: number) => {
        const by = turnOf(scene, member, index)
        for (let outcome = ""; outcome !== "409 approval_required";) {
          const after = hasEnded
          outcome = refusal(await write(by, `by ${index}`))
          assert.include(after ? ["409 approval_required"] : ["200", "409 approval_required"], outcome)
          if (outcome === "200") made++
        }
      }
      const writers = times(6).map(writer)
      await eventually(
        () => Promise.resolve(made),
        (count) => count > 12
      )
      await end(scene, id, scene.other)
      hasEnded = true
      await Promise.all(writers)
      assert.lengthOf(await versions(member), made + 1)
      const { entries } = await scene.at.get<AuditPage>("audit?action=secret_changed")
      assert.lengthOf(entries, Math.min(100, made))
      const changes = [{ field: "environments.production.approval", from: null, to: id }]
      for (const entry of entries) assert.deepStrictEqual(entry.changes, changes)
    })
  )
}

it.live("a write while approvals are turned on is made before or refused", () =>
  withServers(async (scene) => {
    const { admins, at, member, other } = scene
    for (const round of times(4)) {
      const { id } = (await ask(admins[0]!)).body
      await admins[1]!.post(`approvals/${id}/approve`, undefined, 200)
      await admins[0]!.patch("environments/production", { approvals: false })
      const before = await versions(member)
      let [made, isOn] = [0, false]
      const writer = async (index: number) => {
        for (let outcome = ""; outcome !== "409 approval_required";) {
          const after = isOn
          outcome = refusal(await write(turnOf(scene, member, index), `by ${index}`))
          assert.include(after ? ["409 approval_required"] : ["200", "409 approval_required"], outcome)
          if (outcome === "200") made++
        }
      }
      const writers = times(6).map(writer)
      await eventually(
        () => Promise.resolve(made),
        (count) => count > 6
      )
      await (round % 2 === 0 ? at : other).patch("environments/production", { approvals: true })
      isOn = true
      await Promise.all(writers)
      const [newest] = await versions(member)
      assert.strictEqual(newest!.version, before[0]!.version + made)
      await at.post(`approvals/${id}/end`, undefined, 200)
    }
  })
)

it.live("approvals are turned off before the one that lets it ends, or not at all", () =>
  withServers(async (scene) => {
    const { admins, at } = scene
    for (const round of times(10)) {
      const { id } = (await ask(admins[0]!)).body
      await admins[1]!.post(`approvals/${id}/approve`, undefined, 200)
      const [off, end] = await Promise.all([
        turnOf(scene, admins[0]!, round).send<Environment>("PATCH", "environments/production", {
          json: { approvals: false }
        }),
        turnOf(scene, admins[1]!, round + 1).send("POST", `approvals/${id}/end`)
      ])
      assert.strictEqual(refusal(end), "200")
      assert.include(["200", "409 approval_required"], refusal(off))
      const { approvals } = await at.get<Environment>("environments/production")
      assert.strictEqual(approvals, off.status !== 200)
      if (!approvals) await at.patch("environments/production", { approvals: true })
    }
  })
)
