import { DeliveryClient } from "@delivery/client"
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"

/** What follows runs on the clock of the test; bytes of a `Response` come in turns of the platform. */
const pass = Effect.fnUntraced(function* (seconds: number) {
  for (let i = 0; i < seconds * 20; i++) {
    yield* TestClock.adjust("50 millis")
    yield* Effect.promise(() => new Promise(setImmediate))
  }
})

const gaps = (times: ReadonlyArray<number>) => times.slice(1).map((time, i) => time - times[i]!)

it.effect("A stream connects soon again after a connection that lasted, and ever later while there is none", () =>
  Effect.gen(function* () {
    let isThere = true
    let times: Array<number> = []
    /** Ends each connection after half a second, without an event, as proxies do. */
    const server = HttpClient.make(
      Effect.fnUntraced(function* (request) {
        times.push(yield* Clock.currentTimeMillis)
        if (!isThere) return HttpClientResponse.fromWeb(request, new Response(null, { status: 503 }))
        const { promise: ended, resolve: end } = Promise.withResolvers<void>()
        yield* Effect.forkDetach(Effect.andThen(Effect.sleep("500 millis"), Effect.sync(end)))
        const body = new ReadableStream<Uint8Array>({ pull: (controller) => ended.then(() => controller.close()) })
        return HttpClientResponse.fromWeb(
          request,
          new Response(body, { headers: { "content-type": "text/event-stream" } })
        )
      })
    )
    const delivery = yield* Effect.provideService(
      DeliveryClient.make({ baseUrl: "http://delivery.example", apiKey: `ctk_${"0".repeat(42)}` }),
      HttpClient.HttpClient,
      server
    )
    const stream = yield* delivery.events.stream({ params: { slug: "main" }, query: { after: "0" } })
    yield* Effect.forkScoped(Stream.runDrain(stream))
    yield* pass(20)
    assert.isAbove(times.length, 20)
    assert.isBelow(Math.max(...gaps(times)), 900)
    isThere = false
    yield* pass(30)
    times = times.slice(-4)
    yield* pass(20)
    assert.isAtLeast(Math.min(...gaps(times)), 2_500)
    assert.isAtMost(Math.max(...gaps(times)), 5_100)
    isThere = true
    yield* pass(6)
    times = []
    yield* pass(10)
    assert.isAbove(times.length, 10)
  })
)
