import type { AgentMe, AgentSignIn, RegisteredAgent, ReportedSession } from "@delivery/domain/agents/Agent"
import * as oauth from "oauth4webapi"
import { crc32 } from "node:zlib"
import { assert } from "vitest"
import {
  accountKey,
  assertId,
  assertTimestamp,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refresh,
  refusal,
  registerAgent,
  withClockOnEachServer
} from "../support/Http.ts"

/** Registered agents, their sign-ins and what agents call (docs/contract.md, Agents; Agent sign-in; Agent API). */

const agents = async (http: Http, query = "") =>
  (await http.get<{ agents: ReadonlyArray<RegisteredAgent> }>(`agents${query}`)).agents
const me = (http: Http, { access_token }: Pick<AgentSignIn, "access_token">) =>
  http.as(access_token).send<AgentMe>("GET", "/agent/v1/me")
const revoke = (http: Http, { agent }: AgentSignIn) => http.post(`agents/${agent}/revoke`, undefined, 200)

/** A token's form (docs/contract.md, Tokens), worked out anew. */
const assertToken = (prefix: string, token: string) => {
  assert.match(token, new RegExp(`^${prefix}[0-9A-Za-z]{42}$`))
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  const sum = Array.from(token.slice(-6)).reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
  assert.strictEqual(sum, crc32(token.slice(0, -6)))
}

const insecure = { [oauth.allowInsecureRequests]: true } as const

