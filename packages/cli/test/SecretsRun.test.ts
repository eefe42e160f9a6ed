import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import { once } from "node:events"
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { freePort } from "../../server/src/cli/FreePort.ts"
import { type Http, newDeployment } from "../../server/test/support/Http.ts"
import type { Options } from "./support/Home.ts"
import { useService } from "./support/Service.ts"

/** `delivery secrets run` as a process, with a real server on a socket. */

describe("delivery secrets run", () => {
  const server = useService()
  const { home } = server

  /** The owner of a workspace whose shop runs in production, and a token of it. */
  const production = async () => {
    const workspace = await newDeployment(server.owner())
    await workspace.post("environments", { slug: "live", name: "Live", class: "production" })
    await workspace.post("deployments", { product: "shop", environment: "live", baseUrl: "https://shop.example" })
    const path = "deployments/shop/live/tokens"
    const { id, token } = await workspace.post<NewDeploymentToken>(path, { name: "kubernetes" })
    const revoke = () => workspace.post(`${path}/${id}/revoke`, undefined, 200)
    return { workspace, token, revoke, env: { DELIVERY_URL: server.baseUrl, DELIVERY_TOKEN: token } }
  }

  const set = (by: Http, values: Readonly<Record<string, string | null>>, environment = "live") =>
    Promise.all(
      Object.entries(values).map(([name, value]) =>
        by.post("vault/assignments", { products: ["shop"], environments: [environment], name, value }, 200)
      )
    )

  /** Runs a script of Node with the values. */
  const node = (script: string, ...flags: ReadonlyArray<string>) =>
    ["secrets", "run", ...flags, "--", process.execPath, "-e", script] as const

  const printed = (...names: ReadonlyArray<string>) =>
    `console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name] ?? null)))`

  const test = (name: string, body: (deployed: Awaited<ReturnType<typeof production>>) => Promise<void>) =>
    it(name, async () => body(await production()))

  test("gives a product in production its values to the byte, and has its exit code", async ({ env, workspace }) => {
    const values = { A: "canary\n'\"$HOME` \\", "not-a-shell's name": "🧪", EMPTY: "", PATH_LIKE: "a".repeat(60_000) }
    await set(workspace, { ...values, CLEARED: "x" })
    await set(workspace, { CLEARED: null })
    const names = [...Object.keys(values), "CLEARED", "HOME"]
    const at = home()
    const all = await at.delivery(node(`${printed(...names)};process.exit(7)`), { env })
    assert.deepInclude(all, { code: 7, err: "" })
    assert.deepStrictEqual(JSON.parse(all.out), [...Object.values(values), null, at.directory])
    const input = { env, input: "typed\n" }
    assert.deepInclude(await at.delivery(["secrets", "run", "--", "cat"], input), { code: 0, out: "typed\n", err: "" })
    const killed = await at.delivery(node("process.kill(process.pid, 'SIGKILL')"), { env })
    assert.deepInclude(killed, { code: 137, err: "" })
    const own = await at.delivery(node(printed("A")), { env: { ...env, A: "inherited" } })
    assert.deepStrictEqual(JSON.parse(own.out), [values.A])
  })

  const canSeeProcesses = existsSync("/proc/self/environ")

  /** All that a process can see of itself: its environment, arguments and open files. */
  const seen = `const fs = require("node:fs");
    const files = fs.readdirSync("/proc/self/fd").flatMap((fd) => {
      const path = "/proc/self/fd/" + fd;
      // A pipe would be waited for.
      try { return [fs.readlinkSync(path), fs.statSync(path).isFile() ? fs.readFileSync(path, "utf8") : ""] } catch { return [] }
    });
    console.log(fs.readFileSync("/proc/self/environ", "latin1"), fs.readFileSync("/proc/self/cmdline", "latin1"), files.join(" "))`

  it.runIf(canSeeProcesses)("leaves the token in no environment, argument or open file of the child", async () => {
    const { env, token } = await production()
    const at = home()
    const file = join(at.directory, "the-token")
    writeFileSync(file, `${token}\n`)
    const check = async (args: ReadonlyArray<string>, options: Options, script = "") => {
      const quoted = args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(" ")
      const { code, err, out } = await at.script(`delivery ${quoted} ${script}`, options)
      assert.deepStrictEqual({ code, err }, { code: 0, err: "" })
      assert.include(out, at.directory)
      for (const hidden of [token, "DELIVERY_TOKEN", "the-token"]) assert.notInclude(out, hidden)
    }
    const { DELIVERY_TOKEN: _, ...withoutToken } = env
    await check(node(seen), { env })
    await check(node(seen), { env: { ...env, COPY_OF_IT: `Bearer ${token}` } })
    await check(node(seen), { env: { ...withoutToken, DELIVERY_TOKEN_FILE: file } })
    await check(node(seen), { env: { ...withoutToken, DELIVERY_TOKEN_FILE: "/dev/fd/3" } }, "3<the-token")
    await check(node(seen), { env: { ...withoutToken, DELIVERY_TOKEN_FILE: "/dev/stdin" } }, "<the-token")
    const refused = await at.delivery(["secrets", "run", "--", "echo", `--token=${token}`], { env })
    assert.deepInclude(refused, { code: 2, out: "" })
    assert.notInclude(refused.err, token)
  })

  it.runIf(canSeeProcesses)("leaves a key that read the values in no child, and reads none of production", async () => {
    const { workspace } = await production()
    await set(workspace, { A: "canary-staging" }, "staging")
    await set(workspace, { A: "canary-live" })
    const at = home()
    const env = {
      DELIVERY_URL: server.baseUrl,
      DELIVERY_API_KEY: workspace.key!,
      DELIVERY_WORKSPACE: workspace.workspace
    }
    const pair = ["--product", "shop", "--environment", "staging"]
    const started = await at.delivery(node(`${printed("A", "DELIVERY_API_KEY")};${seen}`, ...pair), { env })
    assert.deepInclude(started, { code: 0, err: "" })
    assert.include(started.out, '["canary-staging",null]')
    assert.notInclude(started.out, workspace.key!)
    const ofEnvironment = { ...env, DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "live" }
    const hidden = await at.delivery(node("console.log('started')"), { env: ofEnvironment })
    assert.deepInclude(hidden, { code: 1, out: "" })
    assert.include(hidden.err, "these values are hidden from you: A.")
    const nobodys = await at.delivery(node("", "--product", "shop"), { env })
    assert.deepInclude(nobodys, { code: 2, out: "" })
    assert.deepInclude(await at.delivery(node("", ...pair, "--environment", "moon"), { env }), { code: 2, out: "" })
    assert.deepInclude(await at.delivery(node("", ...pair, "--fallback", "f"), { env }), { code: 2, out: "" })
    const { DELIVERY_API_KEY: _, ...withoutKey } = env
    assert.deepInclude(await at.delivery(node("", ...pair), { env: withoutKey }), { code: 3, out: "" })
  })

  test("starts nothing where something else answers, or the service has another address", async ({ workspace }) => {
    const at = home()
    let answer = { status: 200, location: "" }
    const other = createServer((request, response) => {
      request.resume()
      response.writeHead(answer.status, { location: answer.location, "content-type": "application/json" }).end("{}")
    }).listen(0, "127.0.0.1")
    server.afterwards(() => other.close())
    await once(other, "listening")
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const env = { DELIVERY_URL: url, DELIVERY_API_KEY: workspace.key!, DELIVERY_WORKSPACE: workspace.workspace }
    const start = () =>
      at.delivery(node("console.log('started')", "--product", "shop", "--environment", "staging"), { env })
    const unknown = `${url} is not a Delivery service of this version.\n`
    assert.deepStrictEqual(await start(), { code: 4, out: "", err: unknown })
    answer = { status: 308, location: server.baseUrl }
    const redirected = await start()
    assert.deepInclude(redirected, { code: 4, out: "" })
    assert.notInclude(redirected.err, "revoked")
  })

  test("names what no environment can have, and starts nothing", async ({ env, workspace }) => {
    await set(workspace, { "A=B": "canary", FINE: "canary", NUL: "canary\0" })
    const refused = await home().delivery(node("console.log('started')"), { env })
    assert.deepInclude(refused, { code: 1, out: "" })
    assert.strictEqual(refused.err, "Nothing is started: no environment can have these names or values: A=B, NUL.\n")
  })

  test("says what is wrong with a token, a command or a use", async ({ env, revoke, token, workspace }) => {
    const at = home()
    const code = async (args: ReadonlyArray<string>, given: Record<string, string> = env) => {
      const { code, err, out } = await at.delivery(args, { env: given })
      assert.strictEqual(out, "")
      assert.notInclude(err, token)
      assert.match(err, /^[^\n]+\n(Usage: delivery [^\n]+\nAdd --help to see how it is used\.\n)?$/)
      return code
    }
    assert.strictEqual(await code(["secrets", "run", "--", "no-such-command"]), 127)
    writeFileSync(join(at.directory, "plain"), "text")
    assert.strictEqual(await code(["secrets", "run", "--", "./plain"]), 126)
    assert.strictEqual(await code(["secrets", "run"]), 2)
    assert.strictEqual(await code(node("", "--product", "shop")), 2)
    assert.strictEqual(await code(node(""), { ...env, DELIVERY_TOKEN: workspace.key! }), 2)
    const { DELIVERY_TOKEN: _, ...withoutToken } = env
    assert.strictEqual(await code(node(""), { ...withoutToken, DELIVERY_TOKEN_FILE: "none" }), 3)
    await revoke()
    assert.strictEqual(await code(node("")), 3)
    // A key of the environment is not a second try.
    assert.strictEqual(await code(node(""), { ...env, DELIVERY_API_KEY: workspace.key! }), 3)
  })

  test("forwards signals, and ends as the command does", async ({ env }) => {
    const signals = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"] as const
    const script = `for (const signal of ${JSON.stringify(signals)}) process.on(signal, () => console.log("got " + signal));
      process.on("SIGTERM", () => setTimeout(() => process.exit(9)));
      setInterval(() => {}, 1e6); console.log("ready")`
    const running = home().start(node(script), { env })
    await running.until(/ready/)
    for (const signal of signals.filter((signal) => signal !== "SIGTERM")) {
      running.child.kill(signal)
      await running.until(new RegExp(`got ${signal}`))
    }
    running.child.kill("SIGTERM")
    assert.strictEqual(await running.code, 9)
    const plain = home().start(node("setInterval(() => {}, 1e6); console.log('ready')"), { env })
    await plain.until(/ready/)
    plain.child.kill("SIGTERM")
    assert.strictEqual(await plain.code, 143)
  })

  test("--watch starts the command again with values that have changed", async ({ env, workspace }) => {
    await set(workspace, { A: "one" })
    const script = "setInterval(() => {}, 1e6); console.log('A is ' + process.env.A)"
    const flags = ["--watch", "--watch-interval", "1"]
    const at = home()
    const running = at.start(node(script, ...flags), { env })
    await running.until(/A is one/)
    await set(workspace, { "B=": "x" })
    await running.until(/The command goes on with the values that it has: Nothing is started: no environment.*: B=\./)
    await set(workspace, { "B=": null, A: "two" })
    await running.until(/A is two/)
    await running.until(/The secrets of shop in live have changed/)
    // What was written and has the same value starts nothing.
    await set(workspace, { A: "two" })
    await set(workspace, { A: "three" })
    await running.until(/A is three/)
    assert.lengthOf(running.out().match(/A is/g)!, 3)
    assert.notMatch(running.err(), /two|three/)
    running.child.kill("SIGINT")
    assert.strictEqual(await running.code, 130)
    const over = await at.delivery(node("process.exit(5)", "--watch"), { env })
    assert.deepInclude(over, { code: 5, err: "" })
  })

  test("--watch sees changes with a key, too", async ({ workspace }) => {
    await set(workspace, { A: "one" }, "staging")
    const env = {
      ...server.as(workspace),
      DELIVERY_PRODUCT: "shop",
      DELIVERY_ENVIRONMENT: "staging"
    }
    const script = "setInterval(() => {}, 1e6); console.log('A is ' + process.env.A)"
    const running = home().start(node(script, "--watch", "--watch-interval", "1"), { env })
    await running.until(/A is one/)
    await set(workspace, { A: "live" })
    await set(workspace, { A: "two" }, "staging")
    await running.until(/A is two/)
    running.child.kill("SIGTERM")
    assert.strictEqual(await running.code, 143)
    assert.notInclude(running.out(), "live")
  })

  test("--fallback starts a product without the service, and not with a token that has ended", async (deployed) => {
    const { env, revoke, token, workspace } = deployed
    await set(workspace, { A: "canary" })
    const at = home()
    const args = node(printed("A"), "--fallback", "values")
    const away = { ...env, DELIVERY_URL: `http://127.0.0.1:${await freePort()}` }
    const none = await at.delivery(args, { env: away })
    assert.deepInclude(none, { code: 4, out: "" })
    assert.include(none.err, "There is no fallback yet: values is written when the service answers.")
    assert.deepInclude(await at.delivery(args, { env }), { code: 0, err: "", out: '["canary"]\n' })
    const file = join(at.directory, "values")
    assert.notInclude(readFileSync(file, "latin1"), "canary")
    const again = await at.delivery(args, { env: away })
    assert.deepInclude(again, { code: 0, out: '["canary"]\n' })
    assert.match(
      again.err,
      /^delivery: http:\/\/127\.0\.0\.1:\d+ cannot be reached: connection refused \(ECONNREFUSED\)\. Starting with the values of values, which are \d+ seconds? old\.\n$/
    )
    const unlike = `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`
    const other = await at.delivery(args, { env: { ...away, DELIVERY_TOKEN: unlike } })
    assert.deepInclude(other, { code: 4, out: "" })
    assert.include(other.err, "it is damaged, or was written with another token than this one.")
    truncateSync(file, 80)
    assert.deepInclude(await at.delivery(args, { env: away }), { code: 4, out: "" })
    const elsewhere = await at.delivery(node("", "--fallback", "no/such/place"), { env })
    assert.deepInclude(elsewhere, { code: 0, out: "" })
    assert.include(elsewhere.err, "The fallback no/such/place cannot be written (ENOENT)")
    assert.deepInclude(await at.delivery(args, { env }), { code: 0, err: "" })
    await revoke()
    assert.deepInclude(await at.delivery(args, { env }), { code: 3, out: "" })
  })
})
