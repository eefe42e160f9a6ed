import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Redacted, References, Tracer } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { layerApp, layerSqlStorage } from "../../src/App.ts"
import * as Keys from "../../src/keys/Keys.ts"
import * as Files from "../../src/files/Files.ts"
import { DeliveryServer, serverOf } from "../../src/testing/DeliveryServer.ts"
import { makeDatabase } from "../support/Databases.ts"
import { eventually } from "../support/Http.ts"
import { startCollector } from "../telemetry/Collector.ts"
import { scrape } from "../telemetry/Scrape.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Values appear in no place but the answers to those who may read them. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

/** Values that nothing else contains, in the forms that a careless place would hold them in. */
const makeCanaries = () => {
  const values: Array<string> = []
  return {
    make: (label: string) => {
      const value = `canary-${label}-${randomBytes(9).toString("hex")}`
      values.push(value)
      return value
    },
    add: (value: string) => values.push(value),
    values,
    forms: () =>
      values.flatMap((value) => [
        value,
        Buffer.from(value).toString("base64").replace(/=+$/, "").slice(0, -2),
        Buffer.from(value).toString("hex"),
        encodeURIComponent(value),
        JSON.stringify(value).slice(1, -1)
      ])
  }
}

/** What this suite looks at of answers. */
interface Body {
  readonly _tag: string
  readonly requestId: string
  readonly message: string
  readonly secret: string
  readonly token: string
  readonly values: Readonly<Record<string, string>>
  readonly environments: ReadonlyArray<{ readonly environment: { readonly id: string; readonly slug: string } }>
  readonly generations: ReadonlyArray<{ readonly environment: { readonly slug: string }; readonly value: string }>
}

type Call = (
  method: string,
  path: string,
  body?: unknown,
  key?: string
) => Promise<{ readonly status: number; readonly text: string; readonly body: Body }>

