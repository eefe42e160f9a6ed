import type { ListedSession, SignedIn, SignInMethods } from "@delivery/domain/auth/Session"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import type { InvitePreview, NewInvite } from "@delivery/domain/identity/Invite"
import type { Member } from "@delivery/domain/identity/Member"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { keepsCookies } from "../../src/http/OwnPages.ts"
import {
  type Answer,
  assertId,
  cookieOf,
  type Http,
  http,
  join,
  newLink,
  newWorkspace,
  onEachServer,
  refusal,
  registerAgent,
  sessionIn,
  signIn,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { freePort } from "../../src/cli/FreePort.ts"

/** Signing in with a browser, over HTTP (docs/contract.md, Sessions). */

const consume = (by: Http, token: string, headers: Readonly<Record<string, string>> = {}) =>
  by.send<SignedIn>("POST", "/auth/v1/links/consume", { json: { token }, headers })

const current = (by: Http) => by.get<SignedIn>("/auth/v1/session")
const sessionsOf = async (by: Http) =>
  (await by.get<{ sessions: ReadonlyArray<ListedSession> }>("/auth/v1/sessions")).sessions

const preview = (by: Http, token: string) => by.post<InvitePreview>("/auth/v1/invites/preview", { token }, 200)

const cookie = ({ headers }: Answer) => headers["set-cookie"]?.join("\n")

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"

onEachServer("Signing in", (test) => {
  test("a link signs its person in once, and says who they are and where they may act", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const token = await newLink(owner, person.id)
    const visitor = owner.as(undefined)
    const answer = await consume(visitor, token, { "user-agent": firefox })
    assert.strictEqual(answer.status, 200)
    const { session, ...rest } = answer.body
    const { body: me } = await person.send<{ name: string; email: string }>("GET", "/v1/me")
    const { id, name, slug } = await person.get<{ id: string; name: string; slug: string }>("")
    assert.deepEqual(rest.person, { id: person.id, name: me.name, email: me.email, emailVerifiedAt: null } as never)
    assert.deepEqual(rest.workspaces, [{ id, slug, name, role: "member" }] as never)
    assertId(session.id)
    assert.strictEqual(session.method, "link")
    assert.strictEqual(Date.parse(session.expiresAt) - Date.parse(session.lastSeenAt), 7 * 86_400_000)
    assert.strictEqual(Date.parse(session.sudoUntil!) - Date.parse(session.createdAt), 900_000)
    assert.strictEqual(
      cookie(answer),
      `${sessionCookie}=${sessionIn(answer)}; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Lax`
    )
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    const again = await consume(visitor, token)
    assert.strictEqual(refusal(again), "401 sign_in_failed")
    assert.isUndefined(cookie(again))
    const [listed] = await sessionsOf(owner.as(sessionIn(answer)))
    assert.deepInclude(listed, { device: "Firefox on Linux", address: "127.0.0.1", current: true })
  })

  test("the address of the service leads to its page", async (owner) => {
    const root = await fetch(`${owner.baseUrl}/`, { redirect: "manual" })
    assert.deepStrictEqual([root.status, root.headers.get("location")], [303, "/sign-in"])
  })

  test("whatever is wrong with a proof, the answer is the same", async (owner) => {
    const visitor = owner.as(undefined)
    const used = await newLink(owner, (await join(owner, "viewer")).id)
    await consume(visitor, used)
    const { body } = await consume(visitor, used)
    for (const token of [`ltk_${"0".repeat(42)}`, "x", owner.key!, (await newLink(owner, "owner@example.com")) + "x"]) {
      const answer = await consume(visitor, token)
      assert.deepStrictEqual([answer.status, answer.body as unknown], [401, body as unknown])
    }
  })

  test("signing in ends the session that the browser had, and no other", async (owner) => {
    const { id } = await join(owner, "viewer")
    const [first, elsewhere] = [await signIn(owner, id), await signIn(owner, id)]
    const answer = await consume(first, await newLink(owner, (await join(owner, "viewer")).id))
    assert.strictEqual(answer.status, 200)
    await first.refuse("401", "GET", "/auth/v1/session")
    assert.strictEqual((await current(elsewhere)).person.id, id)
  })

  test("a session acts as its person under /v1, and a key in a header wins over it", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const session = await signIn(workspace, person.id)
    assert.strictEqual((await session.get<{ id: string }>("/v1/me")).id, person.id)
    const product = { slug: unique("product"), name: "Product", type: "library" }
    await session.refuse("403 role_too_low", "POST", "products", product)
    const key = { authorization: `Bearer ${owner.key}` }
    const { body } = await session.send<{ id: string }>("GET", "/v1/me", { headers: key })
    assert.notStrictEqual(body.id, person.id)
    for (const headers of [{ authorization: "Bearer x" }, { "x-api-key": "x" }, { authorization: "" }]) {
      const answer = await session.send("GET", "/v1/me", { headers: headers as Record<string, string> })
      assert.strictEqual(refusal(answer), "401")
    }
    // With a key, another site does no harm: browsers do not send it by themselves.
    const { status } = await session.send("GET", "/v1/api-keys", {
      headers: { ...key, "sec-fetch-site": "cross-site" }
    })
    assert.strictEqual(status, 200)
  })

  test("a page that takes another person to be signed in is 401, for what it reads and what it writes", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [ann, ben] = [await join(workspace, "admin"), await join(workspace, "admin")]
    const session = await signIn(workspace, ann.id)
    const product = { slug: unique("product"), name: "Product", type: "library" }
    const calls = [
      ["GET", "/v1/me", undefined, 200],
      ["GET", "products", undefined, 200],
      ["POST", "products", product, 201],
      ["GET", "/auth/v1/session", undefined, 200],
      ["POST", "/auth/v1/sessions/revoke-others", {}, 200]
    ] as const
    const elsewhere = await signIn(workspace, ann.id)
    for (const [method, path, json, status] of calls) {
      for (const id of [ben.id, "x", ""]) {
        const answer = await session.send(method, path, { json, headers: { "delivery-person": id } })
        assert.strictEqual(answer.status, 401, `${method} ${path} ${id}`)
      }
      // Nothing has happened: what is made is not there, and what would end has not ended.
      await elsewhere.get("/auth/v1/session")
      const answer = await session.send(method, path, { json, headers: { "delivery-person": ann.id } })
      assert.strictEqual(answer.status, status, `${method} ${path}`)
    }
    // Another site is told no more than before.
    const strange = { "delivery-person": ben.id, "sec-fetch-site": "cross-site" }
    assert.strictEqual(refusal(await session.send("POST", "products", { json: product, headers: strange })), "401")
    for (const headers of [{ "delivery-person": ben.id }, { "delivery-person": "x" }]) {
      assert.strictEqual((await ann.send("GET", "/v1/me", { headers })).status, 200)
    }
  })

  test("the token of a session is none in a header, and agents and leases take no cookie", async (owner) => {
    const { key: token = "" } = await signIn(owner, "owner@example.com")
    const visitor = owner.as(undefined)
    for (const headers of [{ authorization: `Bearer ${token}` }, { "x-api-key": token }] as const) {
      assert.strictEqual(refusal(await visitor.send("GET", "/v1/me", { headers })), "401")
      assert.strictEqual(refusal(await visitor.send("GET", "/auth/v1/session", { headers })), "401")
    }
    const headers = cookieOf(token)
    for (const [method, path] of [
      ["GET", "/agent/v1/me"],
      ["POST", "/agent/mcp"],
      ["POST", "semaphores/a/leases"]
    ] as const) {
      assert.strictEqual((await visitor.send(method, path, { headers, json: {} })).status, 401, path)
    }
    assert.strictEqual(refusal(await owner.send("GET", "/auth/v1/session", { headers })), "401")
  })

  test("what changes something must come from a page of the service, after 401 and before 400", async (owner) => {
    const { key: token = "" } = await signIn(owner, "owner@example.com")
    const visitor = owner.as(undefined)
    const own = owner.baseUrl
    const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, boolean]> = [
      [{}, false],
      [{ "sec-fetch-site": "same-origin" }, true],
      [{ "sec-fetch-site": "same-site" }, false],
      [{ "sec-fetch-site": "cross-site" }, false],
      [{ "sec-fetch-site": "none" }, false],
      [{ "sec-fetch-site": "cross-site", origin: own }, false],
      [{ origin: own }, true],
      [{ origin: `${own}.evil.example` }, false],
      [{ origin: "null" }, false]
    ]
    for (const [headers, isOwn] of cases) {
      const cookie = { cookie: `${sessionCookie}=${token}` }
      // The support sends what a page of the service would; here each case says it itself.
      const request = (method: string, path: string) => sendAs(visitor, method, path, { ...cookie, ...headers })
      assert.strictEqual(refusal(await request("POST", "/v1/workspaces")), isOwn ? "400 ".trim() : "403 cross_site")
      assert.strictEqual((await request("GET", "/v1/workspaces")).status, 200)
      assert.strictEqual(refusal(await request("POST", "/auth/v1/sudo")), isOwn ? "400" : "403 cross_site")
      const without = (method: string, path: string) => sendAs(visitor, method, path, headers)
      assert.strictEqual(refusal(await without("POST", "/v1/workspaces")), "401")
      assert.strictEqual(refusal(await without("POST", "/auth/v1/sudo")), "401")
      assert.strictEqual(refusal(await without("POST", "/auth/v1/links/consume")), isOwn ? "400" : "403 cross_site")
      assert.strictEqual(refusal(await without("DELETE", "/auth/v1/session")), isOwn ? "204" : "403 cross_site")
      assert.strictEqual((await without("GET", "/auth/v1/methods")).status, 200)
    }
  })

  test("a person sees and ends their sessions, and nobody else's", async (owner) => {
    const person = await join(owner, "viewer")
    const [first, second, third] = [
      await signIn(owner, person.id),
      await signIn(owner, person.id),
      await signIn(owner, person.id)
    ]
    const stranger = await signIn(owner, (await join(owner, "viewer")).id)
    const { id } = (await current(second)).session
    const listed = await sessionsOf(first)
    assert.lengthOf(listed, 3)
    assert.deepStrictEqual(
      listed.filter(({ current }) => current).map(({ id }) => id),
      [(await current(first)).session.id]
    )
    for (const other of [stranger]) {
      assert.strictEqual((await other.send("DELETE", `/auth/v1/sessions/${id}`)).status, 404)
    }
    assert.strictEqual((await first.send("DELETE", "/auth/v1/sessions/none")).status, 404)
    const ended = await first.send("DELETE", `/auth/v1/sessions/${id}`)
    assert.deepStrictEqual([ended.status, cookie(ended)], [204, undefined])
    await second.refuse("401", "GET", "/v1/me")
    const others = await first.send("POST", "/auth/v1/sessions/revoke-others")
    assert.deepStrictEqual([others.status, others.body], [200, { revoked: 1 }])
    await third.refuse("401", "GET", "/v1/me")
    const own = await first.send("DELETE", `/auth/v1/sessions/${(await current(first)).session.id}`)
    assert.match(cookie(own)!, new RegExp(`^${sessionCookie}=; Max-Age=0; Path=/; `))
    await first.refuse("401", "GET", "/v1/me")
    assert.strictEqual((await current(stranger)).person.id.length, 36)
  })

  test("signing out ends the session and clears the cookie, signed in or not", async (owner) => {
    const session = await signIn(owner, (await join(owner, "viewer")).id)
    for (const by of [session, session, owner.as(undefined)]) {
      const answer = await by.send("DELETE", "/auth/v1/session")
      assert.strictEqual(answer.status, 204)
      assert.match(
        cookie(answer)!,
        new RegExp(`^${sessionCookie}=; Max-Age=0; Path=/; .*HttpOnly; Secure; SameSite=Lax`)
      )
    }
    await session.refuse("401", "GET", "/v1/me")
  })

  test("an invite makes a new person and signs them in, without a key", async (owner) => {
    const workspace = await newWorkspace(owner)
    const email = `${unique("invited")}@example.com`
    const { token } = await workspace.post<NewInvite>("invites", { email, role: "member" })
    const json = { token, name: "Sam" }
    const answer = await owner.as(undefined).send<SignedIn>("POST", "/auth/v1/invites/accept", { json })
    assert.strictEqual(answer.status, 201, answer.text)
    const { person, session, workspaces } = answer.body
    assert.deepInclude(person, { name: "Sam", email, emailVerifiedAt: null })
    assert.strictEqual(session.method, "invite")
    assert.deepStrictEqual(
      workspaces.map(({ role, slug }) => [slug, role]),
      [[workspace.workspace, "member"]]
    )
    const signedIn = workspace.as(sessionIn(answer))
    assert.strictEqual((await current(signedIn)).session.id, session.id)
    assert.deepStrictEqual(await signedIn.get("/v1/api-keys"), [])
    await owner.as(undefined).refuse("404 invite", "POST", "/auth/v1/invites/accept", json)
  })

  test("whoever has the token of a pending invite is told what it is for, and uses nothing up", async (owner) => {
    const workspace = await newWorkspace(owner)
    const email = `${unique("invited")}@example.com`
    const { expiresAt, inviter, token } = await workspace.post<NewInvite>("invites", { email, role: "member" })
    const nobody = owner.as(undefined)
    for (const _ of [1, 2]) {
      const { workspace: shown, ...rest } = await preview(nobody, token!)
      assert.deepStrictEqual(rest, { email, role: "member", inviter, expiresAt, signInRequired: false })
      assert.deepInclude(shown, { slug: workspace.workspace, name: "Team" })
    }
    await nobody.post("/auth/v1/invites/accept", { token, name: "Sam" })
    for (const useless of [token, token!.replace(/.{42}$/, "0".repeat(42)), "itk_"]) {
      await nobody.refuse("404 invite", "POST", "/auth/v1/invites/preview", { token: useless })
    }
    // Of whom somebody else invites, who has proven the address.
    const others = await newWorkspace(await join(owner, "member"))
    const invited = await others.post<NewInvite>("invites", { email: "owner@example.com", role: "viewer" })
    assert.isTrue((await preview(nobody, invited.token!)).signInRequired)
  })

  test("a session accepts an invite as its person, and goes on", async (owner) => {
    const person = await join(owner, "viewer")
    const session = await signIn(owner, person.id)
    const before = await current(session)
    const workspace = await newWorkspace(owner)
    const invite = (email: string) => workspace.post<NewInvite>("invites", { email, role: "admin" })
    const other = await invite(`${unique("other")}@example.com`)
    await session.refuse("409 other_address", "POST", "/auth/v1/invites/accept", { token: other.token, name: "Sam" })
    const { token } = await invite(before.person.email)
    await owner.as(undefined).refuse("400 name", "POST", "/auth/v1/invites/accept", { token })
    const answer = await session.send<SignedIn>("POST", "/auth/v1/invites/accept", { json: { token } })
    assert.strictEqual(answer.status, 201, answer.text)
    assert.isUndefined(cookie(answer))
    assert.strictEqual(answer.body.session.id, before.session.id)
    assert.deepStrictEqual(answer.body.person, before.person)
    assert.strictEqual((await session.in(workspace.workspace).get<{ role: string }>("")).role, "admin")
  })

  test("a member who was deactivated keeps their session, and loses the workspace", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const session = await signIn(workspace, person.id)
    await session.get("")
    await workspace.post<Member>(`members/${person.id}/deactivate`, undefined, 200)
    await session.refuse("404 workspace", "GET", "")
    assert.deepStrictEqual((await current(session)).workspaces, [])
  })
})

