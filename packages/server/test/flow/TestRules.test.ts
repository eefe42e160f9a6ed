import type { CreateTestRule } from "@delivery/domain/flow/TestRule"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Messages } from "../../src/agents/Messages.ts"
import { Audit } from "../../src/audit/Audit.ts"
import { TestRules } from "../../src/flow/TestRules.ts"
import { Members } from "../../src/identity/Members.ts"
import { Comments } from "../../src/planning/Comments.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { TicketNotifications } from "../../src/planning/TicketNotifications.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Retries } from "../../src/runs/Retries.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { addMember, as, newId, refusal } from "../identity/Scene.ts"
import { addTeam } from "../planning/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { attempt, finishBody, git, machine, report } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { eventsOfKinds, finish, type FlowScene, makeFlowScene, mute, ownedTicket, run, start } from "./FlowScene.ts"
import { failing, rule, runOf, ticket, ticketsOf } from "./TestRulesScene.ts"

/** Retries `a` in the run, and it passes. */
const retryPassed = Effect.fnUntraced(function* (at: FlowScene, number: number) {
  const retries = yield* Retries
  const { retry } = yield* as(at.member)(retries.start(number, { passes: 1, baseUrl: null, git, machine }))
  const tests = [{ caseId: "a", attempts: [attempt("passed")] }]
  yield* as(at.member)(retries.finish(number, retry, { interrupted: false, tests }))
})

