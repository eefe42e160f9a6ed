import type { RegisteredAgent } from "@delivery/domain/agents/Agent"
import type { Authorization } from "@delivery/domain/agents/Authorizations"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { SignedIn } from "@delivery/domain/auth/Session"
import { maxState, type RegisteredClient } from "@delivery/domain/agents/OAuth"
import { knownClients } from "@delivery/domain/agents/OAuthClients"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { AuditPage } from "@delivery/domain/audit/Audit"
import { assert } from "vitest"
import {
  cookieOf,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refresh,
  refusal,
  registerAgent,
  signIn,
  teamKey,
  withClockOnEachServer
} from "../support/Http.ts"
import {
  allow,
  answerIn,
  askForAccess,
  authorize,
  authorizeQuery,
  callback,
  callTool,
  claude,
  decide,
  exchange,
  listTools,
  newClient,
  newVerifier,
  signInByUrl
} from "./OAuthScene.ts"

/** Sign-ins by the server's URL, over HTTP (docs/contract.md, Sign-in by the server's URL). */

const register = async (http: Http, redirect_uris: ReadonlyArray<string>, client_name = "Zed") =>
  (await http.as(undefined).post<RegisteredClient>("/agent/oauth/register", { redirect_uris, client_name })).client_id

const me = (http: Http, token: string) => callTool(http, token, "whoami")

/** A member, signed in with a browser, in a workspace of one test. */
const scene = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const person = await join(workspace, "member")
  return { workspace, person, session: await signIn(workspace, person.id) }
}

const agentsOf = async (http: Http) => (await http.get<{ agents: ReadonlyArray<RegisteredAgent> }>("agents")).agents

