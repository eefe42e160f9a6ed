import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { DeploymentToken, NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { Event } from "@delivery/domain/events/Event"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeDatabase, query } from "../support/Databases.ts"
import { eventually, type Http, refusal } from "../support/Http.ts"
import { startServerOn } from "../support/SeveralServers.ts"

/** Tokens of deployments at two servers of one PostgreSQL, all at once. */

const path = "deployments/shop/production/tokens"
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

const withServers = (body: (at: Http, other: Http, url: string) => Promise<void>) =>
  Effect.gen(function* () {
    const { url } = yield* makeDatabase
    const proxied = { TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }
    const [at, other] = [yield* startServerOn(url, proxied), yield* startServerOn(url, proxied)]
    yield* Effect.promise(async () => {
      await at.post("products", { slug: "shop", name: "Shop", type: "library" })
      await at.post("environments", { slug: "production", name: "Production", class: "production" })
      await at.post("deployments", { product: "shop", environment: "production" })
      await at.post("products/shop/secrets", { name: "A", values: { production: "canary" } })
      await body(at, other, url)
    })
  }).pipe(Effect.scoped)

const make = (by: Http) => by.send<NewDeploymentToken>("POST", path, { json: { name: "ci" } })
const list = async (by: Http) => (await by.get<{ tokens: ReadonlyArray<DeploymentToken> }>(path)).tokens

it.live("no more than five tokens are made, whichever server is asked", () =>
  withServers(async (at, other) => {
    for (const round of times(3)) {
      const answers = await Promise.all(times(12).map((index) => make(index % 2 === 0 ? at : other)))
      const outcomes = answers.map(refusal)
      assert.lengthOf(
        outcomes.filter((outcome) => outcome === "201"),
        5,
        `round ${round}`
      )
      assert.lengthOf(
        outcomes.filter((outcome) => outcome === "409 too_many_tokens"),
        7
      )
      const live = await list(at)
      assert.lengthOf(live, 5)
      // Rotations beside them make no room, and take none.
      const mixed = await Promise.all([
        ...live.map(({ id }) => other.send("POST", `${path}/${id}/rotate`)),
        ...times(5).map(() => make(at))
      ])
      assert.deepStrictEqual(mixed.map(refusal), [...Array(5).fill("201"), ...Array(5).fill("409 too_many_tokens")])
      for (const { id } of await list(at)) await other.post(`${path}/${id}/revoke`, undefined, 200)
    }
  })
)

it.live("one of many rotations of a token makes another, and one of many revocations ends it", () =>
  withServers(async (at, other) => {
    const { id } = (await make(at)).body
    const rotated = await Promise.all(
      times(10).map((index) => (index % 2 === 0 ? at : other).send("POST", `${path}/${id}/rotate`))
    )
    assert.sameMembers(rotated.map(refusal), ["201", ...Array(9).fill("409 rotated")])
    const revoked = await Promise.all(
      times(10).map((index) => (index % 2 === 0 ? at : other).send("POST", `${path}/${id}/revoke`))
    )
    assert.sameMembers(revoked.map(refusal), ["200", ...Array(9).fill("404 deployment token")])
    assert.lengthOf(await list(at), 1)
  })
)

