import { createClient, type PromiseClient } from "@delivery/client"
import { loadSecrets, SecretsConfig, SecretsError } from "@delivery/client/deploy"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { eventually } from "../../server/test/support/Eventually.ts"
import { freePort, type RunningServer, startServer } from "./support/server.ts"

/** Products that load their own secrets, with a real server. */

let server: RunningServer
let client: PromiseClient
const params = { slug: "main" }

beforeAll(async () => {
  server = await startServer()
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  await client.environments.create({ params, payload: { slug: "live", name: "Live", class: "production" } })
})
afterAll(() => server.stop())

const until = <A>(ask: () => Promise<A>, isDone: (answer: A) => boolean): Promise<A> =>
  Effect.runPromise(eventually(Effect.promise(ask), isDone))

const deployed = async (product: string) => {
  await client.products.create({ params, payload: { slug: product, name: product, type: "library" } })
  await client.deployments.create({ params, payload: { product, environment: "live" } })
  const place = { ...params, product, environment: "live" }
  const { id, token } = await client.deploymentTokens.create({ params: place, payload: { name: "node" } })
  return {
    options: { baseUrl: `${server.url}/`, token },
    set: (name: string, value: string | null) =>
      client.vault.assign({ params, payload: { products: [product], environments: ["live"], name, value } }),
    revoke: () => client.deploymentTokens.revoke({ params: { ...place, token: id } })
  }
}

/** A fetch that can be sent where nothing listens. */
const cable = async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  let isCut = false
  const through: typeof fetch = (input, init) => fetch(isCut ? nowhere : input, init)
  return { fetch: through, cut: () => (isCut = true), mend: () => (isCut = false) }
}

const refusal = async (loading: Promise<unknown>): Promise<SecretsError> => {
  const error: unknown = await loading.catch((error: unknown) => error)
  assert.instanceOf(error, SecretsError)
  return error
}

describe("loadSecrets", () => {
  it("has the values to the byte, and shows none of them", async () => {
    const { options, set } = await deployed("bytes")
    const values = { A: "canary\n\r'\"🧪", __proto__x: "canary", "not-a-name": "" }
    for (const [name, value] of Object.entries(values)) await set(name, value)
    await set("CLEARED", "x")
    await set("CLEARED", null)
    const secrets = await loadSecrets(options)
    assert.deepStrictEqual(secrets.values(), values)
    assert.deepStrictEqual([secrets.product, secrets.environment], ["bytes", "live"])
    assert.strictEqual(secrets.get("A"), values.A)
    assert.isUndefined(secrets.get("CLEARED"))
    assert.isUndefined(secrets.get("toString"))
    assert.throws(() => secrets.require("CLEARED"), "The secret CLEARED has no value for bytes in live.")
    const shown = inspect(secrets, { depth: 9, showHidden: true }) + JSON.stringify(secrets) + String(secrets)
    for (const hidden of ["canary", options.token]) assert.notInclude(shown, hidden)
  })

  it("refreshes on demand, and keeps the last values when that fails", async () => {
    const { options, revoke, set } = await deployed("demand")
    await set("A", "one")
    const line = await cable()
    const secrets = await loadSecrets({ ...options, fetch: line.fetch })
    const { revision } = secrets
    assert.isFalse(await secrets.refresh())
    await set("A", "two")
    assert.isTrue(await secrets.refresh())
    assert.strictEqual(secrets.require("A"), "two")
    assert.notStrictEqual(secrets.revision, revision)
    await set("A", "two")
    assert.isFalse(await secrets.refresh())
    line.cut()
    assert.deepInclude(await refusal(secrets.refresh()), { reason: "unavailable", status: undefined })
    assert.strictEqual(secrets.require("A"), "two")
    line.mend()
    await revoke()
    assert.deepInclude(await refusal(secrets.refresh()), { reason: "refused", status: 401 })
    assert.strictEqual(secrets.require("A"), "two")
    assert.deepInclude(await refusal(loadSecrets(options)), { reason: "refused", status: 401 })
  })

  it("refreshes by itself until it is closed, and tells changes and failures", async () => {
    const { options, set } = await deployed("itself")
    await set("A", "one")
    const line = await cable()
    const [changes, failures] = [[] as Array<string>, [] as Array<string>]
    {
      using secrets = await loadSecrets({
        ...options,
        fetch: line.fetch,
        refreshSeconds: 1,
        onChange: (changed) => changes.push(changed.require("A")),
        onRefreshError: (error) => failures.push(error.message)
      })
      await set("A", "two")
      await until(
        async () => changes,
        (seen) => seen.length > 0
      )
      line.cut()
      await until(
        async () => failures,
        (seen) => seen.length > 0
      )
      assert.strictEqual(secrets.require("A"), "two")
      await set("A", "three")
      line.mend()
      await until(
        async () => changes,
        (seen) => seen.length > 1
      )
    }
    assert.deepStrictEqual(changes, ["two", "three"])
    assert.match(failures[0]!, /^http:\/\/localhost:\d+ cannot be reached: connection refused \(ECONNREFUSED\)\.$/)
  })

  it("says in a sentence what is missing, wrong, or not this service", async () => {
    const token = `dtk_${"a".repeat(42)}`
    const wrong = async (options: object) => {
      const error: unknown = await loadSecrets(options).catch((error: unknown) => error)
      assert.instanceOf(error, TypeError)
      assert.notInclude(error.message, token)
      return error.message
    }
    assert.include(await wrong({ baseUrl: server.url, token, refresh: 1 }), 'no option "refresh"')
    assert.include(await wrong({ baseUrl: "ftp://x", token }), "baseUrl: ")
    assert.include(await wrong({ baseUrl: server.url, token: server.apiKey }), "begins with dtk_")
    assert.include(await wrong({ baseUrl: server.url, token, refreshSeconds: 0.5 }), "refreshSeconds: ")
    const refused = await refusal(loadSecrets({ baseUrl: server.url, token }))
    assert.deepInclude(refused, { reason: "refused", status: 401 })
    // As a file of Windows has it.
    const ofLine = await refusal(loadSecrets({ baseUrl: server.url, token: `${token}\r\n` }))
    assert.deepInclude(ofLine, { reason: "refused", status: 401 })
    const signal = AbortSignal.abort(new Error("stopped"))
    const stopped = await loadSecrets({ baseUrl: server.url, token, signal }).catch((error: Error) => error.message)
    assert.strictEqual(stopped, "stopped")

    const answers = [
      { status: 200, body: "<html>" },
      { status: 200, body: '{"revision":"x","values":{"A":1}}' },
      { status: 302, body: "" },
      { status: 401, body: "<html>" },
      { status: 503, body: '{"_tag":"Unavailable","message":"Busy."}' }
    ]
    for (const { body, status } of answers) {
      const other = createServer((_, response) => {
        response.writeHead(status, status === 302 ? { location: server.url } : {}).end(body)
      }).listen(0, "127.0.0.1")
      await once(other, "listening")
      const baseUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
      assert.deepInclude(await refusal(loadSecrets({ baseUrl, token })), { reason: "unavailable", status })
      other.closeAllConnections()
      other.close()
    }
    const silent = createServer(() => {}).listen(0, "127.0.0.1")
    await once(silent, "listening")
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const late = await refusal(loadSecrets({ baseUrl, token, timeoutSeconds: 1 }))
    assert.strictEqual(late.message, `${baseUrl} cannot be reached: there was no answer within 1 s.`)
    silent.closeAllConnections()
    silent.close()
  })
})

