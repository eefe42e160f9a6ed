import { Cause, Effect, Exit, Layer, ManagedRuntime, Redacted } from "effect"
import { afterAll, assert, describe, it } from "vitest"
import {
  asNewMember,
  asOwner,
  DeliveryServer,
  Faults,
  layerServices,
  Products,
  ProductsRepo,
  seed,
  StandingClock,
  WorkspacesRepo
} from "../../src/testing/Testing.ts"

/** What `@delivery/server/testing` offers to the tests of others. */

const shop = { slug: "shop", name: "Shop", type: "website" } as const
const staging = { slug: "staging", name: "Staging", class: "non-production" } as const

/** Calls the server as its owner would. */
const call = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
  const { apiKey, baseUrl, fetch } = yield* DeliveryServer
  return yield* Effect.promise(() =>
    fetch(`${baseUrl}/v1/workspaces/main/${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${Redacted.value(apiKey)}`,
        "content-type": "application/json",
        ...init.headers
      }
    })
  )
})

const json = <A>(answer: Response) => Effect.promise(() => answer.json() as Promise<A>)

const kinds = {
  "on a socket": DeliveryServer.layerMemory,
  "without a socket": DeliveryServer.layerMemoryWithoutSocket
}

for (const [name, server] of Object.entries(kinds)) {
  describe(`a server ${name}`, () => {
    const runtime = ManagedRuntime.make(
      server({ RATE_LIMIT: "1000/60" }).pipe(Layer.provideMerge(Faults.layer), Layer.provideMerge(StandingClock.layer))
    )
    const run: typeof runtime.runPromise = (effect, options) => runtime.runPromise(effect, options)
    afterAll(() => runtime.dispose())

    it("begins with what a test wants of it", () =>
      run(
        Effect.gen(function* () {
          const { apiKeys, tickets } = yield* seed({
            members: [{ email: "sam@example.com", name: "Sam", role: "viewer" }],
            products: [shop],
            environments: [staging],
            deployments: [
              { product: "shop", environment: "staging", baseUrl: "https://staging.example.com", version: "1.2.0" }
            ],
            secrets: [{ product: "shop", name: "DATABASE_URL", values: { staging: "postgres://staging" } }],
            teams: [{ key: "OPS", name: "Operations", visibility: "open" }],
            projects: [{ slug: "checkout", name: "Checkout", teams: ["OPS"] }],
            tickets: [
              { team: "OPS", title: "Pay by card", project: "checkout" },
              { team: "OPS", title: "Pay by transfer", owner: "sam@example.com" }
            ]
          })
          assert.deepStrictEqual(tickets, ["OPS-1", "OPS-2"])
          const deployment = yield* call("deployments/shop/staging")
          assert.deepInclude(yield* json<object>(deployment), { version: "1.2.0" })
          const secret = yield* call("products/shop/secrets/DATABASE_URL")
          assert.include(yield* Effect.promise(() => secret.text()), "postgres://staging")
          const asSam = { headers: { authorization: `Bearer ${apiKeys["sam@example.com"]}` } }
          assert.strictEqual((yield* call("tickets/OPS-2", asSam)).status, 200)
          const refused = yield* call("products", { ...asSam, method: "POST", body: JSON.stringify(shop) })
          assert.strictEqual(refused.status, 403)
        })
      ))

    it("says what it refused of a seed", async () => {
      const failed = await run(Effect.exit(seed({ products: [{ ...shop, slug: "Not a slug" as never }] })))
      assert.isTrue(Exit.isFailure(failed))
      assert.match(Exit.isFailure(failed) ? Cause.pretty(failed.cause) : "", /POST .*\/products .*: 400 .*"slug"/)
    })

    it("refuses a list that a seed does not have", async () => {
      const misspelt = { product: [shop] } as object
      const failed = await run(Effect.exit(seed(misspelt)))
      assert.match(
        Exit.isFailure(failed) ? Cause.pretty(failed.cause) : "",
        /A seed has no "product": members, products/
      )
    })

    it("takes bodies, answers to HEAD, streams, and ends a call that is aborted", () =>
      run(
        Effect.gen(function* () {
          const { baseUrl, fetch } = yield* DeliveryServer
          const head = yield* Effect.promise(() => fetch(`${baseUrl}/health`, { method: "HEAD" }))
          assert.deepStrictEqual([head.status, yield* Effect.promise(() => head.text())], [200, ""])
          const abort = new AbortController()
          const stream = yield* call("events/stream", {
            headers: { accept: "text/event-stream" },
            signal: abort.signal
          })
          const reader = stream.body!.getReader()
          const first = yield* Effect.promise(() => reader.read())
          assert.isFalse(first.done)
          abort.abort()
          const rest = yield* Effect.promise(() =>
            (async () => {
              while (!(await reader.read()).done);
            })().then(
              () => "ended",
              (error: Error) => error.name
            )
          )
          assert.strictEqual(rest, "AbortError")
          const aborted = yield* Effect.promise(() =>
            fetch(baseUrl, { signal: AbortSignal.abort() }).then(String, (error: Error) => error.name)
          )
          assert.strictEqual(aborted, "AbortError")
        })
      ))

    it("answers with a fault as often as told, and then as ever", () =>
      run(
        Effect.gen(function* () {
          const faults = yield* Faults
          const injected = yield* faults.inject(
            { method: "get", path: /\/products$/g, times: 2 },
            { answer: 503, headers: { "retry-after": "1" } }
          )
          const [first, second, third] = [yield* call("products?q=a"), yield* call("products"), yield* call("products")]
          assert.deepStrictEqual([first.status, second.status, third.status], [503, 503, 200])
          assert.strictEqual(first.headers.get("retry-after"), "1")
          assert.deepInclude(yield* json<object>(first), { _tag: "Internal" })
          assert.strictEqual(yield* injected.hits, 2)
          const all = yield* faults.inject({ times: Infinity }, { answer: 500, body: { message: "mine" } })
          assert.deepStrictEqual(yield* json(yield* call("teams")), { message: "mine" })
          assert.strictEqual((yield* call("teams")).status, 500)
          yield* all.remove
          assert.strictEqual((yield* call("teams")).status, 200)
        })
      ))

    it("refuses what is no fault", () =>
      run(
        Effect.gen(function* () {
          const faults = yield* Faults
          const inject = (calls: object, fault: object) =>
            Effect.map(
              Effect.exit(faults.inject(calls, fault as never)),
              (exit) => Exit.isFailure(exit) && String(Cause.squash(exit.cause))
            )
          for (const [calls, fault] of [
            [{ methd: "POST" }, { answer: 500 }],
            [{ times: 0 }, { answer: 500 }],
            [{}, {}],
            [{}, { answer: 99 }],
            [{}, { drop: "befor" }],
            [{}, { answer: 500, dely: 1 }]
          ] as const) {
            assert.match(String(yield* inject(calls, fault)), /^TypeError: /, JSON.stringify([calls, fault]))
          }
          assert.strictEqual((yield* call("teams")).status, 200)
        })
      ))

    it("refuses a setting that the server does not have", async () => {
      const wrong = ManagedRuntime.make(server({ RATE_LIMITS: "10/1" }))
      const failed = await wrong.runPromiseExit(DeliveryServer)
      assert.include(
        Exit.isFailure(failed) ? Cause.pretty(failed.cause) : "",
        "RATE_LIMITS is no setting of the server."
      )
      await wrong.dispose()
    })

    it("loses an answer before or after the work is done", () =>
      run(
        Effect.gen(function* () {
          const faults = yield* Faults
          const create = (slug: string) =>
            Effect.exit(
              call("environments", { method: "POST", body: JSON.stringify({ ...staging, slug }) }).pipe(
                Effect.map(({ status }) => status)
              )
            )
          yield* faults.inject({ method: "POST" }, { drop: "before" })
          assert.strictEqual((yield* create("lost"))._tag, "Failure")
          assert.strictEqual((yield* call("environments/lost")).status, 404)
          yield* faults.inject({ method: "POST" }, { drop: "after" })
          assert.strictEqual((yield* create("kept"))._tag, "Failure")
          assert.strictEqual((yield* call("environments/kept")).status, 200)
        })
      ))

    it("delays a call by its own clock", () =>
      run(
        Effect.gen(function* () {
          const faults = yield* Faults
          const clock = yield* StandingClock
          const slow = yield* faults.inject({ path: /\/teams$/ }, { delay: "1 hour" })
          let isAnswered = false
          const answered = Effect.runPromise(
            Effect.provideService(call("teams"), DeliveryServer, yield* DeliveryServer)
          ).then(({ status }) => {
            isAnswered = true
            return status
          })
          while ((yield* slow.hits) === 0) yield* call("products")
          assert.isFalse(isAnswered)
          // A request that lasts longer than the server's limit is ended by it.
          yield* clock.advance("1 hour")
          assert.include([200, 500], yield* Effect.promise(() => answered))
        })
      ))

    it("expires what expires when its clock is moved", () =>
      run(
        Effect.gen(function* () {
          const clock = yield* StandingClock
          const expiresAt = new Date((yield* clock.now) + 3_600_000).toISOString()
          const made = yield* call("account-api-keys", {
            method: "POST",
            body: JSON.stringify({ name: "ci", role: "viewer", expiresAt })
          })
          const { secret } = yield* json<{ readonly secret: string }>(made)
          const asKey = { headers: { authorization: `Bearer ${secret}` } }
          assert.strictEqual((yield* call("teams", asKey)).status, 200)
          yield* clock.advance("61 minutes")
          assert.strictEqual((yield* call("teams", asKey)).status, 401)
        })
      ))
  })
}

