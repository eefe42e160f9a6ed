import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { StartedTestRun } from "@delivery/domain/runs/TestRun"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import { freePort } from "../../server/src/cli/FreePort.ts"
import { eventually, http, runOf } from "../../server/test/support/Http.ts"
import { baseEnvironment, startServer } from "../../server/test/support/ServerProcess.ts"
import { newHome, type Running } from "./support/Home.ts"

/**
 * A real product, the Fixture API of the demo, boots from its secrets in production: by `secrets run`, by `loadSecrets` and by
 * `--env-file`. A rotated value reaches it, and it starts while the service is dead. It never has the token that read them.
 */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const product = fileURLToPath(new URL("../../playwright/demo/product.ts", import.meta.url))

/** A product that listens. */
interface Listening {
  readonly url: string
  readonly output: () => string
  readonly end: () => Promise<unknown>
}

const startNode = async (
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string>>
): Promise<Listening> => {
  const child: ChildProcess = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  }
  const ended = once(child, "exit")
  const found = await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`The product has ended:\n${output}`)
      return addresses(output)[0]
    },
    (url) => url !== undefined
  )
  return { url: found!, output: () => output, end: () => (child.kill(), ended) }
}

const addresses = (output: string): ReadonlyArray<string> =>
  [...output.matchAll(/The Fixture API answers at (\S+)\n/g)].map(([, url]) => url!)

/** The status with which a product counts its customers for who has the password. */
const count = (url: string, password: string): Promise<number> =>
  fetch(new URL("/customers", url), { headers: { authorization: `Bearer ${password}` } }).then(
    async (answer) => (await answer.arrayBuffer(), answer.status),
    () => 0
  )

