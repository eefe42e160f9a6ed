import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { runInNewContext } from "node:vm"
import { setFlagsFromString } from "node:v8"
import { maxBatchMessages, maxBatchResults } from "../../src/agents/McpBatches.ts"
import { maxMcpSessions } from "../../src/agents/McpSessions.ts"
import { servers } from "../support/Servers.ts"
import { scrape } from "../telemetry/Scrape.ts"
import {
  type Answer,
  eventually,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  onServers,
  refresh,
  refusal,
  registerAgent,
  teamKey,
  withClockOnEachServer
} from "../support/Http.ts"

/** MCP as it goes over the wire, in each revision (docs/contract.md, MCP): what the official client never sends, too. */

interface JsonRpc {
  readonly id: string | number | null
  readonly result?: {
    readonly protocolVersion?: string
    readonly supportedVersions?: ReadonlyArray<string>
    readonly capabilities?: Readonly<Record<string, unknown>>
    readonly isError?: boolean
    readonly content?: ReadonlyArray<{ readonly text: string }>
    readonly structuredContent?: { readonly agent?: { readonly id: string } }
    readonly tools?: ReadonlyArray<{ readonly name: string }>
  }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

type Headers = Readonly<Record<string, string>>

const sessioned = ["2025-03-26", "2025-06-18", "2025-11-25"] as const
const sessionless = "2026-07-28"
const both = "application/json, text/event-stream"

const send = (agent: Http, message: unknown, headers: Headers = {}) =>
  agent.send<JsonRpc>("POST", "/agent/mcp", { json: message, headers: { accept: both, ...headers } })

const request = (method: string, params?: unknown, id: string | number = 1) => ({ jsonrpc: "2.0", id, method, params })

const initialize = (agent: Http, protocolVersion: string) =>
  send(
    agent,
    request("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } })
  )

/** A session of the revision: what every further message of it carries. */
const begin = async (agent: Http, revision: string): Promise<Headers> => {
  const answer = await initialize(agent, revision)
  assert.strictEqual(answer.body.result?.protocolVersion, revision)
  return { "mcp-session-id": String(answer.headers["mcp-session-id"]), "mcp-protocol-version": revision }
}

/** A message of the revision without sessions, and its headers. */
const modern = (method: string, params: object = {}, version = sessionless) => ({
  message: request(method, {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" }
    }
  }),
  headers: { "mcp-protocol-version": version, "mcp-method": method }
})

/** An answer in short: the status of HTTP, and the code of JSON-RPC where it failed. */
const code = ({ body, status }: Answer<JsonRpc>) => `${status} ${body.error?.code ?? "ok"}`

const scene = async (owner: Http): Promise<{ workspace: Http; signIn: AgentSignIn; agent: Http }> => {
  const workspace = await newWorkspace(owner)
  const signIn = await registerAgent(workspace)
  return { workspace, signIn, agent: workspace.as(signIn.access_token) }
}

onEachServer("MCP on the wire", (test) => {
  test("supports each revision with sessions, from initialize to DELETE", async (owner) => {
    const { agent, signIn } = await scene(owner)
    for (const revision of sessioned) {
      const answer = await initialize(agent, revision)
      assert.strictEqual(code(answer), "200 ok")
      assert.strictEqual(answer.body.result?.protocolVersion, revision)
      // Effect's server names logging and completions always; there is nothing to log or to complete.
      assert.deepStrictEqual(Object.keys(answer.body.result?.capabilities ?? {}).toSorted(), [
        "completions",
        "logging",
        "resources",
        "tools"
      ])
      assert.strictEqual(answer.headers["mcp-protocol-version"], revision)
      const session = { "mcp-session-id": String(answer.headers["mcp-session-id"]) }
      const named = { ...session, "mcp-protocol-version": revision }
      const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }
      const accepted = await send(agent, initialized, named)
      assert.deepStrictEqual([accepted.status, accepted.text], [202, ""])
      // Who does not name the revision means the one that the session has.
      for (const headers of [session, named]) {
        assert.strictEqual(code(await send(agent, request("ping"), headers)), "200 ok")
        const called = await send(agent, request("tools/call", { name: "whoami", arguments: {} }, "a"), headers)
        assert.strictEqual(called.body.id, "a")
        const { content, structuredContent } = called.body.result!
        const said = JSON.parse(content![0]!.text) as { readonly agent: { readonly id: string } }
        assert.strictEqual(said.agent.id, signIn.agent, revision)
        // That came with 2025-06-18.
        assert.deepStrictEqual(structuredContent, revision === "2025-03-26" ? undefined : said)
      }
      assert.strictEqual((await send(agent, request("tools/list"), named)).body.result?.tools?.length, 20)
      assert.strictEqual((await agent.send("DELETE", "/agent/mcp", { headers: named })).status, 204)
      assert.strictEqual(code(await send(agent, request("ping"), named)), "404 -32001")
      assert.strictEqual((await agent.send("DELETE", "/agent/mcp", { headers: named })).status, 404)
    }
  })

  test("answers an unknown revision with the newest that has sessions", async (owner) => {
    const { agent } = await scene(owner)
    for (const revision of ["2024-11-05", "1999-01-01", "2099-01-01", sessionless, "x", ""]) {
      const { body } = await initialize(agent, revision)
      assert.strictEqual(body.result?.protocolVersion, "2025-11-25", revision)
    }
    for (const params of [undefined, {}, { protocolVersion: 5 }, []]) {
      assert.strictEqual(code(await send(agent, request("initialize", params))), "200 -32602")
    }
  })

  test("supports the revision without sessions, request by request", async (owner) => {
    const { agent, signIn } = await scene(owner)
    const discover = modern("server/discover")
    const { body } = await send(agent, discover.message, discover.headers)
    assert.deepStrictEqual(body.result?.supportedVersions, [sessionless, ...sessioned.toReversed()])
    const call = modern("tools/call", { name: "whoami", arguments: {} })
    const headers = { ...call.headers, "mcp-name": "whoami" }
    const called = await send(agent, call.message, headers)
    assert.strictEqual(called.body.result?.structuredContent?.agent?.id, signIn.agent)
    assert.isUndefined(called.headers["mcp-session-id"])
    const refused = async (message: unknown, headers: Headers) => code(await send(agent, message, headers))
    const { "mcp-method": _, ...withoutMethod } = headers
    assert.deepStrictEqual(
      [
        await refused(call.message, withoutMethod),
        await refused(call.message, { ...headers, "mcp-method": "tools/list" }),
        await refused(call.message, call.headers),
        await refused(call.message, { ...headers, "mcp-name": "list_inbox" }),
        // The message names a revision, the header none, or another.
        await refused(call.message, { "mcp-method": "tools/call", "mcp-name": "whoami" }),
        await refused(call.message, { ...headers, "mcp-protocol-version": "2025-11-25" })
      ],
      Array.from({ length: 6 }, () => "400 -32020")
    )
    const later = modern("tools/list", {}, "2099-01-01")
    const unsupported = await send(agent, later.message, later.headers)
    assert.deepStrictEqual(
      [code(unsupported), unsupported.body.error?.data],
      ["400 -32022", { supported: [sessionless, ...sessioned.toReversed()], requested: "2099-01-01" }]
    )
    assert.strictEqual(await refused(request("tools/list"), modern("tools/list").headers), "400 -32602")
    const unknown = modern("tickets/list")
    assert.strictEqual(await refused(unknown.message, unknown.headers), "404 -32601")
    const listen = modern("subscriptions/listen", { notifications: {} })
    assert.include((await send(agent, listen.message, listen.headers)).text, '"code":-32601')
  })

  test("refuses a revision that is not the session's", async (owner) => {
    const { agent } = await scene(owner)
    for (const revision of sessioned) {
      const session = await begin(agent, revision)
      const named = async (version: string) =>
        code(await send(agent, request("ping"), { ...session, "mcp-protocol-version": version }))
      assert.strictEqual(await named("1999-01-01"), "400 -32022", revision)
      // The header came with 2025-06-18.
      const other = revision === "2025-06-18" ? "2025-11-25" : "2025-06-18"
      assert.strictEqual(await named(other), revision === "2025-03-26" ? "200 ok" : "400 -32020", revision)
    }
    assert.strictEqual(code(await send(agent, request("ping"))), "400 -32600")
    assert.strictEqual(code(await send(agent, request("ping"), { "mcp-session-id": "x" })), "404 -32001")
    const again = await send(agent, request("initialize"), await begin(agent, "2025-11-25"))
    assert.strictEqual(code(again), "400 -32600")
  })

  test("accepts batches if the revision has them", async (owner) => {
    const { agent } = await scene(owner)
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }
    const batch = [request("ping", undefined, 1), initialized, request("nonsense", undefined, "b")]
    for (const revision of sessioned) {
      const session = await begin(agent, revision)
      const { body, status } = await send(agent, batch, session)
      if (revision === "2025-03-26") {
        const answers = body as unknown as ReadonlyArray<JsonRpc>
        assert.deepStrictEqual(
          [status, ...answers.map(({ error, id }) => [id, error?.code]).toSorted()],
          [200, [1, undefined], ["b", -32601]]
        )
        assert.strictEqual((await send(agent, [initialized], session)).status, 202)
      } else assert.strictEqual(status, 400, revision)
      assert.strictEqual(code(await send(agent, [], session)), "400 -32600")
    }
    assert.strictEqual(code(await send(agent, batch, modern("ping").headers)), "400 -32000")
  })