/** A request with these headers and no others. */
const sendAs = async ({ baseUrl }: Http, method: string, path: string, headers: Readonly<Record<string, string>>) => {
  const isRead = method === "GET"
  const response = await fetch(baseUrl + path, {
    method,
    headers: { ...headers, ...(isRead ? {} : { "content-type": "application/json" }) },
    ...(isRead || method === "DELETE" ? {} : { body: "[]" })
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: {},
    bytes: Buffer.from(text),
    text,
    body: text === "" ? undefined : JSON.parse(text)
  } as Answer
}

withClockOnEachServer("The times of sessions", (test) => {
  test("a session ends after 7 days without use, and after 30 days in all", async (owner, advance) => {
    const { id } = await join(owner, "viewer")
    const [used, unused] = [await signIn(owner, id), await signIn(owner, id)]
    for (let day = 0; day < 29; day++) {
      advance("1 day")
      await used.get("/v1/me")
      if (day === 5) assert.strictEqual((await unused.send("GET", "/auth/v1/methods")).status, 200)
      if (day === 6) await unused.refuse("401", "GET", "/v1/me")
    }
    const { session } = await current(used)
    assert.strictEqual(Date.parse(session.expiresAt) - Date.parse(session.createdAt), 30 * 86_400_000)
    assert.lengthOf(await sessionsOf(used), 1)
    advance("1 day")
    await used.refuse("401", "GET", "/v1/me")
  })

  test("sessions are listed by when they were last seen, the last first", async (owner, advance) => {
    const { id } = await join(owner, "viewer")
    const [first, second] = [await signIn(owner, id), await signIn(owner, id)]
    advance("1 minute")
    await first.get("/v1/me")
    advance("1 minute")
    const third = await signIn(owner, id)
    const ids = []
    for (const session of [third, first, second]) ids.push((await current(session)).session.id)
    // Asking who is signed in is a use, too: the second is the last now.
    advance("1 minute")
    await first.get("/v1/me")
    advance("1 minute")
    const listed = await sessionsOf(third)
    assert.deepStrictEqual(
      listed.map((session) => [session.id, session.current]),
      [
        [ids[0], true],
        [ids[1], false],
        [ids[2], false]
      ]
    )
    assert.isAbove(Date.parse(listed[1]!.lastSeenAt), Date.parse(listed[2]!.lastSeenAt))
  })

  test("a printed link lasts an hour", async (owner, advance) => {
    const [late, inTime] = [await newLink(owner, "owner@example.com"), await newLink(owner, "owner@example.com")]
    advance("59 minutes")
    assert.strictEqual((await consume(owner.as(undefined), inTime)).status, 200)
    advance("1 minute")
    assert.strictEqual(refusal(await consume(owner.as(undefined), late)), "401 sign_in_failed")
  })

  test("after 20 failures in an hour from one address, others are 429, and a link works as ever", async (owner, advance) => {
    advance("1 hour")
    const visitor = owner.as(undefined)
    const person = await join(owner, "viewer")
    const session = await signIn(owner, person.id)
    for (let attempt = 0; attempt < 20; attempt++) {
      const failed =
        attempt % 2 === 0
          ? await consume(visitor, "x")
          : await session.send("POST", "/auth/v1/sudo", { json: { token: "x" } })
      assert.strictEqual(refusal(failed), "401 sign_in_failed")
      if (attempt < 19) await signIn(owner, person.id)
    }
    advance("10 minutes")
    const sudo = (json: object) => session.send("POST", "/auth/v1/sudo", { json })
    const codes = { code: "22222222" }
    for (const refused of [await consume(visitor, "x"), await sudo({ token: "x" }), await sudo(codes)]) {
      assert.strictEqual(refusal(refused), "429")
      assert.strictEqual(refused.headers["retry-after"], "3000")
    }
    for (let attempt = 0; attempt < 3; attempt++) {
      assert.strictEqual((await consume(visitor, await newLink(owner, person.id))).status, 200)
    }
    assert.strictEqual((await sudo({ token: await newLink(owner, person.id) })).status, 200)
    advance("49 minutes")
    assert.strictEqual(refusal(await consume(visitor, "x")), "429")
    advance("1 minute")
    assert.strictEqual(refusal(await consume(visitor, "x")), "401 sign_in_failed")
  })

  test("making keys, agents, owners and invites needs a proof of the last 15 minutes, of sessions alone", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "owner")
    const member = await join(workspace, "member")
    const session = await signIn(workspace, admin.id)
    const newUrl = () => ({ url: `https://${unique("hooks")}.invalid/`, kinds: ["nothing"] })
    const webhook = await admin.post<{ readonly id: string }>("webhooks", newUrl())
    const calls: ReadonlyArray<readonly [method: string, path: string, json: () => unknown]> = [
      ["POST", "/v1/api-keys", () => ({ name: "Made" })],
      ["POST", "account-api-keys", () => ({ name: "Made", role: "viewer" })],
      ["POST", "agents/register", () => ({ client: "claude", computer: "laptop" })],
      ["POST", "invites", () => ({ email: `${unique("owner")}@example.com`, role: "owner" })],
      // The server sends no mail: the token is answered.
      ["POST", "invites", () => ({ email: `${unique("viewer")}@example.com`, role: "viewer" })],
      ["POST", "webhooks", newUrl],
      ["PATCH", `webhooks/${webhook.id}`, newUrl],
      ["PATCH", `members/${member.id}`, () => ({ role: "owner" })],
      ["PATCH", `members/${member.id}`, () => ({ role: "member" })]
    ]
    const statuses = async (by: Http) => {
      const answers: Array<string> = []
      for (const [method, path, json] of calls) {
        const answer = await by.send(method, path, { json: json() })
        answers.push(answer.status < 300 ? "2xx" : refusal(answer))
      }
      return answers
    }
    const all = (answer: string) => calls.map(() => answer)
    advance("14 minutes")
    assert.deepStrictEqual(await statuses(session), all("2xx"))
    assert.isNotNull((await current(session)).session.sudoUntil)
    advance("1 minute")
    assert.isNull((await current(session)).session.sudoUntil)
    // The last takes nothing from an owner: it changes nothing.
    assert.deepStrictEqual(await statuses(session), [...all("403 sudo_required").slice(1), "2xx"])
    assert.deepStrictEqual(await statuses(admin), all("2xx"))
    // The role comes first, and 400 and 404 before it.
    const low = await signIn(workspace, member.id)
    advance("15 minutes")
    await low.refuse("403 role_too_low", "POST", "account-api-keys", { name: "Made", role: "viewer" })
    await low.refuse("400 name", "POST", "/v1/api-keys", {})
    await low.in("none").refuse("404 workspace", "POST", "account-api-keys", { name: "Made", role: "viewer" })
    assert.strictEqual((await registerAgent(member)).computer.name, "laptop")
  })

  test("sudo takes the person's own link, and gives the session another token", async (owner, advance) => {
    const { id } = await join(owner, "member")
    const session = await signIn(owner, id)
    advance("20 minutes")
    const others = await newLink(owner, (await join(owner, "member")).id)
    const sudo = (by: Http, token: string) => by.send<SignedIn>("POST", "/auth/v1/sudo", { json: { token } })
    assert.strictEqual(refusal(await sudo(session, others)), "401 sign_in_failed")
    const answer = await sudo(session, await newLink(owner, id))
    assert.strictEqual(answer.status, 200)
    const proved = owner.as(sessionIn(answer))
    assert.include(cookie(answer), `Max-Age=${2_592_000 - 1200};`)
    assert.strictEqual(answer.body.session.id, (await current(proved)).session.id)
    assert.strictEqual(
      Date.parse(answer.body.session.sudoUntil!) - Date.parse(answer.body.session.createdAt),
      2_100_000
    )
    await session.refuse("401", "GET", "/v1/me")
    await proved.post("/v1/api-keys", { name: "Made" }, 200)
    // The other person's link was not used up.
    assert.strictEqual((await consume(owner.as(undefined), others)).status, 200)
  })
})

describe("An address by http that is not this computer", () => {
  it("is one at which browsers keep no session", () => {
    const secure = [
      "https://delivery.example",
      "http://localhost:4000",
      "http://a.localhost",
      "http://127.0.0.1",
      "http://[::1]:1"
    ]
    const insecure = [
      "http://delivery.example",
      "http://192.0.2.7:4000",
      "http://localhost.example",
      "http://127.evil.example"
    ]
    assert.deepStrictEqual([...secure, ...insecure].filter(keepsCookies), secure)
  })

  it("has no way to sign in, and says why", async () => {
    const served = await freePort()
    const server = DeliveryServer.layerMemory({ PORT: String(served), BASE_URL: "http://delivery.example" })
    const asked = Effect.promise(async () => {
      const visitor = http(`http://127.0.0.1:${served}`, undefined, "main")
      const methods = await visitor.send<SignInMethods>("GET", "/auth/v1/methods")
      assert.deepInclude(methods.body, { available: false, reason: "insecure_base_url" })
    })
    await Effect.runPromise(Effect.scoped(Effect.andThen(Layer.build(server), asked)))
  })
})
