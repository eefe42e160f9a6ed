import { createHash, randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { assertRunNumbers, finishOf, http, report, runOf } from "../support/Http.ts"
import { startS3 } from "../support/S3Server.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** `kill -9` of the server in the middle of starts, uploads and finishes: what was acknowledged is there afterwards. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const rounds = 4
const testsPerRun = 40

interface Attempted {
  number: number
  isFinished: boolean
  triedToFinish: boolean
  /** What each path may hold: the last acknowledged content, and those sent after it. */
  readonly files: Map<string, { acknowledged: string | undefined; readonly inDoubt: Set<string> }>
}

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const call = async (server: ServerProcess, method: string, path: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(`${server.baseUrl}/v1/workspaces/main${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

const startBody = runOf({ environment: "ci" })

const finishBody = finishOf({ tests: Array.from({ length: testsPerRun }, (_, index) => report(`case-${index}`)) })

/** One publisher: starts runs, uploads to each, and finishes most of them, until the server dies. */
const publish = async (server: ServerProcess, attempted: Array<Attempted>, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    const started = (await call(server, "POST", "/test-runs", startBody)) as { number: number }
    const run: Attempted = { number: started.number, isFinished: false, triedToFinish: false, files: new Map() }
    attempted.push(run)
    for (let i = 0; i < 4 && !isOver(); i++) {
      const path = `trace-${i % 3}.zip`
      const bytes = randomBytes(50_000 + Math.floor(Math.random() * 2_000_000))
      const file = run.files.get(path) ?? { acknowledged: undefined, inDoubt: new Set<string>() }
      run.files.set(path, file)
      file.inDoubt.add(sha(bytes))
      const response = await fetch(`${server.baseUrl}/v1/workspaces/main/test-runs/${run.number}/files/${path}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${apiKey}` },
        body: bytes
      })
      assert.oneOf(response.status, [200, 201], await response.text())
      file.acknowledged = sha(bytes)
      file.inDoubt.clear()
    }
    if (run.number % 4 === 0) continue
    run.triedToFinish = true
    await call(server, "POST", `/test-runs/${run.number}/finish`, finishBody)
    run.isFinished = true
  }
}

/** How many files were acknowledged and not replaced since. */
const acknowledgedIn = (attempted: ReadonlyArray<Attempted>): number =>
  attempted.flatMap(({ files }) => [...files.values()]).filter(({ acknowledged }) => acknowledged !== undefined).length

const filesOn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Reads everything back, and compares it with what was attempted. Answers how many files are visible. */
const verify = async (server: ServerProcess, attempted: ReadonlyArray<Attempted>): Promise<number> => {
  await assertRunNumbers(http(server.baseUrl, apiKey, "main"))
  let visible = 0
  for (const run of attempted) {
    const read = (await call(server, "GET", `/test-runs/${run.number}`)) as {
      state: string
      counts: { total: number }
      tests: ReadonlyArray<unknown>
    }
    if (run.isFinished) assert.strictEqual(read.state, "finished", `run ${run.number} was acknowledged as finished`)
    if (!run.triedToFinish) assert.strictEqual(read.state, "running")
    assert.strictEqual(read.tests.length, read.state === "finished" ? testsPerRun : 0, `run ${run.number} is whole`)
    assert.strictEqual(read.counts.total, read.tests.length)
    for (const [path, file] of run.files) {
      const response = await fetch(`${server.baseUrl}/v1/workspaces/main/test-runs/${run.number}/files/${path}`, {
        headers: { authorization: `Bearer ${apiKey}` }
      })
      const bytes = new Uint8Array(await response.arrayBuffer())
      if (response.status === 404) {
        assert.isUndefined(file.acknowledged, `${path} of run ${run.number} was acknowledged`)
        continue
      }
      assert.strictEqual(response.status, 200)
      assert.include([file.acknowledged, ...file.inDoubt], sha(bytes), `${path} of run ${run.number} is whole`)
      visible++
    }
  }
  return visible
}

/** Both databases and both stores of files, once each. */
const places = [
  [
    "the embedded database and disk",
    async (dataDir: string) => ({
      environment: {},
      files: () => filesOn(join(dataDir, "files")),
      drop: async () => {}
    })
  ],
  [
    "PostgreSQL and S3",
    async () => {
      const s3 = await startS3()
      const database = await openDatabase()
      return {
        environment: {
          DATABASE_URL: database.url,
          VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
          FILES_URL: s3.filesUrl("killed"),
          AWS_ACCESS_KEY_ID: "S3RVER",
          AWS_SECRET_ACCESS_KEY: "S3RVER"
        },
        files: s3.keys,
        drop: async () => {
          await database.drop()
          await s3.stop()
        }
      }
    }
  ]
] as const

for (const [name, prepare] of places) {
  describe(`kill -9 on ${name}`, () => {
    let server: ServerProcess | undefined
    const dataDir = mkdtempSync(join(tmpdir(), "delivery-kill-"))
    afterAll(async () => {
      await server?.end()
      rmSync(dataDir, { recursive: true, force: true })
    })

    it("loses nothing acknowledged, leaves no half-finished run and no stray file", async () => {
      const { drop, environment, files } = await prepare(dataDir)
      const settings = { ...environment, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey, LOG_LEVEL: "warn" }
      server = await startServer(settings)
      await call(server, "POST", "/products", { slug: "shop", name: "Shop", type: "library" })
      await call(server, "POST", "/environments", { slug: "ci", name: "CI", class: "non-production" })
      await call(server, "POST", "/deployments", { product: "shop", environment: "ci" })

      const attempted: Array<Attempted> = []
      for (let round = 0; round < rounds; round++) {
        let isOver = false
        const running = server
        const publishers = Array.from({ length: 6 }, () =>
          publish(running, attempted, () => isOver).catch((error: unknown) => {
            // The server died under the request: that is the point. Any other failure is one.
            if (!isOver) throw error
          })
        )
        const settled = Promise.all(publishers)
        const before = acknowledgedIn(attempted)
        await Promise.race([settled, sleep(500 + Math.random() * 700)])
        // A busy machine takes longer until there is something to lose.
        while (acknowledgedIn(attempted) < before + 4) await Promise.race([settled, sleep(100)])
        isOver = true
        await running.end("SIGKILL")
        await settled
        server = await startServer(settings)
        await verify(server, attempted)
      }
      assert.isAbove(attempted.length, rounds * 3)
      const visible = await verify(server, attempted)
      assert.isAbove(visible, rounds * 3)

      // What the killed server was writing lapses within seconds and is swept away.
      while (files().length !== visible) await sleep(500)
      await server.end("SIGTERM")
      await drop()
    }, 180_000)
  })
}
