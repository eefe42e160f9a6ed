import type { AuditPage } from "@delivery/domain/audit/Audit"
import { Effect, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { startServer } from "../support/ServerProcess.ts"

/** `kill -9` amid requests with a requestId: repeated after the restart, each has had one effect and one answer. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const rounds = 2

/** The versions that the audit says were written. */
const auditedVersions = async (call: (method: string, path: string) => Promise<unknown>) => {
  const versions: Array<number> = []
  for (let query = ""; ;) {
    const page = (await call("GET", `/audit?action=secret_changed${query}`)) as AuditPage
    versions.push(...page.entries.flatMap((entry) => entry.versions ?? []))
    if (page.nextCursor === null) return versions
    query = `&cursor=${page.nextCursor}`
  }
}

interface Shown {
  readonly environments: ReadonlyArray<{ readonly version: number; readonly value: string | null }>
}

const environments: Record<string, () => Effect.Effect<Record<string, string>, never, Scope.Scope>> = {
  PostgreSQL: () =>
    Effect.map(makeDatabase, ({ url }) => ({
      DATABASE_URL: url,
      VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`
    })),
  "the embedded database": () => Effect.succeed({})
}

describe("kill -9 amid vault requests", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-vault-kill-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  for (const [name, environment] of Object.entries(environments)) {
    it(`leaves one effect and one answer of each, on ${name}`, async () => {
      const scenario = Effect.gen(function* () {
        const settings = {
          ...(yield* environment()),
          DATA_DIR: join(directory, name),
          BOOTSTRAP_API_KEY: apiKey,
          LOG_LEVEL: "warn"
        }
        yield* Effect.promise(() => killAndCheck(settings))
      })
      await Effect.runPromise(Effect.scoped(scenario))
    }, 120_000)
  }
})

const killAndCheck = async (settings: Record<string, string>): Promise<void> => {
  let server = await startServer(settings)
  const call = async (method: string, path: string, body?: unknown): Promise<Shown> => {
    const response = await fetch(`${server.baseUrl}/v1/workspaces/main${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as Shown
  }
  await call("POST", "/products", { slug: "shop", name: "Shop", type: "library" })
  await call("POST", "/environments", { slug: "staging", name: "Staging", class: "non-production" })
  await call("POST", "/products/shop/secrets", { name: "A" })

  const bodies: Array<{ readonly values: Record<string, string>; readonly requestId: string }> = []
  const acknowledged = new Map<string, Shown>()
  for (let round = 0; round < rounds; round++) {
    let isOver = false
    const writers = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        const body = { values: { staging: `value ${bodies.length}` }, requestId: `request-${bodies.length}` }
        bodies.push(body)
        const answer = await call("PATCH", "/products/shop/secrets/A", body).catch(() => undefined)
        if (answer === undefined) return
        acknowledged.set(body.requestId, answer)
      }
    })
    const enough = acknowledged.size + 8
    while (acknowledged.size < enough) await new Promise((resolve) => setTimeout(resolve, 7 + round * 4))
    await server.end("SIGKILL")
    isOver = true
    await Promise.all(writers)
    server = await startServer(settings)
  }

  const answers = await Promise.all(bodies.map((body) => call("PATCH", "/products/shop/secrets/A", body)))
  const versionOf = (answer: Shown): number | undefined => answer.environments[0]?.version
  bodies.forEach((body, index) => {
    const first = acknowledged.get(body.requestId)
    if (first !== undefined) assert.deepStrictEqual(answers[index], first)
    assert.strictEqual(answers[index]?.environments[0]?.value, body.values["staging"])
  })
  // Each request has a version of its own, and no version is of none.
  assert.deepStrictEqual(
    answers.map(versionOf).toSorted((a = 0, b = 0) => a - b),
    Array.from({ length: bodies.length }, (_, index) => index + 1)
  )
  // So has each in the audit.
  const entries = await auditedVersions(call)
  assert.deepStrictEqual(
    entries.toSorted((a, b) => a - b),
    Array.from({ length: bodies.length }, (_, index) => index + 1)
  )
  const current = await call("GET", "/products/shop/secrets/A")
  assert.strictEqual(versionOf(current), bodies.length)
  assert.isAtLeast(acknowledged.size, 8 * rounds)
  await server.end("SIGTERM")
}
