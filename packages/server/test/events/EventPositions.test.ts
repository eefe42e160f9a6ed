import type { EventId, WorkspaceId } from "@delivery/domain/Ids"
import { assert, layer } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Exit, Fiber } from "effect"
import type { ActorRef } from "../../src/access/Access.ts"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import { addPerson, addWorkspace, newId } from "../identity/Scene.ts"
import { onEachStorage, sharedDatabases } from "../support/Storages.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { storedEvent } from "./Rows.ts"

/** The order in which events are read on, whatever commits in which order (migration 0086). */

const scene = Effect.gen(function* () {
  const workspace = yield* addWorkspace()
  const actor = { kind: "user", id: (yield* addPerson()).id } as const
  return { workspaceId: workspace.id, actor }
})

interface Scene {
  readonly workspaceId: WorkspaceId
  readonly actor: ActorRef
}

const insert = ({ actor, workspaceId }: Scene, label: string) =>
  Effect.flatMap(EventsRepo, (repo) => repo.insert(storedEvent(workspaceId, actor, { subjectLabel: label })))

/** A reader of all events of the workspace. Each call reads what can be read by then. */
const reader = Effect.fnUntraced(function* ({ workspaceId }: Scene) {
  const repo = yield* EventsRepo
  let position = 0
  const read: Array<string> = []
  return Effect.gen(function* () {
    const { readable } = yield* repo.horizon
    const after = { position, seen: [] }
    const found = yield* repo.between(workspaceId, "all", 1_000, { after, upTo: readable })
    position = Math.max(position, readable)
    read.push(...found.map(({ subjectLabel }) => subjectLabel))
    return read
  })
})

/** A transaction that does something and stays open until it is told how to end. */
const openTransaction = Effect.fnUntraced(function* <E, R>(begin: Effect.Effect<unknown, E, R>) {
  const storage = yield* Storage
  const begun = yield* Deferred.make<void>()
  const end = yield* Deferred.make<void, "rolled back">()
  const fiber = yield* storage
    .transaction(Effect.andThen(begin, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))))
    .pipe(Effect.exit, Effect.forkChild)
  yield* Deferred.await(begun)
  return {
    commit: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)),
    rollBack: Effect.andThen(Deferred.fail(end, "rolled back"), Fiber.join(fiber))
  }
})

for (const { layer: database, name } of sharedDatabases.filter(({ name }) => name === "PostgreSQL")) {
  layer(database, { excludeTestServices: true })(`Positions of events on ${name}`, (it) => {
    it.effect("lets nobody overtake a transaction that has written an event", () =>
      Effect.gen(function* () {
        const at = yield* scene
        const read = yield* reader(at)
        yield* insert(at, "before")
        const [first, second] = [
          yield* openTransaction(insert(at, "first")),
          yield* openTransaction(insert(at, "second"))
        ]
        yield* insert(at, "third")
        assert.deepStrictEqual(yield* read, ["before"])
        yield* second.commit
        assert.deepStrictEqual(yield* read, ["before"])
        yield* first.commit
        assert.deepStrictEqual(yield* read, ["before", "first", "second", "third"])
      })
    )

    it.effect("goes on when the writer rolls back, as a whole or in part", () =>
      Effect.gen(function* () {
        const at = yield* scene
        const read = yield* reader(at)
        const { rollBack } = yield* openTransaction(insert(at, "never"))
        yield* insert(at, "one")
        assert.deepStrictEqual(yield* read, [])
        yield* rollBack
        assert.deepStrictEqual(yield* read, ["one"])

        const { transaction } = yield* Storage
        const failing = Effect.exit(transaction(Effect.andThen(insert(at, "inner"), Effect.fail("inner"))))
        const outer = yield* openTransaction(failing)
        // The lock of the part is gone with it.
        yield* insert(at, "two")
        assert.deepStrictEqual(yield* read, ["one", "two"])
        yield* outer.commit
        const again = yield* openTransaction(Effect.andThen(failing, insert(at, "three")))
        yield* insert(at, "four")
        assert.deepStrictEqual(yield* read, ["one", "two"])
        assert.isTrue(Exit.isSuccess(yield* again.commit))
        assert.deepStrictEqual(yield* read, ["one", "two", "three", "four"])
      })
    )

    it.effect("is held back by no transaction that writes no event, whatever locks it holds", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const at = yield* scene
        const read = yield* reader(at)
        const others = [
          yield* openTransaction(Effect.asVoid(addWorkspace())),
          yield* openTransaction(sql`select pg_advisory_xact_lock(hashtextextended('other', 0))::text`),
          yield* openTransaction(sql`select pg_advisory_xact_lock_shared(1, 2)::text`)
        ]
        yield* insert(at, "one")
        assert.deepStrictEqual(yield* read, ["one"])
        for (const { commit } of others) yield* commit
      })
    )

    it.effect("places what a server of an earlier version writes", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const at = yield* scene
        const read = yield* reader(at)
        const old = (label: string) =>
          sql`insert into events (id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label,
              subject_path, changes, created_at)
            values (${newId<EventId>()}, ${at.workspaceId}, 'product_updated', 'user', ${at.actor.id}, 'product', 'x',
              ${label}, 'products/x', '[]', now())`
        const { commit } = yield* openTransaction(old("old"))
        yield* insert(at, "new")
        assert.deepStrictEqual(yield* read, [])
        yield* commit
        assert.deepStrictEqual(yield* read, ["old", "new"])
      })
    )
  })
}

onEachStorage("Positions of events", (it) => {
  it.effect("show each event once to a reader, in their order, while many write", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { transaction } = yield* Storage
      const read = yield* reader(at)
      const writer = (name: number) =>
        Effect.forEach(
          Array.from({ length: 10 }, (_, n) => `${name}/${n}`),
          (label, n) =>
            n % 3 === 2
              ? Effect.exit(transaction(Effect.andThen(insert(at, label), Effect.fail("rolled back"))))
              : transaction(Effect.andThen(insert(at, label), insert(at, `${label}+`))),
          { discard: true }
        )
      const writing = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 16 }, (_, name) => writer(name)),
          { concurrency: "unbounded", discard: true }
        )
      )
      while (writing.pollUnsafe() === undefined) yield* Effect.andThen(read, Effect.yieldNow)
      yield* Fiber.join(writing)
      const seen = yield* read
      const repo = yield* EventsRepo
      const stored = yield* repo.newest(at.workspaceId, "all", 1_000)
      assert.lengthOf(seen, 16 * 7 * 2)
      assert.deepStrictEqual(
        seen,
        stored.toReversed().map(({ subjectLabel }) => subjectLabel)
      )
    })
  )
})
