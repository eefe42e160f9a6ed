import type { WorkspaceId } from "@delivery/domain/Ids"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll } from "vitest"
import { layerMemoryStorage, layerSqlStorage } from "../../src/App.ts"
import { Settings } from "../../src/Config.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { DataKeys } from "../../src/vault/DataKeys.ts"
import { VaultKeys } from "../../src/vault/VaultKeys.ts"
import * as VaultRoom from "../../src/vault/VaultRoom.ts"
import { VaultKeysRepo } from "../../src/vault/VaultKeysRepo.ts"
import { addWorkspace } from "../identity/Scene.ts"
import { layerEmbedded, layerPostgres, makeDatabase } from "../support/Databases.ts"
import { baseEnvironment, type ServerProcess, startServer } from "../support/ServerProcess.ts"
import * as Ids from "../../src/ids/Ids.ts"

/** The keys of `VAULT_KEYS` against the database: proof at start, status, rotation. */

interface Read {
  readonly environments: ReadonlyArray<{ readonly value: string | null }>
}

const key = (id: string) => `${id}:${randomBytes(32).toString("base64")}`

/** The services over the same storage with other keys, as another start of the server would have them. */
const withKeys = <A, E, R>(keys: ReadonlyArray<string>, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(
    effect,
    Layer.mergeAll(VaultRoom.layerDataKeys, Keys.layer).pipe(
      Layer.provideMerge(VaultRoom.layerKeys),
      Layer.provideMerge(Keys.layerKeyring),
      Layer.provide([Settings.layer({ VAULT_KEYS: keys.join(",") }), Ids.layer, NodeServices.layer])
    ),
    { local: true }
  )

const status = Effect.flatMap(VaultKeys, (keys) => keys.status)
const rotate = Effect.flatMap(VaultKeys, (keys) => keys.rotate)
const fingerprint = (workspaceId: WorkspaceId) =>
  Effect.map(
    Effect.flatMap(DataKeys, (keys) => keys.cipher(workspaceId)),
    (cipher) => cipher.fingerprint("text")
  )

for (const [name, storage] of [
  ["memory", layerMemoryStorage],
  ["the embedded database", Layer.provide(layerSqlStorage, layerEmbedded)],
  ["PostgreSQL", Layer.provide(layerSqlStorage, layerPostgres)]
] as const) {
  layer(storage)(`VaultKeys on ${name}`, (it) => {
    // One story, since the keys are those of the whole database.
    it.effect(
      "verifies keys at start, reports which are in use, and rotates them",
      () =>
        Effect.gen(function* () {
          const [k1, k2] = [key("k1"), key("k2")]
          const workspaces: Array<WorkspaceId> = []
          for (let i = 0; i < 230; i++) workspaces.push((yield* addWorkspace()).id)
          const [first, last] = [workspaces[0]!, workspaces.at(-1)!]

          const before = yield* withKeys([k1], Effect.forEach(workspaces, fingerprint))
          assert.strictEqual(new Set(before).size, 230)
          assert.deepStrictEqual(yield* withKeys([k1], status), [
            { id: "k1", isActive: true, isGiven: true, dataKeys: 230, signingKeys: 1 }
          ])

          const wrong = yield* Effect.flip(withKeys([key("k1")], status))
          assert.include(wrong.message, "VAULT_KEYS is invalid: its key k1 ")
          const missing = yield* Effect.flip(withKeys([k2], status))
          assert.include(missing.message, "VAULT_KEYS lacks the key k1")

          assert.deepStrictEqual(yield* withKeys([k2, k1], status), [
            { id: "k2", isActive: true, isGiven: true, dataKeys: 0, signingKeys: 0 },
            { id: "k1", isActive: false, isGiven: true, dataKeys: 230, signingKeys: 1 }
          ])
          // A server with both keys runs on while another process rotates, twice at once.
          yield* withKeys(
            [k2, k1],
            Effect.gen(function* () {
              assert.strictEqual(yield* fingerprint(first), before[0])
              const [a, b] = yield* Effect.all([rotate, rotate], { concurrency: "unbounded" })
              assert.strictEqual(a.dataKeys + b.dataKeys, 230)
              assert.strictEqual(yield* fingerprint(first), before[0])
              assert.strictEqual(yield* fingerprint(last), before.at(-1))
            })
          )
          assert.deepStrictEqual(yield* withKeys([k2], rotate), { dataKeys: 0, signingKeys: 0 })
          assert.deepStrictEqual(yield* withKeys([k2], Effect.forEach(workspaces, fingerprint)), before)
          const gone = yield* Effect.flip(withKeys([k1], status))
          assert.include(gone.message, "VAULT_KEYS lacks the key k2")
          // An id once used stands for its key.
          const reused = yield* Effect.flip(withKeys([k2, key("k1")], status))
          assert.include(reused.message, "VAULT_KEYS is invalid: its key k1 ")
        }),
      60_000
    )

    it.effect("creates one data key for a workspace under concurrent requests", () =>
      Effect.gen(function* () {
        const { id } = yield* addWorkspace()
        const { keyId } = (yield* (yield* VaultKeysRepo).countDataKeys)[0]!
        assert.strictEqual(keyId, "k2")
        const repo = yield* VaultKeysRepo
        const rows = [1, 2, 3].map((n) => ({
          id: `0197a1b2-0000-7000-8000-00000000000${n}`,
          workspaceId: id,
          keyId: "k2",
          sealed: `v1:k2:${n}`,
          createdAt: "2026-01-01T00:00:00.000Z",
          revisionKey: null
        }))
        yield* Effect.all(rows.map(repo.insertDataKey), { concurrency: "unbounded" })
        assert.include(
          rows.map(({ sealed }) => sealed),
          (yield* repo.dataKeys(id))[0]?.sealed
        )
      })
    )
  })
}

describe("the command vault", () => {
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))
  const directory = mkdtempSync(join(tmpdir(), "delivery-vault-"))
  let server: ServerProcess | undefined
  afterAll(async () => {
    await server?.end()
    rmSync(directory, { recursive: true, force: true })
  })

  const run = async (environment: Record<string, string>, ...args: ReadonlyArray<string>) => {
    const options = { env: { ...baseEnvironment, LOG_LEVEL: "warn", ...environment } }
    return await promisify(execFile)(process.execPath, [main, ...args], options).then(
      ({ stdout }) => ({ code: 0, output: stdout.trim() }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        output: (error.stdout + error.stderr).trim()
      })
    )
  }

  it.effect(
    "rotates on PostgreSQL while a server runs, and the old key is then not needed",
    () =>
      Effect.gen(function* () {
        const { url } = yield* makeDatabase
        const [k1, k2] = [key("k1"), key("k2")]
        const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
        const environment = (...keys: ReadonlyArray<string>) => ({
          DATABASE_URL: url,
          DATA_DIR: directory,
          BOOTSTRAP_API_KEY: apiKey,
          VAULT_KEYS: keys.join(",")
        })
        const call = async (method: string, path: string, body?: unknown) => {
          const response = await fetch(`${server!.baseUrl}/v1/workspaces/main${path}`, {
            method,
            headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
          return { status: response.status, body: (await response.json()) as Read }
        }
        yield* Effect.promise(async () => {
          server = await startServer(environment(k1))
          await call("POST", "/products", { slug: "shop", name: "Shop", type: "library" })
          await call("POST", "/environments", { slug: "staging", name: "Staging", class: "non-production" })
          const made = await call("POST", "/products/shop/secrets", { name: "A", values: { staging: "canary" } })
          assert.strictEqual(made.status, 201)
          await server.end("SIGTERM")

          const refused = await run(environment(k2), "vault", "rotate")
          assert.strictEqual(refused.code, 1)
          assert.match(refused.output, /^VAULT_KEYS lacks the key k1,.*$/)
          const shown = await run(environment(k2), "vault", "status")
          assert.match(shown.output, /^k1: 1 data keys, 1 signing keys \(missing in VAULT_KEYS\)$/m)
          for (const keys of [[k2], [key("k1")]]) {
            const start = await run(environment(...keys), "serve")
            assert.strictEqual(start.code, 1)
            assert.match(start.output, /^VAULT_KEYS .*\bk1\b.*$/)
            assert.notInclude(start.output, keys[0]!.split(":")[1]!)
          }

          server = await startServer(environment(k2, k1))
          const reads = (async () => {
            const statuses = new Set<number>()
            for (let i = 0; i < 200; i++) {
              statuses.add((await call("PATCH", "/products/shop/secrets/A", { values: { staging: `v${i}` } })).status)
            }
            return statuses
          })()
          const before = await run(environment(k2, k1), "vault", "status")
          assert.include(before.output, "`node packages/server/src/cli/main.ts vault rotate` replaces it")
          const called = await run({ ...environment(k2, k1), npm_lifecycle_event: "delivery" }, "vault", "status")
          assert.include(called.output, "`pnpm delivery vault rotate` replaces it")
          const rotated = await run(environment(k2, k1), "vault", "rotate")
          assert.strictEqual(rotated.code, 0)
          assert.match(rotated.output, /^Encrypted 1 data keys and 1 signing keys under the active key\.$/m)
          assert.match(rotated.output, /^k1: 0 data keys, 0 signing keys \(not in use; may be removed\)$/m)
          assert.deepStrictEqual(await reads, new Set([200]))
          await server.end("SIGTERM")
          server = await startServer(environment(k2))
          const { body } = await call("GET", "/products/shop/secrets/A")
          assert.strictEqual(body.environments[0]?.value, "v199")
          await server.end("SIGTERM")
          server = undefined
        })
      }),
    120_000
  )

  it("generates a key once for the embedded database, and rejects a different one", async () => {
    const environment = { DATA_DIR: join(directory, "embedded") }
    server = await startServer(environment)
    await server.end("SIGTERM")
    server = undefined
    const status = await run(environment, "vault", "status")
    assert.match(status.output, /^local: 0 data keys, 1 signing keys \(active\)$/)
    const file = readFileSync(join(directory, "embedded", "keys", "vault.keys"), "utf8").trim()
    const rotated = await run({ ...environment, VAULT_KEYS: `${key("k2")},${file}` }, "vault", "rotate")
    assert.match(rotated.output, /^Encrypted 0 data keys and 1 signing keys under the active key\.$/m)
    const old = await run(environment, "serve")
    assert.strictEqual(old.code, 1)
    assert.match(old.output, /^VAULT_KEYS lacks the key k2,.*$/)
  }, 240_000)

  it("asks for the key of DATA_DIR that is lost, and makes no other one", async () => {
    const environment = { DATA_DIR: join(directory, "lost") }
    server = await startServer(environment)
    await server.end("SIGTERM")
    server = undefined
    const keys = join(environment.DATA_DIR, "keys")
    renameSync(keys, `${keys}.kept`)
    for (const args of [["serve"], ["vault", "status"]]) {
      const refused = await run(environment, ...args)
      assert.strictEqual(refused.code, 1)
      assert.include(refused.output, `${keys} is missing, and has the key that encrypts`)
      assert.isFalse(existsSync(keys))
    }
    renameSync(`${keys}.kept`, keys)
    assert.include(await run(environment, "vault", "status"), { code: 0 })
  }, 240_000)
})
