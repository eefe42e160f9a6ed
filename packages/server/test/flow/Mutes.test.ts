import { maxMuted } from "@delivery/domain/flow/Mute"
import { maxShownName } from "@delivery/domain/flow/ShownName"
import type { ProductId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import type { MuteCases } from "@delivery/domain/flow/Mute"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../src/agents/Agents.ts"
import { Audit } from "../../src/audit/Audit.ts"
import { Products } from "../../src/catalog/Products.ts"
import { Mutes } from "../../src/flow/Mutes.ts"
import { OverdueMutes } from "../../src/flow/OverdueMutes.ts"
import { Members } from "../../src/identity/Members.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { TicketNotifications } from "../../src/planning/TicketNotifications.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Cases } from "../../src/runs/cases/Cases.ts"
import { CaseCounting } from "../../src/runs/cases/CaseCounting.ts"
import { Retries } from "../../src/runs/Retries.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { addProduct } from "../catalog/Rows.ts"
import { as, type CallerOf, now, refusal } from "../identity/Scene.ts"
import { addTeam } from "../planning/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { endedOf, finishBody, git, machine, report } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import {
  daysFromNow,
  eventsOfKinds,
  finish,
  type FlowScene,
  makeFlowScene,
  mute,
  ownedTicket,
  resultsOf,
  run,
  start
} from "./FlowScene.ts"

const mutedNow = (at: FlowScene) => Effect.map(start(at), ({ muted }) => muted)

const idOf = (actor: object) => ("id" in actor ? actor.id : undefined)

const unmutes = (at: FlowScene) =>
  Effect.map(eventsOfKinds(at, "ticket_unmuted"), (events) =>
    events.map(({ actor, changes }): unknown => [idOf(actor), changes[0]])
  )

