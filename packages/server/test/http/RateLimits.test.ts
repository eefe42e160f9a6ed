import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import type { StartedTestRun } from "@delivery/domain/runs/TestRun"
import { assert, describe, it } from "vitest"
import { makeBuckets, networkOf } from "../../src/http/RateLimits.ts"
import {
  accountKey,
  type Answer,
  type ErrorBody,
  type Http,
  join,
  newDeployment,
  onEachServer,
  registerAgent,
  signIn,
  startRun,
  teamKey,
  withClockOnEachServer
} from "../support/Http.ts"

/** Rate limits (docs/contract.md, Errors): off unless configured, of a key or of an address. */

const me = (http: Http, headers: Record<string, string> = {}) => http.send<ErrorBody>("GET", "/v1/me", { headers })

const limitOf = ({ headers }: Answer) => [headers["ratelimit-policy"], headers["ratelimit"], headers["retry-after"]]

onEachServer("requests without a rate limit", (test) => {
  test("are not announced", async (owner) => {
    assert.deepStrictEqual(limitOf(await me(owner)), [undefined, undefined, undefined])
  })
})

withClockOnEachServer(
  "rate limits",
  (test) => {
    test("a key has its requests, is refused above them, and has new ones with time", async (owner, advance) => {
      const workspace = await newDeployment(owner)
      advance("1 minute")
      const policy = '"default";q=10;w=60'
      const person = await join(workspace, "admin")
      advance("1 minute")
      for (let left = 9; left >= 0; left--) {
        const answer = await me(person)
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(limitOf(answer), [policy, `"default";r=${left};t=${(10 - left) * 6}`, undefined])
      }
      for (const refused of [
        await me(person),
        await person.send<ErrorBody>("GET", "/nothing"),
        await person.send<ErrorBody>("POST", "products", { body: "{" }),
        await me(person.as(undefined), { "x-api-key": person.key! }),
        await me(person.as(undefined), { authorization: `bearer  ${person.key}` })
      ]) {
        assert.strictEqual(refused.status, 429)
        assert.deepStrictEqual(limitOf(refused), [policy, '"default";r=0;t=60', "6"])
        assert.strictEqual(refused.body.message, "Too many requests: at most 10 in 60 s. Try again in 6 s.")
      }
      assert.strictEqual((await me(workspace)).status, 200)
      advance("5999 millis")
      assert.strictEqual((await me(person)).status, 429)
      advance("1 millis")
      assert.strictEqual((await me(person)).status, 200)
      assert.strictEqual((await me(person)).status, 429)
      advance("2 minutes")
      assert.deepStrictEqual(limitOf(await me(person))[1], '"default";r=9;t=6')
    })

    test("callers without a valid key share the limit of their address, however many keys they try", async (owner, advance) => {
      advance("2 minutes")
      assert.strictEqual((await me(owner)).status, 200)
      const nobody = owner.as(undefined)
      const strangers = [
        () => me(nobody),
        () => me(owner.as(`ctk_${"a".repeat(42)}`)),
        () => me(owner.as(`nonsense-${Math.random()}`)),
        () => owner.as(`nonsense-${Math.random()}`).send("GET", "/openapi.json"),
        () => nobody.send("GET", "/v1/nothing")
      ]
      const statuses: Array<number> = []
      for (let i = 0; i < 10; i++) statuses.push((await strangers[i % strangers.length]!()).status)
      assert.deepStrictEqual(statuses, [401, 401, 401, 200, 404, 401, 401, 401, 200, 404])
      for (const stranger of strangers) assert.strictEqual((await stranger()).status, 429)
      // Who was known before is not concerned, and probes never are.
      assert.strictEqual((await me(owner)).status, 200)
      for (let i = 0; i < 20; i++) {
        assert.strictEqual((await nobody.send("GET", "/health")).status, 200)
        assert.strictEqual((await nobody.send("GET", "/ready")).status, 200)
      }
    })

    test("valid credentials use up nothing of their address, run tokens neither", async (owner, advance) => {
      const workspace = await newDeployment(owner)
      const { semaphores }: StartedTestRun = await startRun(workspace)
      advance("2 minutes")
      const people: Array<Http> = []
      for (let i = 0; i < 4; i++) {
        people.push(await join(workspace, "viewer"))
        advance("2 minutes")
      }
      for (const person of people) {
        for (let i = 0; i < 9; i++) assert.strictEqual((await me(person)).status, 200)
      }
      const lease = () =>
        workspace.as(semaphores.token).send("POST", "semaphores/one/leases", { json: { capacity: 100 } })
      for (let i = 0; i < 10; i++) assert.strictEqual((await lease()).status, 201)
      assert.strictEqual((await lease()).status, 429)
      for (let i = 0; i < 10; i++) assert.strictEqual((await me(workspace.as(undefined))).status, 401)
      assert.strictEqual((await me(workspace.as(undefined))).status, 429)
    })

    test("a person has one limit, whichever credential they use", async (owner, advance) => {
      advance("2 minutes")
      const workspace = await newDeployment(owner)
      const person = await join(workspace, "admin")
      advance("2 minutes")
      const session = await signIn(workspace, person.id)
      const { semaphores } = await startRun(person)
      advance("2 minutes")
      const keys: Array<Http> = []
      for (let i = 0; i < 3; i++) {
        const { secret } = await person.post<NewApiKey>("/v1/api-keys", { name: "another" }, 200)
        keys.push(person.as(secret))
      }
      const account = await accountKey(person, "viewer")
      const agent = person.as((await registerAgent(person)).access_token)
      advance("2 minutes")
      for (let i = 0; i < 10; i++) assert.strictEqual((await me(person)).status, 200)
      // Also those that were never seen before.
      for (const key of [...keys, session]) {
        const refused = await me(key)
        assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [429, "6"])
      }
      const lease = person.as(semaphores.token).send("POST", "semaphores/one/leases", { json: { capacity: 1 } })
      assert.strictEqual((await lease).status, 429)
      assert.strictEqual((await agent.send("GET", "/agent/v1/me")).status, 429)
      assert.strictEqual((await agent.send("POST", "/agent/mcp", { json: {} })).status, 429)
      assert.strictEqual((await me(account)).status, 200)
      assert.strictEqual((await me(owner)).status, 200)
      advance("6 seconds")
      assert.strictEqual((await me(keys[1]!)).status, 200)
      assert.strictEqual((await me(keys[2]!)).status, 429)
    })

    test("a change of many tickets counts as so many, and is refused as a whole", async (owner, advance) => {
      const workspace = await newDeployment(owner)
      const { key } = await workspace.post<{ key: string }>("teams", { key: teamKey(), name: "Team" })
      advance("1 minute")
      const made = await workspace.post<{ id: string }>("tickets", { team: key, title: "Ticket" })
      advance("1 minute")
      const change = (others: number, category: string) =>
        workspace.send<{ results: ReadonlyArray<{ ok: boolean }> }>("POST", "tickets/batch", {
          json: {
            tickets: [made.id, ...Array.from({ length: others }, (_, n) => `NO-${n + 1}`)],
            changes: { category }
          }
        })
      const done = await change(6, "started")
      assert.deepStrictEqual(
        [done.status, done.headers["ratelimit"]?.toString().split(";")[1], done.body.results.map(({ ok }) => ok)],
        [200, "r=3", [true, ...Array<boolean>(6).fill(false)]]
      )
      assert.strictEqual((await change(6, "completed")).status, 429)
      const { status } = await workspace.get<{ status: { category: string } }>(`tickets/${made.id}`)
      assert.strictEqual(status.category, "started")
    })

    test("a session has the limit of its person, however its cookie is written", async (owner, advance) => {
      advance("2 minutes")
      const workspace = await newDeployment(owner)
      const person = await join(workspace, "viewer")
      const { key } = await signIn(workspace, person.id)
      const token = key!
      const cookies = [
        `${sessionCookie}=${token}`,
        `${sessionCookie} =${token}`,
        `${sessionCookie}= ${token}`,
        ` ${sessionCookie}\t=\t${token} `,
        `other=1 ;  ${sessionCookie} = ${token} ;last=2`,
        `other;${sessionCookie} =${token}`,
        `${sessionCookie} = "${token}"`,
        `${sessionCookie}=%77${token.slice(1)}`
      ]
      advance("2 minutes")
      const statuses: Array<number> = []
      for (let i = 0; i < 10; i++) {
        statuses.push((await me(owner.as(undefined), { cookie: cookies[i % cookies.length]! })).status)
      }
      assert.deepStrictEqual(statuses, Array<number>(10).fill(200))
      for (const cookie of cookies) {
        const refused = await me(owner.as(undefined), { cookie })
        assert.deepStrictEqual(
          [refused.status, ...limitOf(refused)],
          [429, '"default";q=10;w=60', '"default";r=0;t=60', "6"]
        )
      }
      assert.strictEqual((await me(person)).status, 429)
      // The address of all that has its own.
      assert.strictEqual((await me(owner.as(undefined))).status, 401)
    })

    test("each message of a batch of MCP counts", async (owner, advance) => {
      advance("2 minutes")
      const workspace = await newDeployment(owner)
      const person = await join(workspace, "member")
      const agent = person.as((await registerAgent(person)).access_token)
      advance("2 minutes")
      const revision = "2025-03-26"
      const send = (json: unknown, headers: Record<string, string> = {}) =>
        agent.send("POST", "/agent/mcp", {
          json,
          headers: { accept: "application/json, text/event-stream", ...headers }
        })
      const message = (method: string, params?: unknown) => ({ jsonrpc: "2.0", id: 1, method, params })
      const clientInfo = { name: "test", version: "1.0.0" }
      const begun = await send(message("initialize", { protocolVersion: revision, capabilities: {}, clientInfo }))
      const session = { "mcp-session-id": String(begun.headers["mcp-session-id"]), "mcp-protocol-version": revision }
      const pings = (count: number) => Array.from({ length: count }, (_, id) => ({ ...message("ping"), id }))
      const left = ({ headers, status }: Answer) => [status, headers["ratelimit"]?.toString().split(";")[1]]
      assert.deepStrictEqual(left(await send(pings(5), session)), [200, "r=4"])
      // One too many, of which only the request itself counts.
      const refused = await send(pings(5), session)
      assert.deepStrictEqual([...left(refused), refused.headers["retry-after"]], [429, "r=3", "12"])
      assert.deepStrictEqual(left(await send(pings(3), session)), [200, "r=0"])
      assert.deepStrictEqual(left(await send([], session)), [429, "r=0"])
      advance("6 seconds")
      assert.deepStrictEqual(left(await send([], session)), [400, "r=0"])
    })

    test("a key that has ended uses up nothing of its person", async (owner, advance) => {
      advance("2 minutes")
      const workspace = await newDeployment(owner)
      const person = await join(workspace, "viewer")
      const { id, secret } = await person.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      assert.strictEqual((await me(person.as(secret))).status, 200)
      await person.post(`/v1/api-keys/${id}/revoke`, undefined, 200)
      advance("30 seconds")
      for (let i = 0; i < 5; i++) assert.strictEqual((await me(person.as(secret))).status, 401)
      advance("2 minutes")
      for (let i = 0; i < 5; i++) assert.strictEqual((await me(person.as(secret))).status, 401)
      for (let i = 0; i < 10; i++) assert.strictEqual((await me(person)).status, 200)
    })
  },
  { RATE_LIMIT: "10/60" }
)