const caller =
  (baseUrl: string, ownerKey: string): Call =>
  async (method, path, body, key = ownerKey) => {
    const url = path.startsWith("/deploy/") ? path : `/v1/workspaces/main${path}`
    const response = await fetch(`${baseUrl}${url}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type") === "application/json"
    return { status: response.status, text, body: (isJson ? JSON.parse(text) : undefined) as Body }
  }

/** Every endpoint, and every documented way to fail; answers the bodies of errors and of answers without values. */
const exercise = async (call: Call, { add, make }: ReturnType<typeof makeCanaries>): Promise<ReadonlyArray<string>> => {
  const bodies: Array<string> = []
  const expect = async (status: number, ...args: Parameters<Call>) => {
    const answer = await call(...args)
    assert.strictEqual(answer.status, status, `${args[0]} ${args[1]}: ${answer.text}`)
    if (status >= 400) bodies.push(answer.text)
    return answer
  }
  for (const slug of ["shop", "search", "old"]) {
    await expect(201, "POST", "/products", { slug, name: slug, type: "library" })
  }
  for (const [slug, kind] of [
    ["staging", "non-production"],
    ["ci", "non-production"],
    ["production", "production"],
    ["gone", "non-production"]
  ]) {
    await expect(201, "POST", "/environments", { slug, name: slug, class: kind })
  }
  const viewer = (await expect(201, "POST", "/account-api-keys", { name: "viewer", role: "viewer" })).body.secret
  const member = (await expect(201, "POST", "/account-api-keys", { name: "member", role: "member" })).body.secret
  const secrets = "/products/shop/secrets"
  const one = `${secrets}/TOKEN`

  // What succeeds.
  const production = make("production")
  const created = { name: "TOKEN", values: { staging: make("created"), production, ci: null }, requestId: "c" }
  await expect(201, "POST", secrets, created)
  await expect(201, "POST", secrets, created)
  const update = {
    newName: "RENAMED",
    values: { staging: make("updated") },
    expectedVersions: { staging: 1 },
    requestId: "u"
  }
  await expect(200, "PATCH", one, update)
  await expect(200, "PATCH", one, update)
  await expect(
    200,
    "PATCH",
    `${secrets}/RENAMED`,
    { newName: "TOKEN", values: { ci: make("large") + "x".repeat(50_000) } },
    member
  )
  const assign = {
    products: ["shop", "search"],
    environments: ["staging", "production"],
    name: "TOKEN",
    value: make("assigned"),
    requestId: "a"
  }
  await expect(200, "POST", "/vault/assignments", assign)
  bodies.push((await expect(200, "POST", "/vault/assignments", assign)).text)
  for (const generator of [
    { type: "token", bytes: 64, encoding: "hex" },
    { type: "password", length: 40, lowercase: true, uppercase: true, digits: true, symbols: true },
    { type: "uuid" },
    { type: "ed25519" }
  ]) {
    const generate = {
      products: ["shop", "search"],
      environments: ["staging", "production"],
      name: "GENERATED",
      generator
    }
    const revealed = { ...generate, reveal: true, requestId: `g-${generator.type}` }
    const answer = await expect(200, "POST", "/vault/generations", revealed)
    const value: string = answer.body.generations.find((one) => one.environment.slug === "staging")!.value
    add(generator.type === "ed25519" ? value.split("\n")[1]! : value)
    assert.strictEqual((await expect(200, "POST", "/vault/generations", revealed)).text, answer.text)
    bodies.push((await expect(200, "POST", "/vault/generations", generate)).text)
  }
  const read = await expect(200, "GET", one)
  assert.include(read.text, assign.value)
  bodies.push((await expect(200, "GET", one, undefined, viewer)).text)
  bodies.push((await expect(200, "GET", secrets)).text, (await expect(200, "GET", "/vault")).text)
  bodies.push((await expect(200, "GET", `${one}/environments/staging/versions`)).text)

  // What a deployed product reads.
  await expect(201, "POST", "/deployments", { product: "shop", environment: "production" })
  const made = await expect(201, "POST", "/deployments/shop/production/tokens", { name: "product" })
  const product = made.body.token
  const held = await expect(200, "GET", "/deploy/v1/secrets", undefined, product)
  assert.include(held.text, assign.value)
  for (const value of Object.values(held.body.values)) add(value.split("\n")[1] ?? value)
  assert.include((await expect(200, "GET", "/deploy/v1/secrets?format=env", undefined, product)).text, assign.value)
  assert.include((await expect(200, "GET", "/deploy/v1/secrets/TOKEN", undefined, product)).text, assign.value)
  await expect(409, "GET", "/deploy/v1/secrets?format=docker", undefined, product)
  await expect(404, "GET", "/deploy/v1/secrets/NONE", undefined, product)
  await expect(401, "GET", "/deploy/v1/secrets", undefined, member)
  bodies.push((await expect(200, "GET", "/deploy/v1/me", undefined, product)).text)
  bodies.push((await expect(200, "GET", "/audit")).text, (await expect(200, "GET", "/credentials")).text)

  // What fails, with a value in hand.
  const bad = () => make("bad")
  await expect(401, "POST", secrets, { name: "X", values: { staging: bad() } }, "ctk_none")
  await expect(403, "POST", secrets, { name: "X", values: { staging: bad() } }, viewer)
  await expect(403, "POST", "/vault/assignments", { ...assign, value: bad() }, viewer)
  await expect(409, "POST", secrets, { ...created, values: { staging: bad() } })
  await expect(409, "PATCH", one, { ...update, values: { staging: bad() } })
  await expect(409, "POST", secrets, { name: "TOKEN", values: { staging: bad() } })
  await expect(409, "PATCH", one, { values: { staging: bad() }, expectedVersions: { staging: 1 } })
  await expect(409, "PATCH", one, { newName: "GENERATED", values: { staging: bad() } })
  await expect(404, "PATCH", one, { values: { nowhere: bad() } })
  await expect(404, "POST", "/products/none/secrets", { name: "X", values: { staging: bad() } })
  await expect(404, "PATCH", `${secrets}/NONE`, { values: { staging: bad() } })
  await expect(404, "POST", "/vault/assignments", { ...assign, requestId: "a2", products: ["none"], value: bad() })
  for (const body of [
    { name: bad(), values: { staging: bad() }, [bad()]: 1 },
    { name: "X", values: { staging: { nested: bad() } } },
    { name: "X", values: { staging: [bad()] } },
    { name: "X", values: bad() },
    { name: "X", values: { staging: bad() + "\ud800" } },
    { name: "X", values: { staging: bad() + "é".repeat(40_000) } },
    { name: 5, values: { staging: bad() }, requestId: bad().repeat(9) },
    { name: "X", value: bad() },
    [bad()],
    bad()
  ]) {
    const { body: answered } = await expect(400, "POST", secrets, JSON.stringify(body))
    assert.strictEqual(answered._tag, "HttpApiDecodeError")
  }
  await expect(400, "POST", secrets, `{"name":"X","values":{"staging":"${bad()}"`)
  await expect(400, "POST", secrets, JSON.stringify({ name: "X", values: { staging: bad() + "x".repeat(1_100_000) } }))
  await expect(400, "PATCH", one, { value: bad() })
  await expect(400, "POST", "/vault/assignments", { ...assign, value: { a: bad() } })
  await expect(400, "POST", "/vault/assignments", {
    ...assign,
    products: Array.from({ length: 1001 }, (_, i) => `p${i}`),
    value: bad()
  })
  await expect(400, "POST", "/vault/generations", { ...assign, generator: { type: bad() } })
  const staging = read.body.environments.find((one) => one.environment.slug === "staging")!.environment.id
  await expect(400, "PATCH", one, { values: { staging: bad(), [staging]: bad() } })
  await expect(201, "POST", "/deployments", { product: "shop", environment: "gone" })
  await expect(204, "DELETE", "/deployments/shop/gone")
  await expect(409, "PATCH", one, { values: { gone: bad() } })
  await expect(200, "POST", "/products/old/archive")
  await expect(409, "POST", "/products/old/secrets", { name: "X", values: { staging: bad() } })
  await expect(409, "PATCH", "/environments/production", { class: "non-production" })
  await expect(204, "DELETE", one)
  bodies.push((await expect(201, "POST", secrets, created)).text)
  bodies.push((await expect(200, "GET", "/events")).text)
  return bodies
}

/** A value that was changed behind the server: `Internal`, and a log line that names the place and the request. */
const exerciseTamperedValues = async (url: string, call: Call, server: ServerProcess): Promise<void> => {
  const [row] = await Effect.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return yield* sql<{
        id: string
      }>`update secret_versions v set sealed = set_byte(sealed, 40, 255 - get_byte(sealed, 40))
        from secrets s, environments e
        where s.id = v.secret_id and s.name = 'GENERATED' and s.deleted_at is null and e.id = v.environment_id
          and e.slug = 'staging' returning s.id`
    }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
  )
  const answer = await call("GET", "/products/shop/secrets/GENERATED")
  assert.strictEqual(answer.status, 500)
  assert.deepInclude(answer.body, { _tag: "Internal", message: "Something went wrong." })
  const line = await eventually(
    async () =>
      server
        .output()
        .split("\n")
        .slice(0, -1)
        .find((text) => text.includes("is not authentic")),
    (line) => line !== undefined
  )
  assert.include(line, row!.id)
  assert.include(line, answer.body.requestId)
}

/** Every row of every table, as text; bytes as hexadecimal digits and as the text that they might be. */
const dump = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tables = yield* sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
  let text = ""
  for (const { name } of tables) {
    for (const row of yield* sql<{ row: string }>`select t::text as row from ${sql(name)} t`) text += `${row.row}\n`
  }
  for (const { sealed } of yield* sql<{ sealed: Uint8Array | null }>`select sealed from secret_versions`) {
    if (sealed !== null) text += `${Buffer.from(sealed).toString("latin1")}\n`
  }
  assert.include(text, "RENAMED")
  assert.isAbove(tables.length, 10)
  return text
})

const assertClean = (place: string, text: string, { forms, values }: ReturnType<typeof makeCanaries>) => {
  assert.isAbove(values.length, 30)
  const found = forms().find((form) => text.includes(form))
  assert.isUndefined(found, `${place} holds ${found}`)
}

const filesBelow = (directory: string): string =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path).toString("latin1"))
    .join("\n")

/** What an exporter tells of how a span ended: its failure, not its result. */
const failureOf = ({ status }: Tracer.NativeSpan): unknown =>
  status._tag === "Ended" && Exit.isFailure(status.exit) ? [status.exit.cause, Cause.pretty(status.exit.cause)] : ""

describe("Canaries", () => {
  it.effect(
    "are in no dump, log line at level trace, exported span, metric, event, replay row, error body or file of a server",
    () =>
      Effect.gen(function* () {
        const { url } = yield* makeDatabase
        const directory = mkdtempSync(join(tmpdir(), "delivery-canary-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
        const canaries = makeCanaries()
        const collector = yield* Effect.acquireRelease(
          Effect.promise(() => startCollector()),
          (collector) => Effect.promise(() => collector.close())
        )
        const output = yield* Effect.promise(async () => {
          const server = await startServer({
            DATABASE_URL: url,
            DATA_DIR: directory,
            OTLP_URL: collector.url,
            METRICS: "true",
            BOOTSTRAP_API_KEY: apiKey,
            LOG_LEVEL: "trace",
            VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`
          })
          const bodies = await exercise(caller(server.baseUrl, apiKey), canaries)
          assertClean("an answer", bodies.join("\n"), canaries)
          await exerciseTamperedValues(url, caller(server.baseUrl, apiKey), server)
          assertClean("a metric", (await scrape(server.baseUrl)).text, canaries)
          await server.end("SIGTERM")
          return server.output()
        })
        assert.include(output, "/v1/workspaces/main/vault/assignments")
        assertClean("the log", output, canaries)
        assertClean("an exported span", collector.text(), canaries)
        const names = collector.spans().map(({ name }) => name)
        const patch = "PATCH /v1/workspaces/:slug/products/:productSlug/secrets/:name"
        assert.includeMembers(names, [patch, "Vault.create", "Vault.assign", "Vault.generate", "sql.transaction"])
        // Nor the names of secrets, keys, or what people sent with a request.
        assert.notMatch(collector.text(), /RENAMED|GENERATED|ctk_|staging|example\.com/)
        assertClean("DATA_DIR", filesBelow(directory), canaries)
        const text = yield* Effect.provide(dump, PgClient.layer({ url: Redacted.make(url) }))
        assertClean("the database", text, canaries)
      }),
    240_000
  )

  it.effect(
    "are in no file of an embedded database",
    () =>
      Effect.gen(function* () {
        const directory = mkdtempSync(join(tmpdir(), "delivery-canary-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
        const canaries = makeCanaries()
        yield* Effect.promise(async () => {
          const server = await startServer({ DATA_DIR: directory, BOOTSTRAP_API_KEY: apiKey, LOG_LEVEL: "trace" })
          await exercise(caller(server.baseUrl, apiKey), canaries)
          await server.end("SIGTERM")
          assertClean("the log", server.output(), canaries)
        })
        const files = filesBelow(directory)
        assert.include(files, "RENAMED")
        assertClean("DATA_DIR", files, canaries)
      }),
    240_000
  )

  it.effect(
    "are in no span or log message of the process",
    () =>
      Effect.gen(function* () {
        const { url } = yield* makeDatabase
        const canaries = makeCanaries()
        const seen: Array<unknown> = []
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options)
            seen.push(span)
            return span
          }
        })
        const logger = Logger.make<unknown, void>((options) => {
          seen.push(options.message, options.cause)
        })
        const server = serverOf(
          layerApp.pipe(
            Layer.provide(layerSqlStorage),
            Layer.provide(PgClient.layer({ url: Redacted.make(url) })),
            Layer.provide([Files.layerMemory, Keys.layerMemoryKeyring]),
            Layer.provide(NodeServices.layer)
          ),
          { BOOTSTRAP_API_KEY: apiKey, LOG_LEVEL: "trace" }
        ).pipe(
          Layer.provide(Layer.succeed(Tracer.Tracer, tracer)),
          Layer.provide(Logger.layer([logger])),
          Layer.provide(Layer.succeed(References.MinimumLogLevel, "Trace"))
        )
        yield* Effect.gen(function* () {
          const { baseUrl } = yield* DeliveryServer
          yield* Effect.promise(() => exercise(caller(baseUrl, apiKey), canaries))
        }).pipe(Effect.provide(server))
        const spans = seen.filter((one) => one instanceof Tracer.NativeSpan)
        assert.includeMembers(
          spans.map(({ name }) => name),
          ["Vault.create", "Vault.assign", "postgres"]
        )
        const text = seen
          .map((one) =>
            one instanceof Tracer.NativeSpan
              ? inspect([one.name, one.attributes, one.events, failureOf(one)], { depth: 10 })
              : String(one) + inspect(one, { depth: 10 })
          )
          .join("\n")
        assertClean("a span or log message", text, canaries)
      }),
    240_000
  )
})
