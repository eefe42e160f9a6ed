import { createClient } from "@delivery/client"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual, promisify } from "node:util"
import { hashToken, NewToken } from "../packages/server/src/ids/Tokens.ts"
import { apiKey, open } from "./Bench.ts"
import {
  analyze,
  finishBody,
  finishTests,
  makeData,
  makeRunning,
  person,
  plans,
  reads,
  startBody,
  writes
} from "./ApiData.ts"
import { id } from "./Database.ts"
import { cpuSeconds, load, type Loaded, request, type Requests } from "./Load.ts"
import type { Driver, Statement } from "./peer/Database.ts"
import * as Statements from "./peer/Statements.ts"
import { median, memory, start, type Started } from "./Processes.ts"
import { shares } from "./Profile.ts"
import * as Ids from "../packages/server/src/ids/Ids.ts"

/**
 * The service beside a peer (`peer/Api.ts`: Fastify with prepared statements and response schemas) on one PostgreSQL,
 * loaded in turn, each with one process and ten connections to the database; and `pgbench` with the peer's statements,
 * as what the database allows. The peer's driver is, for each endpoint, the one that is faster in the warm-up.
 *
 * Run it with `pnpm bench`; needs `pgbench` for its column. `BENCH_ONLY` chooses endpoints by parts of their names,
 * separated by commas; `BENCH_ROUNDS`, `BENCH_SECONDS` of each turn, `BENCH_CONNECTIONS` of the clients.
 * `BENCH_PROFILE=true` tells what the service's process does meanwhile: with one endpoint chosen, and slower.
 */
const only = process.env["BENCH_ONLY"]?.split(",").map((part) => part.trim())
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 2)
const connections = Number(process.env["BENCH_CONNECTIONS"] ?? 32)
const isProfiled = process.env["BENCH_PROFILE"] === "true"
const pool = 10
/** Each connection has a key of its own, as many clients have. One more is revoked. */
const [revoked = "", ...keys] = await Effect.runPromise(
  Effect.provide(
    Effect.flatMap(NewToken, (newToken) => Effect.replicateEffect(newToken("ctk_"), connections + 1)),
    Ids.layer
  )
)

const bench = await open({ durable: true })
const settings = { ...bench.settings, DATABASE_POOL: String(pool), BASE_URL: "http://127.0.0.1" }

const database = Effect.fnUntraced(
  function* <A, E>(work: Effect.Effect<A, E, PgClient.PgClient>) {
    return yield* work
  },
  Effect.provide(PgClient.layer({ url: Redacted.make(bench.databaseUrl), maxConnections: 1 }))
)
const run = <A, E>(work: Effect.Effect<A, E, PgClient.PgClient>): Promise<A> =>
  Effect.runPromise(Effect.orDie(database(work)))

const authorization = (key: string) => ({ authorization: `Bearer ${key}` })
const own = (connection: number) => authorization(keys[connection % keys.length]!)
const path = (slug: string, rest: string) => `/v1/workspaces/${slug}/${rest}`
const always =
  (method: string, path: string, body?: string, key?: string) =>
  (connection: number): Requests => {
    const bytes = request(method, path, key === undefined ? own(connection) : authorization(key), body)
    return () => bytes
  }
const get = (slug: string, rest: string, key?: string) => always("GET", path(slug, rest), undefined, key)

const deploymentPath = (n: number) => `deployments/shop-${n % 10}/env-${Math.floor(n / 10) % 4}`
let versions = 0
let names = 0

/** What `pgbench` puts in place of the parameters of a statement: literals, or variables of the script. */
const inlined = ({ text }: Statement, values: ReadonlyArray<string>): string =>
  `${text.replaceAll(/\$(\d+)/g, (_, n: string) => `(${values[Number(n) - 1]!})`)};\n`
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const authenticated = (workspace: string, key = apiKey) =>
  inlined(Statements.authenticate, [quoted(hashToken(key)), quoted(workspace)])
const array = (values: ReadonlyArray<unknown>): string =>
  // A colon would begin a variable.
  quoted(`{${values.map((value) => (value === null ? "null" : JSON.stringify(String(value)))).join(",")}}`).replaceAll(
    ":",
    ""
  )

interface Endpoint {
  readonly name: string
  readonly requests: (connection: number) => Requests
  readonly status?: number
  /** How many requests make one of what is counted. */
  readonly per?: number
  /** Before each turn. */
  readonly prepare?: (seconds: number) => Promise<void>
  /** Fields that differ between two answers to a write. */
  readonly volatile?: ReadonlyArray<string>
  /** A script, with how many transactions each client has at most. */
  readonly pgbench: () => Promise<{ readonly script: string; readonly each?: number }>
}