  test("accepts as many messages in a batch as are allowed, and no more", async (owner) => {
    const { agent } = await scene(owner)
    const session = await begin(agent, "2025-03-26")
    const calls = (count: number) =>
      Array.from({ length: count }, (_, id) => request("tools/call", { name: "whoami", arguments: {} }, id))
    const { body, status } = await send(agent, calls(maxBatchMessages), session)
    const answers = body as unknown as ReadonlyArray<JsonRpc>
    assert.deepStrictEqual([status, answers.map(({ id }) => id)], [200, calls(maxBatchMessages).map(({ id }) => id)])
    for (const { result } of answers) assert.isFalse(result?.isError)
    for (const tooMany of [
      calls(maxBatchMessages + 1),
      calls(5_000),
      // What is no message, too.
      [...calls(maxBatchMessages), null],
      Array.from({ length: 100_000 }, () => 0)
    ]) {
      const refused = await send(agent, tooMany, session)
      assert.deepStrictEqual(
        [code(refused), refused.body.error?.message],
        ["400 -32600", "A batch has at most 20 messages."]
      )
    }
    assert.strictEqual(code(await send(agent, request("ping"), session)), "200 ok")
  })

  test("refuses a batch in which two messages have one id, and does none of it", async (owner) => {
    const { agent, workspace } = await scene(owner)
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Team" })
    const session = await begin(agent, "2025-03-26")
    const create = { name: "create_ticket", arguments: { team, title: "Twice" } }
    const refused = await send(
      agent,
      [1, "a", 1].map((id) => request("tools/call", create, id)),
      session
    )
    assert.deepStrictEqual(
      [code(refused), refused.body.error?.message],
      ["400 -32600", "Each message of a batch needs an id of its own."]
    )
    assert.lengthOf((await workspace.get<{ tickets: ReadonlyArray<unknown> }>("tickets")).tickets, 0)
  })