onEachServer("Asking for access by the server's URL", (test) => {
  test("leads to the page where a person decides, and lets a client in", async (owner) => {
    const { person, session, workspace } = await scene(owner)
    const client = newClient()
    const id = await askForAccess(owner, client)
    const asked = await session.get<Authorization>(`/auth/v1/authorizations/${id}`)
    const { id: workspaceId, name, slug } = await workspace.get<{ id: string; name: string; slug: string }>("")
    assert.deepStrictEqual(asked as unknown, {
      id,
      client: { id: claude, name: "Claude Code", kind: "document" },
      redirectUri: callback,
      host: "localhost:53682",
      loopback: true,
      scope: "read write",
      workspaces: [{ id: workspaceId, slug, name, role: "member" }],
      expiresAt: asked.expiresAt
    })
    // Before anybody has signed in, as the page of signing in asks.
    const { client: named, host, loopback } = asked
    const who = `/auth/v1/authorizations/${id}/client`
    assert.deepStrictEqual(await owner.as(undefined).get<unknown>(who), { ...named, host, loopback })
    const decided = await decide(session, id, { allow: true, workspace: slug })
    await owner.as(undefined).refuse("404 authorization", "GET", who)
    assert.strictEqual(decided.headers["cache-control"], "no-store")
    const { code, ...answer } = answerIn(decided.body.location)
    assert.deepStrictEqual(answer, { state: client.state, iss: owner.baseUrl })
    const { body, headers, status } = await exchange(owner, code!, client)
    assert.deepStrictEqual([status, headers["cache-control"]], [200, "no-store"])
    assert.deepInclude(body, { token_type: "Bearer", expires_in: 3_600, scope: "read write" })
    assert.match(body.access_token, /^atk_/)
    assert.match((await me(owner, body.access_token)).text, new RegExp(`"slug":"${slug}"`))
    const [agent] = await agentsOf(workspace)
    assert.deepInclude(agent, { name: "Claude", serverUrl: true, computers: [], live: false, lastSeenAt: null })
    assert.strictEqual(agent?.person.id, person.id)
    const { events } = await workspace.get<{
      events: ReadonlyArray<{ kind: string; changes: unknown; actor: object }>
    }>("events")
    assert.deepInclude(events[0], {
      kind: "agent_registered",
      changes: [{ field: "serverUrl", from: null, to: "true" }]
    })
    assert.deepInclude(events[0]?.actor, { kind: "user", id: person.id })
    assert.notMatch(JSON.stringify(events), /tk_[0-9A-Za-z]{30}/)
  })

  test("gives each of the known clients its agent, and others one by the name they claim", async (owner) => {
    const { session, workspace } = await scene(owner)
    for (const { id: clientId, redirectUris } of knownClients) {
      for (const redirectUri of redirectUris) {
        const client = newClient({ clientId, redirectUri })
        assert.strictEqual((await exchange(owner, await allow(session, client), client)).status, 200, redirectUri)
      }
    }
    const clientId = await register(owner, ["https://zed.example/callback"], "Zed\u202e")
    const client = newClient({ clientId, redirectUri: "https://zed.example/callback" })
    const id = await askForAccess(owner, client)
    const asked = await session.get<Authorization>(`/auth/v1/authorizations/${id}`)
    assert.deepStrictEqual(
      [asked.client, asked.host, asked.loopback],
      [{ id: clientId, name: "Zed\\u{202E}", kind: "registered" }, "zed.example", false]
    )
    assert.strictEqual((await exchange(owner, await allow(session, client), client)).status, 200)
    assert.deepStrictEqual(
      (await agentsOf(workspace)).map(({ name }) => name),
      ["Claude", "Codex", "Visual Studio Code", "Zed\\u{202E}"]
    )
  })

  test("is not for a workspace that has blocked the session", async (owner) => {
    const { person, session, workspace } = await scene(owner)
    const there = await newWorkspace(person)
    const { id: sessionId } = (await session.get<SignedIn>("/auth/v1/session")).session
    await workspace.post(`credentials/${sessionId}/block`, undefined, 200)
    const id = await askForAccess(owner)
    const { workspaces } = await session.get<Authorization>(`/auth/v1/authorizations/${id}`)
    assert.deepStrictEqual(
      workspaces.map(({ slug }) => slug),
      [there.workspace]
    )
    const allowed = (slug: string) => decide(session, id, { allow: true, workspace: slug })
    assert.strictEqual(refusal(await allowed(workspace.workspace)), "404 workspace:")
    assert.strictEqual((await allowed(there.workspace)).status, 200)
  })

  test("takes any port on the person's own computer, and shows an app by its scheme", async (owner) => {
    const session = await signIn(owner, "owner@example.com")
    const registered = ["http://127.0.0.1/a?b=c", "http://[::1]:1/x", "com.example.app:/done"]
    const clientId = await register(owner, registered)
    for (const [redirectUri, host, loopback] of [
      ["http://127.0.0.1:1234/a?b=c", "127.0.0.1:1234", true],
      ["http://[::1]:65535/x", "[::1]:65535", true],
      ["com.example.app:/done", "com.example.app", false]
    ] as const) {
      const client = newClient({ clientId, redirectUri })
      const id = await askForAccess(owner, client)
      const asked = await session.get<Authorization>(`/auth/v1/authorizations/${id}`)
      assert.deepStrictEqual([asked.host, asked.loopback, asked.redirectUri], [host, loopback, redirectUri])
      const { body } = await decide(session, id, { allow: false })
      const separator = redirectUri.includes("?") ? "&" : "?"
      assert.isTrue(body.location.startsWith(`${redirectUri}${separator}error=access_denied&state=`), body.location)
    }
  })

  test("never sends anybody to a redirect that the client does not have, or for a client that is not known", async (owner) => {
    const clientId = await register(owner, ["https://app.example/callback", "http://localhost/callback"])
    const refused = async (fields: Readonly<Record<string, string | null>>, suffix = "") => {
      const answer = await authorize(owner, authorizeQuery(newClient({ clientId }), fields) + suffix)
      assert.isUndefined(answer.headers.location, JSON.stringify(fields))
      assert.strictEqual(answer.headers["cache-control"], "no-store")
      return refusal(answer)
    }
    for (const redirect_uri of [
      null,
      "",
      "https://app.example/callback/",
      "https://app.example/callback?x",
      "https://app.example/Callback",
      "https://app.example:443/callback",
      "https://app.example./callback",
      "https://APP.example/callback",
      "https://app.example@evil.example/callback",
      "https://app.example/callback#",
      "https://app.example/%63allback",
      "https://app.example\\callback",
      "https://app.example/callback\n",
      "http://app.example/callback",
      "http://localhost:53682/callback/",
      "http://localhost:53682/other",
      "http://localhost:0/callback",
      "http://localhost:99999/callback",
      "http://localhost:53682@evil.example/callback",
      "http://localhost.evil.example/callback",
      "http://127.0.0.1:53682/callback",
      "http://127.1:53682/callback",
      "http://[::1]:53682/callback",
      "https://localhost:53682/callback",
      "//app.example/callback",
      "javascript:alert(1)//app.example",
      "data:text/html,x"
    ]) {
      assert.strictEqual(await refused({ redirect_uri }), "400 invalid_request", String(redirect_uri))
    }
    for (const client_id of [
      "00000000-0000-7000-8000-000000000000",
      `${claude}/`,
      claude.toUpperCase(),
      `${claude}?x`,
      "https://evil.example/client.json",
      "http://127.0.0.1/client.json",
      "x\0",
      "x".repeat(5_000),
      clientId.toUpperCase()
    ]) {
      assert.strictEqual(await refused({ client_id }), "400 invalid_client", client_id.slice(0, 60))
    }
    assert.strictEqual(await refused({ client_id: null }), "400 invalid_request")
    assert.strictEqual(await refused({}, `&client_id=${encodeURIComponent(claude)}`), "400 invalid_request")
    assert.strictEqual(await refused({}, `&redirect_uri=${encodeURIComponent(callback)}`), "400 invalid_request")
    assert.strictEqual(refusal(await authorize(owner, "")), "400 invalid_request")
  })

  test("tells the client whatever else is wrong, with its state and who says it", async (owner) => {
    const client = newClient()
    const refused = async (fields: Readonly<Record<string, string | null>>, suffix = "") => {
      const answer = await authorize(owner, authorizeQuery(client, fields) + suffix)
      assert.strictEqual(answer.status, 303, answer.text)
      assert.strictEqual(answer.headers["referrer-policy"], "no-referrer")
      return answerIn(answer.headers.location!)
    }
    const s256 = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    const cases: ReadonlyArray<readonly [fields: Readonly<Record<string, string | null>>, error: string]> = [
      [{ response_type: null }, "invalid_request"],
      [{ response_type: "" }, "invalid_request"],
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ response_type: "code token" }, "unsupported_response_type"],
      [{ code_challenge: null }, "invalid_request"],
      [{ code_challenge: s256.slice(1) }, "invalid_request"],
      [{ code_challenge: `${s256}=` }, "invalid_request"],
      [{ code_challenge_method: null }, "invalid_request"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ code_challenge_method: "s256" }, "invalid_request"],
      [{ scope: "admin" }, "invalid_scope"],
      [{ scope: "read  write" }, "invalid_scope"],
      [{ scope: "READ" }, "invalid_scope"],
      [{ resource: "https://elsewhere.example/agent/mcp" }, "invalid_target"],
      [{ resource: `${owner.baseUrl}/agent/mcp/` }, "invalid_target"],
      [{ resource: owner.baseUrl }, "invalid_target"]
    ]
    for (const [fields, expected] of cases) {
      const { error, error_description, ...rest } = await refused(fields)
      assert.strictEqual(error, expected, JSON.stringify(fields))
      assert.match(error_description!, /^[ !#-[\]-~]+$/)
      assert.deepStrictEqual(rest, { state: client.state, iss: owner.baseUrl }, JSON.stringify(fields))
    }
    assert.strictEqual((await refused({}, "&scope=read&scope=read"))["error"], "invalid_request")
    assert.strictEqual((await refused({}, `&code_challenge=${s256}`))["error"], "invalid_request")
    assert.strictEqual(
      (await refused({ resource: `${owner.baseUrl}/agent/mcp` }, "&resource=https://a.example"))["error"],
      "invalid_target"
    )
    // A state that cannot be sent back is not.
    for (const state of ["\0", "a\r\nLocation: https://evil.example", "ä", "x".repeat(maxState + 1)]) {
      const answer = await refused({ state })
      assert.strictEqual(answer["error"], "invalid_request")
      assert.strictEqual(answer["state"], state.length > maxState ? undefined : state)
    }
    assert.isUndefined((await refused({}, "&state=b"))["state"])
    assert.notProperty(await refused({ state: null, scope: "admin" }), "state")
  })

  test("sends nobody to a page that anybody could have registered before somebody has decided", async (owner) => {
    const page = "https://phish.example/login"
    const clientId = await register(owner, [page, "com.example.app:/done", "http://127.0.0.1/callback"])
    const wrong: ReadonlyArray<readonly [fields: Readonly<Record<string, string | null>>, error: string]> = [
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ response_type: null }, "invalid_request"],
      [{ code_challenge: null }, "invalid_request"],
      [{ scope: "admin" }, "invalid_scope"],
      [{ resource: "https://elsewhere.example" }, "invalid_target"],
      [{ state: "ä" }, "invalid_request"]
    ]
    for (const redirectUri of [page, "com.example.app:/done"]) {
      const client = newClient({ clientId, redirectUri })
      for (const [fields, error] of wrong) {
        const answer = await authorize(owner, authorizeQuery(client, fields))
        assert.isUndefined(answer.headers.location, redirectUri)
        assert.strictEqual(refusal(answer), `400 ${error}`)
        assert.notInclude(answer.text, "phish")
      }
      await askForAccess(owner, client)
    }
    const own = newClient({ clientId, redirectUri: "http://127.0.0.1:1234/callback" })
    const pinned = newClient({
      clientId: "https://vscode.dev/oauth/client-metadata.json",
      redirectUri: "https://vscode.dev/redirect"
    })
    for (const client of [own, pinned]) {
      const answer = await authorize(owner, authorizeQuery(client, { scope: "admin" }))
      assert.strictEqual(answerIn(answer.headers.location!, client.redirectUri)["error"], "invalid_scope")
    }
  })

  test("keeps a state as it is, and takes the resource for granted", async (owner) => {
    const session = await signIn(owner, "owner@example.com")
    for (const state of ["a b&c=d#e%00\"'<>+/\\~", "x".repeat(maxState), " "]) {
      const client = newClient({ state })
      for (const fields of [{}, { resource: `${owner.baseUrl}/agent/mcp` }, { resource: "", scope: "" }]) {
        const { body } = await decide(session, await askForAccess(owner, client, fields), { allow: false })
        assert.deepStrictEqual(answerIn(body.location), { error: "access_denied", state, iss: owner.baseUrl })
      }
    }
    const { body } = await decide(session, await askForAccess(owner, newClient(), { state: null }), { allow: false })
    assert.deepStrictEqual(answerIn(body.location), { error: "access_denied", iss: owner.baseUrl })
  })
})

