// A consumer that tests a program of their own against the whole service, in memory.
import { createClient } from "@delivery/client"
import {
  asOwner,
  DeliveryServer,
  Faults,
  layerRepositories,
  layerServices,
  Products,
  ProductsRepo,
  seed,
  StandingClock
} from "@delivery/server/testing"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { afterAll, expect, it } from "vitest"

const runtime = ManagedRuntime.make(
  DeliveryServer.layerMemory().pipe(Layer.provideMerge(Faults.layer), Layer.provideMerge(StandingClock.layer))
)
const unconnected = ManagedRuntime.make(DeliveryServer.layerMemoryWithoutSocket())
const services = ManagedRuntime.make(layerServices())
afterAll(() => Promise.all([runtime, unconnected, services].map((one) => one.dispose())))

const shop = { slug: "shop", name: "Shop", type: "website" } as const
const params = { slug: "main" }

const clientOf = ({ apiKey, baseUrl, fetch }: DeliveryServer["Service"]) =>
  createClient({ baseUrl, apiKey: Redacted.value(apiKey), fetch })

it("calls a service of its own, on a socket or without one", async () => {
  for (const server of [await runtime.runPromise(DeliveryServer), await unconnected.runPromise(DeliveryServer)]) {
    const client = clientOf(server)
    await client.products.create({ params, payload: shop })
    const { products } = await client.products.list({ params })
    expect(products.map(({ slug }) => slug)).toEqual(["shop"])
  }
})

it("begins with a seed, moves the clock, and has calls fail", async () => {
  const client = clientOf(await runtime.runPromise(DeliveryServer))
  await runtime.runPromise(seed({ environments: [{ slug: "staging", name: "Staging", class: "non-production" }] }))
  const before = await client.environments.get({ params: { ...params, environment: "staging" } })
  await runtime.runPromise(Effect.flatMap(StandingClock, (clock) => clock.advance("1 day")))
  const after = await client.environments.update({
    params: { ...params, environment: "staging" },
    payload: { name: "Stage" }
  })
  expect(Date.parse(after.updatedAt) - Date.parse(before.updatedAt)).toBe(86_400_000)
  await runtime.runPromise(Effect.flatMap(Faults, (faults) => faults.inject({ method: "POST" }, { answer: 500 })))
  await expect(client.products.create({ params, payload: { ...shop, slug: "other" } })).rejects.toMatchObject({
    _tag: "Internal"
  })
})

it("takes single services, and single repositories", async () => {
  const created = await services.runPromise(
    Effect.gen(function* () {
      const owner = yield* asOwner
      return yield* owner((yield* Products).create(shop))
    })
  )
  expect(created.slug).toBe("shop")
  const empty = await Effect.runPromise(
    Effect.provide(
      Effect.flatMap(ProductsRepo, (products) => products.list(created.id as never)),
      layerRepositories
    )
  )
  expect(empty).toEqual([])
})
