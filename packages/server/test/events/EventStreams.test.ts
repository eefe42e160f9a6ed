import { assert, describe, it as test } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { actorOf } from "../../src/access/Access.ts"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import { EventStreams } from "../../src/events/EventStreams.ts"
import { EventTurns, pagesAtOnce, pagesOfCaller } from "../../src/events/EventTurns.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import * as Identity from "../../src/identity/Identity.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { as, makeScene, minute } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { storedEvent } from "./Rows.ts"

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

  it.effect("that are behind take turns for the pages that they read, and miss nothing", () =>
    Effect.gen(function* () {
      const repo = yield* EventsRepo
      const { adminKey, memberKey, viewerKey, workspace } = yield* makeScene
      const count = 450
      for (let place = 0; place < count; place++) {
        yield* repo.insert(storedEvent(workspace.id, actorOf(memberKey.principal), { subjectLabel: `${place}` }))
      }
      // Pages that were read, that are read now, and that were at once.
      let [pages, now, most] = [0, 0, 0]
      const counted = EventsRepo.of({
        ...repo,
        between: (...args) =>
          Effect.suspend(() => {
            pages++
            now++
            most = Math.max(most, now)
            // Long enough for all who may read at once to do so.
            const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            return Effect.andThen(Effect.repeat(turn, { times: 20 }), repo.between(...args)).pipe(
              Effect.ensuring(Effect.sync(() => void now--))
            )
          })
      })
      const layer = Layer.provide(layerStreams, Layer.succeed(EventsRepo, counted))
      yield* Effect.gen(function* () {
        const streams = yield* EventStreams
        const received = (by: typeof memberKey) =>
          Effect.gen(function* () {
            const headers = { "x-api-key": by.principal.name }
            const request = HttpServerRequest.fromWeb(new Request("http://localhost/", { headers }))
            const text = yield* streams.follow({ after: "0" }, { request, workspace: workspace.slug }).pipe(as(by))
            const labels: Array<string> = []
            yield* Stream.runForEachWhile(text, (part) =>
              Effect.sync(() => {
                for (const [, label] of part.matchAll(/"label":"(\d+)"/g)) labels.push(label!)
                return labels.length < count
              })
            )
            return labels
          }).pipe(Effect.scoped)
        const followers = [adminKey, memberKey, viewerKey].flatMap((by) =>
          Array.from({ length: 10 }, () => received(by))
        )
        const all = yield* Effect.all(followers, { concurrency: "unbounded" })
        const labels = Array.from({ length: count }, (_, place) => `${place}`)
        for (const one of all) assert.deepStrictEqual(one, labels)
      }).pipe(Effect.provide(layer))
      assert.isAtLeast(pages, 30)
      assert.strictEqual(most, pagesAtOnce)
    })
  )
})

describe("Turns of those who are behind", () => {
  test.effect("go from caller to caller, and end with whoever has one or waits for one", () =>
    Effect.gen(function* () {
      const turns = yield* EventTurns
      const woken: Array<string> = []
      const join = (caller: string, name: string) => turns.join(caller, () => woken.push(name))
      const ana = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) => join("ana", `ana ${n}`))
      assert.deepStrictEqual(
        ana.map(({ ask }) => ask()),
        ana.map((_, n) => n < pagesOfCaller)
      )
      const [ben, eve, kim] = [yield* join("ben", "ben"), yield* join("eve", "eve"), yield* join("kim", "kim")]
      assert.deepStrictEqual([ben.ask(), eve.ask(), kim.ask()], [true, true, false])
      // Whoever asks again has the same turn, and the same place.
      assert.deepStrictEqual([ana[0]!.ask(), kim.ask(), woken], [true, false, []])
      eve.end()
      assert.deepStrictEqual(woken, ["kim"])
      ana[2]!.end()
      ana[0]!.end()
      assert.deepStrictEqual(woken, ["kim", "ana 4"])
      ben.end()
      assert.lengthOf(woken, 2)
      yield* Effect.scoped(
        Effect.gen(function* () {
          assert.isTrue((yield* join("ben", "ben")).ask())
          assert.isFalse((yield* join("eve", "eve")).ask())
          assert.isFalse(ben.ask())
        })
      )
      assert.strictEqual(woken.at(-1), "ben")
    }).pipe(Effect.scoped, Effect.provide(EventTurns.layer))
  )
})