onEachServer("Deciding about a client", (test) => {
  test("happens once, whatever was decided", async (owner) => {
    const { session } = await scene(owner)
    const path = (id: string) => `/auth/v1/authorizations/${id}`
    const allowing = { allow: true, workspace: session.workspace }
    for (const [first, second] of [
      [allowing, { allow: false }],
      [{ allow: false }, allowing],
      [allowing, allowing]
    ]) {
      const id = await askForAccess(owner)
      assert.strictEqual((await decide(session, id, first)).status, 200)
      assert.strictEqual(refusal(await decide(session, id, second)), "404 authorization")
      await session.refuse("404 authorization", "GET", path(id))
    }
    for (const id of ["none", "00000000-0000-7000-8000-000000000000"]) {
      await session.refuse("404 authorization", "GET", path(id))
      assert.strictEqual(refusal(await decide(session, id, { allow: false })), "404 authorization")
    }
  })

  test("is refused for another person than the one to whom it was shown, and stays open", async (owner) => {
    const { person, session } = await scene(owner)
    const { session: other } = await scene(owner)
    const id = await askForAccess(owner)
    const allowing = (by: typeof session) => ({ allow: true, workspace: by.workspace, person: person.id })
    assert.strictEqual(refusal(await decide(other, id, allowing(other))), "409 other_person")
    assert.strictEqual((await decide(session, id, allowing(session))).status, 200)
  })

  test("of many who decide at once, one is asked", async (owner) => {
    const { session } = await scene(owner)
    const id = await askForAccess(owner)
    const decisions = Array.from({ length: 20 }, (_, index) =>
      decide(session, id, index % 2 === 0 ? { allow: true, workspace: session.workspace } : { allow: false })
    )
    const statuses = (await Promise.all(decisions)).map(({ status }) => status)
    assert.deepStrictEqual(statuses.toSorted(), [200, ...Array<number>(19).fill(404)])
  })

  test("is refused in the order of all checks, and then the request stays open", async (owner) => {
    const { session } = await scene(owner)
    const id = await askForAccess(owner)
    const path = `/auth/v1/authorizations/${id}`
    const send = (headers: Readonly<Record<string, string>>, json: unknown) =>
      owner.as(undefined).send("POST", path, { json, headers })
    const cookie = cookieOf(session.key!)
    const foreign = { ...cookie, "sec-fetch-site": "cross-site" }
    assert.strictEqual(refusal(await send({}, {})), "401")
    assert.strictEqual(refusal(await send({ authorization: `Bearer ${owner.key}` }, {})), "401")
    assert.strictEqual(refusal(await send(foreign, {})), "403 cross_site")
    for (const json of [{}, [], { allow: "true" }, { allow: true }, { allow: true, workspace: 1 }]) {
      assert.strictEqual((await send(cookie, json)).status, 400, JSON.stringify(json))
    }
    const scope = { allow: true, workspace: session.workspace, scope: "admin" }
    assert.strictEqual((await send(cookie, scope)).status, 400)
    for (const workspace of [owner.workspace, "none", ""]) {
      assert.strictEqual(refusal(await send(cookie, { allow: true, workspace })), "404 workspace:")
    }
    assert.strictEqual((await session.send("GET", path)).status, 200)
  })

  test("gives at most what was asked for, and what the role allows", async (owner) => {
    const { person, session, workspace } = await scene(owner)
    const viewer = await join(workspace, "viewer")
    const viewing = await signIn(workspace, viewer.id)
    for (const [by, asked, allowed, granted] of [
      [session, "read write", undefined, "read write"],
      [session, "write", undefined, "read write"],
      [session, "read", undefined, "read"],
      [session, "read", "read write", "read"],
      [session, "read write", "read", "read"],
      [viewing, "read write", "read write", "read"]
    ] as const) {
      const client = newClient()
      const code = await allow(by, client, { asked, ...(allowed === undefined ? {} : { scope: allowed }) })
      assert.strictEqual((await exchange(owner, code, client)).body.scope, granted, `${asked} ${allowed}`)
    }
    // A sign-in that was allowed to read stays so.
    const client = newClient()
    const { body } = await exchange(owner, await allow(session, client, { scope: "read" }), client)
    const held = { clientId: client.clientId, refresh_token: body.refresh_token }
    assert.strictEqual(refusal(await refresh(owner, held, { scope: "read write" })), "400 invalid_scope")
    assert.strictEqual((await refresh(owner, held)).body.scope, "read")
    assert.lengthOf(
      (await agentsOf(person)).map(({ id }) => id),
      2
    )
  })
})