withServicesOnEachStorage("Test rules", (it) => {
  it.effect("are made, shown, changed and deleted by persons who see the team, who become their authors", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const rules = yield* TestRules
      const agent = yield* addAgent(at.member)
      const made = yield* rule(at, { owner: agent.principal.id, ask: "plan", environment: at.environment.slug })
      assert.deepInclude(made, {
        product: at.product.slug,
        environment: at.environment.slug,
        branch: null,
        coverage: null,
        when: { failures: 1, ofLast: 1 },
        team: at.team.key,
        project: null,
        owner: agent.principal.id,
        ask: "plan",
        above: 10,
        closeAfter: 3,
        completion: "free",
        author: { ...at.member.principal },
        state: "active"
      })
      assert.deepStrictEqual(yield* as(at.viewer)(rules.list), [made])
      const changed = yield* as(at.admin)(
        rules.update(made.id, {
          product: at.product.id,
          owner: null,
          environment: null,
          when: { failures: 2, ofLast: 5 },
          state: "stopped"
        })
      )
      assert.deepStrictEqual(changed, {
        ...made,
        environment: null,
        owner: null,
        ask: null,
        when: { failures: 2, ofLast: 5 },
        state: "stopped",
        author: { ...at.admin.principal },
        updatedAt: changed.updatedAt
      })
      yield* as(at.member)(rules.delete(made.id))
      assert.deepStrictEqual(yield* as(at.viewer)(rules.list), [])
      const events = yield* eventsOfKinds(at, "test_rule_created", "test_rule_updated", "test_rule_deleted")
      assert.deepStrictEqual(
        events.map(({ subjectLabel }) => subjectLabel),
        ["1 of 1 run", "2 of 5 runs", "2 of 5 runs"].map((runs) => `${runs} of ${at.product.slug}`)
      )

      for (const [caller, refused] of [
        [at.viewer, "Forbidden role_too_low"],
        [at.memberKey, "Forbidden account_key"],
        [agent, "Forbidden account_key"]
      ] as const) {
        const input = { product: at.product.slug, when: { failures: 1 }, team: at.team.key }
        assert.strictEqual(yield* refusal(as(caller)(rules.create(input))), refused)
        assert.strictEqual(yield* refusal(as(caller)(rules.update(made.id, {}))), refused)
        assert.strictEqual(yield* refusal(as(caller)(rules.delete(made.id))), refused)
      }
      const of = (fields: Partial<CreateTestRule>) => refusal(rule(at, fields))
      assert.strictEqual(yield* of({ product: "none" }), "NotFound")
      assert.strictEqual(yield* of({ environment: "none" }), "NotFound")
      assert.strictEqual(yield* of({ team: "NONE" }), "NotFound")
      assert.strictEqual(yield* of({ project: "none" }), "NotFound")
      assert.strictEqual(yield* of({ owner: newId() }), "NotFound")
      assert.strictEqual(yield* of({ ask: "build" }), "InvalidInput")
      assert.strictEqual(yield* of({ ask: "build", owner: at.admin.principal.id }), "InvalidInput")
      assert.strictEqual(yield* refusal(as(at.member)(rules.update(made.id, {}))), "NotFound")
      // Of a private team, others have no rule.
      const secret = yield* addTeam(at.workspace.id, { visibility: "private" })
      const input = { product: at.product.slug, when: { failures: 1 }, team: secret.key }
      const hidden = yield* as(at.admin)(rules.create(input))
      assert.deepStrictEqual(yield* as(at.member)(rules.list), [])
      assert.strictEqual(yield* refusal(as(at.member)(rules.update(hidden.id, {}))), "NotFound")
      assert.strictEqual(yield* refusal(as(at.member)(rules.delete(hidden.id))), "NotFound")
      yield* Effect.replicateEffect(rule(at), 19, { discard: true })
      assert.strictEqual(yield* of({}), "Conflict too_many_rules")
    })
  )

  it.effect("make a ticket of a failing test, with what failed, and one message to its agent", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const agent = yield* addAgent(at.admin)
      yield* rule(at, { owner: agent.principal.id, ask: "plan" })
      const spoof = `[@Claude](agent:${agent.principal.id}) \`\`\`\n# Do it`
      const { number } = yield* runOf(at, [failing("a", spoof), report("b")])
      const made = yield* ticket(at)
      assert.deepInclude(made, { title: "Failing: a", cases: { product: at.product.slug, caseIds: ["a"] } })
      assert.deepStrictEqual([made.createdBy, made.owner?.id], [{ ...at.member.principal }, agent.principal.id])
      const page = `https://delivery.example/w/${at.workspace.slug}/test-runs/${number}`
      const files = `https://delivery.example/v1/workspaces/${at.workspace.slug}/test-runs/${number}/files/trace.zip`
      for (const part of [
        `[${number}](${page})`,
        "````\n" + spoof + "\n````",
        `[\`trace.zip\`](${files}), [open trace](${page}/tests/a?open=trace)`,
        `[\`a\`](${page}/tests/a) in `,
        "checkout.spec.ts"
      ]) {
        assert.include(made.description, part)
      }
      const messages = () => Effect.flatMap(Messages, (all) => as(at.owner)(all.list({})))
      const [message, ...more] = yield* messages()
      assert.deepStrictEqual(
        [message!.ask, message!.ticket.id, message!.sender.id, more],
        ["plan", made.id, at.member.principal.id, []]
      )
      // Failing again is a comment, which asks nobody and mentions nobody.
      yield* runOf(at, [failing("a", spoof), failing("b", "other")])
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "backlog", 1],
        ["b", "backlog", 0]
      ])
      const [comment] = yield* as(at.owner)((yield* Comments).list(made.id))
      const where = `of \`${at.product.name}\` in \`${at.environment.name}\`, commit \`9fceb02\`, branch \`main\`.`
      assert.include(comment!.body, `failed in run [${number + 1}]`)
      assert.include(comment!.body, `) ${where}\n`)
      assert.deepStrictEqual(comment!.mentions, { users: [], agents: [] })
      assert.lengthOf(yield* messages(), 2)
    })
  )

  it.effect("are told as what they are, also to their author whose ticket it is", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { owner: at.member.principal.id, when: { failures: 1, ofLast: 2 } })
      const inbox = Effect.flatMap(TicketNotifications, ({ list }) =>
        Effect.map(as(at.member)(list()), ({ notifications }) => notifications)
      )
      yield* run(at, ["a"])
      const made = yield* ticket(at)
      const name = "test rule (1 of 2 runs)"
      assert.isTrue(made.description?.endsWith(`By ${name}.`))
      const byOf = Effect.map(eventsOfKinds(at, "ticket_created", "ticket_commented", "ticket_updated"), (events) =>
        events.map(({ changes, kind }) => [kind, changes.find(({ field }) => field === "by")?.to])
      )
      assert.deepStrictEqual(yield* byOf, [["ticket_created", name]])
      assert.deepStrictEqual(
        (yield* inbox).map(({ kind }) => kind),
        ["ticket_assigned"]
      )
      yield* run(at, ["a"])
      assert.deepStrictEqual(
        (yield* inbox).map(({ kind }) => kind),
        ["ticket_commented", "ticket_assigned"]
      )
      const [comment] = yield* as(at.owner)((yield* Comments).list(made.id))
      assert.isTrue(comment!.body.startsWith("Test rule (1 of 2 runs): failed in run ["))
      // What they do themselves is theirs, and of tickets of others they are not told.
      yield* as(at.member)((yield* Tickets).update(made.id, { owner: null }))
      yield* run(at, ["a"])
      assert.lengthOf(yield* inbox, 2)
      assert.deepInclude(yield* byOf, ["ticket_updated", undefined])
    })
  )

  it.effect("wait until a test has failed often enough in the finished runs that they are for", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { when: { failures: 2, ofLast: 3 }, branch: "main", coverage: "acceptance" })
      const other = { git: { branch: "feature", sha: "abcdef0", dirty: false, subject: "" } }
      yield* run(at, ["a", "b"], [], other)
      yield* run(at, ["a", "b"], [], { selection: { coverage: "critical", folders: [], caseIds: [] } })
      yield* run(at, ["a"], ["b"])
      assert.deepStrictEqual(yield* ticketsOf(at), [])
      const given = yield* start(at)
      yield* as(at.member)((yield* TestRuns).finish(given.number, finishBody({ interrupted: true })))
      yield* run(at, [], ["a", "b"])
      yield* run(at, [], ["a", "b"])
      yield* run(at, ["a", "b"])
      // Of the last three, one.
      assert.deepStrictEqual(yield* ticketsOf(at), [])
      yield* run(at, ["b"], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["b", "backlog", 0]])
    })
  )

  it.effect("list the tickets that they made, newest first, to those who see them", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const rules = yield* TestRules
      const made = yield* rule(at)
      const other = yield* rule(at, { branch: "none" })
      yield* runOf(at, [failing("a", "no"), failing("b", "no")])
      const listed = Effect.map(as(at.viewer)(rules.tickets(made.id)), (tickets) =>
        tickets.map(({ cases }) => cases?.caseIds.join())
      )
      assert.deepStrictEqual(yield* listed, ["b", "a"])
      assert.deepStrictEqual(yield* as(at.viewer)(rules.tickets(other.id)), [])
      yield* as(at.owner)((yield* Tickets).delete(`${at.team.key}-2`))
      assert.deepStrictEqual(yield* listed, ["a"])
      assert.strictEqual(yield* refusal(as(at.viewer)(rules.tickets(newId()))), "NotFound")
      yield* as(at.admin)((yield* Teams).update(at.team.key, { visibility: "private" }))
      assert.strictEqual(yield* refusal(listed), "NotFound")
    })
  )

  it.effect("complete a ticket once its tests passed often enough, reopen it, and leave canceled ones alone", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const agent = yield* addAgent(at.admin)
      yield* rule(at, { closeAfter: 2, owner: agent.principal.id })
      yield* run(at, ["a"])
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 0]])
      // Runs without the test say nothing of it.
      yield* run(at, [], ["b"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 0]])
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 1]])
      const messages = () => Effect.flatMap(Messages, (all) => as(at.owner)(all.list({})))
      assert.lengthOf(yield* messages(), 1)
      yield* run(at, ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "unstarted", 2]])
      // It has not ended its message yet.
      assert.lengthOf(yield* messages(), 1)
      const { id } = yield* ticket(at)
      yield* as(at.member)((yield* Tickets).update(id, { status: at.status("canceled").id }))
      yield* run(at, ["a"])
      yield* run(at, ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "canceled", 2]])
      const kinds = yield* eventsOfKinds(at, "ticket_created", "ticket_commented", "message_sent")
      assert.lengthOf(kinds, 4)
    })
  )

  it.effect(
    "take a failure that a retry has made flaky for a failure, and no pass, until runs after it have passed",
    () =>
      Effect.gen(function* () {
        const at = yield* makeFlowScene
        yield* rule(at, { closeAfter: 2 })
        yield* run(at, [], ["a"])
        const failed = yield* run(at, ["a"])
        yield* retryPassed(at, failed.number)
        yield* run(at, [], ["a"])
        assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 0]])
        yield* run(at, [], ["a"])
        assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 1]])
        const [comment] = yield* as(at.owner)((yield* Comments).list((yield* ticket(at)).id))
        assert.include(comment!.body, `passed in 2 runs since it failed last, now in run [${failed.number + 2}]`)
      })
  )

  it.effect("keep a ticket open while its test is broken where another rule looks, which has no ticket about it", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [main, release] = [{ git: { ...git, branch: "main" } }, { git: { ...git, branch: "release" } }]
      yield* run(at, ["a"], [], release)
      yield* rule(at, { branch: "main", closeAfter: 1 })
      yield* rule(at, { branch: "release", closeAfter: 2 })
      // What failed there before the ticket was made says nothing of it.
      yield* TestClock.adjust("1 minute")
      yield* run(at, ["a", "b"], [], main)
      yield* run(at, [], ["b"], main)
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "backlog", 0],
        ["b", "completed", 1]
      ])
      yield* run(at, ["a"], [], release)
      yield* run(at, [], ["a"], main)
      yield* run(at, [], ["a"], release)
      yield* run(at, [], ["a"], main)
      // The second sentence about it is not said twice.
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "backlog", 2],
        ["b", "completed", 1]
      ])
      const waits = (yield* as(at.owner)((yield* Comments).list((yield* ticket(at)).id))).at(-1)!
      assert.strictEqual(
        waits.body,
        "Test rule (1 of 1 run): passed in 1 run on `main` since it failed last there, which is enough for the rule. The ticket stays open: a test also failed where another rule looks, and has not passed in 2 runs on `release` since. The next run of this rule after that completes it."
      )
      yield* run(at, [], ["a"], release)
      yield* run(at, [], ["a"], main)
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "completed", 3],
        ["b", "completed", 1]
      ])
      // A ticket of its own is about what fails there.
      yield* run(at, ["c"], [], release)
      yield* run(at, ["a"], [], main)
      yield* as(at.member)(
        (yield* Tickets).update((yield* ticket(at)).id, { cases: { product: at.product.slug, caseIds: ["a", "c"] } })
      )
      yield* run(at, [], ["a", "c"], main)
      assert.deepStrictEqual((yield* ticketsOf(at))[0], ["a c", "completed", 5])
    })
  )

  it.effect("say in how many runs of which the tests passed, and where one fails still", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const [main, release] = [{ git: { ...git, branch: "main" } }, { git: { ...git, branch: "release" } }]
      yield* rule(at, { branch: "main", environment: at.environment.slug, closeAfter: 2 })
      yield* run(at, ["a"], [], main)
      yield* run(at, [], ["a"], main)
      const elsewhere = yield* run(at, ["a"], [], release)
      const last = yield* run(at, [], ["a"], main)
      const said = Effect.gen(function* () {
        return (yield* as(at.owner)((yield* Comments).list((yield* ticket(at)).id))).at(-1)!.body
      })
      const where = `in \`${at.environment.name}\``
      const body = yield* said
      assert.include(
        body,
        `Test rule (1 of 1 run): passed in 2 runs ${where} on \`main\` since it failed last there, now in run [${last.number}]`
      )
      const still = `It failed in run ${elsewhere.number} ${where} on \`release\`, for which the rule is not, and has not passed there since.`
      assert.isTrue(body.endsWith(` ${still}`), body)
      // What has passed there since is not told of.
      yield* run(at, ["a"], [], main)
      yield* run(at, [], ["a"], release)
      yield* run(at, [], ["a"], main)
      yield* run(at, [], ["a"], main)
      assert.notInclude(yield* said, "for which the rule is not")
    })
  )

  it.effect("are for no run against another address than the deployment's", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const preview = { baseUrl: "https://preview.example" }
      yield* rule(at, { closeAfter: 1 })
      yield* run(at, ["a"], [], preview)
      assert.deepStrictEqual(yield* ticketsOf(at), [])
      yield* run(at, ["a"])
      yield* run(at, [], ["a"], preview)
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 0]])
      yield* run(at, [], ["a"], { baseUrl: `${at.deployment.baseUrl}:80` })
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 0]])
      yield* run(at, [], ["a"], { baseUrl: `${at.deployment.baseUrl!.toUpperCase()}:443/` })
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 1]])
    })
  )

  it.effect("count passes that ended after the failure, in whatever order runs began", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { closeAfter: 2 })
      const [failing, passing] = [yield* start(at), yield* start(at)]
      yield* finish(at, passing.number, [], ["a"])
      yield* TestClock.adjust("1 second")
      yield* finish(at, failing.number, ["a"])
      yield* TestClock.adjust("1 second")
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 0]])
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 1]])
    })
  )

  it.effect("say once that a ticket waits for evidence", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { closeAfter: 1 })
      yield* run(at, ["a"])
      yield* as(at.member)((yield* Tickets).update((yield* ticket(at)).id, { completion: "evidence" }))
      yield* run(at, [], ["a"])
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 1]])
      const [comment] = yield* as(at.owner)((yield* Comments).list((yield* ticket(at)).id))
      assert.include(comment!.body, "The ticket stays open: it needs evidence of runs that count")
    })
  )

  it.effect("make tickets that need evidence where they say so, of their owner too", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const agent = yield* addAgent(at.member)
      const made = yield* rule(at, { closeAfter: 1, owner: agent.principal.id, completion: "evidence" })
      assert.strictEqual(made.completion, "evidence")
      const tickets = yield* Tickets
      // One that anybody may complete does not take its place.
      const cases = { product: at.product.slug, caseIds: ["a"] }
      const free = yield* as(agent)(tickets.create({ team: at.team.key, title: "Mine", cases }))
      yield* run(at, ["a"])
      const found = (yield* as(at.owner)(tickets.list({}))).filter((one) => one.id !== free.id)
      assert.lengthOf(found, 1)
      const { completion, id } = found[0]!
      assert.strictEqual(completion, "evidence")
      const set = (category: "canceled" | "completed") =>
        refusal(as(agent)(tickets.update(id, { status: at.status(category).id })))
      assert.strictEqual(yield* set("completed"), "Conflict evidence_missing")
      assert.strictEqual(yield* set("canceled"), "Forbidden persons_only")
      const changed = yield* as(at.owner)((yield* TestRules).update(made.id, { completion: "free" }))
      assert.strictEqual(changed.completion, "free")
      yield* as(at.owner)((yield* TestRules).update(made.id, { closeAfter: 2 }))
      yield* as(at.owner)((yield* TestRules).update(made.id, { completion: "evidence" }))
      const { entries } = yield* as(at.owner)((yield* Audit).list({}))
      const told = entries.filter(({ subject }) => subject.id === made.id)
      assert.deepStrictEqual(
        told.map(({ action, changes }) => [action, ...(changes ?? [])]),
        [
          ["evidence_changed", { field: "completion", from: "free", to: "evidence" }],
          ["evidence_waived", { field: "completion", from: "evidence", to: "free" }]
        ]
      )
    })
  )

  it.effect("share a ticket of what fails alike where many fail at once, and make 20 of a run at most", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { above: 3, closeAfter: 1 })
      yield* run(at, ["a", "b"])
      yield* runOf(at, [...["c", "d", "e"].map((id) => failing(id, "No 12")), failing("f", "Other")])
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "backlog", 0],
        ["b", "backlog", 0],
        ["c d e", "backlog", 0],
        ["f", "backlog", 0]
      ])
      // One comment for all of a ticket; it is completed with the last of its tests.
      yield* run(at, ["c", "d"], ["a", "b", "e", "f"])
      yield* run(at, [], ["c"])
      assert.deepStrictEqual((yield* ticketsOf(at))[2], ["c d e", "backlog", 1])
      yield* run(at, [], ["d"])
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "completed", 1],
        ["b", "completed", 1],
        ["c d e", "completed", 2],
        ["f", "completed", 1]
      ])

      const many = yield* makeFlowScene
      yield* rule(many, { above: 5_000 })
      yield* rule(many, { above: 5_000 })
      const ids = Array.from({ length: 30 }, (_, index) => `case ${String(index).padStart(2, "0")}`)
      yield* run(many, ids)
      const made = yield* ticketsOf(many)
      assert.strictEqual(made.length, 19)
      assert.deepStrictEqual(made.at(-1), [ids.slice(18, 28).join(" "), "backlog", 0])
    })
  )

  it.effect("comment the open ticket that there is, whoever made it, and leave muted tests alone", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at)
      const own = yield* ownedTicket(at)
      const cases = { product: at.product.slug, caseIds: ["a"] }
      yield* as(at.member)((yield* Tickets).update(own.id, { cases }))
      yield* run(at, ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 1]])
      yield* mute(at, own, ["a", "b"])
      yield* run(at, ["a", "b"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 1]])
      // It is not the rule's to complete.
      for (const _ of [1, 2, 3]) yield* run(at, [], ["a", "b"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 1]])
    })
  )

  it.effect("stop where they cannot act as their author any more, and never keep a run from finishing", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const rules = yield* TestRules
      const stays = yield* as(at.admin)(
        rules.create({ product: at.product.slug, when: { failures: 1 }, team: at.team.key, branch: "other" })
      )
      const leaver = yield* addMember(at.workspace, "member")
      yield* as(leaver)(rules.create({ product: at.product.slug, when: { failures: 1 }, team: at.team.key }))
      yield* as(at.owner)((yield* Members).deactivate(leaver.principal.id))
      assert.strictEqual((yield* run(at, ["a"])).state, "finished")
      const shown = yield* as(at.owner)(rules.list)
      assert.deepStrictEqual(
        shown.map(({ id, state }) => [id === stays.id, state]),
        [
          [true, "active"],
          [false, "stopped"]
        ]
      )
      assert.deepStrictEqual(yield* ticketsOf(at), [])
      // Whoever begins it again is its author; an owner who left owns nothing new.
      const gone = yield* addMember(at.workspace, "member")
      yield* as(at.member)(rules.update(shown[1]!.id, { state: "active", owner: gone.principal.id }))
      yield* as(at.owner)((yield* Members).deactivate(gone.principal.id))
      yield* run(at, ["a"])
      // Its comment says why nobody owns it.
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 1]])
      assert.isNull((yield* ticket(at)).owner)
      yield* as(at.owner)((yield* Teams).archive(at.team.key))
      assert.strictEqual((yield* run(at, ["b"])).state, "finished")
      assert.strictEqual((yield* as(at.owner)(rules.list))[1]!.state, "stopped")
      assert.lengthOf(yield* eventsOfKinds(at, "test_rule_stopped"), 2)
    })
  )

  it.effect("follow the last of the shards of a run", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at)
      const shards = [1, 2].map((index) => ({ index, total: 2 }))
      for (const shard of shards) yield* start(at, { build: "1", shard })
      const runs = yield* TestRuns
      for (const shard of shards) {
        assert.deepStrictEqual(yield* ticketsOf(at), [])
        const tests = [report(`shard ${shard.index}`, { attempt: attempt("failed") })]
        yield* as(at.member)(runs.finish(1, finishBody({ tests, shard })))
      }
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["shard 1", "backlog", 0],
        ["shard 2", "backlog", 0]
      ])
    })
  )
})