/** What the system shows of the processes that a process has started, and of theirs. */
const seenOfChildren = (pid: number): ReadonlyArray<string> => {
  const listed = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
  const processes = listed
    .split("\n")
    .flatMap((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    .reduce<Array<Array<string>>>((rows, cell, index) => {
      if (index % 4 === 0) rows.push([])
      rows.at(-1)!.push(cell)
      return rows
    }, [])
  const below = (parent: string): ReadonlyArray<readonly [string, string]> =>
    processes
      .filter(([, , of]) => of === parent)
      .flatMap(([, child = "", , args = ""]) => [[child, args] as const, ...below(child)])
  return below(String(pid)).map(
    ([child, args]) =>
      args +
      (existsSync(`/proc/${child}/environ`) ? readFileSync(`/proc/${child}/environ`, "latin1") : "") +
      (existsSync(`/proc/${child}/cmdline`) ? readFileSync(`/proc/${child}/cmdline`, "latin1") : "")
  )
}

it("a product boots from its secrets, follows them, and starts without the service", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-product-"))
  const home = newHome()
  const port = String(await freePort())
  const server = await startServer({
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: apiKey,
    LOG_LEVEL: "info",
    PORT: port,
    BASE_URL: `http://127.0.0.1:${port}`
  })
  const products: Array<Running> = []
  try {
    const owner = http(server.baseUrl, apiKey, "main")
    const { id } = await owner.get<Workspace>("/v1/workspaces/main")
    await owner.post("products", { slug: "fixtures", name: "Fixtures", type: "api" })
    await owner.post("environments", { slug: "live", name: "Live", class: "production" })
    await owner.post("deployments", { product: "fixtures", environment: "live", baseUrl: "https://fixtures.example" })
    const path = "deployments/fixtures/live/tokens"
    const { token } = await owner.post<NewDeploymentToken>(path, { name: "kubernetes" })
    const set = (name: string, value: string) =>
      owner.post("vault/assignments", { products: ["fixtures"], environments: ["live"], name, value }, 200)
    await set("DELIVERY_ISSUER", server.baseUrl)
    await set("WORKSPACE_ID", id)
    const [first, second, third] = ["it's the first\n", "second", "third"]
    // A header of HTTP can have the last two alone.
    await set("ADMIN_PASSWORD", second)
    await set("GREETING", first)
    const env = { DELIVERY_URL: server.baseUrl, DELIVERY_TOKEN: token }

    const run = (...flags: ReadonlyArray<string>) => {
      const running = home.start(["secrets", "run", ...flags, "--", process.execPath, product], { env })
      products.push(running)
      return running
    }
    const noToken = (running: Running) => {
      const seen = seenOfChildren(running.child.pid!)
      assert.isNotEmpty(seen)
      for (const one of seen) assert.notInclude(one, token)
      assert.notInclude(running.out() + running.err(), token)
    }
    const ended = async (running: Running) => {
      running.child.kill("SIGTERM")
      assert.strictEqual(await running.code, 143)
    }

    // By `secrets run`, with runs of a real service that it verifies the tokens of.
    const started = run("--watch", "--watch-interval", "1", "--fallback", "values")
    const [, url = ""] = await started.until(/The Fixture API answers at (\S+)\n/)
    assert.deepStrictEqual([await count(url, second), await count(url, third)], [200, 401])
    noToken(started)
    await owner.post("environments", { slug: "staging", name: "Staging", class: "non-production" })
    await owner.post("deployments", { product: "fixtures", environment: "staging", baseUrl: url, fixtureUrl: url })
    const { fixture } = await owner.post<StartedTestRun>("test-runs", {
      ...runOf(),
      product: "fixtures",
      fixtureUrl: url
    })
    const made = await fetch(`${fixture!.url}/${fixture!.scope}`, {
      method: "POST",
      headers: { authorization: `Bearer ${fixture!.token}`, "content-type": "application/json" },
      body: '{"customer":"Ana"}'
    })
    assert.strictEqual(made.status, 201)

    // By `loadSecrets`, and by a file for Node.
    const alone = { ...baseEnvironment, ...env }
    const loading = await startNode([product, "--load"], home.directory, alone)
    const headers = { authorization: `Bearer ${token}` }
    const file = await fetch(`${server.baseUrl}/deploy/v1/secrets?format=env`, { headers })
    writeFileSync(join(home.directory, "product.env"), await file.text(), { mode: 0o600 })
    const { DELIVERY_ISSUER: _, ...plain } = baseEnvironment
    const fromFile = await startNode(["--env-file=product.env", product], home.directory, plain)
    assert.deepStrictEqual([await count(loading.url, second), await count(fromFile.url, second)], [200, 200])

    // A rotated value reaches those that watch.
    await set("ADMIN_PASSWORD", third)
    const later = () => {
      const newest = addresses(started.out()).at(-1)!
      return count(newest, third)
    }
    await eventually(later, (status) => status === 200)
    await eventually(
      () => count(loading.url, third),
      (status) => status === 200
    )
    assert.strictEqual(await count(addresses(started.out()).at(-1)!, second), 401)
    assert.strictEqual(await count(fromFile.url, second), 200)
    noToken(started)
    await ended(started)

    // The service is dead.
    await server.end("SIGKILL")
    assert.strictEqual(await count(loading.url, third), 200)
    const without = run("--fallback", "values")
    const [, again = ""] = await without.until(/The Fixture API answers at (\S+)\n/)
    assert.match(
      without.err(),
      /cannot be reached: connection refused \(ECONNREFUSED\)\. Starting with the values of values, which are .+ old\.\n/
    )
    assert.strictEqual(await count(again, third), 200)
    noToken(without)
    await ended(without)
    assert.deepStrictEqual(await run("--fallback", "none").code, 4)

    for (const listening of [loading, fromFile]) {
      await listening.end()
      for (const hidden of [token, second, third]) assert.notInclude(listening.output(), hidden)
    }
    for (const hidden of [token, JSON.stringify(first).slice(1, -1)]) assert.notInclude(server.output(), hidden)
  } finally {
    for (const { child } of products) child.kill("SIGTERM")
    await server.end()
    home.remove()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