onEachServer("Exchanging a code", (test) => {
  test("needs its client, redirect and verifier, and what fails does not use it up", async (owner) => {
    const { session } = await scene(owner)
    const clientId = await register(owner, ["http://localhost/callback", "http://localhost/other"])
    const client = newClient({ clientId })
    const code = await allow(session, client)
    const refused = async (fields: Readonly<Record<string, string>>) =>
      refusal(await exchange(owner, code, client, fields))
    for (const fields of [
      { client_id: claude },
      { client_id: await register(owner, ["http://localhost/callback"]) },
      { redirect_uri: "http://localhost:53683/callback" },
      { redirect_uri: "http://localhost:53682/other" },
      { redirect_uri: "http://localhost/callback" },
      { code_verifier: newVerifier() },
      { code_verifier: "" + client.verifier.slice(1) },
      { code_verifier: `${client.verifier}=` },
      { code_verifier: "x" },
      { code: `otk_${"0".repeat(42)}` },
      { code: client.verifier }
    ]) {
      assert.strictEqual(await refused(fields), "400 invalid_grant", JSON.stringify(fields))
    }
    for (const field of ["code", "client_id", "redirect_uri", "code_verifier"]) {
      assert.strictEqual(await refused({ [field]: "" }), "400 invalid_request", field)
    }
    assert.strictEqual(await refused({ resource: "https://elsewhere.example" }), "400 invalid_target")
    assert.strictEqual(await refused({ grant_type: "password" }), "400 unsupported_grant_type")
    const answer = await exchange(owner, code, client, { resource: `${owner.baseUrl}/agent/mcp` })
    assert.strictEqual(answer.status, 200, answer.text)
  })

  test("works once: a second use ends the sign-in, and only by who could have used it first", async (owner) => {
    const { session } = await scene(owner)
    const client = newClient()
    const code = await allow(session, client)
    const { body } = await exchange(owner, code, client)
    const other = await signInByUrl({ ...session, id: (await session.get<{ id: string }>("/v1/me")).id })
    for (const fields of [{ code_verifier: newVerifier() }, { redirect_uri: "http://localhost:1/callback" }]) {
      assert.strictEqual(refusal(await exchange(owner, code, client, fields)), "400 invalid_grant")
      assert.strictEqual((await me(owner, body.access_token)).status, 200)
    }
    assert.strictEqual(refusal(await exchange(owner, code, client)), "400 invalid_grant")
    assert.strictEqual((await me(owner, body.access_token)).status, 401)
    const held = { clientId: client.clientId, refresh_token: body.refresh_token }
    assert.strictEqual(refusal(await refresh(owner, held)), "400 invalid_grant")
    assert.strictEqual(refusal(await exchange(owner, code, client)), "400 invalid_grant")
    // No other sign-in of the agent ends.
    assert.strictEqual((await me(owner, other.access_token)).status, 200)
  })

  test("gives nothing to who was deactivated meanwhile, nor after they came back", async (owner) => {
    const { person, session, workspace } = await scene(owner)
    const client = newClient()
    const code = await allow(session, client)
    await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
    assert.strictEqual(refusal(await exchange(owner, code, client)), "400 invalid_grant")
    await workspace.post(`members/${person.id}/reactivate`, undefined, 200)
    assert.strictEqual(refusal(await exchange(owner, code, client)), "400 invalid_grant")
  })

  test("gives nothing by consents at the moment of the deactivation, when they came back", async (owner) => {
    const { person, session, workspace } = await scene(owner)
    for (let round = 0; round < 5; round++) {
      const clients = Array.from({ length: 10 }, () => newClient())
      const asked = await Promise.all(clients.map((client) => askForAccess(owner, client)))
      const deciding = asked.map((id) => decide(session, id, { allow: true, workspace: workspace.workspace }))
      const [deactivated, ...answers] = await Promise.all([
        workspace.send("POST", `members/${person.id}/deactivate`),
        ...deciding
      ])
      assert.strictEqual(deactivated.status, 200)
      await workspace.post(`members/${person.id}/reactivate`, undefined, 200)
      for (const [index, { body, status }] of answers.entries()) {
        if (status !== 200) continue
        const code = answerIn(body.location).code!
        assert.strictEqual(refusal(await exchange(owner, code, clients[index]!)), "400 invalid_grant")
      }
    }
  })

  test("follows the role that the person has then", async (owner) => {
    const { person, session, workspace } = await scene(owner)
    const client = newClient()
    const code = await allow(session, client)
    await workspace.patch(`members/${person.id}`, { role: "viewer" })
    assert.strictEqual((await exchange(owner, code, client)).body.scope, "read")
  })
})

