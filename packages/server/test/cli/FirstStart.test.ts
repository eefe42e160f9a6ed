import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { eventually } from "../support/Http.ts"
import { answers, main, root, startCommand } from "../support/ServerProcess.ts"

/** The first start, and the way back to a lost key. */

const VAULT_KEYS = `k1:${Buffer.alloc(32, 7).toString("base64")}`

const run = async (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) => {
  const started = startCommand(process.execPath, [main, ...args], environment)
  return { code: await started.code(), output: started.output() }
}

const listen = async (): Promise<{ readonly port: number; readonly close: () => Promise<void> }> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  return {
    port,
    close: async () => {
      server.close()
      await once(server, "close")
    }
  }
}

const me = async (port: number, key: string) =>
  (await fetch(`http://127.0.0.1:${port}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status

const keyIn = (output: string): string => /ctk_[0-9A-Za-z]{42}/.exec(output)![0]

describe("the first start", () => {
  it("checks packages against the Node that scripts run on, not against the one that runs pnpm", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly devDependencies: Readonly<Record<string, string>>
    }
    const settings = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")
    assert.strictEqual(/^nodeVersion: (.+)$/m.exec(settings)?.[1], devDependencies["node"])
  })

  const directories: Array<string> = []
  const drops: Array<() => Promise<void>> = []
  /** The settings of a server on a new database. */
  const newSettings = async (port: number) => {
    const directory = mkdtempSync(join(tmpdir(), "delivery-first-"))
    directories.push(directory)
    const { drop, url } = await openDatabase()
    drops.push(drop)
    return { DATABASE_URL: url, VAULT_KEYS, DATA_DIR: directory, PORT: String(port), LOG_LEVEL: "warn" }
  }
  afterEach(async () => {
    for (const drop of drops.splice(0)) await drop()
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
  })

  it("that cannot have its port makes nobody, and the next one that can prints the key", async () => {
    const taken = await listen()
    const environment = await newSettings(taken.port)
    const refused = await run(["serve"], environment)
    assert.strictEqual(refused.code, 1)
    assert.notInclude(refused.output, "ctk_")
    assert.deepStrictEqual(await run(["person", "list"], environment), { code: 0, output: "" })
    await taken.close()

    const server = startCommand(process.execPath, [main, "serve"], environment)
    await eventually(
      async () => server.output(),
      (output) => output.includes("curl")
    )
    assert.strictEqual(await me(taken.port, keyIn(server.output())), 200)
    await eventually(
      async () => server.output(),
      (output) => new RegExp(`  http://localhost:${taken.port}/sign-in#ltk_\\w{42}\n`).test(output)
    )
    server.child.kill("SIGTERM")
    await server.code()
  })

  it("recovers from a lost key: the host lists persons and creates a new key", async () => {
    const { close, port } = await listen()
    await close()
    const environment = await newSettings(port)
    const first = startCommand(process.execPath, [main, "serve"], environment)
    await eventually(
      async () => first.output(),
      (output) => output.includes("curl")
    )
    // PostgreSQL is not the server's alone: the commands work beside it.
    const listed = await run(["person", "list"], environment)
    assert.deepStrictEqual(listed, { code: 0, output: "owner@example.com  Owner  main (owner)\n" })
    const created = await run(["api-key", "create", "owner@example.com", "--name", "Found again"], environment)
    assert.strictEqual(created.code, 0, created.output)
    const unknown = await run(["api-key", "create", "nobody@example.com"], environment)
    assert.strictEqual(unknown.code, 1)
    assert.match(unknown.output.trim(), /^There is no person with the email or id "nobody@example.com"\.[^\n]*$/)
    assert.strictEqual(await me(port, keyIn(created.output)), 200)
    first.child.kill("SIGTERM")
    await first.code()

    const second = startCommand(process.execPath, [main, "serve"], environment)
    await eventually(
      async () => await answers(port),
      (isAnswering) => isAnswering
    )
    assert.notInclude(second.output(), "ctk_")
    assert.notInclude(second.output(), "ltk_")
    assert.strictEqual(await me(port, keyIn(first.output())), 200)
    second.child.kill("SIGTERM")
    await second.code()
  })

  it("is what makes a database: the commands of the host make none", async () => {
    const directory = mkdtempSync(join(tmpdir(), "delivery-first-"))
    directories.push(directory)
    const environment = { DATA_DIR: directory, LOG_LEVEL: "warn" }
    const { code, output } = await run(["api-key", "create", "owner@example.com"], environment)
    assert.strictEqual(code, 1)
    assert.strictEqual(output.trim(), `There is no database in DATA_DIR ${directory}.`)
    assert.deepStrictEqual(readdirSync(directory), [])
  })

  it.each(["/proc/delivery", "/proc/self/delivery/data"])("refuses %s as DATA_DIR in a line", async (directory) => {
    const { code, output } = await run(["serve"], { DATA_DIR: directory, PORT: "0" })
    assert.strictEqual(code, 1)
    assert.match(output.trim(), /^DATA_DIR is invalid: [^\n]*$/)
  })
})
