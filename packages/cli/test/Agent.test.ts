import type { AgentMe, RegisteredAgent } from "@delivery/domain/agents/Agent"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { NodeServices } from "@effect/platform-node"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect } from "effect"
import { McpClient, McpProtocol } from "effect/ai"
import { ChildProcess } from "effect/process"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer, request as outgoing } from "node:http"
import { join as joinPath } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { eventually, type Http, newWorkspace, teamKey } from "../../server/test/support/Http.ts"
import { type Home, main } from "./support/Home.ts"
import { useService } from "./support/Service.ts"

/** `delivery agent`: as processes, against a server on a socket. */

const run = (home: Home, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  home.delivery(["agent", ...args], { env })

const signInFile = ({ directory }: Home, client: string, workspace: string, url: string) =>
  joinPath(
    directory,
    "config",
    "delivery",
    "agents",
    `${client}@${workspace}@${url.replace("http://", "").replace(":", "_")}.json`
  )

const agents = async (workspace: Http) =>
  (await workspace.get<{ agents: ReadonlyArray<RegisteredAgent> }>("agents")).agents

/** The service under another address, which counts requests by path. */
const startFront = async (service: string) => {
  const counts = new Map<string, number>()
  const front = createServer((request, response) => {
    const path = request.url!
    counts.set(path, (counts.get(path) ?? 0) + 1)
    const passed = outgoing(new URL(path, service), { method: request.method!, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    passed.on("error", () => response.writeHead(502).end())
    request.pipe(passed)
  })
  front.listen(0, "127.0.0.1")
  await once(front, "listening")
  const { port } = front.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    count: (path: string) => counts.get(path) ?? 0,
    stop: () => {
      front.closeAllConnections()
      front.close()
    }
  }
}

describe("delivery agent", () => {
  const server = useService()
  let front: Awaited<ReturnType<typeof startFront>>
  beforeAll(async () => {
    front = await startFront(server.baseUrl)
  })
  afterAll(() => front.stop())

  it("says in a line or two what is wrong with a command, and where the commands of the host are", async () => {
    const home = server.home()
    const help = "Add --help to see how it is used."
    for (const [args, line] of [
      [["agent", "connect"], `Missing required flag: --client.\nUsage: delivery agent connect [flags]\n${help}`],
      [
        ["agent", "conect"],
        `Unknown subcommand "conect" for "delivery agent". Did you mean connect?\nUsage: delivery agent <subcommand> [flags]\n${help}`
      ],
      [["person", "list"], "This command is not for clients. On the host of the service, use: delivery-server person"]
    ] as const) {
      assert.deepStrictEqual(await home.delivery(args), { code: 2, out: "", err: `${line}\n` })
    }
  })

  const test = (name: string, body: (owner: Http) => Promise<void>) => it(name, () => body(server.owner()))

  const connect = (home: Home, { key, workspace }: Http, url: string, ...args: ReadonlyArray<string>) =>
    run(home, ["connect", "--url", url, "--workspace", workspace, ...args], { DELIVERY_API_KEY: key! })

  const bridgeOf = (home: Home, workspace: string) => ({
    command: process.execPath,
    args: [
      main,
      "agent",
      "mcp",
      "--client",
      "claude",
      "--url",
      front.url,
      "--workspace",
      workspace,
      "--directory",
      joinPath(home.directory, "config", "delivery", "agents")
    ],
    cwd: home.directory,
    env: { PATH: process.env["PATH"]!, HOME: home.directory }
  })

  /** The official client, which has started the bridge, as clients do: without the rest of the environment. */
  const started = async (home: Home, workspace: string) => {
    const client = new Client({ name: "test", version: "1.0.0" })
    await client.connect(new StdioClientTransport({ ...bridgeOf(home, workspace), stderr: "ignore" }))
    return {
      client,
      /** The slug of the workspace that the bridge's token is of. */
      whoami: async () => {
        const { structuredContent } = await client.callTool({ name: "whoami", arguments: {} })
        return (structuredContent as AgentMe).workspace.slug
      }
    }
  }

  test("connect registers, stores the tokens readable only by the user, and prints the next step", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    const { code, out } = await connect(
      home,
      workspace,
      `${owner.baseUrl}/`,
      "--client",
      "claude",
      "--computer",
      "desk"
    )
    assert.strictEqual(code, 0)
    const file = signInFile(home, "claude", workspace.workspace, owner.baseUrl)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.strictEqual(statSync(joinPath(file, "..")).mode & 0o777, 0o700)
    const kept = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>
    assert.strictEqual((await owner.as(kept["accessToken"]).send("GET", "/agent/v1/me")).status, 200)
    const [agent] = await agents(workspace)
    assert.deepStrictEqual([agent?.name, agent?.computers[0]?.name], ["Claude", "desk"])
    assert.include(
      out,
      `claude mcp add --scope user delivery-${workspace.workspace} -- ${process.execPath} ${main} agent mcp`
    )
    for (const secret of [workspace.key!, kept["accessToken"]!, kept["refreshToken"]!]) assert.notInclude(out, secret)
  })

  test("adds the server to the configuration of each client", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    const path = (...parts: ReadonlyArray<string>) => joinPath(home.directory, ...parts)
    mkdirSync(path(".codex"))
    writeFileSync(path(".codex", "config.toml"), '# mine\nmodel = "o5"\n')
    writeFileSync(path(".mcp.json"), '{"mcpServers":{"other":{"command":"x"}}}')
    for (const client of ["claude", "codex", "cursor"]) {
      const { code, err } = await connect(home, workspace, owner.baseUrl, "--client", client, "--write")
      assert.strictEqual(`${code} ${err}`, "0 ")
    }
    const name = `delivery-${workspace.workspace}`
    const args = (client: string) => [
      main,
      "agent",
      "mcp",
      "--client",
      client,
      "--url",
      owner.baseUrl,
      "--workspace",
      workspace.workspace,
      // Clients pass on little of the environment.
      "--directory",
      path("config", "delivery", "agents")
    ]
    const json = (file: string) =>
      JSON.parse(readFileSync(path(file), "utf8")) as { mcpServers: Record<string, unknown> }
    assert.deepStrictEqual(json(".mcp.json").mcpServers, {
      other: { command: "x" },
      [name]: { command: process.execPath, args: args("claude") }
    })
    assert.deepStrictEqual(json(".cursor/mcp.json").mcpServers, {
      [name]: { command: process.execPath, args: args("cursor") }
    })
    const toml = readFileSync(path(".codex", "config.toml"), "utf8")
    assert.isTrue(toml.startsWith(`# mine\nmodel = "o5"\n\n[mcp_servers.${name}]\n`))
    assert.include(toml, JSON.stringify(main))
    const elsewhere = await run(
      home,
      ["connect", "--client", "codex", "--url", owner.baseUrl, "--workspace", workspace.workspace, "--write"],
      { DELIVERY_API_KEY: workspace.key!, CODEX_HOME: path("other") }
    )
    assert.include(elsewhere.out, path("other", "config.toml"))
    assert.include(readFileSync(path("other", "config.toml"), "utf8"), `[mcp_servers.${name}]`)
    writeFileSync(path(".mcp.json"), "{")
    const broken = await connect(home, workspace, owner.baseUrl, "--client", "claude", "--write")
    assert.deepStrictEqual([broken.code, broken.err], [1, ".mcp.json was not changed: it cannot be parsed.\n"])
    assert.strictEqual(readFileSync(path(".mcp.json"), "utf8"), "{")
  })

  test("reads the key from a file, and reports errors in one line", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    const file = joinPath(home.directory, "key")
    writeFileSync(file, `${workspace.key}\n`)
    const said = async (more: Record<string, string>, ...args: ReadonlyArray<string>) => {
      const { code, err } = await run(home, ["connect", "--client", "codex", ...args], {
        DELIVERY_URL: owner.baseUrl,
        DELIVERY_WORKSPACE: workspace.workspace,
        ...more
      })
      return code === 0 ? "ok" : err.trim()
    }
    assert.strictEqual(await said({}, "--key-file", file), "ok")
    assert.match(await said({}), /^An API key is needed.*$/)
    assert.match(await said({}, "--key-file", "none"), /^--key-file: none cannot be read\.$/)
    const key = { DELIVERY_API_KEY: workspace.key! }
    assert.strictEqual(await said(key, "--workspace", "none"), 'There is no workspace "none" that you can see.')
    assert.strictEqual(
      await said({ DELIVERY_API_KEY: "ctk_x" }),
      `${owner.baseUrl} does not accept the API key in DELIVERY_API_KEY. It may be revoked: set another one, or none to use that of \`delivery login\`.`
    )
    assert.match(
      await said({ ...key, DELIVERY_URL: "http://127.0.0.1:1" }),
      /^http:\/\/127\.0\.0\.1:1 cannot be reached.*$/
    )
  })

  test("connect registers nothing where it could not store the sign-in", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    const { code, err } = await connect(
      home,
      workspace,
      owner.baseUrl,
      "--client",
      "codex",
      "--directory",
      "/dev/null/a"
    )
    assert.strictEqual(code, 1)
    assert.match(err, /^\/dev\/null\/a\/codex@\S+\.json cannot be written: nothing was done\.\n$/)
    assert.deepStrictEqual((await workspace.get<{ readonly agents: ReadonlyArray<unknown> }>("agents")).agents, [])
  })

  test("disconnect ends the sign-in at the server and deletes its file", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    await connect(home, workspace, owner.baseUrl, "--client", "claude", "--write")
    const file = signInFile(home, "claude", workspace.workspace, owner.baseUrl)
    const { accessToken } = JSON.parse(readFileSync(file, "utf8")) as { accessToken: string }
    const disconnect = () =>
      run(home, ["disconnect", "--client", "claude", "--url", owner.baseUrl, "--workspace", workspace.workspace])
    assert.deepInclude(await disconnect(), {
      code: 0,
      out: "Signed out. .mcp.json still names the server: remove it there.\n"
    })
    rmSync(joinPath(home.directory, ".mcp.json"))
    assert.isUndefined(statSync(file, { throwIfNoEntry: false }))
    assert.strictEqual((await owner.as(accessToken).send("GET", "/agent/v1/me")).status, 401)
    assert.deepInclude(await disconnect(), { code: 0, out: "This computer was not signed in.\n" })
    const bridge = await run(home, ["mcp", "--client", "claude", "--url", owner.baseUrl])
    assert.deepInclude(bridge, { code: 3, out: "" })
    assert.match(bridge.err, /^This computer is not signed in: run .*\n$/)
  })

  test("serves clients of each protocol, and reports their repository and branch", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: home.directory, stdio: "pipe" })
    git("init", "--quiet", "--initial-branch", "trunk")
    git("remote", "add", "origin", "git@github.com:acme/shop.git")
    await connect(home, workspace, front.url, "--client", "claude")
    const sessions = async () => (await agents(workspace))[0]!.computers[0]!.sessions
    const isAtWork = async () => {
      const [session] = await eventually(sessions, ({ length }) => length > 0)
      assert.deepStrictEqual([session?.repository, session?.branch, session?.live], ["acme/shop", "trunk", true])
    }
    const isOver = () => eventually(sessions, ({ length }) => length === 0)

    const { client, whoami } = await started(home, workspace.workspace)
    assert.isAbove((await client.listTools()).tools.length, 10)
    const all = await Promise.all(Array.from({ length: 20 }, whoami))
    assert.deepStrictEqual(new Set(all), new Set([workspace.workspace]))
    await isAtWork()
    await client.close()
    await isOver()

    // From 2026-07-28 on there are no sessions of the protocol, and every message says its version.
    const { args, command, cwd, env } = bridgeOf(home, workspace.workspace)
    await Effect.gen(function* () {
      const client = yield* McpClient.make({ name: "test", version: "1.0.0", timeout: "30 seconds" }).pipe(
        Effect.provideServiceEffect(
          McpClient.Transport,
          McpClient.stdio({
            protocol: McpProtocol.v2026_07_28,
            command: ChildProcess.make(command, args, { cwd, env, extendEnv: false })
          })
        )
      )
      const tool = (yield* client.listTools()).find(({ name }) => name === "whoami")!
      const { structuredContent } = yield* client.callTool({ tool })
      assert.strictEqual((structuredContent as AgentMe).workspace.slug, workspace.workspace)
      yield* Effect.promise(isAtWork)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.runPromise)
    await isOver()
  })

  test("lets an agent take a message, update its ticket and complete it", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    await connect(home, workspace, front.url, "--client", "claude")
    const key = teamKey()
    await workspace.post("teams", { key, name: key, visibility: "private" })
    const { identifier } = await workspace.post<Ticket>("tickets", { team: key, title: "Pay by card" })
    const agent = (await agents(workspace))[0]!.id
    const sent = await workspace.post<AgentMessage>("messages", { agent, ticket: identifier, ask: "plan" })

    const { client } = await started(home, workspace.workspace)
    const call = async (name: string, input: Record<string, unknown> = {}) => {
      const { isError, structuredContent } = await client.callTool({ name, arguments: input })
      assert.isNotOk(isError, name)
      return structuredContent as { readonly messages: ReadonlyArray<{ readonly id: string; readonly status: string }> }
    }
    const [taken] = (await call("take_message")).messages
    assert.deepStrictEqual([taken?.id, taken?.status], [sent.id, "delivered"])
    await call("update_ticket", { ticket: identifier, plan: "1. Do it" })
    await call("complete_message", { message: sent.id, reply: "Planned." })
    const { plan } = await workspace.get<Ticket>(`tickets/${identifier}`)
    const { reply, status } = await workspace.get<AgentMessage>(`messages/${sent.id}`)
    assert.deepStrictEqual([plan, reply, status], ["1. Do it", "Planned.", "completed"])
    await client.close()
  })

  test("refreshes once for all bridges of a sign-in, and again when a token is refused", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    await connect(home, workspace, front.url, "--client", "claude")
    const file = signInFile(home, "claude", workspace.workspace, front.url)
    const kept = () => JSON.parse(readFileSync(file, "utf8")) as Record<string, string>
    const before = front.count("/agent/oauth/token")
    const refreshes = () => front.count("/agent/oauth/token") - before
    writeFileSync(file, JSON.stringify({ ...kept(), accessTokenExpiresAt: new Date().toISOString() }))
    const bridges = await Promise.all(Array.from({ length: 4 }, () => started(home, workspace.workspace)))
    const answers = () => Promise.all(bridges.map(({ whoami }) => whoami()))
    const expected = bridges.map(() => workspace.workspace)
    assert.deepStrictEqual(await answers(), expected)
    assert.strictEqual(refreshes(), 1)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    for (let round = 2; round <= 4; round++) {
      const token = kept()["accessToken"]!
      await owner.as(undefined).send("POST", "/agent/oauth/revoke", { form: { token } })
      assert.deepStrictEqual(await answers(), expected)
      assert.strictEqual(refreshes(), round)
    }
    await Promise.all(bridges.map(({ client }) => client.close()))
  })

  test("continues after a restart of the server, and reports when the sign-in has ended", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    await connect(home, workspace, front.url, "--client", "claude")
    const { client, whoami } = await started(home, workspace.workspace)
    assert.strictEqual(await whoami(), workspace.workspace)
    const said = () =>
      whoami().then(
        () => "nothing",
        (error: unknown) => String(error)
      )
    await server.restart(async () => assert.include(await said(), "answered 502"))
    // The protocol's session went with the server.
    assert.deepStrictEqual(await Promise.all([whoami(), whoami()]), [workspace.workspace, workspace.workspace])
    const [agent] = await agents(workspace)
    await workspace.post(`agents/${agent!.id}/revoke`, undefined, 200)
    assert.include(await said(), "The sign-in has ended")
    await client.close()
  })

  test("reports invalid JSON, and ends with its input", async (owner) => {
    const workspace = await newWorkspace(owner)
    const home = server.home()
    await connect(home, workspace, front.url, "--client", "claude")
    const { args, command, ...options } = bridgeOf(home, workspace.workspace)
    const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] })
    let out = ""
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
    const initialize = {
      jsonrpc: "2.0",
      id: "é",
      method: "initialize",
      params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "t", version: "1" } }
    }
    // The last line has no end.
    child.stdin.end(`nonsense\n\n${JSON.stringify(initialize)}\n{"jsonrpc":"2.0","id":2,"method":"ping"}`)
    const [code] = (await once(child, "close")) as [number]
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: unknown; error?: unknown; result?: { protocolVersion?: string } })
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(
      lines.map(({ id }) => id),
      [null, "é", 2]
    )
    assert.deepStrictEqual(lines[0]?.error, { code: -32700, message: "This is not JSON." })
    assert.strictEqual(lines[1]?.result?.protocolVersion, "2025-03-26")
  })
})