const profiles = join(bench.directory, "profiles")
const service = await start("packages/server/src/cli/main.ts", ["serve"], {
  ...settings,
  ...(isProfiled ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` } : {}),
  LOG_LEVEL: "warn"
})
const servers: Array<Started> = [service]
try {
  await run(makeData(keys, revoked))
  const client = createClient({ baseUrl: service.baseUrl, apiKey })
  await client.vault.create({
    params: { slug: writes.slug, productSlug: "shop-0" },
    payload: {
      name: "DATABASE_URL",
      values: { "env-0": "postgres://shop:example@db.example.com/shop", "env-1": "two" }
    }
  })
  const { token } = (
    await client.testRuns.start({
      params: { slug: writes.slug },
      payload: JSON.parse(startBody)
    })
  ).semaphores
  await run(analyze)

  const peers: Record<Driver, Started> = {
    pg: await start("bench/peer/Api.ts", [], { ...settings, DRIVER: "pg" }),
    "postgres.js": await start("bench/peer/Api.ts", [], { ...settings, DRIVER: "postgres.js" })
  }
  servers.push(...Object.values(peers))

  const running = { next: 0, end: 0 }
  const leases = path(writes.slug, "semaphores")
  const endpoints: ReadonlyArray<Endpoint> = [
    {
      name: "one deployment",
      requests: get(reads.slug, "deployments/shop-3/env-1"),
      pgbench: async () => ({
        script:
          authenticated(reads.slug) +
          inlined(Statements.deployment, [quoted(reads.id), quoted("shop-3"), quoted("env-1")])
      })
    },
    {
      name: "20 deployments",
      requests: get(reads.slug, "deployments"),
      pgbench: async () => ({
        script: authenticated(reads.slug) + inlined(Statements.deployments, [quoted(reads.id)])
      })
    },
    {
      name: "50 runs of 100,000",
      requests: get(reads.slug, "test-runs"),
      pgbench: async () => ({ script: authenticated(reads.slug) + inlined(Statements.runs, [quoted(reads.id)]) })
    },
    {
      name: "a run with 500 tests",
      requests: get(reads.slug, `test-runs/${reads.runs}`),
      pgbench: async () => ({
        script: authenticated(reads.slug) + inlined(Statements.runWithTests, [quoted(reads.id), String(reads.runs)])
      })
    },
    {
      name: "100 projects with progress",
      requests: get(plans.slug, "projects"),
      pgbench: async () => ({
        script: authenticated(plans.slug) + inlined(Statements.projects, [quoted(plans.id), "false", quoted(person)])
      })
    },
    {
      name: "change a version",
      requests: (connection) => () =>
        request(
          "PATCH",
          path(writes.slug, deploymentPath(connection)),
          own(connection),
          `{"version":"${(versions++).toString(36)}"}`
        ),
      volatile: ["version"],
      pgbench: async () => ({
        script: `\\set i :i + 1
${authenticated(writes.slug)}${inlined(Statements.deployment, [
          quoted(writes.id),
          "'shop-' || :client_id % 10",
          "'env-' || :client_id / 10 % 4"
        ]).replace(";\n", " \\gset\n")}${inlined(Statements.changeVersion, [
          ":id",
          "'bench-' || :i::int",
          "clock_timestamp()",
          ":updatedAt",
          "gen_random_uuid()",
          quoted(writes.id),
          quoted(person),
          quoted("Shop 0 in Environment 0"),
          quoted("deployments/shop-0/env-0"),
          quoted('[{"field":"version","from":"1","to":"2"}]')
        ])}`
      })
    },
    {
      name: "start a run",
      requests: always("POST", path(writes.slug, "test-runs"), startBody),
      volatile: ["number", "url", "token"],
      pgbench: async () => ({
        script:
          authenticated(writes.slug) +
          inlined(Statements.deployment, [quoted(writes.id), quoted("shop-0"), quoted("env-0")]) +
          inlined(Statements.startRun, [
            "gen_random_uuid()",
            quoted(writes.id),
            quoted(id(3, 300)),
            quoted(id(4, 300)),
            quoted(person),
            quoted("https://shop.example"),
            quoted("https://shop.example"),
            quoted("9fceb02"),
            quoted("feature/basket"),
            quoted("9fceb02d0ae598e95dc970b74767f19372d61af8"),
            "false",
            quoted("Add the basket"),
            quoted("feature/basket\nadd the basket").replaceAll("\n", " "),
            quoted("ci-7"),
            quoted("linux"),
            "null",
            quoted('{"folders":[],"caseIds":[]}'),
            "gen_random_uuid()::text",
            "null",
            "null",
            "clock_timestamp()",
            "clock_timestamp() + interval '6 hours'",
            "gen_random_uuid()"
          ])
      })
    },
    {
      name: "finish a run of 50 tests",
      requests: (connection) => () =>
        running.next < running.end
          ? request("POST", path(writes.slug, `test-runs/${running.next++}/finish`), own(connection), finishBody)
          : undefined,
      prepare: async (seconds) => {
        const count = Math.ceil(seconds * 2_500)
        running.next = await run(makeRunning(count))
        running.end = running.next + count
      },
      volatile: ["number", "url", "sha"],
      pgbench: async () => {
        const each = Math.ceil(200 * seconds)
        const first = await run(makeRunning(each * pool))
        const runId = `('00000000-0009-7000-8000-' || lpad(to_hex(:n::int), 12, '0'))::uuid`
        const column = (value: (test: (typeof finishTests)[number]) => unknown) => array(finishTests.map(value))
        const finish = inlined(Statements.finishRun, [
          runId,
          ...["finished", "failed"].map(quoted),
          "null",
          ..."50 45 0 5 0 0.9 0.9 64210 clock_timestamp()".split(" "),
          column((test) => test.caseId),
          column((test) => test.title),
          column((test) => test.file),
          column((test) => test.coverage),
          column((test) => test.testKind),
          column(() => null),
          column((test) => test.attempt.status),
          column(() => "[]"),
          column((test) => test.attempt.status),
          column((test) => test.attempt.durationMs),
          column(() => "2026-11-21"),
          column((test) => test.attempt.errorMessage),
          column((test) => test.attempt.errorStack).replaceAll("\n", " "),
          column(() => "[]"),
          "gen_random_uuid()",
          quoted(person),
          ...["Run 1", "test-runs/1", '[{"field": "result", "from": null, "to": "failed"}]', "run_finished"].map(
            quoted
          ),
          "null",
          "null",
          "null"
        ])
        const script =
          `\\set i :i + 1\n\\set n ${first - 1} + :client_id * ${each} + :i\n` +
          authenticated(writes.slug) +
          inlined(Statements.run, [quoted(writes.id), ":n"]) +
          finish
        return { script, each }
      }
    },
    {
      name: "take and release a lease",
      per: 2,
      requests: () => {
        // A turn ends between the two: what it holds then is left.
        const name = `pool-${names++}`
        const take = request("POST", `${leases}/${name}/leases`, authorization(token), `{"capacity":2}`)
        return (last) =>
          last === undefined || last.status === 204
            ? take
            : request(
                "DELETE",
                `${leases}/${name}/leases/${(JSON.parse(last.text()) as { lease: string }).lease}`,
                authorization(token)
              )
      },
      volatile: ["lease", "name", "fence", "slot"],
      pgbench: async () => {
        const owner = inlined(Statements.authenticateRun, [quoted(hashToken(token)), quoted(writes.slug)]).replace(
          ";\n",
          " \\gset\n"
        )
        const name = "'pg-' || :client_id"
        const args = [quoted(writes.id), name]
        return {
          script:
            owner +
            inlined(Statements.takeLease, [
              "gen_random_uuid()",
              ...args,
              "2",
              ":runId",
              ":run",
              "null",
              ":expiresAt",
              "60000"
            ]).replace("as json;\n", "->> 'lease' as lease \\gset\n") +
            inlined(Statements.flush, []) +
            owner +
            inlined(Statements.releaseLease, [":lease", ...args, ":runId", "null"])
        }
      }
    },
    {
      name: "read a secret",
      requests: get(writes.slug, "products/shop-0/secrets/DATABASE_URL"),
      pgbench: async () => ({
        script:
          authenticated(writes.slug) +
          inlined(Statements.secret, [
            quoted(writes.id),
            quoted("shop-0"),
            quoted("DATABASE_URL"),
            "true",
            "gen_random_uuid()",
            quoted(person),
            quoted("request"),
            quoted(JSON.stringify({ kind: "user", id: person }))
          ])
      })
    },
    {
      name: "401, a revoked key",
      requests: get(reads.slug, "deployments/shop-3/env-1", revoked),
      status: 401,
      pgbench: async () => ({ script: authenticated(reads.slug, revoked) })
    },
    {
      name: "400, a wrong type",
      requests: always("PATCH", path(reads.slug, deploymentPath(3)), `{"version":5}`),
      status: 400,
      pgbench: async () => ({ script: authenticated(reads.slug) })
    }
  ]

  const turn = async (server: Started, endpoint: Endpoint, seconds: number) => {
    await endpoint.prepare?.(seconds)
    const before = cpuSeconds(server.pid)
    const { p99, perSecond, requests }: Loaded = await load(server.baseUrl, endpoint.requests, {
      connections,
      seconds,
      status: endpoint.status ?? 200
    })
    const per = endpoint.per ?? 1
    const cpu = ((cpuSeconds(server.pid) - before) * 1e6 * per) / requests
    return { perSecond: perSecond / per, p99, cpu, memory: memory(server.pid).now }
  }

  /** What a server answers to the first request of the endpoint, without what differs from write to write. */
  const answer = async (server: Started, { prepare, requests, status = 200, volatile = [] }: Endpoint) => {
    await prepare?.(0.001)
    let text: string | undefined
    const next = requests(0)
    await load(
      server.baseUrl,
      () => {
        let sent = false
        return (last) => {
          text ??= last?.text()
          if (sent) return undefined
          sent = true
          return next(undefined)
        }
      },
      { connections: 1, seconds: 10, status }
    )
    return JSON.parse(text!, (key, value: unknown) => {
      if (volatile.includes(key)) return null
      if (volatile.length === 0 || typeof value !== "string") return value
      return value.replace(/^[0-9a-f-]{36}$/, "id").replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "instant")
    }) as unknown
  }

  const pgbench = async (endpoint: Endpoint): Promise<string> => {
    const { each, script } = await endpoint.pgbench()
    const file = join(bench.directory, "endpoint.sql")
    writeFileSync(file, script)
    const length = each === undefined ? ["-T", String(Math.ceil(seconds))] : ["-t", String(each)]
    const args = ["-n", "-M", "prepared", "-c", String(pool), "-D", "i=0", ...length, "-f", file, bench.databaseUrl]
    try {
      const { stdout } = await promisify(execFile)("pgbench", args, { maxBuffer: 1e8 })
      return Number(/^tps = ([\d.]+)/m.exec(stdout)![1]).toFixed(0)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "-"
      throw error
    }
  }

  const spread = (values: ReadonlyArray<number>, digits = 0): string =>
    `${median(values).toFixed(digits)} [${Math.min(...values).toFixed(digits)}..${Math.max(...values).toFixed(digits)}]`

  console.log(
    `${connections} connections, ${rounds} rounds of ${seconds} s in turn after a warm-up, one process each with ${pool} ` +
      "connections to the database.\nMedians [least..most], service and peer; CPU of the server's process for each request.\n\n" +
      "| Endpoint | service/s | peer/s | ratio | p99 ms | ratio | CPU us | MiB | `pgbench`/s |\n|---|---|---|---|---|---|---|---|---|"
  )
  const chosen = endpoints.filter(({ name }) => only === undefined || only.some((part) => name.includes(part)))
  // Compiled code comes late where there is much of it.
  for (const server of servers) await turn(server, chosen[0]!, 4)
  for (const endpoint of chosen) {
    const answers: Array<unknown> = []
    for (const server of [service, peers.pg, peers["postgres.js"]]) answers.push(await answer(server, endpoint))
    if (!answers.slice(1).every((other) => isDeepStrictEqual(answers[0], other))) {
      throw new Error(`${endpoint.name}: the answers differ.\n${answers.map((one) => JSON.stringify(one)).join("\n")}`)
    }

    await turn(service, endpoint, 1)
    const warm = { pg: await turn(peers.pg, endpoint, 1), "postgres.js": await turn(peers["postgres.js"], endpoint, 1) }
    const driver: Driver = warm.pg.perSecond >= warm["postgres.js"].perSecond ? "pg" : "postgres.js"
    const [a, b]: [Array<Awaited<ReturnType<typeof turn>>>, Array<Awaited<ReturnType<typeof turn>>>] = [[], []]
    for (let round = 0; round < rounds; round++) {
      a.push(await turn(service, endpoint, seconds))
      b.push(await turn(peers[driver], endpoint, seconds))
    }
    const both = (value: (turn: (typeof a)[number]) => number, digits: number): string =>
      [a, b].map((turns) => median(turns.map(value)).toFixed(digits)).join(", ")
    const ratio = (value: (turn: (typeof a)[number]) => number) =>
      spread(
        a.map((one, round) => value(one) / value(b[round]!)),
        2
      )
    console.log(
      `| ${[
        endpoint.name,
        spread(a.map(({ perSecond }) => perSecond)),
        `${spread(b.map(({ perSecond }) => perSecond))} ${driver}`,
        ratio(({ perSecond }) => perSecond),
        both(({ p99 }) => p99, 1),
        ratio(({ p99 }) => p99),
        both(({ cpu }) => cpu, 0),
        both(({ memory }) => memory, 0),
        await pgbench(endpoint)
      ].join(" | ")} |`
    )
  }
} finally {
  for (const server of servers) await server.end()
  if (isProfiled) {
    for (const [owner, percent] of shares(profiles)) console.log(`${percent.toFixed(0).padStart(3)} % ${owner}`)
  }
  await bench.close()
}