withClockOnEachServer(
  "failed authentication",
  (test) => {
    test("is limited for an address, whatever is tried, and stops nobody with a valid credential", async (owner, advance) => {
      const workspace = await newDeployment(owner)
      const agent = workspace.as((await registerAgent(workspace)).access_token)
      const session = await signIn(owner, "owner@example.com")
      const run = workspace.as((await startRun(workspace)).semaphores.token)
      const fresh = (await owner.post<NewApiKey>("/v1/api-keys", { name: "fresh" }, 200)).secret
      advance("1 minute")
      const attempts = [
        () => me(owner.as(`ctk_${"a".repeat(42)}`)),
        () => me(owner.as(undefined), { "x-api-key": "laptop" }),
        () => me(owner, { "x-api-key": "another" }),
        () => owner.as("atk_none").send("GET", "/agent/v1/me"),
        () => workspace.as("stk_none").send("POST", "semaphores/one/leases", { json: { capacity: 1 } }),
        () => me(owner.as(`wtk_${"0".repeat(42)}`))
      ]
      for (const attempt of attempts) assert.strictEqual((await attempt()).status, 401)
      for (const attempt of attempts) {
        const { body, headers, status } = await attempt()
        assert.deepStrictEqual([status, headers["retry-after"]], [429, "10"])
        assert.strictEqual(
          (body as ErrorBody).message,
          "Too many requests without a valid credential: at most 6 in 60 s. Try again in 10 s."
        )
      }
      // Nothing was shown here, and these are valid.
      for (let i = 0; i < 10; i++) {
        assert.strictEqual((await me(owner.as(undefined))).status, 401)
        assert.strictEqual((await me(owner)).status, 200)
        assert.strictEqual((await me(owner.as(fresh))).status, 200)
        assert.strictEqual((await agent.send("GET", "/agent/v1/me")).status, 200)
        assert.strictEqual((await me(session)).status, 200)
        const lease = await run.send("POST", "semaphores/one/leases", { json: { capacity: 100 } })
        assert.strictEqual(lease.status, 201)
      }
      advance("10 seconds")
      assert.strictEqual((await attempts[0]!()).status, 401)
      assert.strictEqual((await attempts[0]!()).status, 429)
    })
  },
  { AUTH_FAILURE_LIMIT: "6/60" }
)