  test("refuses a batch that holds anything but messages, and does none of it", async (owner) => {
    const { agent, workspace } = await scene(owner)
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Team" })
    const session = await begin(agent, "2025-03-26")
    const create = request("tools/call", { name: "create_ticket", arguments: { team, title: "Nested" } }, 1)
    for (const batch of [[[create]], [create, [create]], [[]], [null], ["ping"], [create, 1]]) {
      const refused = await send(agent, batch, session)
      assert.deepStrictEqual(
        [code(refused), refused.body.error?.message],
        ["400 -32600", "Each message of a batch is an object."],
        JSON.stringify(batch)
      )
    }
    assert.lengthOf((await workspace.get<{ tickets: ReadonlyArray<unknown> }>("tickets")).tickets, 0)
  })

  test("reads no message that is nested deeply", async (owner) => {
    const { agent } = await scene(owner)
    const session = await begin(agent, "2025-11-25")
    const nested = (levels: number) => {
      const deep = "[".repeat(levels) + "]".repeat(levels)
      const ping = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"[[[[\\"[","x":${deep}}}`
      const headers = { accept: both, "content-type": "application/json", ...session }
      return agent.send<JsonRpc>("POST", "/agent/mcp", { body: ping, headers })
    }
    assert.strictEqual(code(await nested(62)), "200 ok")
    for (const levels of [63, 400_000]) {
      const refused = await nested(levels)
      assert.deepStrictEqual(
        [code(refused), refused.body.error?.message],
        ["400 -32000", "The JSON of a message has at most 64 levels."]
      )
    }
  })

  test("names the first mistakes of arguments", async (owner) => {
    const { agent } = await scene(owner)
    const session = await begin(agent, "2025-11-25")
    const wrong = async (count: number) => {
      const tags = Array.from({ length: count }, () => 1)
      const call = { name: "create_ticket", arguments: { team: "ENG", title: "x", tags } }
      const { body } = await send(agent, request("tools/call", call), session)
      assert.isTrue(body.result?.isError)
      return body.result!.content![0]!.text
    }
    assert.match(
      await wrong(400_000),
      /^Invalid parameters for tool 'create_ticket': Expected at most 50 tags\n {2}at \["tags"\]$/
    )
    assert.lengthOf((await wrong(50)).match(/Expected string/g)!, 20)
  })

  test("does no more calls of a batch once their results are long", async (owner) => {
    const { agent, workspace } = await scene(owner)
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Team" })
    const text = "x".repeat(90_000)
    const { identifier } = await workspace.post<Ticket>("tickets", { team, title: "Long", description: text })
    const session = await begin(agent, "2025-03-26")
    const get = { name: "get_ticket", arguments: { ticket: identifier } }
    const comment = { name: "add_comment", arguments: { ticket: identifier, body: "Done." } }
    const calls = [...Array.from({ length: maxBatchMessages - 1 }, () => get), comment]
    const { body } = await send(
      agent,
      calls.map((call, id) => request("tools/call", call, id)),
      session
    )
    const answers = (body as unknown as ReadonlyArray<JsonRpc>).map(({ result }) => [
      result!.isError,
      result!.content![0]!.text
    ])
    const done = answers.filter(([isError]) => isError === false)
    const length = done.reduce((sum, [, text]) => sum + String(text).length, 0)
    assert.isAtLeast(length, maxBatchResults)
    assert.isBelow(length - String(done.at(-1)![1]).length, maxBatchResults)
    for (const [isError, text] of answers.slice(done.length)) {
      assert.deepStrictEqual(
        [isError, text],
        [true, "TooManyRequests: The results of this batch are too long already. The call was not done; send it alone."]
      )
    }
    const { comments } = await workspace.get<{ comments: ReadonlyArray<unknown> }>(`tickets/${identifier}/comments`)
    assert.lengthOf(comments, 0)
    // Sent alone, each is done.
    for (const call of calls.slice(-2)) {
      const alone = await send(agent, request("tools/call", call), session)
      assert.isFalse(alone.body.result?.isError)
    }
  })

  test("names what is wrong with a malformed request", async (owner) => {
    const { agent } = await scene(owner)
    for (const method of ["GET", "PUT", "PATCH", "OPTIONS"]) {
      const answer = await agent.send<JsonRpc>(method, "/agent/mcp", { headers: { accept: both } })
      assert.deepStrictEqual([code(answer), answer.headers["allow"]], ["405 -32000", "POST, DELETE"])
    }
    const session = await begin(agent, "2025-11-25")
    const raw = async (body: string, headers: Headers = {}) =>
      code(
        await agent.send<JsonRpc>("POST", "/agent/mcp", {
          body,
          headers: { accept: both, "content-type": "application/json", ...session, ...headers }
        })
      )
    const ping = JSON.stringify(request("ping"))
    assert.strictEqual(await raw(ping, { "content-type": "Application/JSON; charset=utf-8" }), "200 ok")
    assert.strictEqual(await raw(ping, { "content-type": "text/plain" }), "415 -32000")
    for (const accept of ["application/json", "text/event-stream", "*/*", "text/html"]) {
      assert.strictEqual(await raw(ping, { accept }), "406 -32000")
    }
    for (const body of ["", "{", "nonsense", `${ping}}`]) assert.strictEqual(await raw(body), "400 -32700", body)
    for (const body of ["null", "1", `"ping"`, "{}", `{"jsonrpc":"1.0","id":1,"method":"ping"}`]) {
      assert.strictEqual(await raw(body), "200 -32600", body)
    }
    assert.strictEqual(await raw(JSON.stringify(request("nonsense"))), "200 -32601")
    assert.strictEqual(await raw(JSON.stringify(request("tools/call", { name: 1 }))), "200 -32602")
    assert.strictEqual(await raw(ping + " ".repeat(1024 * 1024)), "400 -32000")
    assert.strictEqual(await raw("[".repeat(200_000) + "]".repeat(200_000)), "400 -32000")
    const withoutSession = await agent.send<JsonRpc>("DELETE", "/agent/mcp")
    assert.strictEqual(code(withoutSession), "400 -32000")
  })

  test("answers only pages of its own origin", async (owner) => {
    const { agent } = await scene(owner)
    const session = await begin(agent, "2025-11-25")
    const from = (origin: string, method = "POST") =>
      agent.send(method, "/agent/mcp", {
        ...(method === "POST" ? { json: request("ping") } : {}),
        headers: { accept: both, ...session, origin }
      })
    assert.strictEqual((await from(owner.baseUrl)).status, 200)
    for (const origin of ["https://evil.example", `${owner.baseUrl}.evil.example`, "null", "http://localhost"]) {
      assert.strictEqual(refusal(await from(origin)), "403 foreign_origin", origin)
      assert.strictEqual(refusal(await from(origin, "DELETE")), "403 foreign_origin", origin)
    }
    assert.strictEqual((await from(owner.baseUrl)).status, 200)
  })

  test("accepts one credential, an access token", async (owner) => {
    const { agent, workspace } = await scene(owner)
    const session = await begin(agent, "2025-11-25")
    const beside = async (key: string) => (await send(agent, request("ping"), { ...session, "x-api-key": key })).status
    assert.deepStrictEqual([await beside(workspace.key!), await beside(agent.key!)], [401, 200])
    const alone = await send(agent.as(undefined), request("ping"), { ...session, "x-api-key": agent.key! })
    assert.strictEqual(alone.status, 401)
  })

  test("limits a session to its sign-in, and the number of sessions of a person", async (owner) => {
    const { agent, workspace } = await scene(owner)
    const other = workspace.as((await registerAgent(await join(workspace, "member"))).access_token)
    const first = await begin(agent, "2025-11-25")
    const use = async (by: Http, session: Headers) => code(await send(by, request("ping"), session))
    assert.strictEqual(await use(other, first), "404 -32001")
    assert.strictEqual((await other.send("DELETE", "/agent/mcp", { headers: first })).status, 404)
    assert.strictEqual(await use(agent, first), "200 ok")
    const second = await begin(agent, "2025-06-18")
    const others = await begin(other, "2025-11-25")
    for (let count = 2; count < maxMcpSessions; count++) await begin(agent, "2025-11-25")
    // Another agent of the same person, on another computer, counts with the first.
    const elsewhere = workspace.as((await registerAgent(workspace, { client: "codex", computer: "desk" })).access_token)
    assert.strictEqual(await use(elsewhere, first), "404 -32001")
    // Used before the next one begins: so the other one is the least recently used.
    assert.strictEqual(await use(agent, first), "200 ok")
    await begin(elsewhere, "2025-11-25")
    assert.deepStrictEqual(
      [await use(agent, first), await use(agent, second), await use(other, others)],
      ["200 ok", "404 -32001", "200 ok"]
    )
  })

  test("limits what the clients of a person say about themselves", async (owner) => {
    const { agent } = await scene(owner)
    const introduce = (experimental: unknown) =>
      send(
        agent,
        request("initialize", {
          protocolVersion: "2025-11-25",
          capabilities: { experimental },
          clientInfo: { name: "test", version: "1.0.0" }
        })
      )
    for (const absurd of [
      { x: { text: "x".repeat(1_000_000) } },
      { x: { text: "x".repeat(40_000) } },
      { x: { many: Array.from({ length: 2_000 }, () => ({})) } }
    ]) {
      const refused = await introduce(absurd)
      assert.deepStrictEqual([code(refused), refused.headers["mcp-session-id"]], ["400 -32600", undefined])
    }
    // What is large in a tool's arguments is no client data.
    const { headers, message } = modern("tools/call", { name: "whoami", arguments: { text: "x".repeat(500_000) } })
    assert.strictEqual(code(await send(agent, message, { ...headers, "mcp-name": "whoami" })), "200 ok")
    const sessions: Array<Headers> = []
    for (let count = 0; count < 12; count++) {
      const begun = await introduce({ x: { text: "x".repeat(30_000) } })
      sessions.push({ "mcp-session-id": String(begun.headers["mcp-session-id"]) })
    }
    const alive = []
    for (const session of sessions) alive.push(code(await send(agent, request("ping"), session)) === "200 ok")
    assert.deepStrictEqual(alive, [...Array.from({ length: 8 }, () => false), true, true, true, true])
  })

  test("reports invalid arguments to the model", async (owner) => {
    const { workspace } = await scene(owner)
    const viewer = await join(workspace, "viewer")
    const agent = viewer.as((await registerAgent(viewer)).access_token)
    await workspace.post("teams", { key: "OPS", name: "Operations" })
    const session = await begin(agent, "2025-11-25")
    const said = async (name: string, args: unknown) => {
      const { body } = await send(agent, request("tools/call", { name, arguments: args }), session)
      return body.result === undefined
        ? `${body.error?.code} ${body.error?.message}`
        : `${body.result.isError ?? false} ${body.result.content?.[0]?.text}`
    }
    const invalid = (tool: string, ...issues: ReadonlyArray<readonly [string, string]>) =>
      `true Invalid parameters for tool '${tool}': ${issues.map(([at, message]) => `${message}\n  at ["${at}"]`).join("\n")}`
    assert.strictEqual(await said("nonsense", {}), "-32602 Tool 'nonsense' not found")
    assert.match(await said("list_inbox", { random_string: "x" }), /^false /)
    assert.match(await said("list_inbox", undefined), /^false /)
    assert.strictEqual(
      await said("complete_message", { message: 5 }),
      invalid("complete_message", ["message", "Expected string"], ["reply", "Missing key"])
    )
    assert.strictEqual(
      await said("take_message", { limit: 11 }),
      invalid("take_message", ["limit", "Expected a whole number from 1 to 10"])
    )
    assert.strictEqual(
      await said("complete_message", { message: "x", reply: "x".repeat(500_000) }),
      invalid("complete_message", ["reply", "Expected at most 10000 characters"])
    )
    assert.strictEqual(
      await said("list_tickets", { category: "done" }),
      invalid("list_tickets", ["category", "Expected one of backlog, unstarted, started, completed, canceled"])
    )
    assert.strictEqual(
      await said("complete_message", { message: "x\u0000", reply: "y" }),
      invalid("complete_message", ["message", "Expected text without NUL characters and lone surrogates"])
    )
    assert.strictEqual(
      await said("complete_message", { message: "x", reply: "y" }),
      'true NotFound: There is no message "x" that you can see.'
    )
    assert.strictEqual(
      await said("get_ticket", { ticket: "x/../y" }),
      'true NotFound: There is no ticket "x/../y" that you can see.'
    )
    assert.strictEqual(
      await said("list_statuses", { team: "NO" }),
      'true NotFound: team: there is no team "NO" that you can see.'
    )
    assert.strictEqual(
      await said("create_ticket", { team: "OPS", title: "x" }),
      "true Forbidden: This requires the role member or higher; yours is viewer. (role_too_low)"
    )
  })
})

