import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { callFailure } from "../src/Failure.ts"
import { answerSeconds, answeringWithin } from "../src/Http.ts"

/** A service that accepts connections, and answers none. */
const silent = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
)

it.effect("a call of a service that does not answer ends in time, and says where it was", () =>
  Effect.gen(function* () {
    const server = yield* silent
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const asked = once(server, "request")
    const calling = yield* HttpClient.get(`${url}/v1/me`).pipe(
      Effect.provide(answeringWithin(answerSeconds)),
      Effect.mapError(callFailure(url)),
      Effect.flip,
      Effect.forkChild
    )
    yield* Effect.promise(() => asked)
    yield* TestClock.adjust("29 seconds")
    assert.isUndefined(calling.pollUnsafe())
    yield* TestClock.adjust("1 second")
    const { exitCode, message } = yield* Fiber.join(calling)
    assert.deepStrictEqual(
      { exitCode, message },
      { exitCode: 4, message: `${url} cannot be reached: no answer within 30 s.` }
    )
  })
)
