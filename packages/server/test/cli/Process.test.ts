import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { request } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { startDatabaseProxy } from "../support/DatabaseProxy.ts"
import { makeDatabase, makeEmptyDatabase, openDatabase } from "../support/Databases.ts"
import { eventually } from "../support/Http.ts"
import { startS3 } from "../support/S3Server.ts"
import { scrape } from "../telemetry/Scrape.ts"
import { serveUntilEnd, type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** The server as a process: settings, first start, signals. */

/** Until the server has begun to answer a request. */
const untilAnswering = ({ baseUrl }: ServerProcess) =>
  eventually(
    async () => (await scrape(baseUrl)).value("delivery_http_requests_in_flight"),
    // One is the scrape.
    (count) => count === 2
  )

/** A client of the database, open until the scope closes. */
const clientOf = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url) })), (context) =>
    Context.get(context, PgClient.PgClient)
  )

describe("the server as a process", () => {
  const directories: Array<string> = []
  let server: ServerProcess | undefined
  const newDirectory = () => {
    const directory = mkdtempSync(join(tmpdir(), "delivery-process-"))
    directories.push(directory)
    return directory
  }
  const drops: Array<() => Promise<void>> = []
  /** Settings over PostgreSQL: a server starts there in a third of the time that the embedded database takes. */
  const onPostgres = async (): Promise<Record<string, string>> => {
    const { drop, url } = await openDatabase()
    drops.push(drop)
    return { DATABASE_URL: url, VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`, DATA_DIR: newDirectory() }
  }
  afterEach(async () => {
    await server?.end()
    server = undefined
    for (const drop of drops.splice(0)) await drop()
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
  })

  for (const [name, value] of [
    ["PORT", "http"],
    ["BASE_URL", "example.com"],
    ["DATABASE_URL", "mysql://localhost/x"],
    ["DATABASE_POOL", "many"],
    ["VAULT_KEYS", "k1:c2hvcnQ="],
    ["BOOTSTRAP_WORKSPACE", "Not A Slug"],
    ["BOOTSTRAP_API_KEY", "ctk_secret_value"],
    ["RUN_LIMIT_MS", "-1"],
    ["LOG_LEVEL", "loud"],
    ["FILES_URL", "ftp://x"],
    ["FILES_URL", "s3://key:hidden@bucket"],
    ["METRICS", "yes"],
    ["OTLP_URL", "collector:4318"]
  ] as const) {
    it(`refuses a wrong ${name} with one line that names it and repeats no value`, async () => {
      const { code, output } = await serveUntilEnd({ DATA_DIR: newDirectory(), [name]: value })
      assert.strictEqual(code, 1)
      assert.match(output.trim(), new RegExp(`^${name}.*$`))
      assert.notInclude(output, value)
    })
  }

  for (const [name, environment, why] of [
    ["HOST", { HOST: "not-here.invalid" }, /^HOST: this machine has no address with the name not-here\.invalid\.$/],
    ["DATA_DIR", { DATA_DIR: "/dev/null/x" }, /^DATA_DIR.+ENOTDIR.+$/]
  ] as const) {
    it(`refuses a ${name} that cannot be used with one line that says why`, async () => {
      const { code, output } = await serveUntilEnd({ DATA_DIR: newDirectory(), LOG_LEVEL: "none", ...environment })
      assert.strictEqual(code, 1)
      assert.match(output.trim(), why)
    })
  }

  it("refuses PostgreSQL without VAULT_KEYS, and one that cannot be reached", async () => {
    const url = "postgres://nobody:hidden@127.0.0.1:1/none"
    const missing = await serveUntilEnd({ DATABASE_URL: url })
    assert.strictEqual(missing.code, 1)
    assert.match(missing.output.trim(), /^VAULT_KEYS is missing.*$/)
    const keys = `k1:${Buffer.alloc(32, 7).toString("base64")}`
    const unreachable = await serveUntilEnd({ DATABASE_URL: url, VAULT_KEYS: keys, DATA_DIR: newDirectory() })
    assert.strictEqual(unreachable.code, 1)
    assert.match(unreachable.output.trim(), /^DATABASE_URL.*$/)
    assert.notInclude(unreachable.output, "hidden")
  })

  it("rejects a bucket that it cannot use with the reason and without the key, and works with a usable one", async () => {
    const s3 = await startS3()
    try {
      const credentials = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" }
      const none = { AWS_EC2_METADATA_DISABLED: "true", AWS_CONFIG_FILE: "/dev/null" }
      const wrong: ReadonlyArray<readonly [why: RegExp, environment: Record<string, string>]> = [
        [
          /bucket none cannot be used: it does not exist\.$/,
          { ...credentials, FILES_URL: `s3://none?endpoint=${s3.endpoint}` }
        ],
        [
          /bucket files cannot be used: PutObject: SignatureDoesNotMatch: .+$/,
          { ...credentials, AWS_SECRET_ACCESS_KEY: "hidden", FILES_URL: s3.filesUrl("a") }
        ],
        [/there are no AWS credentials in the environment, a profile or a role\.$/, { FILES_URL: s3.filesUrl("a") }]
      ]
      for (const [why, environment] of wrong) {
        const { code, output } = await serveUntilEnd({ ...(await onPostgres()), ...none, ...environment })
        assert.strictEqual(code, 1)
        assert.match(output.trim(), /^FILES_URL: the .+$/)
        assert.match(output.trim(), why)
        assert.notInclude(output, "hidden")
      }
      const settings = await onPostgres()
      server = await startServer({ ...settings, ...none, ...credentials, FILES_URL: s3.filesUrl("a") })
      assert.deepStrictEqual(s3.keys(), [])
      assert.isFalse(existsSync(join(settings["DATA_DIR"]!, "files")))
      await server.end("SIGTERM")
    } finally {
      await s3.stop()
    }
  })

  it("refuses a DATA_DIR that another server uses", async () => {
    const DATA_DIR = newDirectory()
    server = await startServer({ DATA_DIR })
    const { code, output } = await serveUntilEnd({ DATA_DIR, PORT: "0" })
    assert.strictEqual(code, 1)
    assert.match(output.trim(), /^.*DATA_DIR.*$/)
  })

  it("refuses a port that is taken", async () => {
    server = await startServer(await onPostgres())
    const PORT = new URL(server.baseUrl).port
    const { code, output } = await serveUntilEnd({ ...(await onPostgres()), PORT, LOG_LEVEL: "warn" })
    assert.strictEqual(code, 1)
    assert.match(output.trim(), /^PORT.*$/)
  })

  it("prints the address, the docs, a key and a curl line that works, once", async () => {
    const DATA_DIR = newDirectory()
    server = await startServer({ DATA_DIR, LOG_LEVEL: "warn" })
    const first = await eventually(
      async () => server!.output(),
      (output) => output.includes("curl")
    )
    const port = new URL(server.baseUrl).port
    assert.include(first, `http://localhost:${port}\n`)
    assert.include(first, `http://localhost:${port}/docs`)
    const curl = /curl -H "Authorization: Bearer (ctk_\w+)" (\S+)/.exec(first)
    assert.isNotNull(curl)
    const [, key, url] = curl!
    const answer = await fetch(url!.replace("localhost", "127.0.0.1"), { headers: { authorization: `Bearer ${key}` } })
    assert.strictEqual(answer.status, 200)
    const modeOf = (...path: ReadonlyArray<string>) => (statSync(join(DATA_DIR, ...path)).mode & 0o777).toString(8)
    assert.deepStrictEqual([modeOf("keys"), modeOf("keys", "vault.keys")], ["700", "600"])

    await server.end("SIGTERM")
    server = await startServer({ DATA_DIR, LOG_LEVEL: "warn" })
    assert.notMatch(server.output(), /ctk_/)
    const again = await fetch(`${server.baseUrl}/v1/me`, { headers: { "x-api-key": key! } })
    assert.strictEqual(again.status, 200)
  })

  it("logs each request with its id, and no secret at any level", async () => {
    const key = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
    const environment = { ...(await onPostgres()), BOOTSTRAP_API_KEY: key, LOG_LEVEL: "trace" }
    server = await startServer(environment)
    const { baseUrl, output } = server
    const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      fetch(`${baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    await call("GET", "/v1/me?q=typed-by-a-person", undefined, { "x-request-id": "request-of-the-test" })
    const invite = await call("POST", "/v1/workspaces/main/invites", { email: "sam@example.com", role: "member" })
    const { token } = (await invite.json()) as { token: string }
    const accepted = await fetch(`${baseUrl}/v1/invites/accept`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, name: "Sam" })
    })
    const { apiKey } = (await accepted.json()) as { apiKey: { secret: string } }
    const wrong = `${key.slice(0, -1)}${key.endsWith("p") ? "q" : "p"}`
    await call("GET", "/v1/me", undefined, { authorization: `Bearer ${wrong}` })
    await call("GET", `/v1/workspaces/main/products/${apiKey.secret}`)
    await eventually(
      async () => output(),
      (text) => text.includes("***")
    )

    const lines = output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as object)
    const mine = lines.find((line) => "requestId" in line && line.requestId === "request-of-the-test")
    assert.deepInclude(mine, { level: "INFO", method: "GET", path: "/v1/me", status: 200 })
    assert.include(output(), "/v1/workspaces/main/products/ctk_***")
    for (const secret of [key, wrong, token, apiKey.secret, "typed-by-a-person"]) assert.notInclude(output(), secret)
  })

  for (const [how, signal] of [
    ["is told to stop", "SIGTERM"],
    ["dies of a fault", "SIGUSR2"]
  ] as const) {
    it(`loses no line of its access log when it ${how}`, async () => {
      const fault = `process.on("SIGUSR2", () => { throw new Error("A fault that nobody expects.") })`
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fault)}`
      server = await startServer({ ...(await onPostgres()), NODE_OPTIONS })
      const { baseUrl, end, output } = server
      const ids = Array.from({ length: 200 }, (_, index) => `request-${index}-of-the-test`)
      await Promise.all(ids.map((id) => fetch(`${baseUrl}/health`, { headers: { "x-request-id": id } })))
      // Lines are written each 100 ms: some are still in memory.
      const closed = once(server.child, "close")
      const code = await end(signal)
      assert.strictEqual(code, signal === "SIGTERM" ? 0 : 1)
      // All that it printed has been read.
      await closed
      const lines = output()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => (JSON.parse(line) as { requestId?: string }).requestId)
      assert.sameMembers(
        lines.filter((id) => id?.endsWith("-of-the-test") === true),
        ids
      )
      server = undefined
    })
  }

  it("answers a fault with the request's id only, logs its cause, and keeps serving", async () => {
    const key = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
    const vaultKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`
    const test = Effect.gen(function* () {
      const { url } = yield* makeDatabase
      const environment = { DATABASE_URL: url, VAULT_KEYS: vaultKeys, BOOTSTRAP_API_KEY: key, DATA_DIR: newDirectory() }
      server = yield* Effect.promise(() => startServer(environment))
      const { baseUrl, output } = server
      const get = (path: string) =>
        Effect.promise(() =>
          fetch(`${baseUrl}${path}`, {
            headers: { authorization: `Bearer ${key}`, "x-request-id": "request-of-the-fault" }
          })
        )
      const rename = (from: string, to: string) =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          yield* sql`alter table ${sql(from)} rename to ${sql(to)}`
        }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))

      yield* rename("products", "elsewhere")
      const fault = yield* get("/v1/workspaces/main/products")
      assert.strictEqual(fault.status, 500)
      assert.strictEqual(fault.headers.get("x-request-id"), "request-of-the-fault")
      assert.deepStrictEqual(yield* Effect.promise(() => fault.json()), {
        _tag: "Internal",
        message: "Something went wrong.",
        requestId: "request-of-the-fault"
      })
      assert.match(output(), /products.*does not exist/)
      yield* rename("elsewhere", "products")
      assert.strictEqual((yield* get("/v1/workspaces/main/products")).status, 200)
      yield* Effect.promise(() => server!.end("SIGTERM"))
    })
    await Effect.runPromise(Effect.scoped(test))
  })

  it.runIf(process.platform === "linux")("listens on 127.0.0.1 alone, unless HOST says otherwise", async () => {
    for (const [HOST, isHeard] of [
      ["", false],
      ["0.0.0.0", true]
    ] as const) {
      server = await startServer({ ...(await onPostgres()), HOST })
      // Of the machine too, and another address.
      const other = server.baseUrl.replace("127.0.0.1", "127.0.0.2")
      const answered = await fetch(`${other}/health`).then(
        ({ ok }) => ok,
        () => false
      )
      assert.strictEqual(answered, isHeard)
      await server.end()
    }
  })

  it("logs from LOG_LEVEL on, in the form of LOG_FORMAT", async () => {
    const test = Effect.gen(function* () {
      const { url } = yield* makeDatabase
      const sql = yield* clientOf(url)
      const key = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
      const VAULT_KEYS = `k1:${Buffer.alloc(32, 7).toString("base64")}`
      const environment = { DATABASE_URL: url, VAULT_KEYS, BOOTSTRAP_API_KEY: key, DATA_DIR: newDirectory() }
      const levels = ["trace", "debug", "info", "warn", "error", "none"]
      for (const [index, LOG_LEVEL] of levels.entries()) {
        // Unset, and no terminal: JSON.
        const LOG_FORMAT = index % 2 === 0 ? "" : "pretty"
        const one = yield* Effect.promise(() => startServer({ ...environment, LOG_LEVEL, LOG_FORMAT }))
        server = one
        const get = (path: string) =>
          Effect.promise(() => fetch(`${one.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } }))
        // A warning: the connection that listens is lost. An error: a table is gone.
        yield* sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query ilike 'listen %'`
        yield* sql`alter table products rename to elsewhere`
        assert.strictEqual((yield* get("/v1/workspaces/main/products")).status, 500)
        yield* sql`alter table elsewhere rename to products`
        assert.strictEqual((yield* get("/v1/workspaces/main/members")).status, 200)
        yield* Effect.promise(() => one.end("SIGTERM"))
        const printed = one.output()
        assert.strictEqual(printed.includes("/main/members"), index <= 2, LOG_LEVEL)
        assert.strictEqual(printed.includes("Could not listen for database notifications."), index <= 3, LOG_LEVEL)
        assert.strictEqual(printed.includes("A request failed."), index <= 4, LOG_LEVEL)
        const logged = printed
          .split("\n")
          .filter((line) => line.includes("/main/members") || line.includes("request failed"))
        for (const line of logged) {
          if (LOG_FORMAT === "pretty") assert.throws(() => JSON.parse(line))
          else assert.isObject(JSON.parse(line))
        }
      }
      server = undefined
    })
    await Effect.runPromise(Effect.scoped(test))
  }, 120_000)

  it("starts at once with others on an empty database: one migrates, one makes the workspace, and none answers before", async () => {
    const test = Effect.gen(function* () {
      const { url } = yield* makeEmptyDatabase
      const sql = yield* clientOf(url)
      const VAULT_KEYS = `k1:${Buffer.alloc(32, 7).toString("base64")}`
      const environment = { DATABASE_URL: url, VAULT_KEYS, LOG_LEVEL: "info" }
      const start = (name: string) =>
        startServer({
          ...environment,
          DATA_DIR: newDirectory(),
          BOOTSTRAP_WORKSPACE: name,
          BOOTSTRAP_OWNER_EMAIL: `${name}@example.com`
        })
      const servers = yield* Effect.promise(() => Promise.all(["a", "b", "c"].map(start)))
      const count = (pattern: RegExp) =>
        servers
          .map(({ output }) => output())
          .join("\n")
          .match(pattern)?.length ?? 0
      assert.strictEqual(count(/Applied \d+ migrations\./g), 1)
      // It is printed after the first answer.
      const keys = () => Promise.resolve(count(/shown only this once: ctk_/g))
      assert.strictEqual(yield* Effect.promise(() => eventually(keys, (printed) => printed > 0)), 1)
      for (const table of ["workspaces", "persons", "api_keys"]) {
        assert.lengthOf(yield* sql`select 1 from ${sql(table)}`, 1, table)
      }
      for (const one of servers) assert.isTrue((yield* Effect.promise(() => fetch(`${one.baseUrl}/ready`))).ok)
      yield* Effect.promise(() => Promise.all(servers.map((one) => one.end())))

      // Another migrates and is not done.
      const PORT = new URL(servers[0]!.baseUrl).port
      const late = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`lock table effect_sql_migrations in access exclusive mode`
          const late = yield* Effect.forkDetach(
            Effect.promise(() => startServer({ ...environment, DATA_DIR: newDirectory(), PORT }))
          )
          const waiting = sql`select 1 from pg_stat_activity
            where datname = current_database() and application_name = 'delivery' and wait_event_type = 'Lock'`
          while ((yield* waiting).length === 0) {
            yield* Effect.sleep(50)
            yield* sql`select pg_stat_clear_snapshot()::text`
          }
          const health = fetch(`http://127.0.0.1:${PORT}/health`).then(
            ({ status }) => status,
            () => "refused"
          )
          assert.strictEqual(yield* Effect.promise(() => health), "refused")
          return late
        })
      )
      server = yield* Fiber.join(late)
    })
    await Effect.runPromise(Effect.scoped(test))
  }, 120_000)

  it("prints the first key, and goes on, though no sign-in link can be made", async () => {
    const test = Effect.gen(function* () {
      const { url } = yield* makeDatabase
      const sql = yield* clientOf(url)
      yield* sql`alter table sign_in_links add check (false)`
      server = yield* Effect.promise(() =>
        startServer({
          DATABASE_URL: url,
          VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
          DATA_DIR: newDirectory()
        })
      )
      const { baseUrl, output } = server
      const printed = yield* Effect.promise(() =>
        eventually(
          () => Promise.resolve(output()),
          (text) => text.includes("pnpm delivery sign-in-link owner@example.com")
        )
      )
      const [key = ""] = /ctk_\w+/.exec(printed) ?? []
      const me = yield* Effect.promise(() => fetch(`${baseUrl}/v1/me`, { headers: { authorization: `Bearer ${key}` } }))
      assert.strictEqual(me.status, 200)
    })
    await Effect.runPromise(Effect.scoped(test))
  })

  it("is not ready while the database does not answer, and healthy", async () => {
    const { drop, url } = await openDatabase()
    const proxy = await startDatabaseProxy(url)
    try {
      const VAULT_KEYS = `k1:${Buffer.alloc(32, 7).toString("base64")}`
      server = await startServer({ DATABASE_URL: proxy.url, VAULT_KEYS, DATA_DIR: newDirectory(), LOG_LEVEL: "none" })
      const { baseUrl } = server
      const { child, output } = server
      const get = (path: string) =>
        fetch(`${baseUrl}${path}`).then(
          async (response) => [response.status, await response.json()] as const,
          (cause: unknown) => {
            throw new Error(`${path} had no answer; exit code ${child.exitCode}; printed: ${output()}`, { cause })
          }
        )
      const away: readonly [number, unknown] = [503, { _tag: "Unavailable", message: "The database does not answer." }]
      const ok: readonly [number, unknown] = [200, { status: "ok" }]
      for (const disturb of [proxy.cut, proxy.silence]) {
        disturb()
        assert.deepStrictEqual(await get("/ready"), away)
        assert.deepStrictEqual(await get("/health"), ok)
        proxy.restore()
        if (disturb === proxy.cut) {
          await eventually(
            () => get("/ready"),
            ([status]) => status === 200
          )
        }
      }
    } finally {
      await server?.end()
      server = undefined
      await proxy.stop()
      await drop()
    }
  })

  it("ends on SIGTERM though a request does not", async () => {
    const key = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
    server = await startServer({ ...(await onPostgres()), BOOTSTRAP_API_KEY: key, METRICS: "true" })
    const outgoing = request(`${server.baseUrl}/v1/workspaces/main/products`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": "100" }
    })
    const failed = once(outgoing, "error")
    outgoing.write("{")
    await untilAnswering(server)
    assert.oneOf(await server.end("SIGTERM"), [0, 130, 143])
    server = undefined
    await failed
  }, 240_000)

  it("finishes what runs on SIGTERM, takes nothing new, and ends", async () => {
    const key = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
    server = await startServer({ ...(await onPostgres()), BOOTSTRAP_API_KEY: key, METRICS: "true" })
    const body = JSON.stringify({ slug: "slow", name: "Slow", type: "library" })
    // The request has begun and is half sent when the signal comes.
    const outgoing = request(`${server.baseUrl}/v1/workspaces/main/products`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": String(body.length)
      }
    })
    const answered = once(outgoing, "response")
    outgoing.write(body.slice(0, 10))
    await untilAnswering(server)
    const ended = server.end("SIGTERM")
    const port = Number(new URL(server.baseUrl).port)
    await eventually(
      () =>
        new Promise((resolve) => {
          const socket = connect(port, "127.0.0.1")
          socket.once("connect", () => resolve(socket.destroy() && "connected"))
          socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code))
        }),
      (answer) => answer === "ECONNREFUSED"
    )
    outgoing.end(body.slice(10))
    const [response] = (await answered) as [{ statusCode: number; resume: () => void }]
    response.resume()
    assert.strictEqual(response.statusCode, 201)
    const code = await ended
    assert.oneOf(code, [0, 130, 143])
    server = undefined
  })
})