describe("the buckets of a rate limit", () => {
  it("are dropped when they are full and unused", () => {
    const buckets = makeBuckets({ requests: 5, seconds: 10 })
    for (let i = 0; i < 1000; i++) buckets.take(buckets.open(`once-${i}`, i), i)
    const used = buckets.open("used", 1000)
    for (let i = 0; i < 5; i++) assert.isTrue(buckets.take(used, 1000))
    assert.strictEqual(buckets.size(), 1001)
    for (let now = 1500; now < 60_000; now += 500) buckets.take(buckets.open("used", now), now)
    assert.strictEqual(buckets.size(), 1)
    // Not forgotten in between, or it would have been full.
    assert.strictEqual(buckets.open("used", 60_000), used)
    assert.isBelow(buckets.state(used).left, 2)
    buckets.open("other", 200_000)
    assert.strictEqual(buckets.size(), 1)
  })

  it("of an address are those of its network, in IPv6", () => {
    for (const [address, network] of [
      ["192.0.2.1", "192.0.2.1"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
      ["2001:db8:1:2::6", "2001:db8:1:2"],
      ["2001:db8::6", "2001:db8:0:0"],
      ["::1", "0:0:0:0"],
      ["fe80::1%eth0", "fe80:0:0:0"],
      ["", ""]
    ] as const) {
      assert.strictEqual(networkOf(address), network)
    }
  })
})
