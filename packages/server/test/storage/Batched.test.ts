import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { SqlClient, type SqlConnection } from "effect/sql"
import { batched } from "../../src/storage/Batched.ts"

const sql = { transactionService: SqlClient.TransactionConnection(0) }

/** Questions whose batches are answered when the test says so. */
const scene = Effect.sync(() => {
  const batches: Array<{ readonly keys: ReadonlyArray<string>; readonly answer: Deferred.Deferred<void, string> }> = []
  const ask = batched(
    sql,
    (keys: ReadonlyArray<string>) => {
      const answer = Deferred.makeUnsafe<void, string>()
      batches.push({ keys, answer })
      return Effect.as(
        Deferred.await(answer),
        keys.map((key) => `${key}!`)
      )
    },
    { running: 2, groupOf: (key) => key.split("/")[1] ?? "" }
  )
  const fork = (key: string) => Effect.forkChild(ask(key), { startImmediately: true })
  const answer = (index: number) => Deferred.succeed(batches[index]!.answer, undefined)
  return { batches, ask, fork, answer }
})

describe("batched", () => {
  it.effect("runs at once while few batches are in flight, and batches the keys that arrive meanwhile", () =>
    Effect.gen(function* () {
      const { answer, batches, fork } = yield* scene
      const fibers = yield* Effect.forEach(["a", "b", "c", "d", "e"], fork)
      assert.deepStrictEqual(
        batches.map(({ keys }) => keys),
        [["a"], ["b"]]
      )
      yield* answer(0)
      assert.strictEqual(yield* Fiber.join(fibers[0]!), "a!")
      assert.deepStrictEqual(batches[2]!.keys, ["c", "d", "e"])
      // What comes while that is on its way is not of it: it must see what is true when it comes.
      const late = yield* fork("f")
      yield* answer(1)
      assert.deepStrictEqual(batches[3]!.keys, ["f"])
      yield* answer(2)
      yield* answer(3)
      assert.deepStrictEqual(yield* Fiber.joinAll([...fibers, late]), ["a!", "b!", "c!", "d!", "e!", "f!"])
      const again = yield* fork("g")
      yield* answer(4)
      assert.strictEqual(yield* Fiber.join(again), "g!")
    })
  )

  it.effect("blocks no group on another", () =>
    Effect.gen(function* () {
      const { answer, batches, fork } = yield* scene
      const fibers = yield* Effect.forEach(["a/1", "b/1", "c/1", "d/2", "e/2", "f/2", "g/1"], fork)
      yield* answer(2)
      yield* answer(0)
      assert.deepStrictEqual(
        batches.map(({ keys }) => keys),
        [["a/1"], ["b/1"], ["d/2"], ["e/2"], ["f/2"], ["c/1", "g/1"]]
      )
      for (const index of [1, 3, 4, 5]) yield* answer(index)
      assert.strictEqual((yield* Fiber.joinAll(fibers)).length, 7)
    })
  )

  it.effect("fails all keys of a failed batch, and continues with the next", () =>
    Effect.gen(function* () {
      const { answer, batches, fork } = yield* scene
      const fibers = yield* Effect.forEach(["a", "b", "c", "d"], fork)
      yield* answer(0)
      yield* answer(1)
      const next = yield* fork("e")
      yield* Deferred.fail(batches[2]!.answer, "down")
      for (const fiber of fibers.slice(2)) {
        const exit = yield* Fiber.await(fiber)
        assert.isTrue(
          Exit.isFailure(exit) && exit.cause.reasons.some((it) => Cause.isFailReason(it) && it.error === "down")
        )
      }
      yield* answer(3)
      assert.strictEqual(yield* Fiber.join(next), "e!")
    })
  )

  it.effect("runs alone and at once within a transaction", () =>
    Effect.gen(function* () {
      const { answer, ask, batches, fork } = yield* scene
      const others = yield* Effect.forEach(["a", "b", "c"], fork)
      const within = yield* ask("d").pipe(
        Effect.provideService(sql.transactionService, [{} as SqlConnection.Connection, 0]),
        Effect.forkChild({ startImmediately: true })
      )
      assert.deepStrictEqual(
        batches.map(({ keys }) => keys),
        [["a"], ["b"], ["d"]]
      )
      yield* answer(2)
      assert.strictEqual(yield* Fiber.join(within), "d!")
      yield* answer(0)
      yield* answer(1)
      yield* answer(3)
      assert.deepStrictEqual(yield* Fiber.joinAll(others), ["a!", "b!", "c!"])
    })
  )

  it.effect("fails only the key that cannot be sent", () =>
    Effect.gen(function* () {
      const ask = batched(
        sql,
        ([key]: ReadonlyArray<string>) => {
          if (key === "bad") throw new Error("bad")
          return Effect.succeed([`${key}!`])
        },
        { running: 1 }
      )
      assert.isTrue(Exit.isFailure(yield* Effect.exit(ask("bad"))))
      assert.strictEqual(yield* ask("good"), "good!")
    })
  )

  it.effect("drops interrupted callers, and answers the others of their batch", () =>
    Effect.gen(function* () {
      const { answer, batches, fork } = yield* scene
      const [a, b, c, d, e] = yield* Effect.all([fork("a"), fork("b"), fork("c"), fork("d"), fork("e")])
      yield* Fiber.interrupt(c)
      yield* answer(0)
      assert.deepStrictEqual(batches[2]!.keys, ["d", "e"])
      const going = yield* Effect.forkChild(Fiber.interrupt(d), { startImmediately: true })
      yield* answer(2)
      assert.strictEqual(yield* Fiber.join(e), "e!")
      yield* Fiber.join(going)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(d)))
      yield* answer(1)
      assert.deepStrictEqual(yield* Fiber.joinAll([a, b]), ["a!", "b!"])
      // None is left behind as running.
      const [f, g] = yield* Effect.all([fork("f"), fork("g")])
      yield* answer(3)
      yield* answer(4)
      assert.deepStrictEqual(yield* Fiber.joinAll([f, g]), ["f!", "g!"])
    })
  )
})
