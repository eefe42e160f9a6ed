import { assert } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { EventStreams } from "../../src/events/EventStreams.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import * as Identity from "../../src/identity/Identity.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { as, makeScene, minute } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"

/** Streams of events whose callers lose their access (docs/contract.md, Events). */

const layerStreams = Layer.provide(EventStreams.layer, Identity.layerAuthorization)

/** Lasts until the stream ends: the test has no other limit. */
const untilEnded = Effect.fnUntraced(function* (stream: Fiber.Fiber<unknown, unknown>) {
  while (stream.pollUnsafe() === undefined) {
    yield* TestClock.adjust("500 millis")
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
  yield* Fiber.join(stream)
})

withServicesOnEachStorage("Streams of events", (it) => {
  it.effect("end for a request that was let in before its key ended, and follows after that was seen", () =>
    Effect.gen(function* () {
      const streams = yield* EventStreams
      const [keys, storage] = [yield* ApiKeysRepo, yield* Storage]
      const { memberKey, workspace } = yield* makeScene
      const { id, name } = memberKey.principal
      const request = HttpServerRequest.fromWeb(new Request("http://localhost/", { headers: { "x-api-key": name } }))
      const follow = streams.follow({}, { request, workspace: workspace.slug }).pipe(as(memberKey))
      const first = yield* Effect.forkChild(Stream.runDrain(yield* follow))
      for (let round = 0; round < 4; round++) yield* TestClock.adjust("1500 millis")
      assert.isUndefined(first.pollUnsafe())
      const owner = { workspaceId: workspace.id }
      yield* storage.transaction(keys.end(id, owner, { at: minute(1), keptBy: undefined }))
      yield* untilEnded(first)
      // What its key is worth now is what it was worth in the round before.
      yield* untilEnded(yield* Effect.forkChild(Stream.runDrain(yield* follow)))
    }).pipe(Effect.provide(layerStreams))
  )
})
