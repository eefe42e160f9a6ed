import type { Lease } from "@delivery/client"
import { createClient } from "@delivery/client"
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import { apiKey, open } from "./Bench.ts"
import { median, start } from "./Processes.ts"
import { startRun } from "./Run.ts"

/**
 * Leases of semaphores on PostgreSQL: how many are taken and released per second over HTTP, beside `pgbench` running the
 * statements that the server sends; and how soon a waiter at one server has the lease that is released at another.
 * Run it with `pnpm bench:semaphores`; needs `pgbench` (PostgreSQL's own) and nothing else.
 */
const clients = 64
const seconds = 5
const rounds = 3
const wakeUps = 1_000

const agent = new Agent({ keepAlive: true, maxSockets: Infinity })

const call = (baseUrl: string, token: string, method: string, path: string, body?: object): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const content = body === undefined ? "" : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(content))
    }
    const outgoing = request(`${baseUrl}${path}`, { agent, method, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("end", () =>
        response.statusCode! < 300
          ? resolve(text === "" ? undefined : JSON.parse(text))
          : reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text}`))
      )
    })
    outgoing.once("error", reject)
    outgoing.end(content)
  })

const leases = (name: string) => `/v1/workspaces/main/semaphores/${name}/leases`
const take = (baseUrl: string, token: string, name: string, wish: object) =>
  call(baseUrl, token, "POST", leases(name), wish) as Promise<Lease>
const release = (baseUrl: string, token: string, { lease, name }: Lease) =>
  call(baseUrl, token, "DELETE", `${leases(name)}/${lease}`)

const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

const bench = await open({ durable: true })
const settings = { ...bench.settings, LOG_LEVEL: "none" }
const one = await start("packages/server/src/cli/main.ts", ["serve"], settings)
const other = await start("packages/server/src/cli/main.ts", ["serve"], settings)
try {
  const client = createClient({ baseUrl: one.baseUrl, apiKey })
  const run = await startRun(client)
  const { token } = run.semaphores

  // The statements of one take and one release, as the server sends them.
  const owner = `select workspace_id, r.id as run_id, number, expires_at
    from test_runs r join workspaces w on w.id = r.workspace_id
    where r.token_hash = (select token_hash from test_runs order by number limit 1) and r.state = 'running'
      and r.expires_at > clock_timestamp() and (w.slug = 'main' or w.id::text = 'main')`.replaceAll(/\s+/g, " ")
  const script = (name: string, capacity: number) => `\\set n random(1, 100)
${owner} \\gset
select semaphore_take(gen_random_uuid(), :workspace_id::uuid, ${name}, ${capacity}, :run_id::uuid, :number::integer, null, :expires_at::timestamptz, null, null, 60000, 0)->>'lease' as lease \\gset
select pg_logical_emit_message(true, 'delivery', '');
${owner} \\gset
select semaphore_release(:lease::uuid, :workspace_id::uuid, ${name}, :run_id::uuid, null);
`
  const pgbench = async (name: string, capacity: number): Promise<number> => {
    const file = join(bench.directory, "pairs.sql")
    writeFileSync(file, script(name, capacity))
    const args = ["-n", "-M", "prepared", "-c", String(clients), "-j", "2", "-T", String(seconds), "-f", file]
    const { stdout } = await promisify(execFile)("pgbench", [...args, bench.databaseUrl], { maxBuffer: 1e8 })
    return Number(/^tps = ([\d.]+)/m.exec(stdout)![1])
  }
  const service = async (name: () => string, capacity: number): Promise<number> => {
    const end = performance.now() + seconds * 1_000
    let pairs = 0
    const started = performance.now()
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (performance.now() < end) {
          await release(one.baseUrl, token, await take(one.baseUrl, token, name(), { capacity }))
          pairs++
        }
      })
    )
    return (pairs * 1_000) / (performance.now() - started)
  }

  const subjects = [
    {
      title: "one name, capacity 100",
      service: () => service(() => "one", 100),
      pgbench: () => pgbench("'pg-one'", 100)
    },
    {
      title: "100 names, capacity 64",
      service: () => service(() => `many-${Math.ceil(Math.random() * 100)}`, 64),
      pgbench: () => pgbench("'pg-' || :n::integer", 64)
    }
  ]
  console.log(
    `Leases taken and released per second, ${clients} clients, ${rounds} rounds of ${seconds} s in turn, medians:`
  )
  for (const { title, ...subject } of subjects) {
    const rates: { service: Array<number>; pgbench: Array<number> } = { service: [], pgbench: [] }
    await subject.service()
    for (let round = 0; round < rounds; round++) {
      rates.service.push(await subject.service())
      rates.pgbench.push(await subject.pgbench())
    }
    const ratio = median(rates.service.map((rate, round) => rate / rates.pgbench[round]!))
    const shown = ([name, values]: readonly [string, ReadonlyArray<number>]) =>
      `${name} ${median(values).toFixed(0)} [${Math.min(...values).toFixed(0)}..${Math.max(...values).toFixed(0)}]`
    console.log(
      `  ${title.padEnd(24)} ${shown(["service", rates.service])}  ${shown(["pgbench", rates.pgbench])}  ` +
        `service/pgbench ${ratio.toFixed(2)}`
    )
  }

  // Released at one server, waited for at the other.
  const millis: Array<number> = []
  let releasedAt = 0
  let left = wakeUps
  let held = await take(one.baseUrl, token, "wake", { capacity: 1 })
  const waiter = async (): Promise<void> => {
    while (left > 0) {
      held = await take(other.baseUrl, token, "wake", { capacity: 1, waitMs: 30_000, requestId: crypto.randomUUID() })
      millis.push(performance.now() - releasedAt)
      left--
      const lease = held
      releasedAt = performance.now()
      await release(one.baseUrl, token, lease)
    }
  }
  const waiting = Array.from({ length: clients }, () => waiter().catch(() => {}))
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  releasedAt = performance.now()
  await release(one.baseUrl, token, held)
  await Promise.race([Promise.all(waiting), new Promise((resolve) => setTimeout(resolve, 60_000))])
  console.log(
    `A release at one server until the first of ${clients} waiters at another has the lease, ${millis.length} times: ` +
      `p50 ${percentile(millis, 0.5).toFixed(1)} ms, p99 ${percentile(millis, 0.99).toFixed(1)} ms, ` +
      `longest ${Math.max(...millis).toFixed(1)} ms`
  )
} finally {
  await one.end()
  await other.end()
  agent.destroy()
  await bench.close()
}
