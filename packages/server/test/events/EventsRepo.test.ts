import { assert, expect } from "@effect/vitest"
import type { ApiKeyId, EventId, PersonId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { EventsRepo, type StoredEvent } from "../../src/events/EventsRepo.ts"
import type { ActorRef } from "../../src/access/Access.ts"
import { addAccountKey, addPerson, addWorkspace, minute, newestFirst, newId, shuffled } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { storedEvent } from "./Rows.ts"

onEachStorage("EventsRepo", (it) => {
  it.effect("finds the newest events of the workspace first", () =>
    Effect.gen(function* () {
      const events = yield* EventsRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const actor = { kind: "user", id: (yield* addPerson()).id } as const
      const expected = shuffled(
        newestFirst((createdAt, id) => storedEvent(workspace.id, actor, { createdAt, id: id as EventId }))
      )
      // Newest is what was stored last, whatever the clocks of servers say.
      for (const event of expected.toReversed()) yield* events.insert(event)
      yield* events.insert(storedEvent(other.id, actor))
      const found = (limit: number) =>
        Effect.map(events.newest(workspace.id, "all", limit), (found) => found.map((event) => event.id))
      const ids = expected.map((event) => event.id)
      assert.deepStrictEqual(yield* found(50), ids)
      for (const limit of [1, 3, 5]) assert.deepStrictEqual(yield* found(limit), ids.slice(0, limit))
      assert.deepStrictEqual(yield* events.newest(newId<WorkspaceId>(), "all", 50), [])
    })
  )

  it.effect("finds an event as it was stored", () =>
    Effect.gen(function* () {
      const events = yield* EventsRepo
      const workspace = yield* addWorkspace()
      const { email, id, name } = yield* addPerson()
      const event = storedEvent(
        workspace.id,
        { kind: "user", id },
        {
          kind: "run_finished",
          subjectType: "run",
          subjectId: "42",
          subjectLabel: "Ünïcode 🚀 'quoted' \"twice\"",
          subjectPath: "test-runs/42",
          changes: [
            { field: "state", from: "running", to: "finished" },
            { field: "näme", from: null, to: "null" },
            { field: "", from: "\n\t\\", to: null }
          ],
          createdAt: "2026-02-03T04:05:06.789Z"
        }
      )
      yield* events.insert(event)
      const { teamIds: _, ...shown } = event
      expect(yield* events.newest(workspace.id, "all", 1)).toMatchObject([
        { ...shown, actor: { kind: "user", id, name, email } }
      ])
    })
  )

  it.effect("shows actors by their current names, and deleted ones as removed", () =>
    Effect.gen(function* () {
      const events = yield* EventsRepo
      const workspace = yield* addWorkspace()
      const { email, id, name } = yield* addPerson()
      const { principal } = yield* addAccountKey(workspace, "member")
      const shown = (actor: ActorRef) =>
        Effect.gen(function* () {
          const event = storedEvent(workspace.id, actor)
          yield* events.insert(event)
          return (yield* events.newest(workspace.id, "all", 50)).find((found) => found.id === event.id)?.actor
        })
      assert.deepStrictEqual(yield* shown({ kind: "user", id }), { kind: "user", id, name, email })
      assert.deepStrictEqual(yield* shown({ kind: "apiKey", id: principal.id as ApiKeyId }), principal as never)
      assert.deepStrictEqual(yield* shown({ kind: "user", id: newId<PersonId>() }), { kind: "removed" })
      assert.deepStrictEqual(yield* shown({ kind: "apiKey", id: newId<ApiKeyId>() }), { kind: "removed" })
      // A reference is of its kind alone: no key has a person's id.
      assert.deepStrictEqual(yield* shown({ kind: "apiKey", id: id as string as ApiKeyId }), { kind: "removed" })
    })
  )

  it.effect("finds events of the given teams, and those without teams", () =>
    Effect.gen(function* () {
      const events = yield* EventsRepo
      const workspace = yield* addWorkspace()
      const actor = { kind: "user", id: (yield* addPerson()).id } as const
      const [one, two, three] = [newId<TeamId>(), newId<TeamId>(), newId<TeamId>()]
      const stored = (minutes: number, teamIds: ReadonlyArray<TeamId> | null) =>
        storedEvent(workspace.id, actor, { teamIds, createdAt: minute(minutes) })
      const [everybody, ofOne, ofBoth, ofThree, ofNone] = [
        stored(1, null),
        stored(2, [one]),
        stored(3, [one, two]),
        stored(4, [three]),
        // Of a project that has no team any more: nobody but those who see all.
        stored(5, [])
      ]
      for (const event of [everybody, ofOne, ofBoth, ofThree, ofNone]) yield* events.insert(event)
      const found = (teams: "all" | ReadonlyArray<TeamId>, limit = 50) =>
        Effect.map(events.newest(workspace.id, teams, limit), (found) => found.map(({ id }) => id))
      const ids = (...events: ReadonlyArray<StoredEvent>) => events.map(({ id }) => id)
      assert.deepStrictEqual(yield* found("all"), ids(ofNone, ofThree, ofBoth, ofOne, everybody))
      assert.deepStrictEqual(yield* found([one]), ids(ofBoth, ofOne, everybody))
      assert.deepStrictEqual(yield* found([two]), ids(ofBoth, everybody))
      assert.deepStrictEqual(yield* found([three, two]), ids(ofThree, ofBoth, everybody))
      assert.deepStrictEqual(yield* found([]), ids(everybody))
      assert.deepStrictEqual(yield* found([newId<TeamId>()]), ids(everybody))
      // Invisible events do not count against the limit.
      assert.deepStrictEqual(yield* found([two], 2), ids(ofBoth, everybody))
    })
  )

  it.effect("says where events of the workspace stand, and nothing of others", () =>
    Effect.gen(function* () {
      const events = yield* EventsRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const actor = { kind: "user", id: (yield* addPerson()).id } as const
      const [first, second, elsewhere] = [
        storedEvent(workspace.id, actor),
        storedEvent(workspace.id, actor),
        storedEvent(other.id, actor)
      ]
      for (const event of [first, second, elsewhere]) yield* events.insert(event)
      const ids = [second.id, elsewhere.id, newId<EventId>(), first.id]
      const placed = yield* events.placed(workspace.id, ids)
      const stored = (yield* events.newest(workspace.id, "all", 2)).map(({ id, position }) => ({ id, position }))
      assert.sameDeepMembers([...placed], stored)
      assert.deepStrictEqual(yield* events.placed(workspace.id, []), [])
      const { readable } = yield* events.horizon
      const between = (seen: typeof placed) =>
        Effect.map(events.between(workspace.id, "all", 10, { after: { position: 0, seen }, upTo: readable }), (found) =>
          found.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* between([]), [first.id, second.id])
      assert.deepStrictEqual(yield* between(placed.filter(({ id }) => id === first.id)), [second.id])
    })
  )
})
