import { createClient } from "@delivery/client"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { join } from "node:path"
import { sessionCookie } from "../packages/domain/src/identity/Authorization.ts"
import * as Ids from "../packages/server/src/ids/Ids.ts"
import { hashToken, NewToken } from "../packages/server/src/ids/Tokens.ts"
import { apiKey, open } from "./Bench.ts"
import { cpuSeconds, load, request } from "./Load.ts"
import { median, start, type Started } from "./Processes.ts"

/**
 * What it costs to find out who calls: one deployment read with keys and with the sessions of browsers, and requests with
 * keys that are not valid, in turn, on a real PostgreSQL in which 10,000 other credentials are blocked. With the directory
 * of an earlier version, its server takes part on the same database, with keys:
 *
 *     pnpm bench:credentials ../before
 *
 * `BENCH_ROUNDS`, `BENCH_SECONDS` of each turn, `BENCH_CONNECTIONS` of the clients, of which each has a credential of its own.
 */
const before = process.argv[2]
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 9)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 2)
const connections = Number(process.env["BENCH_CONNECTIONS"] ?? 32)

const newTokens = (prefix: "ctk_" | "wtk_") =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(NewToken, (newToken) => Effect.replicateEffect(newToken(prefix), connections)),
      Ids.layer
    )
  )
const [keys, sessions, unknown] = [await newTokens("ctk_"), await newTokens("wtk_"), await newTokens("ctk_")]

const bench = await open()

/** Keys and sessions of the owner, and blocks of credentials that nobody has. */
const makeData = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`insert into api_keys (id, person_id, name, token_hash, token_prefix, last_four, created_at)
    select gen_random_uuid(), p.id, 'Bench', hash, 'ctk_', '', now() from persons p, unnest(${keys.map(hashToken)}::text[]) hash`
  yield* sql`insert into web_sessions (id, person_id, token_hash, last_four, method, device, address, created_at,
      last_seen_at, proved_at)
    select gen_random_uuid(), p.id, hash, '', 'link', 'Bench', '127.0.0.1', now(), now(), now()
    from persons p, unnest(${sessions.map(hashToken)}::text[]) hash`
  yield* sql`insert into credential_blocks (workspace_id, credential_id, root_id, created_at)
    select w.id, made.id, made.id, now()
    from workspaces w, (select gen_random_uuid() as id from generate_series(1, 10000)) made`
  yield* sql`vacuum analyze`
}).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(bench.databaseUrl), maxConnections: 1 })))

const path = "/v1/workspaces/main/deployments/shop/ci"
const withKey = (tokens: ReadonlyArray<string>) =>
  tokens.map((token) => request("GET", path, { authorization: `Bearer ${token}` }))
const withCookie = sessions.map((token) => request("GET", path, { cookie: `${sessionCookie}=${token}` }))

const serve = (directory: string) =>
  start(join(directory, "packages/server/src/cli/main.ts"), ["serve"], {
    ...bench.settings,
    BASE_URL: "http://127.0.0.1",
    LOG_LEVEL: "warn"
  })

const servers: Array<Started> = []
try {
  const service = await serve(".")
  servers.push(service)
  const client = createClient({ baseUrl: service.baseUrl, apiKey })
  const params = { slug: "main" }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  await client.environments.create({ params, payload: { slug: "ci", name: "CI", class: "non-production" } })
  await client.deployments.create({ params, payload: { product: "shop", environment: "ci" } })
  await Effect.runPromise(Effect.orDie(makeData))

  interface Subject {
    readonly name: string
    /** The name of what it is compared with. */
    readonly beside?: string
    readonly server: Started
    readonly requests: ReadonlyArray<Buffer>
    readonly status: number
  }
  const subjects: Array<Subject> = [
    { name: "key", server: service, requests: withKey(keys), status: 200 },
    { name: "key, again", beside: "key", server: service, requests: withKey(keys), status: 200 },
    { name: "session", beside: "key", server: service, requests: withCookie, status: 200 },
    { name: "401", server: service, requests: withKey(unknown), status: 401 }
  ]
  if (before !== undefined) {
    const server = await serve(before)
    servers.push(server)
    subjects.push(
      { name: "key, before", beside: "key", server, requests: withKey(keys), status: 200 },
      { name: "401, before", beside: "401", server, requests: withKey(unknown), status: 401 }
    )
  }

  const rates = new Map(subjects.map(({ name }) => [name, [] as Array<number>]))
  const cpu = new Map(subjects.map(({ name }) => [name, [] as Array<number>]))
  for (let round = -1; round < rounds; round++) {
    // Backwards every other time: who comes first must not matter.
    for (const { name, requests, server, status } of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const used = cpuSeconds(server.pid)
      const loaded = await load(server.baseUrl, (connection) => () => requests[connection], {
        connections,
        seconds: round < 0 ? 3 : seconds,
        status
      })
      if (round < 0) continue
      rates.get(name)!.push(loaded.perSecond)
      cpu.get(name)!.push(((cpuSeconds(server.pid) - used) * 1e6) / loaded.requests)
    }
  }
  const ratio = (of: ReadonlyMap<string, ReadonlyArray<number>>, { beside, name }: Subject) =>
    beside === undefined ? "-" : median(of.get(name)!.map((value, round) => value / of.get(beside)![round]!)).toFixed(3)
  console.log(
    `GET a deployment, ${connections} connections, ${rounds} rounds of ${seconds} s in turn after one of 3 s, medians ` +
      `[least..most]; ratios of the same round.\n\n| Credential | requests/s | beside | ratio | CPU us a request | ratio |\n` +
      "|---|---|---|---|---|---|"
  )
  for (const subject of subjects) {
    const [own, used] = [rates.get(subject.name)!, cpu.get(subject.name)!]
    console.log(
      `| ${[
        subject.name,
        `${median(own).toFixed(0)} [${Math.min(...own).toFixed(0)}..${Math.max(...own).toFixed(0)}]`,
        subject.beside ?? "-",
        ratio(rates, subject),
        median(used).toFixed(0),
        ratio(cpu, subject)
      ].join(" | ")} |`
    )
  }
} finally {
  for (const server of servers) await server.end()
  await bench.close()
}
