import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { eventually, http, newDeployment, openSocket, startRun } from "../support/Http.ts"
import { startS3 } from "../support/S3Server.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Many clients that do nothing: what they cost the server, and that others are served. Memory is read from Linux. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const mebibyte = 1024 * 1024

/** Resident memory of a process in MiB: now, or the most that it ever had. */
const memory = (pid: number, at: "VmRSS" | "VmHWM" = "VmRSS"): number =>
  Number(new RegExp(`^${at}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024

describe.runIf(process.platform === "linux")("many clients", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-many-"))
  let drop = async () => {}
  let server: ServerProcess | undefined
  let clients: ChildProcess | undefined
  afterEach(async () => {
    clients?.kill("SIGKILL")
    await server?.end()
    rmSync(dataDir, { recursive: true, force: true })
    await drop()
  })
  const start = async (environment: Record<string, string>) => {
    const database = await openDatabase()
    drop = database.drop
    server = await startServer({
      DATABASE_URL: database.url,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      DATA_DIR: dataDir,
      LOG_LEVEL: "warn",
      ...environment
    })
    return { server, owner: http(server.baseUrl, apiKey, "main") }
  }

  for (const [name, filesOn] of [
    ["disk", async () => ({ environment: {}, stop: async () => {} })],
    [
      "S3",
      async () => {
        const s3 = await startS3()
        const key = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" }
        return { environment: { ...key, FILES_URL: s3.filesUrl("many") }, stop: s3.stop }
      }
    ]
  ] as const) {
    it(`8 that upload 100 MiB to ${name} at once take little memory`, async () => {
      const { environment, stop } = await filesOn()
      const { owner, server } = await start(environment)
      const workspace = await newDeployment(owner)
      const { number } = await startRun(workspace)
      const upload = (path: string, body: Buffer) =>
        workspace.send("PUT", `test-runs/${number}/files/${path}`, { body })
      const file = Buffer.alloc(100 * mebibyte, "delivery ")
      assert.strictEqual((await upload("small", file.subarray(0, 2 * mebibyte))).status, 201)
      const before = memory(server.pid, "VmHWM")
      const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => upload(`large-${i}`, file)))
      for (const { status } of answers) assert.strictEqual(status, 201)
      // Of 800 MiB that came.
      assert.isBelow(memory(server.pid, "VmHWM") - before, 100)
      await server.end("SIGTERM")
      await stop()
    })

    it(`100 that read nothing of a file of 100 MiB on ${name} take little memory, and nobody waits for them`, async () => {
      const { environment, stop } = await filesOn()
      const { owner, server } = await start(environment)
      const workspace = await newDeployment(owner)
      const { number } = await startRun(workspace)
      const path = `test-runs/${number}/files/large`
      const file = Buffer.alloc(100 * mebibyte, "delivery ")
      assert.strictEqual((await workspace.send("PUT", path, { body: file })).status, 201)
      await workspace.send("GET", path)

      const before = memory(server.pid)
      const stuck = Array.from({ length: 100 }, () => {
        const socket = openSocket(workspace)
        socket.on("error", () => {})
        socket.write(
          `GET /v1/workspaces/${workspace.workspace}/${path} HTTP/1.1\r\nHost: localhost\r\n` +
            `Authorization: Bearer ${apiKey}\r\n\r\n`
        )
        return socket
      })
      const begun = async () => stuck.filter((socket) => socket.readableLength > 0).length
      await eventually(begun, (count) => count === stuck.length)
      for (let i = 0; i < 20; i++) {
        await workspace.get("products")
        await sleep(50)
      }
      assert.isBelow(memory(server.pid) - before, 250)
      for (const socket of stuck) socket.destroy()
      const answer = await workspace.send("GET", path, { headers: { range: "bytes=104857000-" } })
      assert.isTrue(answer.bytes.equals(file.subarray(104_857_000)))
      await server.end("SIGTERM")
      await stop()
    })
  }

  it("10,000 idle clients take little memory and delay nobody", async () => {
    const { owner, server } = await start({})
    const { port } = new URL(server.baseUrl)
    // A machine may allow fewer, to any process.
    const limits = readFileSync("/proc/self/limits", "utf8")
    const count = Math.min(10_000, Number(/^Max open files +\d+ +(\d+)/m.exec(limits)![1]) - 500)
    const before = memory(server.pid)
    const script = fileURLToPath(new URL("../support/IdleClients.ts", import.meta.url))
    clients = spawn(process.execPath, [script, port, String(count)], { stdio: ["ignore", "pipe", "inherit"] })
    await Promise.race([
      once(clients.stdout!, "data"),
      once(clients, "exit").then(() => assert.fail("The clients could not connect."))
    ])
    // The system connects clients that the server has yet to accept.
    await eventually(
      async () => execFileSync("ls", [`/proc/${server.pid}/fd`], { encoding: "utf8" }).split("\n").length,
      (open) => open > count
    )
    for (let i = 0; i < 20; i++) await owner.get("products")
    assert.isBelow(memory(server.pid) - before, 400)
    clients.kill("SIGKILL")
    await once(clients, "exit")
    assert.strictEqual((await owner.send("GET", "products")).status, 200)
  })
})
