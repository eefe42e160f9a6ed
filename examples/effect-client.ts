// Uses the Effect client as a service: the program asks for it, a layer provides it, and errors are values with tags.
// Runs against a server: examples/README.md says how.
import { DeliveryClient, isTransient } from "@delivery/client"
import { Console, Effect, Layer, Redacted, Schedule } from "effect"
import { baseUrl, endWith, requiredApiKey } from "./explain.ts"

const params = { slug: "main" }

/** Creates a product, or takes the one that is there. */
const findOrCreateProduct = Effect.fnUntraced(function* (slug: string, name: string) {
  const delivery = yield* DeliveryClient
  const create = delivery.products.create({ params, payload: { slug, name, type: "library" } })
  const get = delivery.products.get({ params: { ...params, product: slug } })
  return yield* Effect.catchIf(
    create,
    (error) => error._tag === "Conflict" && error.reason === "slug_in_use",
    () => get
  )
})

const program = Effect.gen(function* () {
  const delivery = yield* DeliveryClient
  // Reading is safe to repeat; a write is not, unless it has a requestId.
  const me = yield* Effect.retry(delivery.me.get(), {
    while: isTransient,
    schedule: Schedule.exponential("100 millis"),
    times: 5
  })
  yield* Console.log(`Signed in as ${me.name}.`)

  const first = yield* findOrCreateProduct("toolbox", "Toolbox")
  const second = yield* findOrCreateProduct("toolbox", "Another name")
  yield* Console.log(`The product ${first.name} was made once: ${first.id === second.id}.`)

  const missing = yield* Effect.flip(delivery.products.get({ params: { ...params, product: "nothing" } }))
  yield* Console.log(`A product that does not exist fails with ${missing._tag}.`)
})

/** The client, from the environment. The key is redacted wherever it is printed. */
const ClientFromEnvironment = Layer.suspend(() =>
  DeliveryClient.layer({ baseUrl, apiKey: Redacted.make(requiredApiKey()) })
)

await Effect.runPromise(Effect.provide(program, ClientFromEnvironment)).catch(endWith)
