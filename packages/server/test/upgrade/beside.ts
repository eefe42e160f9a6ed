import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { freePort } from "../../src/cli/FreePort.ts"
import { startPostgres } from "../support/PostgresServer.ts"
import { attempt, fill, type Filled, origin, test } from "./Filling.ts"
import { Client, differences, here, key, mainOf, withServer } from "./Versions.ts"

/**
 * A server of an earlier version and one of this version work on one PostgreSQL, under load, as while machines are replaced
 * one by one. The later one starts, and migrates, while the earlier one works; the earlier one stops while the later one does. What one
 * of them has done, the other one goes on with. No call may fail, and no count, reference or file be wrong at the end.
 *
 *     git worktree add ../before VERSION && (cd ../before && pnpm install)
 *     node packages/server/test/upgrade/beside.ts ../before
 *
 * `ROUNDS` says how often each of the lanes does everything (50).
 */

const before = process.argv[2]
if (before === undefined) throw new Error("Name the checkout of the earlier version.")
const rounds = Number(process.env["ROUNDS"] ?? 50)
const lanes = 4

/** A client of each of the two servers that take turns: what one does, the other continues. */
interface Pair {
  readonly one: string
  readonly other: string
}

interface Lane {
  readonly name: string
  readonly filled: Filled
  readonly deployToken: string
  readonly added: Set<string>
}

const baseUrl = "https://staging.shop.example"

let calls = 0

/** What a call has answered to both is the same, but for fields that only the later version has. */
const same = async (path: string, earlier: Client, later: Client, added: Set<string>): Promise<void> => {
  const [was, is] = [await earlier.get(path), await later.get(path)]
  calls += 2
  assert.deepEqual(differences(was, is, path, added), [], "the two versions answer differently")
}

const runs = async ({ one, other }: Pair, { filled, name }: Lane): Promise<number> => {
  const [starting, finishing] = [one, other].map((port) => new Client(port, filled.keys[2])) as [Client, Client]
  const selection = { coverage: "acceptance", folders: ["checkout"], caseIds: [] }
  const start = { product: "shop", environment: "staging", baseUrl, ...origin, selection }
  const run = await starting.post<{ number: number; semaphores: { token: string } }>("test-runs", start)
  const lease = { capacity: lanes, waitMs: 20_000, test: name }
  const leases = `semaphores/payments/leases`
  const held = await new Client(other, run.semaphores.token).post<{ lease: string }>(leases, lease)
  await new Client(one, run.semaphores.token).delete(`${leases}/${held.lease}`)
  await starting.put(`test-runs/${run.number}/files/trace/a b.zip`, `a trace of ${name}`, "application/zip")
  const tests = [test(`${name}-a`, "failed"), test(`${name}-b`, "passed")]
  await finishing.post(`test-runs/${run.number}/finish`, { interrupted: false, durationMs: 1000, tests })
  const { retry } = await starting.post<{ retry: number }>(`test-runs/${run.number}/retries`, {
    passes: 1,
    baseUrl: null,
    ...origin
  })
  await finishing.post(`test-runs/${run.number}/retries/${retry}/finish`, {
    interrupted: false,
    tests: [{ caseId: `${name}-a`, attempts: [attempt("passed")] }]
  })
  calls += 7
  return run.number
}

const secrets = async ({ one, other }: Pair, { deployToken, name }: Lane, round: number): Promise<void> => {
  const value = `${name} ${round} ünï\n😀`
  const secret = `LANE_${name}`
  await new Client(one, key).patch(`products/shop/secrets/${secret}`, { values: { staging: value } })
  const found = await new Client(other, key).get(`products/shop/secrets/${secret}?values=staging`)
  assert.ok(JSON.stringify(found).includes(JSON.stringify(value)), `${secret} is what the other version wrote`)
  const deployed = await new Client(other, deployToken).get("/deploy/v1/secrets")
  assert.ok(JSON.stringify(deployed).includes(JSON.stringify(value)), `${secret} is delivered`)
  calls += 3
}

interface Status {
  readonly id: string
  readonly category: string
}

