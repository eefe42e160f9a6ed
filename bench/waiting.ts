import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import { createClient } from "@delivery/client"
import { Agent, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { apiKey, open } from "./Bench.ts"
import { cpuSeconds, load, request as bytesOf } from "./Load.ts"
import { median, memory, start } from "./Processes.ts"
import { startRun } from "./Run.ts"

/**
 * What calls cost that wait: reading a product while 1,000 calls wait for a lease and 1,000 for a message, beside the
 * same without them, in turn, on one server and a real PostgreSQL. Run it with `pnpm bench:waiting`.
 */
const rounds = 5
const seconds = 4
const connections = 32
const waitersOfAKind = 1_000

const bench = await open()
const server = await start("packages/server/src/cli/main.ts", ["serve"], {
  ...bench.settings,
  LOG_LEVEL: "warn",
  LOG_FORMAT: "json"
})

/** Again a second later where so many come at once that some are refused. */
const call = async (agent: Agent, method: string, path: string, token: string, json?: unknown): Promise<string> => {
  for (;;) {
    const { status, text } = await send(agent, method, path, token, json)
    if (status < 300) return text
    if (status !== 429) throw new Error(text)
    await sleep(1_000)
  }
}

const send = (
  agent: Agent,
  method: string,
  path: string,
  token: string,
  json: unknown
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json))
    const outgoing = request(
      `${server.baseUrl}${path}`,
      {
        agent,
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length })
        }
      },
      (response) => {
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => {
          text += chunk
        })
        response.on("end", () => resolve({ status: response.statusCode!, text }))
      }
    )
    outgoing.on("error", reject)
    outgoing.end(body)
  })

try {
  const client = createClient({ baseUrl: server.baseUrl, apiKey })
  const run = await startRun(client)
  const leases = "/v1/workspaces/main/semaphores/held/leases"
  const some = new Agent({ keepAlive: true, maxSockets: 16 })
  await call(some, "POST", leases, run.semaphores.token, { capacity: 1, ttlMs: 300_000, requestId: "holder" })
  const signIn = JSON.parse(
    await call(some, "POST", "/v1/workspaces/main/agents/register", apiKey, { client: "claude", computer: "laptop" })
  ) as AgentSignIn

  /** Calls that wait, each again when its time is over, until they are told to stop. */
  const wait = async () => {
    const agent = new Agent({ keepAlive: true })
    let isOver = false
    const again = async (one: () => Promise<unknown>) => {
      while (!isOver)
        await one().catch((error: unknown) => {
          if (!isOver) throw error
        })
    }
    const waiting = Array.from({ length: waitersOfAKind }, (_, index) => [
      again(() =>
        call(agent, "POST", leases, run.semaphores.token, { capacity: 1, waitMs: 30_000, requestId: `r${index}` })
      ),
      again(() => call(agent, "GET", "/agent/v1/inbox?wait=25", signIn.access_token))
    ]).flat()
    const over = Promise.all(waiting)
    // Told when they are stopped.
    over.catch(() => {})
    await sleep(6_000)
    return async () => {
      isOver = true
      agent.destroy()
      await over
      await sleep(1_000)
    }
  }

  const read = async (forSeconds: number) => {
    const before = cpuSeconds(server.pid)
    const bytes = bytesOf("GET", "/v1/workspaces/main/products/shop", { authorization: `Bearer ${apiKey}` })
    const { perSecond, requests } = await load(server.baseUrl, () => () => bytes, { connections, seconds: forSeconds })
    return { perSecond, cpu: ((cpuSeconds(server.pid) - before) * 1e6) / requests }
  }

  await read(3)
  const memoryBefore = memory(server.pid).now
  const alone: Array<number> = []
  const beside: Array<number> = []
  const idle: Array<number> = []
  let memoryBeside = 0
  for (let round = 0; round < rounds; round++) {
    // The one that begins takes turns too.
    const measureAlone = async () => alone.push((await read(seconds)).perSecond)
    if (round % 2 === 0) await measureAlone()
    const stop = await wait()
    const before = cpuSeconds(server.pid)
    await sleep(2_000)
    idle.push((cpuSeconds(server.pid) - before) / 2)
    beside.push((await read(seconds)).perSecond)
    memoryBeside = Math.max(memoryBeside, memory(server.pid).now)
    await stop()
    if (round % 2 === 1) await measureAlone()
  }
  const ratio = median(beside.map((rate, round) => rate / alone[round]!))
  console.log(`GET a product, ${connections} connections, ${rounds} rounds of ${seconds} s in turn, medians:`)
  for (const [name, rates] of [
    ["nobody waits", alone],
    [`${2 * waitersOfAKind} calls wait`, beside]
  ] as const) {
    const range = `[${Math.min(...rates).toFixed(0)}..${Math.max(...rates).toFixed(0)}]`
    console.log(`  ${name.padEnd(20)} ${median(rates).toFixed(0).padStart(6)}/s  ${range}`)
  }
  console.log(
    `  waiting/alone ${ratio.toFixed(3)}; while only they are there, ${(median(idle) * 100).toFixed(0)} % of a core`
  )
  console.log(`  memory ${memoryBefore.toFixed(0)} MiB before, ${memoryBeside.toFixed(0)} MiB with them`)
} finally {
  await server.end()
  await bench.close()
}
