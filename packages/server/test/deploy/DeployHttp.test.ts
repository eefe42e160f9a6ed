import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { DeploymentToken, NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { Event } from "@delivery/domain/events/Event"
import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import type { ReleasePage } from "@delivery/domain/releases/Release"
import type { StartedTestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import { keyOf } from "../identity/Keys.ts"
import {
  accountKey,
  eventually,
  finishRun,
  type Http,
  join,
  newDeployment,
  newLink,
  onEachServer,
  refusal,
  runOf,
  sessionIn,
  signIn,
  withClockOnEachServer
} from "../support/Http.ts"

/** Deployment tokens over a real socket. Their rules are in DeploymentTokens.test.ts and Loads.test.ts. */

const path = "deployments/shop/production/tokens"

/** The owner of a workspace whose shop runs in production. */
const newProduction = async (owner: Http): Promise<Http> => {
  const workspace = await newDeployment(owner)
  await workspace.post("environments", { slug: "production", name: "Production", class: "production" })
  await workspace.post("deployments", { product: "shop", environment: "production", baseUrl: "https://shop.example" })
  return workspace
}

const tokenOf = async (by: Http, fields: object = {}) => {
  const made = await by.post<NewDeploymentToken>(path, { name: "kubernetes", ...fields })
  return { ...by.as(made.token), ...made }
}

const tokens = async (by: Http) => (await by.get<{ tokens: ReadonlyArray<DeploymentToken> }>(path)).tokens

const set = (by: Http, name: string, value: string) =>
  by.post("vault/assignments", { products: ["shop"], environments: ["production"], name, value }, 200)

const load = (by: Http, query = "", headers: Readonly<Record<string, string>> = {}) =>
  by.send<{ revision: string; values: Record<string, string> }>("GET", `/deploy/v1/secrets${query}`, { headers })

const works = async (by: Http) => refusal(await by.send("GET", "/deploy/v1/me"))

const credential = async (by: Http, id: string) =>
  (await by.get<{ credentials: ReadonlyArray<WorkspaceCredential> }>("credentials")).credentials.find(
    (one) => one.id === id
  )

const entriesOf = async (by: Http, query: string): Promise<ReadonlyArray<AuditEntry>> =>
  (await by.get<AuditPage>(`audit?${query}`)).entries

const from = (address: string) => ({ "x-forwarded-for": address })

onEachServer(
  "a deployment token",
  (test) => {
    test("reads the secrets of production, which nobody else can", async (owner) => {
      const workspace = await newProduction(owner)
      const token = await tokenOf(workspace)
      await set(workspace, "A", "canary")
      await set(workspace, "B_C", "it's\n")
      const answer = await load(token)
      assert.deepStrictEqual(
        [answer.status, answer.headers["content-type"], answer.headers["cache-control"]],
        [200, "application/json", "no-store"]
      )
      assert.hasAllKeys(answer.body, ["product", "environment", "revision", "values"])
      assert.deepStrictEqual(answer.body.values, { A: "canary", B_C: "it's\n" })
      const me = await token.send<object>("GET", "/deploy/v1/me")
      assert.strictEqual(me.headers["cache-control"], "no-store")
      assert.hasAllKeys(me.body, ["product", "environment", "deployment", "token"])
      assert.deepStrictEqual(await token.get("/deploy/v1/secrets/A"), { name: "A", version: 1, value: "canary" })
      await token.refuse("404 secret", "GET", "/deploy/v1/secrets/none")
      await token.refuse("404 secret", "GET", "/deploy/v1/secrets/a%2Fb")
      await token.refuse("404 secret", "GET", "/deploy/v1/secrets/a%00b")
      const refused = await load(token.as(workspace.key))
      assert.deepStrictEqual([refusal(refused), refused.headers["cache-control"]], ["401", "no-store"])
      const read = await workspace.send("GET", "products/shop/secrets/A")
      assert.notInclude(read.text, "canary")
    })

    test("reads them as files, which are never compressed, or nothing", async (owner) => {
      const workspace = await newProduction(owner)
      const token = await tokenOf(workspace)
      await set(workspace, "A", "a".repeat(3_000))
      const file = await load(token, "?format=env", { "accept-encoding": "gzip, br" })
      assert.strictEqual(file.text, `A='${"a".repeat(3_000)}'\n`)
      assert.strictEqual(file.headers["content-type"], "text/plain; charset=utf-8")
      assert.isUndefined(file.headers["content-encoding"])
      assert.strictEqual((await load(token, "?format=docker")).text, `A=${"a".repeat(3_000)}\n`)
      assert.deepStrictEqual((await load(token, "?format=json")).body.values, { A: "a".repeat(3_000) })
      assert.strictEqual(refusal(await load(token, "?format=yaml")), "400 format")
      await set(workspace, "B", "two\nlines")
      await set(workspace, "not a name", "canary")
      const refused = await load(token, "?format=docker")
      assert.strictEqual(refusal(refused), "409 not_environment_names")
      assert.deepInclude<object>(refused.body, { names: ["B", "not a name"] })
      assert.notInclude(refused.text, "canary")
      assert.deepInclude<object>((await load(token, "?format=env")).body, { names: ["not a name"] })
    })

    test("is refused from other addresses than its own, also behind a proxy", async (owner) => {
      const workspace = await newProduction(owner)
      const token = await tokenOf(workspace, { allowedAddresses: ["203.0.113.0/24", "2001:db8::/32"] })
      await set(workspace, "A", "a1")
      for (const address of ["203.0.113.9", "2001:db8::9", "198.51.100.1, 203.0.113.9"]) {
        assert.strictEqual(refusal(await load(token, "", from(address))), "200", address)
      }
      for (const address of ["198.51.100.1", "203.0.113.9, 198.51.100.1", "x"]) {
        assert.strictEqual(refusal(await load(token, "", from(address))), "403 address_not_allowed", address)
        // Before anything that is wrong with the request.
        const body = await token.send("PUT", "/deploy/v1/version", { json: [], headers: from(address) })
        assert.strictEqual(refusal(body), "403 address_not_allowed", address)
      }
      await token.refuse("403 address_not_allowed", "GET", "/deploy/v1/me")
      const [shown] = await tokens(workspace)
      assert.deepInclude(shown, { lastUsedFrom: "203.0.113.9", allowedAddresses: token.allowedAddresses })
      for (const wrong of [["10.0.0.1"], ["10.0.0.1/8"], ["x"], [], Array(51).fill("10.0.0.0/8"), [""], "10.0.0.0/8"]) {
        const answer = await workspace.send("POST", path, { json: { name: "a", allowedAddresses: wrong } })
        assert.match(refusal(answer), /^400 allowedAddresses/)
      }
      const refused = await entriesOf(workspace, "action=token_refused")
      assert.includeMembers(
        refused.map((entry) => entry.address),
        ["198.51.100.1", "127.0.0.1"]
      )
    })

    test("that reads from elsewhere is an event, which says no address", async (owner) => {
      const workspace = await newProduction(owner)
      const token = await tokenOf(workspace)
      await load(token, "", from("203.0.113.9"))
      await load(token, "", from("198.51.100.1"))
      const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events?kinds=token_used_elsewhere")
      assert.lengthOf(events, 1)
      assert.deepInclude(events[0]!.subject, { type: "token", id: token.id })
      assert.notInclude(JSON.stringify(events), "198.51.100.1")
      const [entry] = await entriesOf(workspace, "action=token_used_elsewhere")
      assert.deepInclude(entry, { address: "198.51.100.1" })
      assert.deepInclude(entry!.credential, { kind: "deploymentToken", id: token.id, lastFour: token.lastFour })
    })

    test("says which version runs, which locked runs keep from changing", async (owner) => {
      const workspace = await newProduction(owner)
      const token = await tokenOf(workspace, { name: "cd" })
      const commits = [{ sha: "a".repeat(40), subject: "ENG-1: pay by card" }]
      const changed = await token.send("PUT", "/deploy/v1/version", { json: { version: "v2", commits } })
      assert.deepStrictEqual([changed.status, changed.headers["cache-control"]], [200, "no-store"])
      assert.deepStrictEqual(changed.body, await workspace.get("deployments/shop/production"))
      for (const wrong of [{}, { version: null }, { version: "" }, { version: 1 }]) {
        await token.refuse("400 version", "PUT", "/deploy/v1/version", wrong)
      }
      const started = runOf({ environment: "production" })
      const run = await workspace.post<StartedTestRun>("test-runs", { ...started, locked: true })
      const held = await token.send("PUT", "/deploy/v1/version", { json: { version: "v3" } })
      assert.strictEqual(refusal(held), "409 run_in_progress")
      assert.deepInclude(held.body, { runs: [run.number] })
      for (const waitMs of [-1, 30_001, 1.5, "1", null]) {
        await token.refuse("400 waitMs", "PUT", "/deploy/v1/version", { version: "v3", waitMs })
      }
      const late = await token.send("PUT", "/deploy/v1/version", { json: { version: "v3", waitMs: 1 } })
      assert.strictEqual(refusal(late), "409 run_in_progress")
      const forced = await token.send("PUT", "/deploy/v1/version", { json: { version: "v3", force: true } })
      assert.strictEqual(forced.status, 200)
      const marked = await finishRun(workspace, run.number)
      assert.isTrue(marked.deploymentChanged)
      const { releases } = await workspace.get<ReleasePage>("deployments/shop/production/history")
      assert.deepStrictEqual<unknown>(
        releases.map(({ by, version }) => [version, by]),
        ["v3", "v2"].map((version) => [version, { kind: "deploymentToken", id: token.id, name: "cd" }])
      )
      const { commits: told } = await workspace.get<{ commits: ReadonlyArray<object> }>("products/shop/versions/v2")
      assert.lengthOf(told, 1)
      await workspace.post("products/shop/archive", undefined, 200)
      await token.refuse("403 archived", "PUT", "/deploy/v1/version", { version: "v4" })
      await token.refuse("400 version", "PUT", "/deploy/v1/version", {})
      for (const call of ["me", "secrets", "secrets/A"]) await token.refuse("403 archived", "GET", `/deploy/v1/${call}`)
    })

    test("is made, rotated and revoked as the contract has it", async (owner) => {
      const workspace = await newProduction(owner)
      const first = await tokenOf(workspace)
      const made = await workspace.send("POST", path, { json: { name: "second" } })
      assert.deepStrictEqual([made.status, made.headers["cache-control"]], [201, "no-store"])
      for (const wrong of [{}, { name: "" }, { name: "a\u200b" }, { name: "a".repeat(81) }]) {
        await workspace.refuse("400 name", "POST", path, wrong)
      }
      for (const overlapSeconds of [-1, 604_801, 1.5, "1", null]) {
        await workspace.refuse("400 overlapSeconds", "POST", `${path}/${first.id}/rotate`, { overlapSeconds })
      }
      await workspace.refuse("404 deployment", "GET", "deployments/shop/none/tokens")
      const rotated = await workspace.send<NewDeploymentToken>("POST", `${path}/${first.id}/rotate`)
      assert.deepStrictEqual([rotated.status, rotated.headers["cache-control"]], [201, "no-store"])
      await workspace.refuse("409 rotated", "POST", `${path}/${first.id}/rotate`)
      assert.deepStrictEqual([await works(first), await works(workspace.as(rotated.body.token))], ["200", "200"])
      assert.deepStrictEqual(await workspace.post(`${path}/${first.id}/revoke`, undefined, 200), { ok: true })
      await workspace.refuse("404 deployment token", "POST", `${path}/${first.id}/revoke`)
      assert.strictEqual(await works(first), "401")
    })

    test("needs the scopes that it has of a key that makes it", async (owner) => {
      const workspace = await newProduction(owner)
      const person = await join(workspace, "admin")
      const token = await tokenOf(workspace)
      for (const scopes of [["admin"], ["admin", "vault"], ["admin", "vault", "read"]]) {
        const key = await keyOf(person, { scopes })
        await key.refuse("403 scope_missing", "POST", path, { name: "a" })
        await key.refuse("403 scope_missing", "POST", `${path}/${token.id}/rotate`, {})
        await key.get(path)
      }
      await (await keyOf(person, { scopes: ["admin", "vault", "read", "write"] })).post(path, { name: "a" })
      const key = await accountKey(workspace, "admin")
      for (const [method, of] of [
        ["GET", path],
        ["POST", path],
        ["POST", `${path}/${token.id}/revoke`]
      ] as const) {
        await key.refuse("403 account_key", method, of, { name: "a" })
      }
    })

    test("stays when what it was made with ends, and is blocked with it", async (owner) => {
      const workspace = await newProduction(owner)
      const person = await join(workspace, "admin")
      const [leaked, maker] = [await keyOf(person), await keyOf(person)]
      const [kept, ofMade, blocked] = [await tokenOf(leaked), await tokenOf(await keyOf(leaked)), await tokenOf(maker)]
      const row = await credential(workspace, blocked.id)
      const { email, id, name } = blocked.createdBy
      const { createdAt, lastUsedAt, ...shown } = row!
      assert.strictEqual(createdAt, blocked.createdAt)
      assert.isNull(lastUsedAt)
      assert.deepStrictEqual<unknown>(shown, {
        id: blocked.id,
        kind: "deploymentToken",
        name: "kubernetes",
        owner: { kind: "deploymentToken", id: blocked.id, name: "kubernetes" },
        createdBy: { kind: "user", id, name, email },
        lastFour: blocked.lastFour,
        scopes: ["read", "write", "vault"],
        role: "member",
        expiresAt: null,
        deployment: {
          product: { slug: "shop", name: "Shop" },
          environment: { slug: "production", name: "Production" }
        },
        blocked: false
      })
      await person.post(`/v1/api-keys/${leaked.id}/revoke`, undefined, 200)
      assert.deepStrictEqual([await works(kept), await works(ofMade)], ["200", "200"])
      const told = await entriesOf(workspace, "action=token_maker_ended")
      assert.sameMembers(
        told.map(({ subject }) => subject.id),
        [kept.id, ofMade.id]
      )
      assert.isString((await credential(workspace, kept.id))!.makerEndedAt)
      const listed = new Map((await tokens(workspace)).map((token) => [token.id, token.makerEndedAt]))
      assert.isString(listed.get(ofMade.id))
      assert.isNull(listed.get(blocked.id))

      await workspace.post(`credentials/${maker.id}/block`, undefined, 200)
      assert.deepStrictEqual([await works(blocked), await works(kept)], ["401", "200"])
      const later = await workspace.send<NewDeploymentToken>("POST", `${path}/${blocked.id}/rotate`)
      assert.strictEqual(await works(workspace.as(later.body.token)), "401")
      await workspace.refuse("409 maker_blocked", "POST", `credentials/${blocked.id}/unblock`)
      await workspace.post(`credentials/${maker.id}/unblock`, undefined, 200)
      assert.deepStrictEqual([await works(blocked), await works(workspace.as(later.body.token))], ["200", "200"])

      await workspace.post(`credentials/${kept.id}/block`, undefined, 200)
      assert.strictEqual(await works(kept), "401")
      assert.isTrue((await credential(workspace, kept.id))!.blocked)
      await workspace.post(`credentials/${kept.id}/unblock`, undefined, 200)
      assert.strictEqual(await works(kept), "200")
    })

    test("ends when it is reported, by whomever", async (owner) => {
      const workspace = await newProduction(owner)
      const [found, other] = [await tokenOf(workspace), await tokenOf(workspace)]
      const report = { json: { token: found.token } }
      assert.strictEqual((await workspace.as(undefined).send("POST", "/v1/tokens/report", report)).status, 204)
      assert.deepStrictEqual([await works(found), await works(other)], ["401", "200"])
      const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events?kinds=token_reported")
      assert.deepStrictEqual(
        events.map(({ subject }) => subject.id),
        [found.id]
      )
      const [entry] = await entriesOf(workspace, "action=token_reported")
      assert.deepInclude(entry!.credential, { kind: "report", lastFour: found.lastFour })
    })
  },
  { TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }
)

withClockOnEachServer("making a deployment token in a session", (test) => {
  test("needs a fresh proof, and so does rotating one", async (owner, advance) => {
    const workspace = await newProduction(owner)
    const admin = await join(workspace, "admin")
    const session = await signIn(workspace, admin.id)
    const token = await tokenOf(session)
    advance("16 minutes")
    await session.refuse("403 sudo_required", "POST", path, { name: "late" })
    await session.refuse("403 sudo_required", "POST", `${path}/${token.id}/rotate`, {})
    await session.get(path)
    await session.post(`${path}/${token.id}/revoke`, undefined, 200)
    const proof = { json: { token: await newLink(workspace, admin.id) } }
    const proven = session.as(sessionIn(await session.send("POST", "/auth/v1/sudo", proof)))
    const other = await tokenOf(proven)
    await proven.post(`${path}/${other.id}/rotate`, {})
    // What was made in a session does not end with it, and no key has ended.
    await proven.delete("/auth/v1/session")
    const shown = (await tokens(workspace)).find(({ id }) => id === other.id)
    assert.isNull(shown!.makerEndedAt)
  })

  test("an expired key leaves its tokens", async (owner, advance) => {
    const workspace = await newProduction(owner)
    const person = await join(workspace, "admin")
    const inAnHour = new Date(Date.parse((await tokenOf(workspace)).createdAt) + 3_600_000).toISOString()
    const token = await tokenOf(await keyOf(person, { expiresAt: inAnHour }))
    assert.isNull(token.expiresAt)
    advance("2 hours")
    assert.strictEqual(await works(token), "200")
    assert.strictEqual((await credential(workspace, token.id))!.makerEndedAt, inAnHour)
    const told = () => entriesOf(workspace, "action=token_maker_ended")
    const [entry] = await eventually(told, (entries) => entries.length > 0)
    assert.strictEqual(entry!.subject.id, token.id)
    assert.deepInclude(entry!.credential, { kind: "server" })
  })
})

withClockOnEachServer("a product that has what it asks for", (test) => {
  test("is answered 304, which is authorized and in the audit like a 200", async (owner, advance) => {
    const workspace = await newProduction(owner)
    const token = await tokenOf(workspace)
    await set(workspace, "A", "canary-1")
    const { headers } = await load(token)
    const known = { "if-none-match": `W/"x", ${headers.etag}` }
    const again = await load(token, "", known)
    assert.deepStrictEqual(
      [again.status, again.text, again.headers.etag, again.headers["cache-control"]],
      [304, "", headers.etag, "no-store"]
    )
    assert.strictEqual((await load(token, "", { "if-none-match": "*" })).status, 304)
    assert.strictEqual((await load(token, "?format=env", known)).status, 200)
    const reads = () => entriesOf(workspace, "action=secrets_loaded")
    advance("1 second")
    const [entry] = await eventually(reads, ([entry]) => entry?.count === 4)
    assert.deepInclude(entry, { secrets: [{ name: "A", version: 1 }], outcome: "allowed" })
    assert.notInclude(JSON.stringify(entry), "canary")
    await set(workspace, "A", "canary-2")
    const changed = await load(token, "", known)
    assert.deepStrictEqual([changed.status, changed.body.values["A"]], [200, "canary-2"])
    assert.lengthOf(await reads(), 2)
    await workspace.post(`${path}/${token.id}/revoke`, undefined, 200)
    assert.strictEqual(refusal(await load(token, "", known)), "401")
    assert.lengthOf(await reads(), 2)
  })
})

withClockOnEachServer(
  "the rate limit of a deployment",
  (test) => {
    test("counts the requests of all its tokens", async (owner) => {
      const workspace = await newProduction(owner)
      const [first, second] = [await tokenOf(workspace), await tokenOf(workspace)]
      const left = async (by: Http) => {
        const { headers } = await by.send("GET", "/deploy/v1/me")
        return Number(/r=(\d+)/.exec(String(headers["ratelimit"]))![1])
      }
      const before = await left(first)
      assert.strictEqual(await left(first), before - 1)
      assert.strictEqual(await left(second), before - 2)
    })
  },
  { RATE_LIMIT: "1000/60" }
)
