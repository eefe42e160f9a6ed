import { assert } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { WorkspacesRepo } from "../../src/identity/WorkspacesRepo.ts"
import { UniqueViolation } from "../../src/storage/Sql.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { addWorkspace, workspaceRow } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"

onEachStorage("Storage", (it, storageName) => {
  const isStored = Effect.fnUntraced(function* ({ id }: ReturnType<typeof workspaceRow>) {
    return (yield* (yield* WorkspacesRepo).find(id)) !== undefined
  })

  const insert = (workspace: ReturnType<typeof workspaceRow>) =>
    Effect.flatMap(WorkspacesRepo, (workspaces) => workspaces.insert(workspace))

  const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Storage, (storage) => storage.transaction(effect))

  it.effect("answers", () => Effect.flatMap(Storage, (storage) => storage.ping))

  it.effect("commits every change of a successful transaction, and returns its value", () =>
    Effect.gen(function* () {
      const [one, two] = [workspaceRow(), workspaceRow()]
      const value = yield* transaction(Effect.as(Effect.andThen(insert(one), insert(two)), "value"))
      assert.strictEqual(value, "value")
      assert.isTrue(yield* isStored(one))
      assert.isTrue(yield* isStored(two))
    })
  )

  it.effect("lets a transaction see its own changes", () =>
    Effect.gen(function* () {
      const one = workspaceRow()
      assert.isTrue(yield* transaction(Effect.andThen(insert(one), isStored(one))))
    })
  )

  it.effect("rolls back a failed transaction, and passes the failure on", () =>
    Effect.gen(function* () {
      const [one, two] = [workspaceRow(), workspaceRow()]
      const error = yield* Effect.flip(
        transaction(Effect.andThen(Effect.andThen(insert(one), insert(two)), Effect.fail("no" as const)))
      )
      assert.strictEqual(error, "no")
      assert.isFalse(yield* isStored(one))
      assert.isFalse(yield* isStored(two))
    })
  )

  it.effect("rolls back a transaction that dies, and passes the defect on", () =>
    Effect.gen(function* () {
      const one = workspaceRow()
      const exit = yield* Effect.exit(transaction(Effect.andThen(insert(one), Effect.die("broken"))))
      assert.isTrue(
        Exit.isFailure(exit) && exit.cause.reasons.some((it) => Cause.isDieReason(it) && it.defect === "broken")
      )
      assert.isFalse(yield* isStored(one))
    })
  )

  it.effect("rolls back an interrupted transaction, and stays usable", () =>
    Effect.gen(function* () {
      const [one, two] = [workspaceRow(), workspaceRow()]
      const inserted = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        transaction(Effect.andThen(insert(one), Effect.andThen(Deferred.succeed(inserted, undefined), Effect.never)))
      )
      yield* Deferred.await(inserted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.isFalse(yield* isStored(one))
      yield* transaction(insert(two))
      assert.isTrue(yield* isStored(two))
    })
  )

  it.effect("rolls back a failed nested transaction only", () =>
    Effect.gen(function* () {
      const [before, inner, innermost, after] = [workspaceRow(), workspaceRow(), workspaceRow(), workspaceRow()]
      const caught = yield* transaction(
        Effect.gen(function* () {
          yield* insert(before)
          const error = yield* Effect.flip(
            transaction(
              Effect.gen(function* () {
                yield* insert(inner)
                yield* transaction(insert(innermost))
                assert.isTrue(yield* isStored(innermost))
                return yield* Effect.fail("inner")
              })
            )
          )
          assert.isTrue(yield* isStored(before))
          assert.isFalse(yield* isStored(inner))
          assert.isFalse(yield* isStored(innermost))
          yield* insert(after)
          return error
        })
      )
      assert.strictEqual(caught, "inner")
      assert.isTrue(yield* isStored(before))
      assert.isFalse(yield* isStored(inner))
      assert.isFalse(yield* isStored(innermost))
      assert.isTrue(yield* isStored(after))
    })
  )

  it.effect("rolls back a nested transaction with the outer one", () =>
    Effect.gen(function* () {
      const [outer, inner] = [workspaceRow(), workspaceRow()]
      yield* Effect.exit(
        transaction(
          Effect.gen(function* () {
            yield* insert(outer)
            yield* transaction(insert(inner))
            return yield* Effect.fail("outer")
          })
        )
      )
      assert.isFalse(yield* isStored(outer))
      assert.isFalse(yield* isStored(inner))
    })
  )

  it.effect("continues after a unique violation in a nested transaction", () =>
    Effect.gen(function* () {
      const taken = yield* addWorkspace()
      const [one, two] = [workspaceRow(), workspaceRow()]
      yield* transaction(
        Effect.gen(function* () {
          yield* insert(one)
          const error = yield* Effect.flip(transaction(insert(workspaceRow({ slug: taken.slug }))))
          assert.deepStrictEqual(error, new UniqueViolation({ constraint: "workspaces_slug_key" }))
          yield* insert(two)
        })
      )
      assert.isTrue(yield* isStored(one))
      assert.isTrue(yield* isStored(two))
    })
  )

  it.effect("loses none of many concurrent changes of a row", () =>
    Effect.gen(function* () {
      const workspaces = yield* WorkspacesRepo
      const { id } = yield* addWorkspace({ name: "0" })
      const increment = transaction(
        Effect.gen(function* () {
          yield* workspaces.lock(id)
          const before = (yield* workspaces.find(id))!
          yield* Effect.yieldNow
          yield* workspaces.update({ ...before, name: String(Number(before.name) + 1) })
        })
      )
      yield* Effect.all(
        Array.from({ length: 30 }, () => increment),
        { concurrency: "unbounded", discard: true }
      )
      assert.strictEqual((yield* workspaces.find(id))?.name, "30")
    })
  )

  it.effect("releases the locks of failed and interrupted transactions", () =>
    Effect.gen(function* () {
      const one = workspaceRow()
      // More than there are connections.
      for (let i = 0; i < 12; i++) {
        yield* Effect.exit(transaction(Effect.andThen(insert(one), Effect.fail("no"))))
        const fiber = yield* Effect.forkChild(transaction(Effect.andThen(insert(one), Effect.never)))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
      }
      yield* transaction(insert(one))
      assert.isTrue(yield* isStored(one))
    })
  )

  it.effect("hides uncommitted changes of a failed transaction from concurrent reads", () =>
    Effect.gen(function* () {
      const one = workspaceRow()
      const inserted = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        transaction(
          Effect.gen(function* () {
            yield* insert(one)
            yield* Deferred.succeed(inserted, undefined)
            yield* Deferred.await(begun)
            return yield* Effect.fail("no")
          })
        )
      )
      yield* Deferred.await(inserted)
      const read = yield* Effect.forkChild(isStored(one))
      yield* Effect.yieldNow
      yield* Deferred.succeed(begun, undefined)
      assert.isFalse(yield* Fiber.join(read))
      yield* Fiber.await(fiber)
    })
  )

  // In the embedded database such a read waits until the transaction has ended.
  if (storageName !== "the embedded database") {
    it.effect("answers reads during a transaction with the committed state before it", () =>
      Effect.gen(function* () {
        const [one, old] = [workspaceRow(), yield* addWorkspace()]
        const inserted = yield* Deferred.make<void>()
        const end = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          transaction(
            Effect.gen(function* () {
              yield* insert(one)
              yield* (yield* WorkspacesRepo).update({ ...old, name: "Changed" })
              yield* Deferred.succeed(inserted, undefined)
              yield* Deferred.await(end)
            })
          )
        )
        yield* Deferred.await(inserted)
        assert.isFalse(yield* isStored(one))
        assert.deepStrictEqual(yield* (yield* WorkspacesRepo).find(old.id), old)
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(fiber)
        assert.isTrue(yield* isStored(one))
        assert.strictEqual((yield* (yield* WorkspacesRepo).find(old.id))?.name, "Changed")
      })
    )
  }
})
