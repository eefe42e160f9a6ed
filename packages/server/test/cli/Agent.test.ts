import type { RegisteredAgent } from "@delivery/domain/agents/Agent"
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted, Schema, Scope } from "effect"
import { McpClient, McpProtocol, McpServer, Tool, Toolkit } from "effect/ai"
import { HttpRouter } from "effect/http"
import { ChildProcess } from "effect/process"
import { once } from "node:events"
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer, request as outgoing, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join as joinPath } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe } from "vitest"
import { DeliveryServer } from "../../src/testing.ts"
import { eventually, type Http, http, newWorkspace } from "../support/Http.ts"

/** `delivery agent`: as processes, against a server on a socket. */

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

interface Home {
  readonly directory: string
  readonly environment: Record<string, string>
}

const homes: Array<string> = []
const newHome = (): Home => {
  const directory = mkdtempSync(joinPath(tmpdir(), "delivery-home-"))
  homes.push(directory)
  return {
    directory,
    environment: {
      PATH: process.env["PATH"]!,
      HOME: directory,
      XDG_CONFIG_HOME: joinPath(directory, "config")
    }
  }
}

const run = async (
  { directory, environment }: Home,
  args: ReadonlyArray<string>,
  more: Record<string, string> = {}
) => {
  const child = spawn(process.execPath, [main, "agent", ...args], {
    cwd: directory,
    env: { ...environment, ...more },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const [out, err] = [[] as Array<string>, [] as Array<string>]
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk.toString()))
  const [code] = (await once(child, "close")) as [number]
  return { code, out: out.join(""), err: err.join("") }
}

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

/** Tools that say what the caller sent, and who it is. */
const tools = Toolkit.make(
  Tool.make("echo", {
    description: "Says it again.",
    parameters: Schema.Struct({ text: Schema.String, millis: Schema.Int }),
    success: Schema.Struct({ text: Schema.String })
  })
)