onEachServer(
  "What MCP keeps of its clients",
  (test) => {
    const count = async ({ baseUrl }: Http) => (await scrape(baseUrl)).value("delivery_mcp_sessions")!
    const becomes = (http: Http, expected: number) =>
      eventually(
        () => count(http),
        (sessions) => sessions === expected
      )

    test("goes with the agent, the sign-in and the member", async (owner) => {
      const { agent, signIn, workspace } = await scene(owner)
      const before = await count(owner)
      const session = await begin(agent, "2025-11-25")
      await workspace.post(`agents/${signIn.agent}/revoke`, undefined, 200)
      await becomes(owner, before)
      const again = await registerAgent(workspace)
      await begin(workspace.as(again.access_token), "2025-11-25")
      const revoked = await workspace.as(undefined).send("POST", "/agent/oauth/revoke", {
        form: { token: again.refresh_token }
      })
      assert.strictEqual(revoked.status, 200)
      await becomes(owner, before)
      const member = await join(workspace, "member")
      const theirs = await registerAgent(member)
      await begin(member.as(theirs.access_token), "2025-11-25")
      const kept = await registerAgent(workspace)
      const stays = await begin(workspace.as(kept.access_token), "2025-11-25")
      await becomes(owner, before + 2)
      // Another role ends nothing.
      await workspace.send("PATCH", `members/${member.id}`, { json: { role: "viewer" } })
      await workspace.post(`members/${member.id}/deactivate`, undefined, 200)
      await becomes(owner, before + 1)
      const use = async (headers: Headers) =>
        code(await send(workspace.as(kept.access_token), request("ping"), headers))
      assert.deepStrictEqual([await use(session), await use(stays)], ["404 -32001", "200 ok"])
    })
  },
  { METRICS: "true" }
)

