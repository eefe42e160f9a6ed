import type { PersonId } from "@delivery/domain/Ids"
import { LargeBody } from "@delivery/domain/runs/LargeBody"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { RequestTimes } from "../../src/http/RequestTimes.ts"
import * as LargeBodies from "../../src/runs/LargeBodies.ts"
import { Retries } from "../../src/runs/Retries.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { as, newId } from "../identity/Scene.ts"
import { eventually } from "../support/Eventually.ts"

/** How many large bodies a process has at once (docs/contract.md, Conventions), counted where they are read and where they are parsed. */

const layer = LargeBodies.layer.pipe(
  Layer.provide([
    Layer.mock(TestRuns, { checkFinish: () => Effect.void }),
    Layer.mock(Retries, {}),
    Layer.succeed(RequestTimes, { begin: () => undefined, end: () => {}, untimed: (effect) => effect })
  ])
)

const caller = {
  principal: { kind: "user", id: newId<PersonId>(), name: "Ana", email: "ana@example.com" },
  membership: undefined
} as const

/** A turn of the event loop. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Bodies whose end comes when it is told, and how many are being read. */
const makeBodies = () => {
  let reading = 0
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const request = () => {
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          reading++
          await ended
          controller.enqueue(Buffer.from('{"tests":[]}'))
          controller.close()
        }
      },
      { highWaterMark: 0 }
    )
    const init = { method: "POST", body, duplex: "half" } as RequestInit
    return HttpServerRequest.fromWeb(new Request("http://localhost/", init))
  }
  return { end: () => end(), reading: () => reading, request }
}

/** The answer to a request with this body, by a handler that is reached when it is the turn of the body. */
const send = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse>
) {
  const read = (yield* LargeBody)(handler, {} as never)
  return yield* read.pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
    Effect.provideService(HttpServerRequest.ParsedSearchParams, {}),
    Effect.provideService(HttpRouter.RouteContext, { params: { run: "1" }, route: undefined as never }),
    as(caller)
  )
})

describe("Large bodies", () => {
  it.effect("are read by eight, and parsed and stored one after the other", () =>
    Effect.gen(function* () {
      const bodies = makeBodies()
      let [stored, parsing, most] = [0, 0, 0]
      const handler = Effect.gen(function* () {
        parsing++
        most = Math.max(most, parsing)
        const request = Option.getOrThrow(yield* Effect.serviceOption(HttpServerRequest.HttpServerRequest))
        assert.strictEqual(yield* Effect.orDie(request.text), '{"tests":[]}')
        for (let turns = 0; turns < 5; turns++) yield* turn
        parsing--
        stored++
        return HttpServerResponse.empty()
      })
      const answers = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        Effect.forkChild(send(bodies.request(), handler))
      )
      yield* eventually(Effect.sync(bodies.reading), (reading) => reading >= 8)
      for (let turns = 0; turns < 50; turns++) yield* turn
      assert.deepStrictEqual([bodies.reading(), stored, most], [8, 0, 0])
      bodies.end()
      for (const answer of answers) assert.strictEqual((yield* Fiber.join(answer)).status, 204)
      assert.deepStrictEqual([bodies.reading(), stored, most], [20, 20, 1])
    }).pipe(Effect.provide(layer))
  )

  it.effect("that are given up make room for the next", () =>
    Effect.gen(function* () {
      const [given, next] = [makeBodies(), makeBodies()]
      let begun = 0
      const handler = Effect.suspend(() => {
        begun++
        return Effect.never
      })
      const hasBegun = (count: number) =>
        eventually(
          Effect.sync(() => begun),
          (found) => found >= count
        )
      const first = yield* Effect.forEach(Array.from({ length: 9 }), () =>
        Effect.forkChild(send(given.request(), handler))
      )
      yield* eventually(Effect.sync(given.reading), (reading) => reading === 8)
      given.end()
      yield* hasBegun(1)
      for (let turns = 0; turns < 50; turns++) yield* turn
      assert.strictEqual(begun, 1)
      yield* Fiber.interruptAll(first)
      const before = begun
      const second = yield* Effect.forkChild(send(next.request(), handler))
      next.end()
      yield* hasBegun(before + 1)
      yield* Fiber.interrupt(second)
    }).pipe(Effect.provide(layer))
  )
})