it("names the port that another server listens on", async () => {
  const first = ManagedRuntime.make(DeliveryServer.layerMemory())
  const { port } = new URL((await first.runPromise(DeliveryServer)).baseUrl)
  const second = ManagedRuntime.make(DeliveryServer.layerMemory({ PORT: port }))
  const failed = await second.runPromiseExit(DeliveryServer)
  assert.include(Exit.isFailure(failed) ? Cause.pretty(failed.cause) : "", `PORT: another process already listens on`)
  assert.include(Exit.isFailure(failed) ? Cause.pretty(failed.cause) : "", `:${port}.`)
  await second.dispose()
  await first.dispose()
})

it("reaches a server without a socket by its own fetch alone, and no longer than it lives", async () => {
  const [one, other] = [1, 2].map(() => ManagedRuntime.make(DeliveryServer.layerMemoryWithoutSocket()))
  const productsOf = (runtime: typeof one) =>
    runtime!.runPromise(
      Effect.flatMap(call("products"), (answer) => json<{ readonly products: ReadonlyArray<unknown> }>(answer))
    )
  await one!.runPromise(seed({ products: [shop] }))
  assert.lengthOf((await productsOf(one)).products, 1)
  assert.lengthOf((await productsOf(other)).products, 0)
  const { baseUrl, fetch } = await one!.runPromise(DeliveryServer)
  await one!.dispose()
  const failed = await fetch(baseUrl).then(String, (error: Error) => error)
  assert.instanceOf(failed, TypeError)
  await other!.dispose()
})

describe("services over memory", () => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(layerServices(), StandingClock.layer))
  afterAll(() => runtime.dispose())

  it("keep their rules for whoever calls them", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const products = yield* Products
        const owner = yield* asOwner
        const viewer = yield* asNewMember("viewer", "Sam")
        const made = yield* owner(products.create(shop))
        assert.deepInclude(made, { slug: "shop", archived: false })
        const refused = yield* viewer(Effect.flip(products.create({ ...shop, slug: "other" })))
        assert.strictEqual(refused._tag, "Forbidden")
        // What they store is in the repositories beside them.
        const workspace = (yield* (yield* WorkspacesRepo).named("main"))!
        const row = yield* (yield* ProductsRepo).find(workspace.id, "shop")
        assert.strictEqual(row?.id, made.id)
      })
    ))
})