onServers([servers[0]!], "The memory that MCP takes", (test) => {
  test("is bounded, however much they send", async (owner) => {
    setFlagsFromString("--expose-gc")
    const gc = runInNewContext("gc") as () => void
    const used = () => {
      gc()
      return process.memoryUsage().heapUsed
    }
    const { workspace } = await scene(owner)
    const introduce = async (agent: Http, bytes: number) =>
      send(
        agent,
        request("initialize", {
          protocolVersion: "2025-11-25",
          capabilities: { experimental: { x: { text: "x".repeat(bytes) } } },
          clientInfo: { name: "test", version: "1.0.0" }
        })
      )
    const loop = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        const { access_token, agent } = await registerAgent(workspace)
        const by = workspace.as(access_token)
        for (let count = 0; count < 8; count++) await introduce(by, count % 4 === 0 ? 30_000 : 1_000_000)
        await workspace.post(`agents/${agent}/revoke`, undefined, 200)
      }
    }
    await loop(1)
    const before = used()
    await loop(5)
    assert.isBelow(used() - before, 8 * 1024 * 1024)
  })
})

withClockOnEachServer("The time of MCP's sessions", (test) => {
  test("ends a day after the last request", async (owner, advance) => {
    const { signIn, workspace } = await scene(owner)
    const session = await begin(workspace.as(signIn.access_token), "2025-11-25")
    let { refresh_token } = signIn
    const use = async () => {
      const { body } = await refresh(workspace, { ...signIn, refresh_token })
      refresh_token = body.refresh_token
      return code(await send(workspace.as(body.access_token), request("ping"), session))
    }
    advance("23 hours")
    assert.strictEqual(await use(), "200 ok")
    advance(86_400_000 - 1)
    assert.strictEqual(await use(), "200 ok")
    advance("24 hours")
    assert.strictEqual(await use(), "404 -32001")
  })
})
