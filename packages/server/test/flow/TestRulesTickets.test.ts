import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Agents } from "../../src/agents/Agents.ts"
import { Messages } from "../../src/agents/Messages.ts"
import { TestRules } from "../../src/flow/TestRules.ts"
import { Members } from "../../src/identity/Members.ts"
import { Comments } from "../../src/planning/Comments.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { addMember, as } from "../identity/Scene.ts"
import { addTeamMember } from "../planning/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { type FlowScene, makeFlowScene, ownedTicket, run } from "./FlowScene.ts"
import { failing, rule, runOf, ticketsOf } from "./TestRulesScene.ts"

/** A rule whose tickets an agent of another member owns. */
const withAgent = Effect.gen(function* () {
  const at = yield* makeFlowScene
  const person = yield* addMember(at.workspace, "member")
  const agent = yield* addAgent(person)
  yield* rule(at, { owner: agent.principal.id, closeAfter: 1 })
  return { at, person, agent }
})

const statesOf = Effect.fnUntraced(function* (at: FlowScene) {
  return (yield* as(at.owner)((yield* TestRules).list)).map(({ state }) => state)
})

const bodiesOf = Effect.fnUntraced(function* (at: FlowScene, caseId: string) {
  const tickets = yield* as(at.owner)((yield* Tickets).list({ team: at.team.key }))
  const { id } = tickets.find(({ cases }) => cases?.caseIds.join(" ") === caseId)!
  return (yield* as(at.owner)((yield* Comments).list(id))).map(({ body }) => body)
})

const hidden = Effect.fnUntraced(function* (at: FlowScene) {
  yield* addTeamMember(at.team, at.member)
  yield* as(at.admin)((yield* Teams).update(at.team.key, { visibility: "private" }))
})

type Scene = Effect.Success<typeof withAgent>

/** What keeps the agent from being asked, and whether it may still own what is new. */
const refusals = [
  {
    why: "the agent was revoked",
    owns: false,
    refuse: Effect.fnUntraced(function* ({ agent, person }: Scene) {
      yield* as(person)((yield* Agents).revoke(agent.principal.id))
    })
  },
  {
    why: "its person is not an active member",
    owns: false,
    refuse: Effect.fnUntraced(function* ({ at, person }: Scene) {
      yield* as(at.owner)((yield* Members).deactivate(person.principal.id))
    })
  },
  {
    why: "its person cannot see the ticket",
    owns: false,
    refuse: ({ at }: Scene) => hidden(at)
  },
  {
    why: "as many messages as one sender may have wait in its inbox already",
    owns: true,
    refuse: Effect.fnUntraced(function* ({ agent, at }: Scene) {
      const { identifier } = yield* ownedTicket(at)
      const sent = (yield* Messages).send({ agent: agent.principal.id, ticket: identifier, ask: "draft" })
      yield* Effect.replicateEffect(as(at.member)(sent), 200, { discard: true })
    })
  }
]

withServicesOnEachStorage("Tickets of test rules", (it) => {
  for (const { owns, refuse, why } of refusals) {
    it.effect(`are made and reopened although ${why}, and say that nobody was asked`, () =>
      Effect.gen(function* () {
        const scene = yield* withAgent
        const { at, person } = scene
        yield* run(at, ["a"])
        const messages = yield* Messages
        const [asked] = yield* as(at.owner)(messages.list({}))
        yield* as(person)(messages.decline(asked!.id, {}))
        yield* run(at, [], ["a"])
        yield* refuse(scene)
        yield* run(at, ["a", "b"])
        const told = `Test rule (1 of 1 run): the agent who owns this ticket was not asked: ${why}.`
        assert.deepStrictEqual(
          (yield* ticketsOf(at)).flatMap(([ids, category]) => (ids === undefined ? [] : [[ids, category]])),
          [
            ["a", "unstarted"],
            ["b", "backlog"]
          ]
        )
        const [, failed, refused] = yield* bodiesOf(at, "a")
        assert.match(failed!, /^Test rule .+: failed in run/)
        assert.strictEqual(refused, told)
        const [first, ...more] = yield* bodiesOf(at, "b")
        assert.deepStrictEqual(more, [])
        if (owns) assert.strictEqual(first, told)
        else assert.match(first!, /^Test rule .+: nobody owns this ticket: the agent whom the rule names .+\./)
        assert.deepStrictEqual(yield* statesOf(at), ["active"])
      })
    )
  }

  it.effect("are commented when a test fails after they were completed, and reopened once it is due", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { when: { failures: 2 }, closeAfter: 1 })
      for (const _ of [1, 2]) yield* run(at, ["a"])
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 1]])
      yield* run(at, ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 2]])
      yield* run(at, ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "unstarted", 3]])
    })
  )

  it.effect(
    "are one for all that fail alike where many fail at once, due or not, and are not reopened one by one",
    () =>
      Effect.gen(function* () {
        const at = yield* makeFlowScene
        const agent = yield* addAgent(at.admin)
        yield* rule(at, { above: 3, closeAfter: 1, owner: agent.principal.id })
        const asked = Effect.flatMap(Messages, ({ list }) =>
          Effect.map(as(at.owner)(list({})), (messages) => messages.length)
        )
        yield* run(at, ["a", "b"])
        yield* run(at, [], ["a", "b"])
        yield* run(at, ["a", "b", "c"])
        const one = ["a b c", "backlog", 0] as const
        const others = ["a", "b"].map((id) => [id, "completed", 2] as const)
        assert.deepStrictEqual(yield* ticketsOf(at), [...others, one])
        assert.strictEqual(yield* asked, 3)
        yield* run(at, [], ["a", "b", "c"])
        // The ticket that is about all of them is reopened.
        yield* runOf(at, [failing("a", "No"), failing("b", "No"), failing("c", "Other")])
        assert.deepStrictEqual(yield* ticketsOf(at), [...others, ["a b c", "unstarted", 2]])

        const due = yield* makeFlowScene
        yield* rule(due, { above: 3, when: { failures: 2 } })
        yield* run(due, ["a", "b"])
        yield* run(due, ["a", "b", "c"])
        assert.deepStrictEqual(yield* ticketsOf(due), [["a b", "backlog", 0]])
      })
  )

  it.effect("that a run makes and reopens are 20 at most", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { above: 5_000, closeAfter: 1 })
      const ids = Array.from({ length: 30 }, (_, index) => `case ${String(index).padStart(2, "0")}`)
      for (const part of [ids.slice(0, 15), ids.slice(15)]) {
        yield* run(at, part)
        yield* run(at, [], part)
      }
      yield* run(at, ids)
      const tickets = yield* ticketsOf(at)
      assert.deepStrictEqual(
        tickets.map(([caseIds, category]) => [caseIds, category]),
        [
          ...ids.map((id, index) => [id, index < 19 ? "unstarted" : "completed"]),
          [ids.slice(19, 29).join(" "), "backlog"]
        ]
      )
      assert.deepStrictEqual([...new Set(tickets.slice(0, 30).map(([, , comments]) => comments))], [2])
    })
  )
})
