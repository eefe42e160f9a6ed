import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { type MemoryDatabase, MemoryStorage, memoryTable } from "../../src/storage/MemoryStorage.ts"
import { unique } from "../identity/Scene.ts"

layer(MemoryStorage.layer)("MemoryStorage", (it) => {
  interface Row {
    readonly n: number
  }

  /** A table of its own for each test. */
  const makeTable = Effect.gen(function* () {
    const memory = yield* MemoryStorage
    const rows = memoryTable<Row>(unique("table"))
    const table = (database: MemoryDatabase) => database.table(rows)
    return {
      memory,
      table,
      set: (key: string, n: number) => memory.write((database) => Effect.sync(() => table(database).set(key, { n }))),
      get: (key: string) => memory.read((database) => table(database).get(key)?.n)
    }
  })

  it.effect("keeps rows by key", () =>
    Effect.gen(function* () {
      const { memory, set, table } = yield* makeTable
      assert.deepStrictEqual(yield* memory.read((database) => [...table(database).values()]), [])
      for (const [key, n] of [
        ["a", 1],
        ["b", 2],
        ["c", 3],
        ["a", 4]
      ] as const)
        yield* set(key, n)
      yield* memory.write((database) => Effect.sync(() => table(database).delete("b")))
      yield* memory.read((database) => {
        const rows = table(database)
        assert.deepStrictEqual(rows.get("a"), { n: 4 })
        assert.isUndefined(rows.get("b"))
        assert.sameDeepMembers([...rows.values()], [{ n: 4 }, { n: 3 }])
        assert.sameDeepMembers(
          rows.filter((row) => row.n > 0),
          [{ n: 4 }, { n: 3 }]
        )
        assert.deepStrictEqual(
          rows.filter((row) => row.n > 3),
          [{ n: 4 }]
        )
        assert.deepStrictEqual(
          rows.find((row) => row.n === 3),
          { n: 3 }
        )
        assert.isUndefined(rows.find((row) => row.n === 2))
      })
    })
  )

  it.effect("rolls back a failed write", () =>
    Effect.gen(function* () {
      const { get, memory, table } = yield* makeTable
      const error = yield* Effect.flip(
        memory.write((database) =>
          Effect.suspend(() => {
            table(database).set("a", { n: 1 })
            return Effect.fail("no")
          })
        )
      )
      assert.strictEqual(error, "no")
      assert.isUndefined(yield* get("a"))
    })
  )

  it.effect("blocks outside writes during a transaction, but no reads", () =>
    Effect.gen(function* () {
      const { get, memory, set } = yield* makeTable
      yield* set("a", 1)
      const end = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        memory.transaction(Effect.andThen(set("a", 2), Effect.andThen(Deferred.await(end), Effect.fail("no"))))
      )
      yield* Effect.yieldNow
      const outside = yield* Effect.forkChild(set("b", 1))
      yield* Effect.yieldNow
      assert.strictEqual(yield* get("a"), 1)
      assert.isUndefined(yield* get("b"))
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.await(first)
      yield* Fiber.join(outside)
      assert.strictEqual(yield* get("a"), 1)
      assert.strictEqual(yield* get("b"), 1)
    })
  )

  it.effect("keeps serving waiters when one of them is interrupted", () =>
    Effect.gen(function* () {
      const { get, memory, set } = yield* makeTable
      const end = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(memory.transaction(Effect.andThen(set("a", 1), Deferred.await(end))))
      yield* Effect.yieldNow
      const waiting = yield* Effect.forkChild(set("b", 1))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(waiting)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(first)
      yield* set("c", 1)
      assert.deepStrictEqual([yield* get("a"), yield* get("b"), yield* get("c")], [1, undefined, 1])
    })
  )

  it.effect("keeps all concurrent writes within one transaction", () =>
    Effect.gen(function* () {
      const { memory, set, table } = yield* makeTable
      yield* memory.transaction(
        Effect.all(
          Array.from({ length: 5_000 }, (_, n) => set(String(n), n)),
          {
            concurrency: "unbounded",
            discard: true
          }
        )
      )
      assert.lengthOf(yield* memory.read((database) => [...table(database).values()]), 5_000)
    })
  )
})