onEachServer("A sign-in by the server's URL", (test) => {
  test("works on /agent/mcp alone, with whoami and the tools of the inbox", async (owner) => {
    const { person, workspace } = await scene(owner)
    const { access_token: token } = await signInByUrl(person)
    for (const [method, path] of [
      ["GET", "/agent/v1/me"],
      ["GET", "/agent/v1/inbox"],
      ["GET", "/agent/v1/tickets"],
      ["PUT", "/agent/v1/sessions/a"],
      ["GET", "/v1/me"]
    ] as const) {
      assert.strictEqual((await owner.as(token).send(method, path)).status, 401, path)
    }
    const offered = ["complete_message", "decline_message", "list_inbox", "take_message", "whoami"]
    assert.deepStrictEqual(await listTools(owner, token), offered)
    const [agent] = await agentsOf(workspace)
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Team" })
    const ticket = await workspace.post<Ticket>("tickets", { team, title: "Pay by card" })
    const message = { agent: agent!.id, ticket: ticket.identifier, ask: "plan" }
    const { id } = await workspace.post<AgentMessage>("messages", message)
    assert.include((await callTool(owner, token, "list_inbox")).text, id)
    assert.include((await callTool(owner, token, "take_message")).text, id)
    const completed = await callTool(owner, token, "complete_message", { message: id, reply: "Done." })
    assert.deepStrictEqual([completed.isError, completed.text.includes('"completed"')], [false, true])
    const { access_token: ofPlugin } = await registerAgent(person)
    const all = await listTools(owner, ofPlugin)
    assert.lengthOf(all, 20)
    for (const name of all) {
      // Whatever they are called with.
      const { isError, text } = await callTool(owner, token, name, { message: "none", reply: "a", reason: "a" })
      if (offered.includes(name)) assert.notInclude(text, "server_url", name)
      else assert.isTrue(isError === true && text.includes("server_url"), `${name}: ${text}`)
    }
  })

  test("ends with its agent, its member and its client's word, and others stay", async (owner) => {
    const { person, workspace } = await scene(owner)
    const [first, second] = [await signInByUrl(person), await signInByUrl(person)]
    const plugin = await registerAgent(person)
    const revoke = (form: Readonly<Record<string, string>>) =>
      owner.as(undefined).send("POST", "/agent/oauth/revoke", { form })
    for (const token of [first.access_token, first.refresh_token]) {
      assert.strictEqual(refusal(await revoke({ token, client_id: plugin.clientId })), "400 invalid_grant")
    }
    assert.strictEqual((await revoke({ token: first.refresh_token, client_id: claude })).status, 200)
    assert.deepStrictEqual(
      [(await me(owner, first.access_token)).status, (await me(owner, second.access_token)).status],
      [401, 200]
    )
    await person.post(`agents/${plugin.agent}/revoke`, undefined, 200)
    assert.strictEqual((await me(owner, second.access_token)).status, 401)
    const third = await signInByUrl(person)
    await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
    assert.strictEqual((await me(owner, third.access_token)).status, 401)
  })

  test("does not end with the session in which it was allowed", async (owner) => {
    const { person, session } = await scene(owner)
    const client = newClient()
    const { body } = await exchange(owner, await allow(session, client), client)
    await session.delete("/auth/v1/session")
    assert.strictEqual((await me(person, body.access_token)).status, 200)
  })

  test("is no plugin's: tokens of the two do not refresh each other", async (owner) => {
    const { person } = await scene(owner)
    const [url, plugin] = [await signInByUrl(person), await registerAgent(person)]
    assert.strictEqual(
      refusal(await refresh(owner, { clientId: plugin.clientId, refresh_token: url.refresh_token })),
      "400 invalid_grant"
    )
    assert.strictEqual(
      refusal(await refresh(owner, { clientId: claude, refresh_token: plugin.refresh_token })),
      "400 invalid_grant"
    )
    assert.strictEqual((await refresh(owner, url)).status, 200)
    assert.strictEqual((await refresh(owner, plugin)).status, 200)
  })
})

