import { assert } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { maxRankLength } from "../../src/planning/Ranks.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { answer, as } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { seesAll } from "./Scene.ts"
import { create, makeTicketScene, type TicketScene } from "./TicketsScene.ts"

/** The order of tickets against a plain array for each status: random histories, and moves into one gap. */

const categories = ["backlog", "started"] as const
type Column = (typeof categories)[number]

type Step =
  | { readonly do: "create"; readonly column: Column }
  | { readonly do: "delete"; readonly at: number }
  | { readonly do: "change"; readonly at: number; readonly column: Column }
  | { readonly do: "before" | "after"; readonly at: number; readonly beside: number }
  | { readonly do: "first"; readonly at: number }

const at = fc.nat(1_000)
const column = fc.constantFrom(...categories)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("create" as const), column }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("change" as const), at, column }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("before" as const, "after" as const), at, beside: at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("first" as const), at }) }
)

/** All tickets of a team in the order of their ranks, and which column each is in. */
interface Model {
  readonly order: ReadonlyArray<string>
  readonly columns: ReadonlyMap<string, Column>
}

const without = (order: ReadonlyArray<string>, id: string) => order.filter((other) => other !== id)

/** The tickets of a column: what people see the order of. */
const inColumn = ({ columns, order }: Model, column: Column) => order.filter((id) => columns.get(id) === column)

const listed = Effect.fnUntraced(function* ({ member, team }: TicketScene) {
  const tickets = yield* Tickets
  const shown = yield* tickets.list({ team: team.key }).pipe(as(member), Effect.orDie)
  return new Map(
    categories.map((category) => [
      category,
      shown.filter(({ status }) => status.category === category).map(({ id }) => id as string)
    ])
  )
})

const play = Effect.fnUntraced(function* (scene: TicketScene, steps: ReadonlyArray<Step>) {
  const tickets = yield* Tickets
  const { member, status } = scene
  let model: Model = { order: [], columns: new Map() }
  for (const step of steps) {
    if (step.do === "create") {
      const { id } = yield* create(scene, { status: status(step.column).id })
      model = { order: [...model.order, id], columns: new Map([...model.columns, [id, step.column]]) }
      continue
    }
    const id = model.order[step.at % Math.max(model.order.length, 1)]
    if (id === undefined) continue
    const own = model.columns.get(id)!
    if (step.do === "delete") {
      yield* tickets.delete(id).pipe(as(member), Effect.orDie)
      model = { ...model, order: without(model.order, id) }
    } else if (step.do === "change") {
      yield* tickets.update(id, { status: status(step.column).id }).pipe(as(member), Effect.orDie)
      model = { ...model, columns: new Map([...model.columns, [id, step.column]]) }
    } else if (step.do === "first") {
      yield* tickets.reorder(id, { after: null }).pipe(as(member), Effect.orDie)
      const [first] = inColumn(model, own)
      // It stands there already, whatever stands before it in other columns.
      if (first === undefined || first === id) continue
      const others = without(model.order, id)
      model = { ...model, order: others.toSpliced(others.indexOf(first), 0, id) }
    } else {
      const beside = model.order[step.beside % model.order.length]!
      const outcome = yield* tickets.reorder(id, { [step.do]: beside }).pipe(as(member), answer)
      if (beside === id) assert.strictEqual(outcome, "InvalidInput")
      else if (model.columns.get(beside) !== own) assert.strictEqual(outcome, "Conflict other_status")
      else {
        assert.strictEqual(outcome, "ok")
        const peers = inColumn(model, own)
        const [a, b] = [peers.indexOf(id), peers.indexOf(beside)]
        // It stands there already, whatever stands between them in other columns.
        if (a === (step.do === "before" ? b - 1 : b + 1)) continue
        const others = without(model.order, id)
        const index = others.indexOf(beside) + (step.do === "before" ? 0 : 1)
        model = { ...model, order: others.toSpliced(index, 0, id) }
      }
    }
  }
  return model
})

withServicesOnEachStorage("The order of tickets", (it, storage) => {
  it.effect(
    "is that of arrays after any sequence of operations",
    () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Tickets | TicketsRepo | Storage>()
        const run = Effect.runPromiseWith(context as never)
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) =>
              run(
                Effect.gen(function* () {
                  const scene = yield* makeTicketScene
                  const model = yield* play(scene, steps)
                  const repo = yield* TicketsRepo
                  assert.deepStrictEqual<unknown>(yield* repo.orderOf(scene.team).ids, model.order)
                  const expected = new Map(categories.map((column) => [column, inColumn(model, column)]))
                  assert.deepStrictEqual(yield* listed(scene), expected)
                }) as never
              )
            ),
            { numRuns: storage === "the embedded database" ? 5 : 25 }
          )
        )
      }),
    120_000
  )

  it.effect(
    "keeps ranks short after any moves into one gap",
    () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const repo = yield* TicketsRepo
        const scene = yield* makeTicketScene
        const { member, status, team, workspace } = scene
        const made = []
        for (let i = 0; i < 4; i++) made.push((yield* create(scene)).id)
        const other = yield* create(scene, { status: status("started").id })
        let model: ReadonlyArray<string> = made
        const lengths: Array<number> = []
        const spreads = { count: 0 }
        for (let i = 0; i < 450; i++) {
          // The last goes between the first two, so that the gap halves each time.
          const moved = model.at(-1)!
          const { rank } = yield* tickets.reorder(moved, { after: model[0]! }).pipe(as(member))
          model = [model[0]!, moved, ...model.slice(1, -1)]
          if (rank.length < (lengths.at(-1) ?? 0)) spreads.count += 1
          lengths.push(rank.length)
        }
        assert.isAtMost(Math.max(...lengths), maxRankLength)
        assert.isAtLeast(spreads.count, 1)
        assert.deepStrictEqual((yield* listed(scene)).get("backlog"), model)
        // The other ticket may get a new rank, and is otherwise unchanged.
        const ranks = (yield* repo.list(seesAll(workspace.id), { teamIds: [team.id] })).map(({ rank }) => rank)
        assert.strictEqual(new Set(ranks).size, 5)
        const shown = yield* tickets.get(other.id).pipe(as(member))
        assert.deepStrictEqual({ ...shown, rank: "" }, { ...other, rank: "" })
      }),
    120_000
  )

  it.effect("spreads ranks when a ticket moves beside one with the longest rank", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const repo = yield* TicketsRepo
      const transactions = yield* Storage
      const scene = yield* makeTicketScene
      const { member, team, workspace } = scene
      const [a, b, c] = [yield* create(scene), yield* create(scene), yield* create(scene)]
      const row = (yield* repo.find(seesAll(workspace.id), b.id))!
      const longest = `a0${"0".repeat(maxRankLength - 3)}1`
      assert.lengthOf(longest, maxRankLength)
      yield* transactions.transaction(repo.orderOf(team).setRanks([[row.id, longest]]))
      const moved = yield* tickets.reorder(c.id, { before: b.id }).pipe(as(member))
      assert.isBelow(moved.rank.length, 4)
      assert.deepStrictEqual((yield* listed(scene)).get("backlog"), [a.id, c.id, b.id])
    })
  )
})
