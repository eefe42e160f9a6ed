import { apiKey } from "./Bench.ts"
import { withDeployed } from "./Deployed.ts"
import { cpuSeconds, load, request } from "./Load.ts"
import { median } from "./Processes.ts"

/**
 * How a product's secrets are answered beside one deployment, in turn, on a real PostgreSQL. Run it with `pnpm bench:deploy`.
 * `BENCH_ROUNDS`, `BENCH_SECONDS` of each turn, `BENCH_CONNECTIONS`, and `BENCH_SECRETS`, how many of them.
 */
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 9)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 2)
const connections = Number(process.env["BENCH_CONNECTIONS"] ?? 32)
const secrets = Number(process.env["BENCH_SECRETS"] ?? 20)

interface Subject {
  readonly name: string
  readonly requestOf: (connection: number) => Buffer
  readonly status?: number
}

const products = Array.from({ length: connections }, (_, index) => `shop-${index}`)
await withDeployed({ products, secrets }, async ({ service, tokens }) => {
  const authorization = `Bearer ${tokens[0]}`
  const read = await fetch(`${service.baseUrl}/deploy/v1/secrets`, { headers: { authorization } })
  const known = { authorization, "if-none-match": read.headers.get("etag")! }
  const one = "/v1/workspaces/main/deployments/shop-0/live"

  const all = "/deploy/v1/secrets"
  const same = (path: string, headers: Readonly<Record<string, string>>) => {
    const bytes = request("GET", path, headers)
    return () => bytes
  }
  const each = tokens.map((token) => request("GET", all, { authorization: `Bearer ${token}` }))
  const subjects: ReadonlyArray<Subject> = [
    { name: "one deployment", requestOf: same(one, { authorization: `Bearer ${apiKey}` }) },
    { name: "secrets", requestOf: same(all, { authorization }) },
    { name: "secrets, each connection another token", requestOf: (connection) => each[connection]! },
    { name: "secrets, 304", requestOf: same(all, known), status: 304 },
    { name: "env file", requestOf: same(`${all}?format=env`, { authorization }) },
    { name: "one secret", requestOf: same(`${all}/SECRET_0`, { authorization }) },
    { name: "me", requestOf: same("/deploy/v1/me", { authorization }) }
  ]
  const rates = new Map(subjects.map(({ name }) => [name, [] as Array<number>]))
  const cpu = new Map(subjects.map(({ name }) => [name, [] as Array<number>]))
  for (let round = -1; round < rounds; round++) {
    // Backwards every other time: who comes first must not matter.
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const used = cpuSeconds(service.pid)
      const { perSecond, requests } = await load(service.baseUrl, (connection) => () => subject.requestOf(connection), {
        connections,
        seconds,
        status: subject.status ?? 200
      })
      if (round < 0) continue
      rates.get(subject.name)!.push(perSecond)
      cpu.get(subject.name)!.push(((cpuSeconds(service.pid) - used) * 1e6) / requests)
    }
  }
  const beside = rates.get("one deployment")!
  console.log(
    `${secrets} secrets, ${connections} connections, ${rounds} rounds of ${seconds} s in turn after one more, medians; ratios of the ` +
      "same round.\n\n| Request | requests/s | beside one deployment | CPU us a request |\n|---|---|---|---|"
  )
  for (const { name } of subjects) {
    const own = rates.get(name)!
    const ratio = median(own.map((value, round) => value / beside[round]!)).toFixed(3)
    console.log(`| ${name} | ${median(own).toFixed(0)} | ${ratio} | ${median(cpu.get(name)!).toFixed(0)} |`)
  }
})