onEachServer("A token of the plugin that may only read", (test) => {
  test("is told which scope would do, while a viewer's call is an error of the tool", async (owner) => {
    const { person, workspace } = await scene(owner)
    const { access_token: narrow } = (await refresh(owner, await registerAgent(person), { scope: "read" })).body
    const { access_token: ofViewer } = await registerAgent(await join(workspace, "viewer"))
    // The support checks the challenge.
    assert.strictEqual((await callTool(owner, narrow, "create_ticket", {})).status, 403)
    assert.strictEqual((await callTool(owner, narrow, "list_tickets", {})).status, 200)
    const refused = await callTool(owner, ofViewer, "create_ticket", { team: "A", title: "a" })
    assert.deepStrictEqual([refused.status, refused.isError], [200, true])
    assert.include(refused.text, "role_too_low")
  })
})

withClockOnEachServer("The times of sign-ins by the server's URL", (test) => {
  test("a person has ten minutes to decide, and a client one to exchange its code", async (owner, advance) => {
    const { session } = await scene(owner)
    const client = newClient()
    const [early, late] = [await askForAccess(owner, client), await askForAccess(owner, client)]
    advance(600_000 - 1)
    const { body } = await decide(session, early, { allow: true, workspace: session.workspace })
    advance(1)
    assert.strictEqual(refusal(await decide(session, late, { allow: false })), "404 authorization")
    advance(60_000 - 2)
    const { code } = answerIn(body.location)
    const again = await allow(session, client)
    assert.strictEqual((await exchange(owner, code!, client)).status, 200)
    advance(60_000)
    assert.strictEqual(refusal(await exchange(owner, again, client)), "400 invalid_grant")
    // A code that was used is noticed later, too.
    assert.strictEqual(refusal(await exchange(owner, code!, client)), "400 invalid_grant")
  })

  test("letting a client in needs a fresh proof, refusing it does not", async (owner, advance) => {
    const { session } = await scene(owner)
    const id = await askForAccess(owner)
    const allowing = { allow: true, workspace: session.workspace }
    advance("16 minutes")
    const asked = await askForAccess(owner)
    for (const one of [asked, id, "none"]) {
      assert.strictEqual(refusal(await decide(session, one, allowing)), "403 sudo_required", one)
    }
    assert.strictEqual((await decide(session, asked, { allow: false })).status, 200)
  })

  test("each refresh token gives siblings for an hour from its first use, and none dies", async (owner, advance) => {
    const { person } = await scene(owner)
    const first = await signInByUrl(person)
    const next = async (held: { readonly refresh_token: string }) => {
      const answer = await refresh(owner, { clientId: claude, refresh_token: held.refresh_token })
      assert.strictEqual(answer.status, 200, answer.text)
      return answer.body
    }
    const alive = async (...tokens: ReadonlyArray<{ readonly access_token: string }>) =>
      Promise.all(tokens.map(async ({ access_token }) => (await me(owner, access_token)).status === 200))
    // Long before its first use.
    advance("2 days")
    const [one, two] = [await next(first), await next(first)]
    advance("30 minutes")
    const [child, three] = [await next(one), await next(first)]
    assert.deepStrictEqual(await alive(one, two, child, three), [true, true, true, true])
    advance(30 * 60_000 - 1)
    const four = await next(first)
    // Nobody's refresh token died.
    const others = [await next(two), await next(three), await next(four), await next(child)]
    assert.deepStrictEqual(await alive(child, three, four, ...others), Array<boolean>(7).fill(true))
    // The hour of each is its own.
    advance(1)
    await next(one)
    assert.strictEqual(
      refusal(await refresh(owner, { clientId: claude, refresh_token: first.refresh_token })),
      "400 invalid_grant"
    )
    assert.deepStrictEqual(await alive(four, ...others), Array<boolean>(5).fill(false))
    for (const { refresh_token } of others) {
      assert.strictEqual(refusal(await refresh(owner, { clientId: claude, refresh_token })), "400 invalid_grant")
    }
  })

  test("a sign-in that nothing can refresh any more leaves with the next of its agent", async (owner, advance) => {
    const { person, workspace } = await scene(owner)
    await signInByUrl(person)
    advance("31 days")
    const kept = await signInByUrl(person)
    assert.strictEqual((await me(owner, kept.access_token)).status, 200)
    assert.isTrue((await agentsOf(workspace))[0]?.serverUrl)
    const { entries } = await workspace.get<AuditPage>("audit?action=agent_sign_in_ended")
    assert.deepStrictEqual(
      entries.map(({ changes, credential }) => [changes?.[0]?.to, credential?.kind]),
      [["expired", "server"]]
    )
  })

  test("a client that somebody let in is kept", async (owner, advance) => {
    const { session } = await scene(owner)
    const [used, unused] = [await register(owner, [callback]), await register(owner, [callback])]
    await allow(session, newClient({ clientId: used }))
    advance("25 hours")
    await register(owner, [callback])
    assert.strictEqual((await authorize(owner, authorizeQuery(newClient({ clientId: used })))).status, 303)
    assert.strictEqual(
      refusal(await authorize(owner, authorizeQuery(newClient({ clientId: unused })))),
      "400 invalid_client"
    )
  })
})
