import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { freePort } from "../../src/cli/FreePort.ts"
import { startPostgres } from "../support/PostgresServer.ts"
import { fill, type Filled, fillRuns } from "./Filling.ts"
import { Client, differences, here, key, type Settings, withServer } from "./Versions.ts"

/**
 * Fills a server of an earlier version, opens its data with this one, and compares every answer. An answer
 * may have new fields; what it had must be there.
 *
 *     git worktree add ../before VERSION && (cd ../before && pnpm install)
 *     node packages/server/test/upgrade/upgrade.ts ../before
 *
 * Not a test of the suite, since it needs the checkout of another version. CONTRIBUTING.md says when to run it.
 */

const before = process.argv[2]
if (before === undefined) throw new Error("Name the checkout of the earlier version.")

const paths = [
  "/v1/me",
  "/v1/workspaces",
  "",
  "members",
  "products?archived=include",
  "products/shop",
  "environments?archived=include",
  "environments/production",
  "deployments?archived=include",
  "deployments/shop/staging",
  "products/shop/secrets",
  "products/shop/secrets/DATABASE_URL",
  "products/docs/secrets/TOKEN",
  "products/shop/secrets/DATABASE_URL/environments/staging/versions",
  "vault",
  "test-runs",
  "test-runs?q=basket",
  "test-runs?result=passed",
  "test-runs/1",
  "test-runs/2",
  "test-runs/3",
  "test-runs/2/files/trace%2Fa%20b.zip",
  "semaphores",
  "teams?archived=include",
  "teams/ENG/members",
  "tickets",
  "tickets/ENG-1",
  "tickets/ENG-1/comments",
  "ticket-statuses",
  "ticket-statuses?team=ENG",
  "projects?archived=include",
  "projects/site",
  "views?team=ENG",
  "views?project=site",
  "tags",
  "agents",
  "messages",
  "notifications",
  "events"
]
const ownerPaths = ["invites", "account-api-keys", "/v1/api-keys", "tickets/ENG-2", "tickets/SEC-1", "teams/SEC"]

/**
 * What changes by being read or by time: when a credential was last used, and what counts down; and cursors of events, which a
 * version may write otherwise.
 */
const volatile = new Set(["lastUsedAt", "lastSeenAt", "live", "retryAfterMs", "before", "after"])
const stable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, inner) => (volatile.has(name) ? undefined : inner)))

const read = async (port: string, { agentKey, keys, message }: Filled): Promise<ReadonlyMap<string, unknown>> => {
  const answers = new Map<string, unknown>()
  for (const [index, token] of keys.entries()) {
    const client = new Client(port, token)
    for (const path of index === 0 ? [...paths, ...ownerPaths] : paths) {
      const answer = await client.get(path).catch((error: Error) => error.message)
      answers.set(`${index} ${path}`, stable(answer))
    }
  }
  const agent = new Client(port, agentKey)
  for (const path of [
    "me",
    "inbox",
    `messages/${message}`,
    "tickets",
    "tickets/ENG-1",
    "ticket-statuses",
    "projects"
  ]) {
    answers.set(`agent ${path}`, stable(await agent.get(`/agent/v1/${path}`).catch((error: Error) => error.message)))
  }
  return answers
}

/** What is read can also be changed. */
const write = async (port: string): Promise<void> => {
  const owner = new Client(port, key)
  await owner.patch("deployments/shop/staging", { version: "2.0.0" })
  await owner.patch("products/shop/secrets/DATABASE_URL", { values: { staging: "postgres://d" } })
  await owner.patch("tickets/ENG-1", { title: "Changed" })
  await owner.post("tickets", { team: "ENG", title: "Third" })
  await fillRuns(owner)
}

const check = async (name: string, settings: Settings): Promise<void> => {
  const port = String(await freePort())
  const all = { ...settings, PORT: port, BASE_URL: "https://delivery.example", BOOTSTRAP_API_KEY: key }
  const [filled, expected] = await withServer(resolve(before), all, async () => {
    const made = await fill(port)
    return [made, await read(port, made)] as const
  })
  const found = await withServer(here, all, async () => {
    const answers = await read(port, filled)
    await write(port)
    return answers
  })
  const readable = [...expected.values()].filter((answer) => typeof answer !== "string" || answer.startsWith("bytes"))
  const added = new Set<string>()
  const lost = [...expected].flatMap(([path, answer]) => differences(answer, found.get(path), path, added))
  assert.deepEqual(lost, [], `${name}: answers that this version lost or changed`)
  const fields = added.size === 0 ? "" : ` New fields: ${[...added].toSorted().join(", ")}.`
  process.stdout.write(`${name}: ${found.size} answers are kept, ${readable.length} of them data.${fields}\n`)
}

const directory = mkdtempSync(join(tmpdir(), "delivery-upgrade-"))
const postgres = await startPostgres()
try {
  const vaultKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`
  await check("The embedded database", { DATA_DIR: join(directory, "embedded") })
  await check("PostgreSQL", {
    DATA_DIR: join(directory, "postgres"),
    DATABASE_URL: postgres.url,
    VAULT_KEYS: vaultKeys
  })
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
}