/** An MCP server on a port, with Effect's own transport. */
const startMcp = async (port: number) => {
  const scope = Scope.makeUnsafe()
  const routes = McpServer.layerHttp({
    name: "test",
    version: "1.0.0",
    path: "/agent/mcp",
    protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25, McpProtocol.v2025_06_18, McpProtocol.v2025_03_26],
    allowSessionTermination: true,
    registrations: McpServer.toolkit(tools).pipe(
      Layer.provide(tools.toLayer({ echo: ({ millis, text }) => Effect.as(Effect.sleep(millis), { text }) }))
    )
  })
  await HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(
      NodeHttpServer.layer(() => createServer(), { port, host: "127.0.0.1", gracefulShutdownTimeout: "1 millis" })
    ),
    Layer.buildWithScope(scope),
    Effect.runPromise
  )
  return { stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/**
 * The service and the MCP server under one address. What is for the MCP server passes only with an access token that
 * the service takes. Counts what passes, by path.
 */
const startFront = async (service: string, mcpPort: number) => {
  const counts = new Map<string, number>()
  const front: Server = createServer((request, response) => {
    const path = request.url!
    counts.set(path, (counts.get(path) ?? 0) + 1)
    const pass = (target: string) => {
      const passed = outgoing(
        new URL(path, target),
        { method: request.method!, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode!, answer.headers)
          answer.pipe(response)
        }
      )
      passed.on("error", () => response.writeHead(502).end())
      request.pipe(passed)
    }
    if (path !== "/agent/mcp") return pass(service)
    const { authorization = "" } = request.headers
    void fetch(`${service}/agent/v1/me`, { headers: { authorization } }).then(({ status }) =>
      status === 200 ? pass(`http://127.0.0.1:${mcpPort}`) : response.writeHead(status).end()
    )
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

const freePort = async () => {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, "close")
  return port
}

describe("delivery agent", () => {
  let mcpPort = 0
  let mcp: { readonly stop: () => Promise<void> }
  beforeAll(async () => {
    mcpPort = await freePort()
    mcp = await startMcp(mcpPort)
  })
  afterAll(async () => {
    await mcp.stop()
    for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true })
  })

  layer(Layer.merge(DeliveryServer.layerMemory(), NodeServices.layer), { excludeTestServices: true })((it) => {
    const test = (name: string, body: (owner: Http) => Promise<void>) =>
      it.effect(name, () =>
        Effect.gen(function* () {
          const { apiKey, baseUrl, workspace } = yield* DeliveryServer
          yield* Effect.promise(() => body(http(baseUrl, Redacted.value(apiKey), workspace)))
        })
      )

    const connect = (home: Home, { key, workspace }: Http, url: string, ...args: ReadonlyArray<string>) =>
      run(home, ["connect", "--url", url, "--workspace", workspace, ...args], { DELIVERY_API_KEY: key! })

    /** A client of the protocol that has started the bridge. */
    const started = (
      home: Home,
      workspace: string,
      url: string,
      protocol: McpProtocol.ProtocolAdapter<McpClient.ProtocolVersion>
    ) =>
      McpClient.make({ name: "test", version: "1.0.0", timeout: "30 seconds" }).pipe(
        Effect.provideServiceEffect(
          McpClient.Transport,
          McpClient.stdio({
            protocol,
            command: ChildProcess.make(
              process.execPath,
              [main, "agent", "mcp", "--client", "claude", "--url", url, "--workspace", workspace],
              { cwd: home.directory, env: home.environment, extendEnv: false }
            )
          })
        )
      )
    const echo = Effect.fnUntraced(function* (client: McpClient.McpClient, text: string, millis = 0) {
      const [tool] = yield* client.listTools()
      const { isError, structuredContent } = yield* client.callTool({ tool: tool!, arguments: { text, millis } })
      return isError === true ? "error" : (structuredContent as { text: string }).text
    })
    const running = <A>(effect: Effect.Effect<A, unknown, Scope.Scope | NodeServices.NodeServices>) =>
      Effect.runPromise(Effect.scoped(effect).pipe(Effect.provide(NodeServices.layer)))

    test("connects: registers, keeps the tokens for the user alone, and says how to go on", async (owner) => {
      const workspace = await newWorkspace(owner)
      const home = newHome()
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

    test("writes the configuration of each client, beside what is there", async (owner) => {
      const workspace = await newWorkspace(owner)
      const home = newHome()
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
        workspace.workspace
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
      writeFileSync(path(".mcp.json"), "{")
      const broken = await connect(home, workspace, owner.baseUrl, "--client", "claude", "--write")
      assert.deepStrictEqual([broken.code, broken.err], [1, ".mcp.json cannot be understood, and stays as it is.\n"])
      assert.strictEqual(readFileSync(path(".mcp.json"), "utf8"), "{")
    })

    test("takes the key from a file, and says in a line what is wrong", async (owner) => {
      const workspace = await newWorkspace(owner)
      const home = newHome()
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
      assert.strictEqual(await said(key, "--workspace", "none"), "The workspace does not exist.")
      assert.strictEqual(await said({ DELIVERY_API_KEY: "ctk_x" }), "A valid API key is required.")
      assert.match(
        await said({ ...key, DELIVERY_URL: "http://127.0.0.1:1" }),
        /^http:\/\/127\.0\.0\.1:1 cannot be reached.*$/
      )
    })

    test("disconnects: ends the sign-in at the server, and forgets it", async (owner) => {
      const workspace = await newWorkspace(owner)
      const home = newHome()
      await connect(home, workspace, owner.baseUrl, "--client", "claude")
      const file = signInFile(home, "claude", workspace.workspace, owner.baseUrl)
      const { accessToken } = JSON.parse(readFileSync(file, "utf8")) as { accessToken: string }
      const disconnect = () =>
        run(home, ["disconnect", "--client", "claude", "--url", owner.baseUrl, "--workspace", workspace.workspace])
      assert.deepInclude(await disconnect(), { code: 0, out: "Signed out.\n" })
      assert.isUndefined(statSync(file, { throwIfNoEntry: false }))
      assert.strictEqual((await owner.as(accessToken).send("GET", "/agent/v1/me")).status, 401)
      assert.deepInclude(await disconnect(), { code: 0, out: "This computer was not signed in.\n" })
      const bridge = await run(home, ["mcp", "--client", "claude", "--url", owner.baseUrl])
      assert.deepInclude(bridge, { code: 1, out: "" })
      assert.match(bridge.err, /^This computer is not signed in: run .*\n$/)
    })

    test("serves clients of each protocol, and reports where they work", async (owner) => {
      const front = await startFront(owner.baseUrl, mcpPort)
      const workspace = await newWorkspace(owner)
      const home = newHome()
      const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: home.directory, stdio: "pipe" })
      git("init", "--quiet", "--initial-branch", "trunk")
      git("remote", "add", "origin", "git@github.com:acme/shop.git")
      await connect(home, workspace, front.url, "--client", "claude")
      for (const protocol of [McpProtocol.v2025_11_25, McpProtocol.v2026_07_28]) {
        await running(
          Effect.gen(function* () {
            const client = yield* started(home, workspace.workspace, front.url, protocol)
            assert.strictEqual(client.protocolVersion, protocol.protocolVersion)
            assert.strictEqual(yield* echo(client, "zwölf 💻\n"), "zwölf 💻\n")
            // Answers come as they are ready.
            const order: Array<string> = []
            yield* Effect.all(
              [echo(client, "slow", 300), echo(client, "fast")].map((call) =>
                Effect.tap(call, (text) => Effect.sync(() => order.push(text)))
              ),
              { concurrency: "unbounded" }
            )
            assert.deepStrictEqual(order, ["fast", "slow"])
            const [agent] = yield* Effect.promise(() =>
              eventually(
                () => agents(workspace),
                ([agent]) => agent!.computers[0]!.sessions.length > 0
              )
            )
            const { branch, live, repository } = agent!.computers[0]!.sessions[0]!
            assert.deepStrictEqual([repository, branch, live], ["acme/shop", "trunk", true])
          })
        )
        await eventually(
          () => agents(workspace),
          ([agent]) => agent!.computers[0]!.sessions.length === 0
        )
      }
      front.stop()
    })

    test("refreshes once for all bridges of a sign-in, and again when a token is refused", async (owner) => {
      const front = await startFront(owner.baseUrl, mcpPort)
      const workspace = await newWorkspace(owner)
      const home = newHome()
      await connect(home, workspace, front.url, "--client", "claude")
      const file = signInFile(home, "claude", workspace.workspace, front.url)
      const kept = () => JSON.parse(readFileSync(file, "utf8")) as Record<string, string>
      const refreshes = () => front.count("/agent/oauth/token")
      writeFileSync(file, JSON.stringify({ ...kept(), accessTokenExpiresAt: new Date().toISOString() }))
      await running(
        Effect.gen(function* () {
          const clients = yield* Effect.all(
            Array.from({ length: 4 }, () => started(home, workspace.workspace, front.url, McpProtocol.v2025_11_25)),
            { concurrency: "unbounded" }
          )
          const echoed = () => Effect.forEach(clients, (client) => echo(client, "a"), { concurrency: "unbounded" })
          assert.deepStrictEqual(yield* echoed(), ["a", "a", "a", "a"])
          assert.strictEqual(refreshes(), 1)
          assert.strictEqual(statSync(file).mode & 0o777, 0o600)
          for (let round = 2; round <= 4; round++) {
            const token = kept()["accessToken"]!
            yield* Effect.promise(() => owner.as(undefined).send("POST", "/agent/oauth/revoke", { form: { token } }))
            assert.deepStrictEqual(yield* echoed(), ["a", "a", "a", "a"])
            assert.strictEqual(refreshes(), round)
          }
        })
      )
      front.stop()
    })

    test("goes on when the server has forgotten the session, and says so when the sign-in has ended", async (owner) => {
      const front = await startFront(owner.baseUrl, mcpPort)
      const workspace = await newWorkspace(owner)
      const home = newHome()
      await connect(home, workspace, front.url, "--client", "claude")
      await running(
        Effect.gen(function* () {
          const client = yield* started(home, workspace.workspace, front.url, McpProtocol.v2025_11_25)
          assert.strictEqual(yield* echo(client, "before"), "before")
          yield* Effect.promise(() => mcp.stop())
          const error = yield* Effect.flip(echo(client, "nobody is there"))
          assert.include(String(error), "502")
          mcp = yield* Effect.promise(() => startMcp(mcpPort))
          const again = yield* Effect.all([echo(client, "one"), echo(client, "two")], { concurrency: "unbounded" })
          assert.deepStrictEqual(again, ["one", "two"])
          const [agent] = yield* Effect.promise(() => agents(workspace))
          yield* Effect.promise(() => workspace.post(`agents/${agent!.id}/revoke`, undefined, 200))
          const ended = yield* Effect.flip(echo(client, "after"))
          assert.include(String(ended), "The sign-in has ended")
        })
      )
      front.stop()
    })

    test("says what is no JSON, and ends with its input", async (owner) => {
      const front = await startFront(owner.baseUrl, mcpPort)
      const workspace = await newWorkspace(owner)
      const home = newHome()
      await connect(home, workspace, front.url, "--client", "claude")
      const child = spawn(
        process.execPath,
        [main, "agent", "mcp", "--client", "claude", "--url", front.url, "--workspace", workspace.workspace],
        { cwd: home.directory, env: home.environment, stdio: ["pipe", "pipe", "pipe"] }
      )
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
      assert.deepStrictEqual(lines[0]?.error, { code: -32700, message: "This is no JSON." })
      assert.strictEqual(lines[1]?.result?.protocolVersion, "2025-03-26")
      front.stop()
    })
  })
})