withServicesOnEachStorage("Muting", (it) => {
  it.effect("is a ticket, which then shows what it mutes and is about", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const ticket = yield* ownedTicket(at)
      const until = yield* daysFromNow(30)
      assert.deepStrictEqual([ticket.cases, ticket.mute], [null, null])
      const shown = yield* mute(at, ticket, ["b", "a"])
      assert.deepStrictEqual(shown.mute, { product: at.product.slug, cases: ["b", "a"], until })
      assert.deepStrictEqual(shown.cases, { product: at.product.slug, caseIds: ["b", "a"] })
      assert.isAbove(Date.parse(shown.updatedAt), Date.parse(ticket.updatedAt))
      const tickets = yield* Tickets
      assert.deepStrictEqual(yield* as(at.viewer)(tickets.get(ticket.identifier)), shown)
      const [listed] = yield* as(at.viewer)(tickets.list({}))
      assert.deepStrictEqual([listed!.cases, listed!.mute], [shown.cases, shown.mute])

      // The same again changes nothing; another replaces it, and the ticket stays about what it is about.
      assert.deepStrictEqual(yield* mute(at, ticket, ["a", "b"]), shown)
      const replaced = yield* mute(at, ticket, ["c"])
      assert.deepStrictEqual([replaced.mute!.cases, replaced.cases], [["c"], shown.cases])
      const another = yield* addProduct(at.workspace.id)
      yield* mute(at, ticket, ["e", "d"], { product: another.slug })
      const events = yield* eventsOfKinds(at, "ticket_muted")
      const tests = (count: string, { slug } = at.product) => `${count} of ${slug}`
      assert.deepStrictEqual(
        events.map(({ actor, changes, subjectLabel }): unknown => [idOf(actor), changes, subjectLabel]),
        [
          [
            { field: "mute", from: null, to: `${tests("2 tests")}, a, b` },
            { field: "until", from: null, to: until }
          ],
          [{ field: "mute", from: `${tests("2 tests")}, a, b`, to: `${tests("1 test")}, c` }],
          [{ field: "mute", from: `${tests("1 test")}, c`, to: `${tests("2 tests", another)}, d, e` }]
        ].map((changes) => [at.member.principal.id, changes, `${ticket.identifier} ${ticket.title}`])
      )
    })
  )

  it.effect("mutes at most 2,000 tests of a product at a time, and lists say how many", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [one, other] = [yield* ownedTicket(at), yield* ownedTicket(at)]
      const ids = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)
      const whole = yield* mute(at, one, ids(1_990, "a"))
      assert.strictEqual(yield* refusal(mute(at, other, ids(11, "b"))), "Conflict too_many_mutes")
      const tried = yield* Effect.all(
        [mute(at, other, ids(10, "b")), mute(at, yield* ownedTicket(at), ids(10, "c"))].map(Effect.option),
        { concurrency: 2 }
      )
      assert.strictEqual(tried.filter(({ _tag }) => _tag === "Some").length, 1)
      assert.strictEqual((yield* mutedNow(at)).length, 2_000)
      // What is past its time counts until its ticket is closed, before and after somebody ends it.
      const third = yield* ownedTicket(at)
      yield* mute(at, one, ids(1_990, "a"), { until: yield* daysFromNow(1) })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* refusal(mute(at, third, ids(11, "d"))), "Conflict too_many_mutes")
      yield* (yield* Mutes).sweep
      assert.strictEqual(yield* refusal(mute(at, third, ids(11, "d"))), "Conflict too_many_mutes")
      assert.strictEqual(yield* refusal(mute(at, one, ids(11, "d"))), "Conflict too_many_mutes")
      // What it mutes itself does not count against it.
      yield* mute(at, one, ids(1_989, "a"))
      assert.strictEqual(yield* refusal(mute(at, one, ids(1_991, "a"))), "Conflict too_many_mutes")
      const listed = (yield* as(at.viewer)((yield* Tickets).list({}))).find(({ id }) => id === one.id)!
      assert.deepStrictEqual(listed.cases, { ...whole.cases!, caseIds: ids(10, "a"), count: 1_990 })
      assert.deepStrictEqual([listed.mute!.cases, listed.mute!.count], [ids(10, "a"), 1_989])
    })
  )

  it.effect("is told when a run starts, and judged by in its gate; result and counts stay", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const before = yield* start(at)
      const ticket = yield* ownedTicket(at)
      const { mute: shown } = yield* mute(at, ticket, ["b", "a"])
      assert.deepStrictEqual([before.muted, yield* mutedNow(at)], [[], ["a", "b"]])

      const judged = yield* run(at, ["a", "b"], ["c"])
      assert.deepStrictEqual([judged.result, judged.gateResult, judged.counts.failed], ["failed", "passed", 2])
      const told = (yield* eventsOfKinds(at, "run_finished")).at(-1)
      assert.deepStrictEqual(told?.changes, [
        { field: "result", from: null, to: "failed" },
        { field: "gateResult", from: null, to: "passed" },
        { field: "counts", from: null, to: "2 of 3 failed" },
        ...endedOf(at)
      ])
      assert.strictEqual((yield* run(at, ["a", "c"])).gateResult, "failed")
      assert.strictEqual((yield* run(at, [], ["a"])).gateResult, "passed")
      // A run judges by what its start answered.
      assert.strictEqual((yield* finish(at, before.number, ["a"])).gateResult, "failed")

      const runs = yield* TestRuns
      const found = yield* as(at.viewer)(runs.get(judged.number))
      const why = { ticket: ticket.identifier, until: shown!.until }
      assert.deepStrictEqual(found.mutes, [
        { caseId: "a", ...why },
        { caseId: "b", ...why }
      ])
      assert.strictEqual(found.gateResult, "passed")
      assert.deepStrictEqual((yield* as(at.viewer)(runs.get(before.number))).mutes, [])
      const { runs: listed } = yield* as(at.viewer)(runs.list({}))
      assert.deepStrictEqual(
        listed.map(({ gateResult }) => gateResult),
        ["passed", "failed", "passed", null, "failed"]
      )
    })
  )

  it.effect("does not excuse what fails outside of the tests, or a run that was given up", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* mute(at, yield* ownedTicket(at), ["a"])
      const runs = yield* TestRuns
      for (const [fields, gateResult] of [
        [{ error: "No server." }, "failed"],
        [{ interrupted: true }, null],
        [{}, "passed"]
      ] as const) {
        const { number } = yield* start(at)
        const body = finishBody({ tests: resultsOf(["a"]), ...fields })
        assert.strictEqual((yield* as(at.member)(runs.finish(number, body))).gateResult, gateResult)
      }
      const { number } = yield* start(at)
      assert.strictEqual((yield* as(at.member)(runs.finish(number, finishBody({ tests: [] })))).gateResult, "failed")
    })
  )

  it.effect("is judged by when retries and shards end, too", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* mute(at, yield* ownedTicket(at), ["a"])
      const [runs, retries] = [yield* TestRuns, yield* Retries]
      const { number } = yield* run(at, ["a", "b"])
      const retry = yield* as(at.member)(retries.start(number, { passes: 1, baseUrl: null, git, machine }))
      const passed = {
        status: "passed",
        durationMs: 1,
        startedAt: "2026-11-21T09:30:10.123Z",
        errorMessage: null,
        errorStack: null,
        files: []
      } as const
      const tests = [{ caseId: "b", attempts: [passed] }]
      const retried = yield* as(at.member)(retries.finish(number, retry.retry, { interrupted: false, tests }))
      assert.deepStrictEqual([retried.result, retried.gateResult, retried.counts.failed], ["failed", "passed", 1])
      assert.strictEqual((yield* as(at.member)(runs.get(number))).gateResult, "passed")

      for (const [second, gateResult] of [
        [[], "passed"],
        [["b"], "failed"]
      ] as const) {
        const build = `build ${gateResult}`
        const one = yield* start(at, { build, shard: { index: 1, total: 2 } })
        const ticket = yield* ownedTicket(at)
        yield* mute(at, ticket, ["b"])
        // A shard that joins later is told what the run was.
        const two = yield* start(at, { build, shard: { index: 2, total: 2 } })
        assert.deepStrictEqual([one.number, one.muted, two.muted], [two.number, ["a"], ["a"]])
        yield* as(at.member)((yield* Mutes).end(ticket.identifier))
        const finishShard = (index: number, failed: ReadonlyArray<string>) =>
          as(at.member)(
            runs.finish(one.number, finishBody({ shard: { index, total: 2 }, tests: resultsOf(failed, ["c"]) }))
          )
        assert.strictEqual((yield* finishShard(1, ["a"])).gateResult, null)
        const finished = yield* finishShard(2, second)
        assert.deepStrictEqual([finished.result, finished.gateResult], ["failed", gateResult])
      }
    })
  )

  it.effect("ends with its ticket, when that loses its owner, and when it is ended", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [tickets, mutes] = [yield* Tickets, yield* Mutes]
      const ends = [
        (ref: string) => tickets.update(ref, { status: at.status("completed").id }),
        (ref: string) => tickets.update(ref, { status: at.status("canceled").id }),
        (ref: string) => tickets.updateMany({ tickets: [ref], changes: { category: "completed" } }),
        (ref: string) => tickets.update(ref, { owner: null }),
        (ref: string) => tickets.delete(ref),
        (ref: string) => mutes.end(ref)
      ]
      for (const end of ends) {
        const ticket = yield* ownedTicket(at)
        yield* mute(at, ticket, ["a"])
        assert.deepStrictEqual(yield* mutedNow(at), ["a"])
        // What says nothing of it leaves it.
        yield* as(at.member)(tickets.update(ticket.id, { title: "Other", status: at.status("started").id }))
        yield* as(at.member)(tickets.update(ticket.id, { owner: at.admin.principal.id }))
        assert.deepStrictEqual(yield* mutedNow(at), ["a"])
        yield* as(at.member)(end(ticket.id))
        assert.deepStrictEqual(yield* mutedNow(at), [])
        const left = yield* Effect.option(as(at.member)(tickets.get(ticket.id)))
        if (left._tag === "Some") assert.strictEqual(left.value.mute, null)
      }
      const actor = at.member.principal.id
      // The audit has what people did; what goes with its ticket is told by that.
      const { entries } = yield* as(at.owner)((yield* Audit).list({ action: "ticket_unmuted" }))
      assert.deepStrictEqual(
        entries.map((entry) => idOf(entry.actor)),
        ends.slice(1).map(() => actor)
      )
      const change = { field: "mute", from: `1 test of ${at.product.slug}`, to: null }
      assert.deepStrictEqual(
        yield* unmutes(at),
        ends.map(() => [actor, change])
      )
      // Ending what has ended changes nothing.
      const ticket = yield* ownedTicket(at)
      yield* as(at.member)(mutes.end(ticket.id))
      assert.deepStrictEqual(yield* as(at.member)(tickets.get(ticket.id)), ticket)
      assert.lengthOf(yield* unmutes(at), ends.length)
    })
  )

  it.effect("ends at its time, whether or not anybody has noticed, and then with one event", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const ticket = yield* ownedTicket(at)
      yield* mute(at, ticket, ["a"], { until: yield* daysFromNow(1) })
      const mutes = yield* Mutes
      yield* TestClock.adjust("23 hours")
      yield* mutes.sweep
      assert.deepStrictEqual(yield* mutedNow(at), ["a"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* mutedNow(at), [])
      assert.deepStrictEqual(yield* unmutes(at), [])
      yield* Effect.all([mutes.sweep, mutes.sweep], { concurrency: "unbounded" })
      assert.lengthOf(yield* unmutes(at), 1)
      assert.strictEqual((yield* as(at.member)((yield* Tickets).get(ticket.id))).mute, null)
    })
  )

  it.effect("tells who answers for the ticket and who muted once that its time is over", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [mutes, notifications, tickets] = [yield* Mutes, yield* TicketNotifications, yield* Tickets]
      const agent = yield* addAgent(at.admin)
      const endsToldTo = (caller: CallerOf) =>
        Effect.map(as(caller)(notifications.list({})), (page) =>
          page.notifications
            .filter(({ kind }) => kind === "ticket_mute_ended")
            .map(({ actor, ticket }): unknown => [ticket.identifier, idOf(actor)])
            .toReversed()
        )
      const all = Effect.all([at.member, at.admin, at.owner, at.viewer].map(endsToldTo))
      const [own, agents, closed, ended] = [
        yield* ownedTicket(at),
        yield* ownedTicket(at),
        yield* ownedTicket(at),
        yield* ownedTicket(at)
      ]
      yield* as(at.owner)(tickets.update(agents.id, { owner: agent.principal.id }))
      const until = yield* daysFromNow(1)
      for (const ticket of [own, agents, closed, ended]) yield* mute(at, ticket, ["a"], { until })
      // What people end themselves, and what ends with its ticket, tells nobody.
      yield* as(at.owner)(tickets.update(closed.id, { status: at.status("completed").id }))
      yield* as(at.owner)(mutes.end(ended.id))
      yield* mutes.sweep
      assert.deepStrictEqual(yield* all, [[], [], [], []])
      yield* TestClock.adjust("1 day")
      yield* Effect.all([mutes.sweep, mutes.sweep, mutes.sweep], { concurrency: "unbounded" })
      yield* mutes.sweep
      const by = at.member.principal.id
      const [ofOwn, ofAgents] = [own, agents].map(({ identifier }) => [identifier, by])
      const [toMember, ...others] = yield* all
      assert.sameDeepMembers(toMember!, [ofOwn, ofAgents])
      assert.deepStrictEqual(others, [[ofAgents], [], []])
      // One that is muted again tells of its end again.
      yield* mute(at, own, ["a"], { until: yield* daysFromNow(1) })
      yield* TestClock.adjust("1 day")
      yield* mutes.sweep
      assert.lengthOf(yield* endsToldTo(at.member), 3)
    })
  )

  it.effect("is overdue from its time on, until the ticket is closed or mutes anew", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [mutes, tickets, teams, overdue] = [yield* Mutes, yield* Tickets, yield* Teams, yield* OverdueMutes]
      const viewer = { workspaceId: at.workspace.id, seesPrivateTeams: false, personId: at.viewer.principal.id }
      const late = Effect.flatMap(now, (millis) => overdue.find(viewer, at.product.id, millis))
      const [ticket, other] = [yield* ownedTicket(at), yield* ownedTicket(at)]
      const until = yield* daysFromNow(1)
      yield* mute(at, ticket, ["b", "a"], { until })
      yield* mute(at, other, ["c"])
      assert.deepStrictEqual(yield* late, [])
      yield* TestClock.adjust("1 day")
      const shown = { id: ticket.id, identifier: ticket.identifier, title: ticket.title }
      const expected = ["a", "b"].map((caseId) => ({ caseId, until, ticket: shown }))
      assert.deepStrictEqual(yield* late, expected)
      yield* mutes.sweep
      assert.deepStrictEqual(yield* late, expected)
      yield* teams.update(at.team.key, { visibility: "private" }).pipe(as(at.admin))
      assert.deepStrictEqual(
        yield* late,
        expected.map((one) => ({ ...one, ticket: null }))
      )
      yield* teams.update(at.team.key, { visibility: "open" }).pipe(as(at.admin))
      yield* as(at.member)(tickets.update(ticket.id, { status: at.status("completed").id }))
      assert.deepStrictEqual(yield* late, [])
      yield* as(at.member)(tickets.update(ticket.id, { status: at.status("started").id }))
      assert.deepStrictEqual(yield* late, expected)
      // Muting other tests settles nothing, nor does the end of a mute that is over.
      yield* mute(at, ticket, ["a", "d"])
      assert.deepStrictEqual(yield* late, expected.slice(1))
      const soon = yield* daysFromNow(1)
      yield* mute(at, ticket, ["d"], { until: soon })
      yield* TestClock.adjust("1 day")
      yield* mutes.end(ticket.id).pipe(as(at.member))
      assert.deepStrictEqual(
        (yield* late).map(({ caseId, until }) => [caseId, until]),
        [
          ["b", until],
          ["d", until]
        ]
      )
      yield* mute(at, ticket, ["b", "d"])
      assert.deepStrictEqual(yield* late, [])
      // What is ended by hand before its time is not late.
      yield* mutes.end(ticket.id).pipe(as(at.member))
      yield* TestClock.adjust("60 days")
      yield* mutes.sweep
      assert.deepStrictEqual(
        (yield* late).map(({ caseId }) => caseId),
        ["c"]
      )
      yield* as(at.admin)(tickets.delete(other.id))
      assert.deepStrictEqual(yield* late, [])
    })
  )

  it.effect("is overdue of each product by itself, whatever else its ticket mutes", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [mutes, tickets, overdue] = [yield* Mutes, yield* Tickets, yield* OverdueMutes]
      const viewer = { workspaceId: at.workspace.id, seesPrivateTeams: false, personId: at.viewer.principal.id }
      const other = yield* addProduct(at.workspace.id)
      const lateOf = Effect.fnUntraced(function* ({ id }: { readonly id: ProductId }) {
        const found = yield* overdue.find(viewer, id, yield* now)
        return found.map(({ caseId, until }) => [caseId, until])
      })
      const ticket = yield* ownedTicket(at)
      const tomorrow = daysFromNow(1)
      const first = yield* tomorrow
      yield* mute(at, ticket, ["a", "b"], { until: first })
      yield* TestClock.adjust("1 day")
      const both = ["a", "b"].map((caseId) => [caseId, first])
      // Not noted before the other product is muted, nor with it.
      const second = yield* tomorrow
      yield* mute(at, ticket, ["x", "y"], { product: other.slug, until: second })
      assert.deepStrictEqual(yield* lateOf(at.product), both)
      yield* TestClock.adjust("1 day")
      yield* mutes.end(ticket.id).pipe(as(at.member))
      const rest = ["x", "y"].map((caseId) => [caseId, second])
      assert.deepStrictEqual([yield* lateOf(at.product), yield* lateOf(other)], [both, rest])
      const listed = Effect.map(as(at.viewer)(mutes.list(undefined)), (all) =>
        all.map(({ cases, overdue: isOverdue, product }) => [product, cases, isOverdue])
      )
      assert.deepStrictEqual(yield* listed, [
        [at.product.slug, ["a", "b"], true],
        [other.slug, ["x", "y"], true]
      ])
      // Other tests of the second are late, too, and are noted by the sweep.
      const third = yield* tomorrow
      yield* mute(at, ticket, ["z"], { product: other.slug, until: third })
      yield* TestClock.adjust("1 day")
      yield* mutes.sweep
      const more = [...rest, ["z", second]]
      assert.deepStrictEqual([yield* lateOf(at.product), yield* lateOf(other)], [both, more])
      // Each is settled by muting the same tests of the same product, and by the end of the ticket.
      yield* mute(at, ticket, ["x", "y", "z", "a"], { product: other.slug })
      assert.deepStrictEqual([yield* lateOf(at.product), yield* lateOf(other)], [both, []])
      yield* mute(at, ticket, ["a"])
      assert.deepStrictEqual([yield* lateOf(at.product), yield* lateOf(other)], [both.slice(1), []])
      yield* as(at.member)(tickets.update(ticket.id, { status: at.status("completed").id }))
      assert.deepStrictEqual(yield* listed, [])
      yield* as(at.member)(tickets.update(ticket.id, { status: at.status("started").id }))
      assert.deepStrictEqual(yield* lateOf(at.product), both.slice(1))
      yield* as(at.admin)(tickets.delete(ticket.id))
      assert.deepStrictEqual([yield* lateOf(at.product), yield* listed], [[], []])
    })
  )

  it.effect("stays overdue where its owner leaves, or its ticket is reopened, before anybody has noticed", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [tickets, members, overdue] = [yield* Tickets, yield* Members, yield* OverdueMutes]
      const viewer = { workspaceId: at.workspace.id, seesPrivateTeams: false, personId: at.viewer.principal.id }
      const [left, handed, reopened] = [yield* ownedTicket(at), yield* ownedTicket(at), yield* ownedTicket(at)]
      const until = yield* daysFromNow(1)
      yield* mute(at, left, ["a"], { until })
      yield* mute(at, handed, ["b"], { until })
      yield* mute(at, reopened, ["c"], { until })
      yield* TestClock.adjust("1 day")
      yield* as(at.member)(tickets.update(handed.id, { owner: null }))
      yield* as(at.member)(tickets.update(reopened.id, { status: at.status("completed").id }))
      yield* as(at.member)(tickets.update(reopened.id, { status: at.status("started").id }))
      yield* as(at.owner)(members.deactivate(at.member.principal.id))
      assert.deepStrictEqual(
        (yield* overdue.find(viewer, at.product.id, yield* now)).map(({ caseId }) => caseId),
        ["a", "b", "c"]
      )
    })
  )

  it.effect("counts what is overdue of each product", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const product = (yield* addProduct(at.workspace.id)).slug
      const [ticket, other] = [yield* ownedTicket(at), yield* ownedTicket(at)]
      const many = Array.from({ length: maxMuted - 1 }, (_, index) => `case ${index}`)
      yield* mute(at, ticket, many, { until: yield* daysFromNow(1) })
      yield* TestClock.adjust("1 day")
      yield* mute(at, ticket, ["x"], { product, until: yield* daysFromNow(1) })
      yield* TestClock.adjust("1 day")
      yield* mute(at, ticket, ["y"], { product })
      assert.strictEqual(yield* refusal(mute(at, other, ["a", "b"])), "Conflict too_many_mutes")
      assert.strictEqual(yield* refusal(mute(at, ticket, ["a", "b"])), "Conflict too_many_mutes")
      yield* mute(at, other, ["a"])
      assert.strictEqual(yield* refusal(mute(at, ticket, ["b"])), "Conflict too_many_mutes")
      yield* mute(at, ticket, many)
    })
  )

  it.effect("is listed with its ticket: first what is overdue, then what ends first", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [mutes, tickets, teams] = [yield* Mutes, yield* Tickets, yield* Teams]
      const listed = (product?: string) => as(at.viewer)(mutes.list(product))
      const [ticket, other] = [yield* ownedTicket(at), yield* ownedTicket(at)]
      const [soon, later] = [yield* daysFromNow(1), yield* daysFromNow(30)]
      yield* mute(at, other, ["c"])
      yield* mute(at, ticket, ["b", "a"], { until: soon })
      const about = ({ id, identifier, owner, title }: typeof ticket) => ({ id, identifier, title, owner })
      const product = at.product.slug
      const long = { title: "\u{1F680}".repeat(300), file: "f".repeat(300) }
      const { number } = yield* start(at)
      const tests = [report("a"), report("c", long)]
      yield* as(at.member)((yield* TestRuns).finish(number, finishBody({ tests })))
      const { step } = yield* CaseCounting
      while (yield* step);
      const unnamed = { caseId: "b", title: null, file: null }
      const a = { caseId: "a", title: report("a").title, file: report("a").file }
      const c = { caseId: "c", title: "\u{1F680}".repeat(maxShownName), file: "f".repeat(maxShownName) }
      const first = {
        product,
        cases: ["a", "b"],
        tests: [a, unnamed],
        until: soon,
        ticket: about(ticket),
        overdue: false
      }
      const second = { product, cases: ["c"], tests: [c], until: later, ticket: about(other), overdue: false }
      assert.deepStrictEqual(yield* listed(), [first, second])
      assert.deepStrictEqual(yield* listed(product), [first, second])
      assert.strictEqual(yield* refusal(listed("none")), "NotFound")
      yield* TestClock.adjust("1 day")
      const overdue = { ...first, overdue: true }
      assert.deepStrictEqual(yield* listed(), [overdue, second])
      yield* mutes.sweep
      assert.deepStrictEqual(yield* listed(), [overdue, second])
      yield* teams.update(at.team.key, { visibility: "private" }).pipe(as(at.admin))
      assert.deepStrictEqual(yield* listed(), [
        { ...overdue, ticket: null },
        { ...second, ticket: null }
      ])
      assert.deepStrictEqual(yield* as(at.owner)(mutes.list(undefined)), [overdue, second])
      yield* as(at.admin)(tickets.update(ticket.id, { status: at.status("completed").id }))
      yield* as(at.admin)(mutes.end(other.id))
      assert.deepStrictEqual(yield* listed(), [])
    })
  )

  it.effect("ends when the owner leaves: a person, their agent with them, or an agent that is revoked", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [tickets, members] = [yield* Tickets, yield* Members]
      const agent = yield* addAgent(at.member)
      const other = yield* addAgent(at.admin)
      const owned = yield* ownedTicket(at)
      const byAgent = yield* ownedTicket(at)
      const byOther = yield* ownedTicket(at)
      yield* as(at.admin)(tickets.update(byAgent.id, { owner: agent.principal.id }))
      yield* as(at.admin)(tickets.update(byOther.id, { owner: other.principal.id }))
      yield* mute(at, owned, ["a"])
      yield* mute(at, byAgent, ["b"])
      yield* mute(at, byOther, ["c"])
      assert.deepStrictEqual(yield* mutedNow(at), ["a", "b", "c"])
      const start = yield* mutedNow(at)
      assert.deepStrictEqual(start, ["a", "b", "c"])

      assert.strictEqual(
        yield* refusal(as(at.member)((yield* Agents).revoke(other.principal.id))),
        "Forbidden other_member"
      )
      assert.lengthOf(yield* unmutes(at), 0)
      yield* as(at.admin)((yield* Agents).revoke(other.principal.id))
      assert.deepStrictEqual(yield* mutedNow(at), ["a", "b"])
      yield* as(at.owner)(members.deactivate(at.member.principal.id))
      const runs = yield* TestRuns
      const { muted } = yield* as(at.admin)(
        runs.start({
          product: at.product.slug,
          environment: at.environment.slug,
          baseUrl: "https://preview.example",
          git,
          machine,
          selection: { coverage: null, folders: [], caseIds: [] }
        })
      )
      assert.deepStrictEqual(muted, [])
      const change = { field: "mute", from: `1 test of ${at.product.slug}`, to: null }
      assert.deepStrictEqual(yield* unmutes(at), [
        [at.admin.principal.id, change],
        [at.owner.principal.id, change],
        [at.owner.principal.id, change]
      ])
      // They do not mute again when they come back.
      yield* as(at.owner)(members.reactivate(at.member.principal.id))
      assert.deepStrictEqual(yield* mutedNow(at), [])
    })
  )

  it.effect("is refused by role, form, what is closed, archived or owned by nobody", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [tickets, mutes] = [yield* Tickets, yield* Mutes]
      const ticket = yield* ownedTicket(at)
      const input = { product: at.product.slug, cases: ["a"], until: yield* daysFromNow(90) }
      assert.strictEqual(yield* refusal(as(at.viewer)(mutes.set(ticket.id, input))), "Forbidden role_too_low")
      assert.strictEqual(yield* refusal(as(at.viewer)(mutes.end(ticket.id))), "Forbidden role_too_low")
      const set = (fields: object, ref = ticket.id) => refusal(as(at.member)(mutes.set(ref, { ...input, ...fields })))
      assert.strictEqual(yield* set({}, "NONE-1" as never), "NotFound")
      assert.strictEqual(yield* set({ product: "none" }), "NotFound")
      const [past, late] = [yield* daysFromNow(0), yield* daysFromNow(90.1)]
      assert.deepStrictEqual(
        [yield* set({ until: past }), yield* set({ until: late })],
        ["InvalidInput", "InvalidInput"]
      )
      yield* as(at.member)(tickets.update(ticket.id, { status: at.status("completed").id }))
      assert.strictEqual(yield* set({}), "Conflict ticket_closed")
      yield* as(at.member)(tickets.update(ticket.id, { status: at.status("canceled").id }))
      assert.strictEqual(yield* set({}), "Conflict ticket_closed")
      yield* as(at.member)(tickets.update(ticket.id, { status: at.status("started").id, owner: null }))
      assert.strictEqual(yield* set({}), "Conflict no_owner")
      yield* as(at.member)(tickets.update(ticket.id, { owner: at.viewer.principal.id }))
      yield* as(at.owner)((yield* Members).deactivate(at.viewer.principal.id))
      assert.strictEqual(yield* set({}), "Conflict no_owner")
      yield* as(at.member)(tickets.update(ticket.id, { owner: at.member.principal.id }))
      yield* as(at.admin)((yield* Products).archive(at.product.slug))
      assert.strictEqual(yield* set({}), "Conflict archived")
      yield* as(at.admin)((yield* Products).restore(at.product.slug))
      yield* as(at.member)(mutes.set(ticket.id, input))
      yield* as(at.admin)((yield* Teams).archive(at.team.key))
      assert.strictEqual(yield* set({}), "Conflict archived")
      assert.strictEqual(yield* refusal(as(at.member)(mutes.end(ticket.id))), "Conflict archived")
    })
  )

  it.effect("takes back nothing that somebody else has changed, if it was said what was known", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const ticket = yield* ownedTicket(at)
      const { product } = at
      const [short, long] = [yield* daysFromNow(5), yield* daysFromNow(30)]
      const known = { product: product.slug, cases: ["a"], until: short }
      const change = (fields: Partial<MuteCases>) => mute(at, ticket, ["a"], fields)
      const refused = (fields: Partial<MuteCases>) => refusal(change(fields))
      assert.strictEqual(yield* refused({ expected: known }), "Conflict mute_changed")
      yield* change({ until: short, expected: null })
      assert.strictEqual(yield* refused({ until: long, expected: null }), "Conflict mute_changed")
      // Somebody else mutes another test, too, and for longer.
      yield* mute(at, ticket, ["a", "b"], { until: long })
      const events = (yield* eventsOfKinds(at, "ticket_muted")).length
      for (const expected of [known, { ...known, cases: ["b", "a"] }, { ...known, until: long }]) {
        assert.strictEqual(yield* refused({ until: yield* daysFromNow(9), expected }), "Conflict mute_changed")
      }
      const now = { product: product.id, cases: ["b", "a"], until: long }
      assert.strictEqual(
        yield* refused({ until: short, expected: { ...now, product: "other" } }),
        "Conflict mute_changed"
      )
      assert.strictEqual((yield* eventsOfKinds(at, "ticket_muted")).length, events)
      // What is there already is no conflict, and nobody changed what is expected.
      yield* mute(at, ticket, ["a", "b"], { until: long, expected: known })
      assert.deepStrictEqual((yield* change({ until: short, expected: now })).mute, known)
      // What is over is nothing, as lists say, and is what the ticket shows until somebody ends it.
      yield* TestClock.adjust("6 days")
      const again = { until: yield* daysFromNow(1) }
      yield* change({ ...again, expected: known })
      yield* TestClock.adjust("2 days")
      yield* change({ until: yield* daysFromNow(1), expected: null })
      yield* as(at.member)((yield* Mutes).end(ticket.id))
      assert.strictEqual(yield* refused({ expected: known }), "Conflict mute_changed")
    })
  )

  it.effect("of people who change what they have read at once takes one", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const ticket = yield* ownedTicket(at)
      const { mute: expected } = yield* mute(at, ticket, ["a"])
      const tried = yield* Effect.all(
        ["b", "c", "d"].map((caseId) => Effect.option(mute(at, ticket, ["a", caseId], { expected: expected! }))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tried.filter(({ _tag }) => _tag === "Some").length, 1)
    })
  )

  it.effect("shows in cases and errors, with tickets only to those who see them", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [tickets, cases] = [yield* Tickets, yield* Cases]
      const secret = yield* addTeam(at.workspace.id, { visibility: "private" })
      const open = yield* ownedTicket(at)
      const hidden = yield* as(at.admin)(
        tickets.create({ team: secret.key, title: "Hidden", owner: at.admin.principal.id })
      )
      const { mute: shown } = yield* mute(at, open, ["a"])
      const longer = yield* daysFromNow(60)
      const mutes = yield* Mutes
      yield* as(at.admin)(
        mutes.set(hidden.id, { product: at.product.slug, cases: ["b", "a", "never ran"], until: longer })
      )
      const { number } = yield* run(at, ["a", "b", "c"])
      // The errors of a run name tickets at once, whatever is counted of it.
      const named = (caller: FlowScene["member"]) =>
        Effect.map(as(caller)(cases.errors(number)), ({ errors }) =>
          errors.flatMap((error) => error.cases.map(({ caseId, ticket }) => [caseId, ticket?.identifier]))
        )
      assert.deepStrictEqual(yield* named(at.member), [
        ["a", open.identifier],
        ["b", undefined],
        ["c", undefined]
      ])
      assert.deepStrictEqual((yield* named(at.admin))[1], ["b", hidden.identifier])
      const { step } = yield* CaseCounting
      while (yield* step);
      const asked = (caller: FlowScene["member"]) =>
        Effect.map(as(caller)(cases.list(at.product.slug, {})), ({ cases }) =>
          cases.map(({ caseId, muted, states, ticket }): unknown => [caseId, muted, states, ticket?.identifier])
        )
      const failing = ["failing", "muted"] as const
      assert.deepStrictEqual(yield* asked(at.member), [
        ["a", { ticket: null, until: longer }, failing, open.identifier],
        ["b", { ticket: null, until: longer }, failing, undefined],
        ["c", null, ["failing"], undefined]
      ])
      assert.deepStrictEqual(yield* asked(at.admin), [
        ["a", { ticket: hidden.identifier, until: longer }, failing, open.identifier],
        ["b", { ticket: hidden.identifier, until: longer }, failing, hidden.identifier],
        ["c", null, ["failing"], undefined]
      ])
      const { cases: muted } = yield* as(at.viewer)(cases.list(at.product.slug, { state: "muted" }))
      assert.deepStrictEqual(
        muted.map(({ caseId }) => caseId),
        ["a", "b"]
      )
      const one = yield* as(at.viewer)(cases.get(at.product.slug, "a", {}))
      assert.deepStrictEqual([one.muted, one.ticket?.id], [{ ticket: null, until: longer }, open.id])
      const runs = yield* TestRuns
      const seen = (caller: FlowScene["member"]) =>
        Effect.map(as(caller)(runs.get(number)), ({ mutes }) => mutes.map(({ caseId, ticket }) => [caseId, ticket]))
      assert.deepStrictEqual(yield* seen(at.member), [
        ["a", null],
        ["b", null],
        ["never ran", null]
      ])
      assert.deepStrictEqual((yield* seen(at.admin))[0], ["a", hidden.identifier])

      // The errors of a run stay as its start was told.
      yield* as(at.admin)(tickets.delete(hidden.id))
      const [error] = (yield* as(at.viewer)(cases.errors(number))).errors
      assert.deepStrictEqual([error!.state, error!.cases.map(({ state }) => state)], ["new", ["muted", "muted", "new"]])
      assert.deepStrictEqual(yield* seen(at.admin), [
        ["a", null],
        ["b", null],
        ["never ran", null]
      ])
      assert.deepStrictEqual((yield* asked(at.member))[0], [
        "a",
        { ticket: open.identifier, until: shown!.until },
        failing,
        open.identifier
      ])

      const { number: later } = yield* run(at, ["a"])
      assert.strictEqual((yield* as(at.viewer)(cases.errors(later))).errors[0]!.state, "muted")
    })
  )
})