it.live("whoever reads while a token ends is answered before or not at all, and no token outlives its deployment", () =>
  withServers(async (at, other) => {
    const token = (await make(at)).body
    const product = (by: Http) => by.as(token.token)
    let hasEnded = false
    const reader = async (by: Http) => {
      for (let outcome = ""; outcome !== "401";) {
        const after = hasEnded
        outcome = refusal(await product(by).send("GET", "/deploy/v1/secrets"))
        assert.include(after ? ["401"] : ["200", "401"], outcome)
      }
    }
    const readers = times(8).map((index) => reader(index % 2 === 0 ? at : other))
    const versions = times(4).map(async (index) => {
      for (let outcome = "200", round = 0; outcome !== "401"; round++) {
        const json = { version: `v${index}.${round}` }
        outcome = refusal(await product(index % 2 === 0 ? at : other).send("PUT", "/deploy/v1/version", { json }))
        assert.include(["200", "401"], outcome)
      }
    })
    const makers = times(4).map(async (index) => {
      for (let outcome = ""; outcome !== "404 deployment";) {
        outcome = refusal(await make(index % 2 === 0 ? at : other))
        assert.include(["201", "409 too_many_tokens", "404 deployment"], outcome)
      }
    })
    await eventually(
      () => list(at),
      (tokens) => tokens.length === 5
    )
    await other.delete("deployments/shop/production")
    hasEnded = true
    await Promise.all([...readers, ...versions, ...makers])
    await at.post("deployments", { product: "shop", environment: "production" })
    assert.deepStrictEqual(await list(at), [])
    const { entries } = await at.get<AuditPage>("audit?action=token_revoked")
    const made = (await at.get<AuditPage>("audit?action=token_created")).entries
    assert.sameMembers(
      entries.map(({ subject }) => subject.id),
      made.map(({ subject }) => subject.id)
    )
  })
)

/** How a token ends, but for the end of its deployment. */
const ends: ReadonlyArray<readonly [name: string, end: (by: Http, made: NewDeploymentToken) => Promise<unknown>]> = [
  ["is revoked", (by, { id }) => by.post(`${path}/${id}/revoke`, undefined, 200)],
  ["is rotated without an overlap", (by, { id }) => by.post(`${path}/${id}/rotate`, { overlapSeconds: 0 })],
  ["is reported", (by, { token }) => by.as(undefined).send("POST", "/v1/tokens/report", { json: { token } })],
  ["is blocked", (by, { id }) => by.post(`credentials/${id}/block`, undefined, 200)]
]

for (const [name, end] of ends) {
  it.live(`whoever reads while a token ${name} is answered before or not at all`, () =>
    withServers(async (at, other) => {
      for (const round of times(3)) {
        const made = (await make(at)).body
        let [reads, hasEnded] = [0, false]
        const reader = async (by: Http, call: string) => {
          for (let outcome = ""; outcome !== "401";) {
            const after = hasEnded
            outcome = refusal(await by.as(made.token).send("GET", `/deploy/v1/${call}`))
            assert.include(after ? ["401"] : ["200", "401"], outcome, `round ${round}`)
            reads++
          }
        }
        const readers = times(9).map((index) =>
          reader(index % 2 === 0 ? at : other, ["secrets", "secrets/A", "me"][index % 3]!)
        )
        await eventually(
          () => Promise.resolve(reads),
          (reads) => reads > 9
        )
        await end(other, made)
        hasEnded = true
        await Promise.all(readers)
      }
    })
  )
}

it.live("whoever reads while a product or an environment is archived is answered before, or after it is restored", () =>
  withServers(async (at, other) => {
    const { token } = (await make(at)).body
    const state = { archived: false, changing: false, over: false, changes: 0 }
    const reader = async (by: Http) => {
      for (; !state.over;) {
        const before = { ...state }
        const answer = await by.as(token).send("GET", "/deploy/v1/secrets")
        const isSteady = !before.changing && before.changes === state.changes && !state.changing
        const expected = isSteady ? [before.archived ? "403 archived" : "200"] : ["200", "403 archived"]
        assert.include(expected, refusal(answer))
        if (answer.status === 403) assert.notInclude(answer.text, "canary")
      }
    }
    const readers = times(8).map((index) => reader(index % 2 === 0 ? at : other))
    for (const round of times(4)) {
      for (const change of ["archive", "restore"]) {
        state.changing = true
        const subject = round % 2 === 0 ? "products/shop" : "environments/production"
        await (round % 3 === 0 ? at : other).post(`${subject}/${change}`, undefined, 200)
        state.archived = change === "archive"
        state.changing = false
        state.changes++
        // Somebody has read in this state.
        assert.strictEqual(
          refusal(await at.as(token).send("GET", "/deploy/v1/me")),
          state.archived ? "403 archived" : "200"
        )
      }
    }
    state.over = true
    await Promise.all(readers)
  })
)

