import type { TextField } from "@delivery/domain/planning/TicketText"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketTextsRepo } from "../../src/planning/TicketTextsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { as, type CallerOf, minute, refusal } from "../identity/Scene.ts"
import { onEachStorage, withServicesOnEachStorage } from "../support/Storages.ts"
import { addTeam, seesAll } from "./Scene.ts"
import { addAgent, addTicket, anEvent, create, makeTicketScene, patch } from "./TicketsScene.ts"

const historyOf = (ref: string, by: CallerOf, query: { readonly field?: TextField; readonly cursor?: number } = {}) =>
  Effect.flatMap(Tickets, (tickets) => tickets.history(ref, query).pipe(as(by), Effect.orDie))

withServicesOnEachStorage("Earlier texts", (it) => {
  it.effect("are those that a change replaces, with who replaced them and when", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, memberKey, viewer } = scene
      const agent = yield* addAgent(member)
      const { identifier } = yield* create(scene, { description: "One" })
      assert.deepStrictEqual(yield* historyOf(identifier, viewer), { texts: [], nextCursor: null })
      const changes = [
        [{ description: "Two" }, member],
        [{ title: "Other" }, member],
        [{ description: "Two", plan: "First" }, agent],
        [{ description: null, plan: "First, then" }, memberKey]
      ] as const
      const times: Array<string> = []
      for (const [input, by] of changes) {
        yield* TestClock.adjust(1_000)
        times.push((yield* patch(identifier, input, by)).updatedAt)
      }
      const { email, id, name } = member.principal
      const byKey = { replacedBy: memberKey.principal, replacedAt: times[3] }
      const all: ReadonlyArray<unknown> = [
        { number: 4, field: "plan", text: "First", ...byKey },
        { number: 3, field: "description", text: "Two", ...byKey },
        { number: 2, field: "plan", text: null, replacedBy: agent.principal, replacedAt: times[2] },
        {
          number: 1,
          field: "description",
          text: "One",
          replacedBy: { kind: "user", id, name, email },
          replacedAt: times[0]
        }
      ]
      assert.deepStrictEqual<unknown>(yield* historyOf(identifier.toLowerCase(), viewer), {
        texts: all,
        nextCursor: null
      })
      for (const [field, places] of [
        ["description", [1, 3]],
        ["plan", [0, 2]]
      ] as const) {
        assert.deepStrictEqual<unknown>(
          (yield* historyOf(identifier, viewer, { field })).texts,
          places.map((place) => all[place])
        )
      }
    })
  )

  it.effect("come a page at a time", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { identifier } = yield* create(scene, { description: "0" })
      for (let n = 1; n <= 41; n++) yield* patch(identifier, { description: String(n) }, scene.member)
      const field = "description"
      const first = yield* historyOf(identifier, scene.viewer, { field })
      assert.deepStrictEqual(
        first.texts.map(({ number }) => number),
        Array.from({ length: 20 }, (_, at) => 41 - at)
      )
      const second = yield* historyOf(identifier, scene.viewer, { field, cursor: first.nextCursor! })
      assert.deepStrictEqual(
        second.texts.map(({ text }) => text),
        Array.from({ length: 20 }, (_, at) => String(20 - at))
      )
      assert.deepStrictEqual(
        (yield* historyOf(identifier, scene.viewer, { field, cursor: second.nextCursor! })).texts.map(
          ({ text }) => text
        ),
        ["0"]
      )
    })
  )

  it.effect("are not there for who does not see the ticket, and go with it", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { admin, member, viewer, workspace } = scene
      const secret = yield* addTeam(workspace.id, { visibility: "private" })
      const hidden = yield* create({ ...scene, team: secret }, { description: "One" }, admin)
      yield* patch(hidden.identifier, { description: "Two" }, admin)
      const missing = (ref: string, by: CallerOf) => refusal(tickets.history(ref, {}).pipe(as(by)))
      assert.strictEqual(yield* missing(hidden.identifier, viewer), "NotFound")
      assert.strictEqual(yield* missing(hidden.id, viewer), "NotFound")

      const { id } = yield* create(scene, { description: "One" })
      yield* patch(id, { description: "Two" }, member)
      yield* tickets.delete(id).pipe(as(member))
      assert.strictEqual(yield* missing(id, member), "NotFound")
    })
  )

  it.effect("are brought back by a change, which is itself one of the history", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { identifier } = yield* create(scene, { description: "One" })
      yield* patch(identifier, { description: "Two" }, scene.member)
      const [before] = (yield* historyOf(identifier, scene.member)).texts
      const restored = yield* patch(
        identifier,
        { description: before!.text, expected: { description: "Two" } },
        scene.member
      )
      assert.strictEqual(restored.description, "One")
      assert.deepStrictEqual(
        (yield* historyOf(identifier, scene.member)).texts.map(({ text }) => text),
        ["Two", "One"]
      )
    })
  )
})

onEachStorage("TicketTextsRepo", (it) => {
  const keptOf = Effect.fnUntraced(function* (texts: ReadonlyArray<string | null>) {
    const repo = yield* TicketTextsRepo
    const { team, workspace } = yield* makeTicketScene
    const ticket = yield* addTicket(team)
    const other = yield* addTicket(team)
    const keep = (ticketId: typeof ticket.id, text: string | null) =>
      repo.keep({
        workspaceId: workspace.id,
        ticketId,
        field: "plan",
        text,
        authorKind: "apiKey",
        authorId: anEvent(workspace.id).actor.id,
        replacedAt: minute(1)
      })
    const storage = yield* Storage
    yield* storage.transaction(keep(other.id, "Of another"))
    for (const text of texts) yield* storage.transaction(keep(ticket.id, text))
    const selection = { field: undefined, below: undefined, limit: 1_000 }
    const viewer = seesAll(workspace.id)
    assert.strictEqual((yield* repo.list(viewer, other.id, selection))?.length, 1)
    return (yield* repo.list(viewer, ticket.id, selection))!
  })

  it.effect("keeps the last hundred texts of a ticket", () =>
    Effect.gen(function* () {
      const kept = yield* keptOf(Array.from({ length: 102 }, (_, n) => String(n + 1)))
      assert.deepStrictEqual(
        kept.map(({ number, text }) => [number, text]),
        Array.from({ length: 100 }, (_, n) => [102 - n, String(102 - n)])
      )
    })
  )

  it.effect("keeps a million bytes of texts of a ticket, the last ones", () =>
    Effect.gen(function* () {
      // Each character has four bytes.
      const half = "😀".repeat(62_500)
      const kept = yield* keptOf(["a", half, half, null, half, half])
      assert.deepStrictEqual(
        kept.map(({ number, text }) => [number, text?.length]),
        [
          [6, 125_000],
          [5, 125_000],
          [4, undefined],
          [3, 125_000],
          [2, 125_000]
        ]
      )
      assert.deepStrictEqual(
        (yield* keptOf(["a", half, half, half, half, null, "b"])).map(({ number }) => number),
        [7, 6, 5, 4, 3]
      )
    })
  )
})