const planning = async ({ one, other }: Pair, { filled, name }: Lane, round: number): Promise<string> => {
  const [writing, going] = [new Client(one, key), new Client(other, key)]
  const title = `Lane ${name}, round ${round}`
  const { id } = await writing.post<{ id: string }>("tickets", { team: "ENG", title, description: "A *list*" })
  const { statuses } = (await going.get("ticket-statuses?team=ENG")) as { readonly statuses: ReadonlyArray<Status> }
  const statusOf = (category: string) => statuses.find((one) => one.category === category)!.id
  await going.post(`tickets/${id}/reorder`, { before: "ENG-1" })
  await going.patch(`tickets/${id}`, { status: statusOf("started") })
  await going.post(`tickets/${id}/comments`, { body: "Seen" })
  await going.patch(`tickets/${id}`, { status: statusOf("completed") })
  await writing.patch("deployments/shop/staging", { version: `${name}.${round}` })
  const [agent, taking] = [new Client(one, filled.agentKey), new Client(other, filled.agentKey)]
  const me = (await agent.get("/agent/v1/me")) as { readonly agent: { readonly id: string } }
  await writing.post("messages", { agent: me.agent.id, ticket: id, ask: "build" })
  const { messages } = await taking.post<{ messages: ReadonlyArray<{ id: string }> }>("/agent/v1/inbox/take", {})
  for (const message of messages) await agent.post(`/agent/v1/messages/${message.id}/complete`, { reply: "Done" })
  calls += 10 + messages.length
  return id
}

/** A place in the feed that one version tells is one for the other: clients move between servers. */
const feed = async ({ one, other }: Pair): Promise<void> => {
  const { after } = (await new Client(one, key).get("events?limit=5")) as { readonly after?: string | null }
  if (typeof after === "string") await new Client(other, key).get(`events?after=${encodeURIComponent(after)}`)
  calls += 2
}

const once = async (pair: Pair, lane: Lane, round: number) => {
  const run = await runs(pair, lane)
  await secrets(pair, lane, round)
  const ticket = await planning(pair, lane, round)
  await feed(pair)
  return [`test-runs/${run}`, `tickets/${ticket}`, `tickets/${ticket}/comments`]
}

const directory = mkdtempSync(join(tmpdir(), "delivery-beside-"))
const postgres = await startPostgres()
try {
  const settings = {
    DATA_DIR: join(directory, "data"),
    DATABASE_URL: postgres.url,
    VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    BASE_URL: "https://delivery.example",
    BOOTSTRAP_API_KEY: key,
    WEBSITE: "false"
  }
  const [earlier, later] = [String(await freePort()), String(await freePort())]
  let isLaterReady = false
  const ready = Promise.withResolvers<void>()
  const mayStop = Promise.withResolvers<void>()
  const added = new Set<string>()

  const lanesOf = async (): Promise<ReadonlyArray<Lane>> => {
    const owner = new Client(earlier, key)
    const filled = await fill(earlier)
    const { token } = await owner.post<{ token: string }>("deployments/shop/staging/tokens", { name: "beside" })
    const made = Array.from({ length: lanes }, (_, n) => ({
      name: String.fromCharCode(65 + n),
      filled,
      deployToken: token,
      added
    }))
    for (const { name } of made)
      await owner.post("products/shop/secrets", { name: `LANE_${name}`, values: { staging: "-" } })
    return made
  }

  const work = async (lane: Lane): Promise<void> => {
    // Until the later version is there, the earlier one is alone; then they take turns; at the end the later one is alone.
    let alone = 0
    while (!isLaterReady) await once({ one: earlier, other: earlier }, lane, --alone)
    for (let round = 0; round < rounds; round++) {
      const pair = round % 2 === 0 ? { one: earlier, other: later } : { one: later, other: earlier }
      const made = await once(pair, lane, round)
      for (const path of made) await same(path, new Client(earlier, key), new Client(later, key), added)
    }
  }
  const goOn = async (lane: Lane): Promise<void> => {
    for (let round = rounds; round < rounds + 5; round++) await once({ one: later, other: later }, lane, round)
  }

  let all: ReadonlyArray<Lane> = []
  const stopped = Promise.withResolvers<void>()
  const withEarlier = withServer(resolve(before), { ...settings, PORT: earlier }, async () => {
    all = await lanesOf()
    ready.resolve()
    await mayStop.promise
  }).finally(() => stopped.resolve())
  await Promise.race([ready.promise, withEarlier])
  const working = Promise.all(all.map(work))
  // What fails is told where it is awaited; both servers are stopped before.
  working.catch(() => undefined)
  // A failure ends everything at once.
  const withLater = withServer(here, { ...settings, PORT: later }, async () => {
    isLaterReady = true
    await working
    mayStop.resolve()
    await Promise.all(all.map(goOn))
    await stopped.promise
    for (const lane of all) await once({ one: later, other: later }, lane, rounds + 5)
  })
  try {
    await Promise.all([withLater, working])
  } finally {
    mayStop.resolve()
    await withEarlier
  }
  const verified = await promisify(execFile)(process.execPath, [mainOf(here), "verify"], {
    cwd: here,
    env: { PATH: process.env["PATH"], ...settings }
  })
  const fields = added.size === 0 ? "" : ` New fields: ${[...added].toSorted().join(", ")}.`
  process.stdout.write(`Two versions on one database: ${calls} calls, none failed.${fields}\n${verified.stdout}`)
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
}