it.live("what a key made while it ended stays, and is named, or was never made", () =>
  withServers(async (at, other) => {
    for (const round of times(4)) {
      const key = await at.post<{ id: string; secret: string }>("/v1/api-keys", { name: "maker" }, 200)
      const answers = await Promise.all([
        ...times(6).map((index) => make((index % 2 === 0 ? at : other).as(key.secret))),
        round % 2 === 0
          ? at.send("POST", `/v1/api-keys/${key.id}/revoke`)
          : other.as(undefined).send("POST", "/v1/tokens/report", { json: { token: key.secret } })
      ])
      assert.strictEqual(answers.at(-1)!.status, round % 2 === 0 ? 200 : 204)
      const makings = answers.slice(0, -1)
      for (const answer of makings) {
        assert.include(["201", "401", "409 too_many_tokens"], refusal(answer), `round ${round}`)
      }
      const made = makings.flatMap(({ body, status }) => (status === 201 ? [body as NewDeploymentToken] : []))
      const { entries } = await at.get<AuditPage>("audit?action=token_maker_ended")
      const ids = made.map(({ id }) => id)
      const named = entries.map(({ subject }) => subject.id).filter((id) => ids.some((made) => made === id))
      assert.sameMembers(named, ids)
      const listed = await list(other)
      for (const { id, token } of made) {
        assert.strictEqual(refusal(await other.as(token).send("GET", "/deploy/v1/me")), "200")
        assert.isString(listed.find((one) => one.id === id)!.makerEndedAt)
        await at.post(`${path}/${id}/revoke`, undefined, 200)
      }
      assert.lengthOf(await list(at), 0)
    }
  })
)

it.live("equal reads at two servers are one entry with their count", () =>
  withServers(async (at, other) => {
    const { token } = (await make(at)).body
    const read = async (index: number) => {
      const by = (index % 2 === 0 ? at : other).as(token)
      assert.strictEqual((await by.send("GET", "/deploy/v1/secrets")).status, 200)
    }
    const begun = Date.now()
    await Promise.all(times(60).map(read))
    const minutes = Math.ceil((Date.now() - begun) / 60_000)
    const entries = async () => (await at.get<AuditPage>("audit?action=secrets_loaded")).entries
    const counts = (found: Awaited<ReturnType<typeof entries>>) => found.reduce((sum, { count = 1 }) => sum + count, 0)
    const found = await eventually(entries, (found) => counts(found) === 60)
    // One more for each minute that was over meanwhile.
    assert.isAtMost(found.length, minutes)
  })
)

it.live("a token that comes from many networks at once is told of each but the first", () =>
  withServers(async (at, other) => {
    const { token } = (await make(at)).body
    await Promise.all(
      times(20).map((index) =>
        (index % 2 === 0 ? at : other).as(token).send("GET", "/deploy/v1/secrets", {
          // Each network twice, once at each server or twice at one.
          headers: { "x-forwarded-for": `203.0.113.${index >> 1}` }
        })
      )
    )
    const { events } = await at.get<{ events: ReadonlyArray<Event> }>("events?kinds=token_used_elsewhere&limit=200")
    assert.lengthOf(events, 9)
  })
)

it.live("what a key made is blocked with it, whenever it is made", () =>
  withServers(async (at, other, url) => {
    const key = await at.post<{ id: string; secret: string }>("/v1/api-keys", { name: "maker" }, 200)
    const made = await Promise.all([
      ...times(4).map(() => make(other.as(key.secret))),
      at.send("POST", `credentials/${key.id}/block`)
    ])
    const tokens = made.slice(0, 4).filter(({ status }) => status === 201) as ReadonlyArray<{
      body: NewDeploymentToken
    }>
    for (const { body } of tokens) {
      assert.strictEqual(refusal(await other.as(body.token).send("GET", "/deploy/v1/me")), "401")
    }
    // Blocks of what lives are not forgotten.
    const blocks = (await query(url, "select count(*)::int as count from credential_blocks")) as ReadonlyArray<{
      readonly count: number
    }>
    assert.strictEqual(blocks[0]!.count, tokens.length + 1)
  })
)
