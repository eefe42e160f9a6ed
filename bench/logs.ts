import { createServer } from "node:http"
import { createClient } from "@delivery/client"
import { apiKey, open } from "./Bench.ts"
import { cpuSeconds, load, request } from "./Load.ts"
import { freePort } from "../packages/server/src/cli/FreePort.ts"
import { median, start, type Started } from "./Processes.ts"

/**
 * What being watched costs: reading a product from a server with JSON access logs into a pipe, with `METRICS=true` and
 * with traces to a collector, beside one that does nothing of the kind, in turn, on a real PostgreSQL. Run it with
 * `pnpm bench:logs`.
 */
const rounds = 9
const seconds = 3
const connections = 32

const bench = await open()
const collectorPort = await freePort()
let spans = 0
const collector = createServer((request, response) => {
  request.on("data", (chunk: Buffer) => {
    spans += chunk.length
  })
  request.on("end", () => response.end("{}"))
}).listen(collectorPort, "127.0.0.1")

let lines = 0
const countLines = (printed: Buffer) => {
  for (let at = printed.indexOf(10); at !== -1; at = printed.indexOf(10, at + 1)) lines++
}

const serve = (environment: Record<string, string>, take?: (printed: Buffer) => void): Promise<Started> =>
  start(
    "packages/server/src/cli/main.ts",
    ["serve"],
    {
      ...bench.settings,
      LOG_LEVEL: "warn",
      LOG_FORMAT: "json",
      ...environment
    },
    take
  )

const servers: Array<Started> = []
try {
  const subjects = [
    ["nothing", {}],
    ["nothing, again", {}],
    ["access logs", { LOG_LEVEL: "info" }, countLines],
    ["metrics", { METRICS: "true" }],
    ["traces", { OTLP_URL: `http://127.0.0.1:${collectorPort}` }]
  ] as const
  for (const [, environment, take] of subjects) servers.push(await serve(environment, take))
  const client = createClient({ baseUrl: servers[0]!.baseUrl, apiKey })
  const slug = "shop"
  await client.products.create({ params: { slug: "main" }, payload: { slug, name: "Shop", type: "library" } })

  const results = subjects.map(() => ({ rates: [] as Array<number>, cpu: [] as Array<number> }))
  let logged = 0
  for (let round = -1; round < rounds; round++) {
    for (const [index, server] of servers.entries()) {
      const before = cpuSeconds(server.pid)
      const bytes = request("GET", `/v1/workspaces/main/products/${slug}`, { authorization: `Bearer ${apiKey}` })
      const { perSecond, requests } = await load(server.baseUrl, () => () => bytes, {
        connections,
        seconds: round < 0 ? 1 : seconds
      })
      if (subjects[index]![0] === "access logs") logged += requests
      if (round < 0) continue
      results[index]!.rates.push(perSecond)
      results[index]!.cpu.push(((cpuSeconds(server.pid) - before) * 1e6) / requests)
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 500))
  console.log(
    `GET a product, ${connections} connections, ${rounds} rounds of ${seconds} s in turn after one of 1 s, medians:`
  )
  const base = results[0]!
  for (const [index, [name]] of subjects.entries()) {
    const { cpu, rates } = results[index]!
    const ratio = median(rates.map((rate, round) => rate / base.rates[round]!))
    console.log(
      `  ${name.padEnd(16)} ${median(rates).toFixed(0).padStart(6)}/s  ` +
        `[${Math.min(...rates).toFixed(0)}..${Math.max(...rates).toFixed(0)}]  ${median(cpu).toFixed(0)} us of CPU each  ` +
        `this/nothing ${ratio.toFixed(3)}`
    )
  }
  console.log(
    `  ${lines} lines for ${logged} requests and those of the start; ${(spans / 2 ** 20).toFixed(0)} MiB of spans`
  )
} finally {
  for (const server of servers) await server.end()
  collector.closeAllConnections()
  collector.close()
  await bench.close()
}