describe("SecretsConfig", () => {
  it("is a ConfigProvider before that of the environment, with later values after a refresh", async () => {
    const { options, set } = await deployed("config")
    await set("DATABASE_URL", "canary-one")
    await set("EMPTY", "")
    const line = await cable()
    const url = Config.Redacted("DATABASE_URL")
    const read = Effect.map(url, Redacted.value)
    const provided = ConfigProvider.layer(
      ConfigProvider.fromEnv({ env: { DATABASE_URL: "of the environment", PORT: "4000" } })
    )
    const program = Effect.gen(function* () {
      assert.notInclude(inspect(yield* url), "canary")
      assert.strictEqual(yield* read, "canary-one")
      assert.strictEqual(yield* Config.Int("PORT"), 4000)
      assert.strictEqual(yield* Config.String("EMPTY"), "")
      yield* Effect.promise(() => set("DATABASE_URL", "canary-two"))
      const context = yield* Effect.context<never>()
      const now = () => Effect.runPromiseWith(context)(read)
      yield* Effect.promise(() => until(now, (value) => value === "canary-two"))
      line.cut()
      yield* Effect.promise(() => set("DATABASE_URL", "canary-three"))
      assert.strictEqual(yield* read, "canary-two")
      line.mend()
      yield* Effect.promise(() => until(now, (value) => value === "canary-three"))
    })
    await program.pipe(
      Effect.provide(
        SecretsConfig.layer({ ...options, fetch: line.fetch, refreshSeconds: 1 }).pipe(Layer.provide(provided))
      ),
      Effect.runPromise
    )
  })

  it("fails with what loadSecrets rejects with", async () => {
    const token = `dtk_${"a".repeat(42)}`
    const failed = await Config.String("A").pipe(
      Effect.provide(SecretsConfig.layer({ baseUrl: server.url, token })),
      Effect.flip,
      Effect.runPromise
    )
    assert.instanceOf(failed, SecretsError)
    assert.deepInclude(failed, { _tag: "SecretsError", reason: "refused", status: 401 })
  })
})