onEachServer("the agents room", (test) => {
  test("answers a registration with the sign-in and its tokens, once", async (owner) => {
    const workspace = await newWorkspace(owner)
    const answer = await workspace.send<AgentSignIn>("POST", "agents/register", {
      json: { client: "claude", computer: " Ana's laptop " }
    })
    assert.strictEqual(answer.status, 201)
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    const { access_token, agent, clientId, computer, refresh_token, ...rest } = answer.body
    for (const id of [agent, computer.id, clientId]) assertId(id)
    assertToken("atk_", access_token)
    assertToken("rtk_", refresh_token)
    assert.deepStrictEqual(computer, { id: computer.id, name: "Ana's laptop" })
    assert.deepStrictEqual(rest, { token_type: "Bearer", expires_in: 3600, scope: "read write" })
    const [listed, ...more] = await agents(workspace)
    assert.deepStrictEqual(more, [])
    assertTimestamp(listed!.createdAt, listed!.lastSeenAt)
    assert.deepStrictEqual(listed, {
      id: agent,
      name: "Claude",
      person: listed!.person,
      computers: [{ ...computer, lastSeenAt: listed!.lastSeenAt!, live: true, sessions: [] }],
      serverUrl: false,
      live: true,
      lastSeenAt: listed!.lastSeenAt,
      createdAt: listed!.createdAt
    })
    assert.notInclude(JSON.stringify(listed), "tk_")
  })

  test("keeps the first 100 characters of a computer's name", async (owner) => {
    const workspace = await newWorkspace(owner)
    const named = async (computer: string) => (await registerAgent(workspace, { computer })).computer
    const long = await named(`  ${"x".repeat(99)}yz`)
    assert.strictEqual(long.name, `${"x".repeat(99)}y`)
    assert.strictEqual((await named(`${"x".repeat(99)}y and more`)).id, long.id)
    assert.strictEqual((await named(`${"x".repeat(98)}  z`)).name, "x".repeat(98))
    // A character is a code point, and is never cut.
    assert.strictEqual((await named(`${"x".repeat(99)}💻y`)).name, `${"x".repeat(99)}💻`)
    assert.strictEqual((await named("💻".repeat(101))).name, "💻".repeat(100))
    for (const computer of ["", "  ", "a\nb", "a\u0000b", 1, null, undefined]) {
      await workspace.refuse("400 computer", "POST", "agents/register", { client: "claude", computer })
    }
    for (const client of ["gemini", "other", "Claude", "", null, undefined]) {
      await workspace.refuse("400 client", "POST", "agents/register", { client, computer: "c" })
    }
  })

  test("lists the agents of a person, or all", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "viewer")
    const [mine, sams] = [await registerAgent(workspace), await registerAgent(sam)]
    const ids = async (http: Http, query?: string) => (await agents(http, query)).map(({ id }) => id)
    assert.sameMembers(await ids(sam), [mine.agent, sams.agent])
    assert.deepStrictEqual(await ids(sam, "?person=me"), [sams.agent])
    assert.deepStrictEqual(await ids(workspace, `?person=${sam.id}`), [sams.agent])
    assert.deepStrictEqual(await ids(await accountKey(workspace, "viewer"), "?person=me"), [])
    for (const wrong of ["", "Sam", "ME", sam.id.toUpperCase(), `${sam.id}&person=me`]) {
      await workspace.refuse("400 person", "GET", `agents?person=${wrong}`)
    }
    await workspace.refuse("404 person:", "GET", `agents?person=${mine.agent}`)
  })

  test("says in a 401 where tokens can be obtained", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { access_token } = await registerAgent(workspace)
    const expected = `Bearer resource_metadata="${owner.baseUrl}/.well-known/oauth-protected-resource/agent/mcp", scope="read write"`
    const bodies = new Set<string>()
    for (const key of [undefined, owner.key, "laptop", `${access_token}x`, access_token.toUpperCase()]) {
      const answer = await owner.as(key).send("GET", "/agent/v1/me")
      assert.deepStrictEqual([answer.status, answer.headers["www-authenticate"]], [401, expected])
      bodies.add(answer.text)
    }
    assert.deepStrictEqual([...bodies], [`{"_tag":"Unauthorized","message":"A valid agent access token is required."}`])
    // A key is none there by its own header either, beside a token or alone.
    for (const [key, status] of [
      [undefined, 401],
      [access_token, 401]
    ] as const) {
      const answer = await owner.as(key).send("GET", "/agent/v1/me", { headers: { "x-api-key": owner.key! } })
      assert.strictEqual(answer.status, status)
    }
    const alone = await owner.as(undefined).send("GET", "/agent/v1/me", { headers: { "x-api-key": access_token } })
    assert.strictEqual(alone.status, 401)
    assert.strictEqual((await me(owner, { access_token })).status, 200)
  })

  test("limits a token to its workspace", async (owner) => {
    const [one, two] = [await newWorkspace(owner), await newWorkspace(owner)]
    const [ofOne, ofTwo] = [await registerAgent(one), await registerAgent(two)]
    assert.notStrictEqual(ofOne.agent, ofTwo.agent)
    assert.strictEqual((await me(owner, ofOne)).body.workspace.slug, one.workspace)
    assert.strictEqual((await me(owner, ofTwo)).body.workspace.slug, two.workspace)
    await one.refuse("404 agent", "POST", `agents/${ofTwo.agent}/revoke`)
  })

  test("reports, shows and ends sessions", async (owner) => {
    const workspace = await newWorkspace(owner)
    const signIn = await registerAgent(workspace)
    const agent = workspace.as(signIn.access_token)
    const put = (session: string, json?: unknown) =>
      agent.send<ReportedSession>("PUT", `/agent/v1/sessions/${session}`, { json })
    const reported = await put("s_1-A", { repository: "acme/shop", branch: "main", state: "ignored" })
    assert.strictEqual(reported.status, 200)
    const { session, waiting } = reported.body
    assert.strictEqual(waiting, 0)
    assertTimestamp(session.lastSeenAt)
    assert.deepStrictEqual(session, {
      id: "s_1-A",
      repository: "acme/shop",
      branch: "main",
      lastSeenAt: session.lastSeenAt,
      live: true
    })
    // A heartbeat needs no body.
    const again = (await put("s_1-A")).body.session
    assert.deepStrictEqual([again.repository, again.branch], ["acme/shop", "main"])
    assert.isAtLeast(Date.parse(again.lastSeenAt), Date.parse(session.lastSeenAt))
    const [listed] = await agents(workspace)
    assert.deepStrictEqual(listed!.computers[0]!.sessions, [again])
    for (const session of ["a".repeat(101), "a.b", "a%20b", "%C3%A4", "a%2Fb"]) {
      assert.strictEqual(refusal(await put(session)), "400 session", session)
      assert.strictEqual(refusal(await agent.send("DELETE", `/agent/v1/sessions/${session}`)), "400 session")
    }
    assert.strictEqual((await put("a".repeat(100))).status, 200)
    for (const [field, value] of [
      ["repository", "shop"],
      ["repository", "a/b/c"],
      ["repository", 1],
      ["branch", ""],
      ["branch", "x".repeat(501)],
      ["branch", []]
    ] as const) {
      assert.strictEqual(refusal(await put("s", { [field]: value })), `400 ${field}`)
    }
    await agent.delete("/agent/v1/sessions/s_1-A")
    await agent.delete("/agent/v1/sessions/s_1-A")
    assert.deepStrictEqual(
      (await agents(workspace))[0]!.computers[0]!.sessions.map(({ id }) => id),
      ["a".repeat(100)]
    )
  })

  test("ends access immediately with the sign-in, the agent and the member, and narrows it with the role", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "member")
    const alive = async (signIn: AgentSignIn) => (await me(owner, signIn)).status === 200
    const [laptop, desktop] = [await registerAgent(sam), await registerAgent(sam, { computer: "desktop" })]
    const codex = await registerAgent(sam, { client: "codex" })
    const again = await registerAgent(sam)
    assert.deepStrictEqual(
      await Promise.all([laptop, desktop, codex, again].map(alive)),
      [false, true, true, true],
      "another sign-in of the computer"
    )
    await workspace.patch(`members/${sam.id}`, { role: "viewer" })
    assert.deepInclude((await me(owner, again)).body, { scope: "read" })
    assert.strictEqual((await refresh(owner, desktop)).body.scope, "read")
    await workspace.post(`members/${sam.id}/deactivate`, undefined, 200)
    assert.deepStrictEqual(await Promise.all([desktop, codex, again].map(alive)), [false, false, false])
    assert.deepStrictEqual(await agents(workspace), [])
    assert.strictEqual(refusal(await refresh(owner, codex)), "400 invalid_grant")
    await workspace.post(`members/${sam.id}/reactivate`, undefined, 200)
    assert.deepStrictEqual(await Promise.all([desktop, codex, again].map(alive)), [false, false, false])
    assert.strictEqual(refusal(await refresh(owner, codex)), "400 invalid_grant")
    const [claude, other] = [await registerAgent(sam), await registerAgent(sam, { client: "codex" })]
    assert.strictEqual(other.agent, codex.agent)
    await revoke(sam, other)
    await sam.refuse("404 agent", "POST", `agents/${other.agent}/revoke`)
    assert.deepStrictEqual(await Promise.all([claude, other].map(alive)), [true, false])
    assert.strictEqual(refusal(await refresh(owner, other)), "400 invalid_grant")
  })

  test("refreshes tokens only by form, with errors as in RFC 6749", async (owner) => {
    const workspace = await newWorkspace(owner)
    const signIn = await registerAgent(workspace)
    const right = { grant_type: "refresh_token", client_id: signIn.clientId, refresh_token: signIn.refresh_token }
    const body = new URLSearchParams(right).toString()
    const type = { "content-type": "application/x-www-form-urlencoded" }
    for (const path of ["/agent/oauth/token", "/agent/oauth/revoke"]) {
      const sent = (init: Parameters<Http["send"]>[2]) => owner.as(undefined).send("POST", path, init)
      for (const answer of [
        await sent({ json: { ...right, token: signIn.refresh_token } }),
        await sent({ body, headers: { "content-type": "text/plain" } }),
        await sent({ body, headers: { "content-type": "multipart/form-data; boundary=x" } }),
        await sent({ body }),
        await sent({ body: "", headers: type }),
        await sent({ body: "%", headers: type }),
        await sent({ body: `${body}&token=a&token=a`, headers: type }),
        await sent({ body: `${body}&client_id=${signIn.clientId}`, headers: type }),
        await sent({ body: `${body}&x=`.padEnd(64 * 1024 + 1, "x"), headers: type }),
        await sent({ form: { ...right, refresh_token: "", token: "" } })
      ]) {
        assert.strictEqual(refusal(answer), "400 invalid_request", `${path} ${answer.text}`)
      }
      assert.strictEqual((await owner.send("GET", path)).status, 404)
    }
    const full = "grant_type=none&client_id=a&x=".padEnd(64 * 1024, "x")
    assert.strictEqual(
      refusal(await owner.as(undefined).send("POST", "/agent/oauth/token", { body: full, headers: type })),
      "400 unsupported_grant_type"
    )
    // Nothing was used by all of that.
    const answer = await owner.as(undefined).send<Record<string, unknown>>("POST", "/agent/oauth/token", {
      body,
      headers: { "content-type": "Application/X-WWW-Form-URLEncoded; charset=UTF-8" }
    })
    assert.deepStrictEqual(Object.keys(answer.body).toSorted(), [
      "access_token",
      "expires_in",
      "refresh_token",
      "scope",
      "token_type"
    ])
    assert.deepStrictEqual(
      [answer.status, answer.headers["cache-control"], answer.headers["pragma"]],
      [200, "no-store", "no-cache"]
    )
    assert.match(String(answer.headers["content-type"]), /^application\/json/)
  })

  test("serves the metadata at every path", async (owner) => {
    const { baseUrl } = owner
    const read = (path: string) => owner.as(undefined).get<object>(`/.well-known/${path}`)
    assert.deepStrictEqual(await read("oauth-authorization-server"), {
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/agent/oauth/authorize`,
      token_endpoint: `${baseUrl}/agent/oauth/token`,
      revocation_endpoint: `${baseUrl}/agent/oauth/revoke`,
      registration_endpoint: `${baseUrl}/agent/oauth/register`,
      grant_types_supported: ["authorization_code", "refresh_token"],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      scopes_supported: ["read", "write"],
      service_documentation: `${baseUrl}/docs`
    })
    const resource = await read("oauth-protected-resource")
    assert.deepInclude(resource, { resource: `${baseUrl}/agent/mcp`, authorization_servers: [baseUrl] })
    assert.deepStrictEqual(await read("oauth-protected-resource/agent/mcp"), resource)
  })

  test("works with a standard OAuth client: discovery, refresh and revocation", async (owner) => {
    const workspace = await newWorkspace(owner)
    const signIn = await registerAgent(workspace)
    const call = (accessToken: string) =>
      oauth.protectedResourceRequest(
        accessToken,
        "GET",
        new URL("/agent/v1/me", owner.baseUrl),
        new Headers(),
        null,
        insecure
      )

    // From the refusal of a call to the resource, to its authorization server.
    const refused = await call("none").catch((error: unknown) => error)
    assert.instanceOf(refused, oauth.WWWAuthenticateChallengeError)
    const [challenge] = refused.cause
    assert.strictEqual(challenge!.scheme, "bearer")
    const mcp = new URL("/agent/mcp", owner.baseUrl)
    const resource = await oauth.processResourceDiscoveryResponse(
      mcp,
      await oauth.resourceDiscoveryRequest(mcp, insecure)
    )
    assert.strictEqual(
      challenge!.parameters["resource_metadata"],
      `${new URL(owner.baseUrl).origin}/.well-known/oauth-protected-resource/agent/mcp`
    )
    const issuer = new URL(resource.authorization_servers![0]!)
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure })
    )

    const client: oauth.Client = { client_id: signIn.clientId }
    const refreshed = async (token: string) =>
      oauth.processRefreshTokenResponse(
        server,
        client,
        await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, {
          ...insecure,
          additionalParameters: { resource: resource.resource }
        })
      )
    const first = await refreshed(signIn.refresh_token)
    const second = await refreshed(first.refresh_token!)
    assert.deepStrictEqual([second.token_type, second.expires_in, second.scope], ["bearer", 3600, "read write"])
    assert.strictEqual((await call(second.access_token)).status, 200)

    const reuse = await refreshed(signIn.refresh_token).catch((error: unknown) => error)
    assert.instanceOf(reuse, oauth.ResponseBodyError)
    assert.deepStrictEqual([reuse.status, reuse.error], [400, "invalid_grant"])
    assert.instanceOf(
      await call(second.access_token).catch((error: unknown) => error),
      oauth.WWWAuthenticateChallengeError
    )

    const anew = await registerAgent(workspace)
    const revoked = async (clientId: string, token: string) =>
      oauth.processRevocationResponse(
        await oauth.revocationRequest(server, { client_id: clientId }, oauth.None(), token, insecure)
      )
    assert.strictEqual((await call(anew.access_token)).status, 200)
    await revoked(anew.clientId, anew.refresh_token)
    await revoked(anew.clientId, anew.refresh_token)
    await revoked(anew.clientId, "whatever")
    assert.instanceOf(
      await call(anew.access_token).catch((error: unknown) => error),
      oauth.WWWAuthenticateChallengeError
    )
    // The agent stays, for the client to sign in again.
    assert.lengthOf(await agents(workspace), 1)
  })

  test("records events of registrations and revocations", async (owner) => {
    const workspace = await newWorkspace(owner)
    const signIn = await registerAgent(workspace, { computer: "ana-laptop" })
    await revoke(workspace, signIn)
    const { events } = await workspace.get<{
      events: ReadonlyArray<{ kind: string; subject: object; changes: unknown }>
    }>("events")
    const [revoked, registered] = events
    assert.deepStrictEqual([revoked?.kind, registered?.kind], ["agent_revoked", "agent_registered"])
    assert.deepInclude(registered?.subject, { type: "agent", id: signIn.agent, label: "Claude of Owner" })
    assert.deepStrictEqual(registered?.changes, [{ field: "computer", from: null, to: "ana-laptop" }])
    assert.notInclude(JSON.stringify(events), "tk_")
  })
})

withClockOnEachServer("the time of agents", (test) => {
  test("accepts an access token for an hour, and updates lastSeenAt with each use", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const signIn = await registerAgent(workspace)
    const seen = async () => (await agents(workspace))[0]!
    const { lastSeenAt } = await seen()
    advance("59 seconds")
    assert.isTrue((await seen()).live)
    advance("1 second")
    assert.deepInclude(await seen(), { live: false, lastSeenAt })
    assert.strictEqual((await me(owner, signIn)).status, 200)
    const later = new Date(Date.parse(lastSeenAt!) + 60_000).toISOString()
    assert.deepInclude(await seen(), { live: true, lastSeenAt: later })
    advance(3_600_000 - 60_000 - 1)
    assert.strictEqual((await me(owner, signIn)).status, 200)
    advance(1)
    assert.strictEqual((await me(owner, signIn)).status, 401)
    const next = await refresh(owner, signIn)
    assert.strictEqual((await me(owner, next.body)).status, 200)
    // A refused request does not update lastSeenAt.
    const before = await seen()
    advance("10 minutes")
    assert.strictEqual((await me(owner, signIn)).status, 401)
    assert.deepInclude(await seen(), { lastSeenAt: before.lastSeenAt, live: false })
  })

  test("gives a lost refresh token again within a minute", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const signIn = await registerAgent(workspace)
    await refresh(owner, signIn)
    advance("59 seconds")
    const second = (await refresh(owner, signIn)).body
    assert.strictEqual((await me(owner, second)).status, 200)
    advance("1 second")
    assert.strictEqual(refusal(await refresh(owner, signIn)), "400 invalid_grant")
    assert.strictEqual((await me(owner, second)).status, 401)
    assert.strictEqual(refusal(await refresh(owner, { ...signIn, ...second })), "400 invalid_grant")
  })

  test("ends a sign-in whose lost refresh token somebody sends", async (owner) => {
    const workspace = await newWorkspace(owner)
    const signIn = await registerAgent(workspace)
    const stolen = (await refresh(owner, signIn)).body
    const kept = (await refresh(owner, signIn)).body
    assert.strictEqual((await me(owner, kept)).status, 200)
    assert.strictEqual(refusal(await refresh(owner, { ...signIn, ...stolen })), "400 invalid_grant")
    assert.strictEqual((await me(owner, kept)).status, 401)
  })
})
