import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { callFailure } from "../src/Failure.ts"
import { answerSeconds, answeringWithin } from "../src/Http.ts"

const serving = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(answer).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
  )

/** A service that accepts connections, and answers none. */
const silent = serving(() => {})

it.effect("a call of a service that does not answer ends in time, and says where it was", () =>
  Effect.gen(function* () {
    const server = yield* silent
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const asked = once(server, "request")
    const calling = yield* HttpClient.get(`${url}/v1/me`).pipe(
      Effect.provide(answeringWithin(answerSeconds)),
      Effect.mapError(callFailure({ url })),
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

it.live("a call that makes something may have done so where its answer was lost", () =>
  Effect.gen(function* () {
    const server = yield* serving((request) => request.socket.destroy())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const failed = (call: ReturnType<typeof HttpClient.get>) =>
      call.pipe(Effect.provide(answeringWithin(answerSeconds)), Effect.mapError(callFailure({ url })), Effect.flip)
    const said = "The service may have done it: look before you repeat it."
    assert.include((yield* failed(HttpClient.post(`${url}/v1/me`))).message, said)
    assert.notInclude((yield* failed(HttpClient.get(`${url}/v1/me`))).message, said)
    server.close()
    yield* Effect.promise(() => once(server, "close"))
    assert.notInclude((yield* failed(HttpClient.post(`${url}/v1/me`))).message, said)
  })
)

for (const [does, leave, said] of [
  ["stalls", () => {}, "nothing more of the answer within 0.2 s"],
  ["is cut off", (answer: ServerResponse) => answer.destroy(), "its answer was cut off"]
] as const) {
  it.live(`an answer that ${does} ends the call, and says so`, () =>
    Effect.gen(function* () {
      const server = yield* serving((_, answer) => {
        answer.writeHead(200, { "content-type": "application/json" })
        answer.write("{", () => leave(answer))
      })
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const { exitCode, message } = yield* HttpClient.get(`${url}/v1/me`).pipe(
        Effect.flatMap(({ json }) => json),
        Effect.provide(answeringWithin(answerSeconds, 0.2)),
        Effect.mapError(callFailure({ url })),
        Effect.flip
      )
      assert.deepStrictEqual({ exitCode, message }, { exitCode: 4, message: `${url} cannot be reached: ${said}.` })
    })
  )
}
