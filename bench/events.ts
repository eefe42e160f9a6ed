import { createClient } from "@delivery/client"
import { Agent, type IncomingMessage, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { apiKey, open } from "./Bench.ts"
import { cpuSeconds } from "./Load.ts"
import { memory, start } from "./Processes.ts"

/**
 * What streams of events cost: memory and CPU of one server with 1,000 of them while nothing happens, and how long an event
 * takes from the answer of the other server, which has committed it, to the first byte at a stream. `node bench/events.ts 100`
 * opens fewer. Run it with `pnpm bench:events`.
 */
const streams = Number(process.argv[2] ?? 1_000)
const idleSeconds = 20
const events = 200

const bench = await open()
const settings = { ...bench.settings, LOG_LEVEL: "warn", LOG_FORMAT: "json" }
const one = await start("packages/server/src/cli/main.ts", ["serve"], settings)
const two = await start("packages/server/src/cli/main.ts", ["serve"], settings)

const follow = (agent: Agent, onPart: (part: string) => void, token: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request(
      `${two.baseUrl}/v1/workspaces/main/events/stream`,
      { agent, headers: { authorization: `Bearer ${token}` } },
      (response) => {
        response.setEncoding("utf8").on("data", onPart)
        response.on("error", () => {})
        response.once("data", () => resolve(response))
      }
    )
      .on("error", reject)
      .end()
  })

const quantile = (values: ReadonlyArray<number>, q: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]!

try {
  const client = createClient({ baseUrl: one.baseUrl, apiKey })
  const params = { slug: "main" }
  // Credentials of their own, as streams of many people have: each is looked up.
  const tokens: Array<string> = []
  for (let n = 0; n < streams; n++) {
    const { secret } = await client.accountApiKeys.create({ params, payload: { name: `reader ${n}`, role: "viewer" } })
    tokens.push(secret)
  }

  const agent = new Agent({ keepAlive: true })
  let onEvent = (_: string) => {}
  const warm = await follow(agent, () => {}, tokens[0]!)
  await sleep(2_000)
  const before = memory(two.pid).now
  const opened: Array<IncomingMessage> = []
  for (let n = 0; n < streams; n++) opened.push(await follow(agent, (part) => onEvent(part), tokens[n]!))
  await sleep(3_000)
  const cpu = cpuSeconds(two.pid)
  await sleep(idleSeconds * 1_000)
  const idle = (cpuSeconds(two.pid) - cpu) / idleSeconds
  const after = memory(two.pid).now

  const first: Array<number> = []
  const all: Array<number> = []
  for (let n = 0; n < events; n++) {
    let arrived = 0
    let firstAt = 0
    const name = `tag ${n}`
    const everywhere = new Promise<void>((resolve) => {
      onEvent = (part) => {
        if (!part.includes(`"${name}"`)) return
        if (arrived++ === 0) firstAt = performance.now()
        if (arrived === streams) resolve()
      }
    })
    await client.tags.create({ params, payload: { name, color: "#112233" } })
    // The commit was a little before the answer.
    const committed = performance.now()
    await everywhere
    first.push(firstAt - committed)
    all.push(performance.now() - committed)
  }
  console.log(`${streams} streams of ${streams} credentials on one server:`)
  console.log(`  memory ${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB with them`)
  console.log(`  ${(idle * 100).toFixed(1)} % of a core while nothing happens`)
  console.log(`Milliseconds from the answer of the other server, ${events} events:`)
  for (const [what, values] of [
    ["the first stream", first],
    ["all streams", all]
  ] as const) {
    console.log(
      `  ${what.padEnd(18)} p50 ${quantile(values, 0.5).toFixed(1)}, p99 ${quantile(values, 0.99).toFixed(1)}`
    )
  }
  warm.destroy()
  for (const response of opened) response.destroy()
} finally {
  await two.end()
  await one.end()
  await bench.close()
}
