import { maxShownName } from "@delivery/domain/flow/ShownName"
import { whatCounts } from "@delivery/domain/flow/EvidenceWords"
import type { UpdateTicket } from "@delivery/domain/planning/Ticket"
import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Audit } from "../../src/audit/Audit.ts"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { readEvidence } from "../../src/flow/Evidence.ts"
import { EvidenceRepo, evidenceRuns, olderResults } from "../../src/flow/EvidenceRepo.ts"
import { ReadinessRepo } from "../../src/flow/ReadinessRepo.ts"
import { Projects } from "../../src/planning/Projects.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import { Retries } from "../../src/runs/Retries.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { addDeployment, addEnvironment, addProduct } from "../catalog/Rows.ts"
import { addMember, as, type CallerOf, eventsOf, now, refusal, unique } from "../identity/Scene.ts"
import { seesAll, teamKey } from "../planning/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { countAll } from "../runs/cases/CasesScene.ts"
import { attempt, finishBody, machine, newKey, report, startBody } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { type FlowScene, makeFlowScene, resultsOf, start } from "./FlowScene.ts"

const broken = "b".repeat(40)
const mended = "c".repeat(40)
const gitOf = (sha: string) => ({ branch: "main", sha, dirty: false, subject: "Mend it" })

/** A run of a commit by a publisher. */
const runBy = Effect.fnUntraced(function* (
  at: FlowScene,
  by: CallerOf,
  sha: string,
  failed: ReadonlyArray<string>,
  passed: ReadonlyArray<string> = [],
  skipped: ReadonlyArray<string> = []
) {
  const runs = yield* TestRuns
  const { number } = yield* as(by)(runs.start(startBody(at, { git: gitOf(sha) })))
  const tests = [...resultsOf(failed, passed), ...skipped.map((caseId) => report(caseId, { attempt: null }))]
  yield* as(by)(runs.finish(number, finishBody({ tests })))
  return number
})

/** Retries `a` in the run, and it passes. */
const retryPassed = Effect.fnUntraced(function* (by: CallerOf, run: number, sha: string) {
  const retries = yield* Retries
  const { retry } = yield* as(by)(retries.start(run, { passes: 1, baseUrl: null, git: gitOf(sha), machine }))
  const startedAt = "2026-11-21T09:30:10.123Z"
  const attempts = [
    { status: "passed", durationMs: 1, startedAt, errorMessage: null, errorStack: null, files: [] } as const
  ]
  yield* as(by)(retries.finish(run, retry, { interrupted: false, tests: [{ caseId: "a", attempts }] }))
})

/** A ticket about `a` and `b` that needs evidence, owned by an agent of the member, after both have failed. */
const makeEvidenceScene = Effect.gen(function* () {
  const at = yield* makeFlowScene
  const agent = yield* addAgent(at.member)
  const tickets = yield* Tickets
  yield* runBy(at, at.memberKey, broken, ["a", "b"])
  const ticket = yield* as(at.admin)(
    tickets.create({
      team: at.team.key,
      title: "Mend it",
      owner: agent.principal.id,
      cases: { product: at.product.slug, caseIds: ["a", "b"] },
      completion: "evidence"
    })
  )
  const done = at.status("completed").id
  const update = (by: CallerOf, input: UpdateTicket) => as(by)(tickets.update(ticket.id, input))
  /** Which cases are missing, and how many passes each has; nothing where the ticket was completed, and is open again. */
  const missing = (by: CallerOf) =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(update(by, { status: done })).pipe(Effect.option)
      if (refused._tag === "None") {
        yield* update(at.admin, { status: at.status("started").id })
        return []
      }
      assert.deepInclude(refused.value, { _tag: "Conflict", reason: "evidence_missing" })
      const { missing = [] } = refused.value as {
        missing?: ReadonlyArray<{ caseId: string; passed: number; needed: number }>
      }
      return missing.map(({ caseId, needed, passed }) => `${caseId} ${passed}/${needed}`)
    })
  return { ...at, agent, tickets, ticket, done, update, missing }
})

withServicesOnEachStorage("Evidence", (it) => {
  it.effect(
    "is no run against another address, nor with uncommitted changes, nor one that ended before the failure",
    () =>
      Effect.gen(function* () {
        const at = yield* makeEvidenceScene
        const runs = yield* TestRuns
        const begin = (fields: Partial<StartTestRun>) =>
          as(at.memberKey)(runs.start(startBody(at, { git: gitOf(mended), ...fields })))
        const end = (number: number, failed: ReadonlyArray<string>, passed: ReadonlyArray<string>) =>
          as(at.memberKey)(runs.finish(number, finishBody({ tests: resultsOf(failed, passed) })))
        const none = ["a 0/1", "b 0/1"]
        const elsewhere = yield* begin({ baseUrl: "https://preview.example" })
        yield* end(elsewhere.number, [], ["a", "b"])
        const dirty = yield* begin({ git: { ...gitOf(mended), dirty: true } })
        yield* end(dirty.number, [], ["a", "b"])
        assert.deepStrictEqual(yield* at.missing(at.agent), none)
        const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
        const { cases } = yield* as(at.viewer)(read(at.ticket.identifier))
        assert.deepStrictEqual(
          cases[0]!.runs.map(({ excluded, run }) => [run, excluded]),
          [
            [dirty.number, "uncommitted_changes"],
            [elsewhere.number, "other_address"]
          ]
        )
        const [failing, passing] = [yield* begin({ git: gitOf(broken) }), yield* begin({})]
        yield* end(passing.number, [], ["a", "b"])
        yield* TestClock.adjust("1 second")
        yield* end(failing.number, ["a", "b"], [])
        assert.deepStrictEqual(yield* at.missing(at.agent), none)
        yield* TestClock.adjust("1 second")
        yield* end((yield* begin({})).number, [], ["a", "b"])
        assert.deepStrictEqual(yield* at.missing(at.agent), [])
      })
  )

  it.effect("is of the environment in which the test failed, while that is not archived", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const canary = yield* addEnvironment(at.workspace.id, { name: unique("Canary") })
      const there = yield* addDeployment(at.product, canary, { version: "v1" })
      const passing = yield* runBy({ ...at, environment: canary, deployment: there }, at.memberKey, mended, [], ["a"])
      const refused = yield* Effect.flip(at.update(at.agent, { status: at.done }))
      const { slug } = at.environment
      const failed = { run: 1, environment: slug, commit: broken }
      assert.deepStrictEqual("missing" in refused ? refused.missing : undefined, [
        {
          caseId: "a",
          passed: 0,
          needed: 1,
          environment: slug,
          notCounted: { run: passing, reason: "other_environment" },
          failed
        },
        { caseId: "b", passed: 0, needed: 1, environment: slug, notCounted: null, failed }
      ])
      assert.include(refused.message, whatCounts)
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const { cases } = yield* as(at.viewer)(read(at.ticket.identifier))
      assert.deepStrictEqual([cases[0]!.environment, cases[0]!.runs[0]!.excluded], [slug, "other_environment"])
      // Where it can never pass again, any environment will do.
      const environments = yield* Environments
      yield* as(at.admin)(environments.archive(slug))
      assert.deepStrictEqual(yield* at.missing(at.agent), ["b 0/1"])
      yield* as(at.admin)(environments.restore(slug))
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1", "b 0/1"])
      // A member may delete the deployment, and make it anew: that waives nothing.
      yield* as(at.admin)((yield* Deployments).delete(at.product.slug, slug))
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1", "b 0/1"])
    })
  )

  it.effect("is of each environment in which the test failed, whatever somebody tries on their machine", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const local = yield* addEnvironment(at.workspace.id, { name: unique("Local") })
      const there = yield* addDeployment(at.product, local, { version: "v1", baseUrl: "http://localhost:3000" })
      const here = { ...at, environment: local, deployment: there }
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const places = Effect.map(as(at.viewer)(read(at.ticket.identifier)), ({ cases, complete }) => [
        complete,
        ...cases.map(({ environment, passed }) => `${environment} ${passed}`)
      ])
      const { slug } = at.environment
      const tried = Effect.fnUntraced(function* (failed: ReadonlyArray<string>, fields: Partial<StartTestRun>) {
        yield* TestClock.adjust("1 second")
        const begun = startBody(here, { git: gitOf(mended), ...fields })
        const { number } = yield* as(at.memberKey)(runs.start(begun))
        const passed = ["a", "b"].filter((caseId) => !failed.includes(caseId))
        yield* as(at.memberKey)(runs.finish(number, finishBody({ tests: resultsOf(failed, passed) })))
      })
      // A reproduction with uncommitted changes, or against another address, moves nothing.
      yield* tried(["a", "b"], { git: { ...gitOf(broken), dirty: true } })
      yield* tried(["a", "b"], { baseUrl: "http://localhost:5000" })
      yield* tried([], {})
      assert.deepStrictEqual(yield* places, [false, `${slug} 0`, `${slug} 0`])
      // Nor does what an owner publishes, of a commit or by a key of theirs.
      const own = yield* as(at.member)(runs.start(startBody(here, { git: gitOf("e".repeat(40)) })))
      yield* as(at.member)(runs.finish(own.number, finishBody({ tests: resultsOf(["a", "b"], []) })))
      assert.deepStrictEqual(yield* places, [false, `${slug} 0`, `${slug} 0`])
      // What fails in both has to pass in both, also where the run was interrupted.
      yield* TestClock.adjust("1 second")
      const { number } = yield* as(at.memberKey)(runs.start(startBody(here, { git: gitOf("d".repeat(40)) })))
      const cut = finishBody({ interrupted: true, tests: resultsOf(["a"], ["b"]) })
      yield* as(at.memberKey)(runs.finish(number, cut))
      assert.deepStrictEqual(yield* places, [false, `${local.slug} 0`, `${slug} 0`])
      yield* tried([], {})
      assert.deepStrictEqual(yield* places, [false, `${slug} 0`, `${slug} 0`])
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* places, [true, `${local.slug} 1`, `${slug} 1`])
    })
  )

  it.effect("says in a refusal where each test failed last, also where the run was interrupted", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const { slug } = at.environment
      const told = Effect.map(Effect.flip(at.update(at.agent, { status: at.done })), (refused) => [
        "missing" in refused
          ? refused.missing?.map(({ caseId, failed, notCounted }) => [caseId, failed, notCounted])
          : [],
        /(?:It|They|\d+ of them) failed last in [^.]+\./.exec(refused.message)?.[0]
      ])
      const first = { run: 1, environment: slug, commit: broken }
      assert.deepStrictEqual(yield* told, [
        [
          ["a", first, null],
          ["b", first, null]
        ],
        `They failed last in run 1 (${slug}, commit ${broken.slice(0, 12)}).`
      ])
      // One of them passes, and fails again in a run that is interrupted, at the commit that runs.
      yield* TestClock.adjust("1 second")
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      yield* TestClock.adjust("1 second")
      const cut = yield* as(at.memberKey)(runs.start(startBody(at, { git: gitOf(mended) })))
      yield* as(at.memberKey)(
        runs.finish(cut.number, finishBody({ interrupted: true, tests: resultsOf(["b"], ["a"]) }))
      )
      assert.deepStrictEqual(yield* told, [
        [["b", { run: cut.number, environment: slug, commit: mended }, null]],
        `It failed last in run ${cut.number} (${slug}, commit ${mended.slice(0, 12)}).`
      ])
      // Of four runs three are named. What no run has is absent.
      const caseIds = ["a", "b", "c", "d", "e", "f"]
      for (const caseId of caseIds.slice(0, 5)) yield* runBy(at, at.memberKey, mended, [caseId])
      yield* at.update(at.admin, { cases: { product: at.product.slug, caseIds } })
      const [missing, message] = yield* told
      const numbers = caseIds.map((_, index) => cut.number + 1 + index)
      assert.deepStrictEqual(
        missing,
        caseIds.map((caseId, index) => [
          caseId,
          index < 5 ? { run: numbers[index]!, environment: slug, commit: mended } : undefined,
          null
        ])
      )
      const named = numbers.slice(0, 3).map((run) => `run ${run} (${slug}, commit ${mended.slice(0, 12)})`)
      assert.strictEqual(message, `5 of them failed last in ${named.join(", ")} and 2 more.`)
    })
  )

  it.effect("is of no commit that failed there before, and of none that nobody knows", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* TestClock.adjust("1 second")
      yield* runBy(at, at.memberKey, "d".repeat(40), ["a"], ["b"])
      yield* TestClock.adjust("1 second")
      yield* runBy(at, at.memberKey, broken, [], ["a"])
      for (const sha of ["unknown", "HEAD", "v1.2", "0".repeat(40)]) yield* runBy(at, at.memberKey, sha, [], ["a"])
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const { cases } = yield* as(at.viewer)(read(at.ticket.identifier))
      assert.deepStrictEqual(
        cases[0]!.runs.map(({ excluded }) => excluded),
        [...["HEAD", "v1.2", "0", "unknown"].map(() => "unknown_commit" as const), "same_commit"]
      )
      yield* runBy(at, at.memberKey, mended, [], ["a"])
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
    })
  )

  it.effect("is no run against an address that was the deployment's only while it started", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const deployments = yield* Deployments
      const move = (baseUrl: string | null) =>
        as(at.member)(deployments.update(at.product.slug, at.environment.slug, { baseUrl }))
      const { baseUrl } = startBody(at)
      yield* move("http://localhost:3000")
      const moved = startBody(at, { git: gitOf(mended), baseUrl: "http://localhost:3000" })
      const { number } = yield* as(at.memberKey)(runs.start(moved))
      yield* as(at.memberKey)(runs.finish(number, finishBody({ tests: resultsOf([], ["a", "b"]) })))
      yield* move(baseUrl)
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1", "b 0/1"])
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
    })
  )

  it.effect("undoes what failed at an address that the deployment has left, too", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const deployments = yield* Deployments
      const { baseUrl } = startBody(at)
      const moved = "http://localhost:3000"
      const move = (to: string | null) =>
        as(at.member)(deployments.update(at.product.slug, at.environment.slug, { baseUrl: to }))
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
      yield* move(moved)
      const failing = startBody(at, { git: gitOf("e".repeat(40)), baseUrl: moved })
      const { number } = yield* as(at.memberKey)(runs.start(failing))
      yield* as(at.memberKey)(runs.finish(number, finishBody({ tests: resultsOf(["a"], ["b"]) })))
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1"])
      // What passed before is older than that, also where the deployment goes back to where it did.
      yield* move(baseUrl)
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1"])
      // Neither is the same commit another one.
      yield* runBy(at, at.memberKey, "e".repeat(40), [], ["a"])
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1"])
      yield* runBy(at, at.memberKey, "d".repeat(40), [], ["a"])
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
    })
  )

  it.effect("comes after the last failure, whoever published that and completes the ticket", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.admin), [])
      // Whoever published it completes the ticket, or is made its owner.
      yield* runBy(at, at.admin, "d".repeat(40), ["a"], ["b"])
      assert.deepStrictEqual([yield* at.missing(at.admin), yield* at.missing(at.agent)], [["a 0/1"], ["a 0/1"]])
      yield* at.update(at.owner, { owner: at.admin.principal.id })
      assert.deepStrictEqual(yield* at.missing(at.owner), ["a 0/1"])
      yield* runBy(at, at.memberKey, "e".repeat(40), [], ["a"])
      assert.deepStrictEqual(yield* at.missing(at.owner), [])
    })
  )

  it.effect("is no run during which the deployment changed", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const { number } = yield* as(at.memberKey)(runs.start(startBody(at, { git: gitOf(mended) })))
      yield* as(at.admin)((yield* Deployments).update(at.product.slug, at.environment.slug, { version: "v2" }))
      yield* as(at.memberKey)(runs.finish(number, finishBody({ tests: resultsOf([], ["a", "b"]) })))
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1", "b 0/1"])
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const { cases } = yield* as(at.viewer)(read(at.ticket.identifier))
      assert.deepStrictEqual(
        cases[0]!.runs.map(({ excluded, run }) => [run, excluded]),
        [[number, "deployment_changed"]]
      )
    })
  )

  it.effect("is no result from before the failure that is published after it, such as what a job has left behind", () =>
    Effect.gen(function* () {
      const failedAt = attempt("failed").startedAt
      yield* TestClock.setTime(Date.parse(failedAt) + 1_000)
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const publish = (startedAt: string) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("1 second")
          const { number } = yield* as(at.memberKey)(runs.start(startBody(at, { git: gitOf(mended) })))
          const ran = { ...attempt("passed"), startedAt }
          const tests = ["a", "b"].map((caseId) => report(caseId, { attempt: ran }))
          yield* as(at.memberKey)(runs.finish(number, finishBody({ tests })))
          return number
        })
      const left = yield* publish(new Date(Date.parse(failedAt) - 1).toISOString())
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1", "b 0/1"])
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const { cases } = yield* as(at.viewer)(read(at.ticket.identifier))
      assert.deepStrictEqual(
        cases[0]!.runs.map(({ excluded, run }) => [run, excluded]),
        [[left, "ran_before"]]
      )
      yield* publish(failedAt)
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
    })
  )

  it.effect("is runs of others in which each case passed, of another commit, after it failed last", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const { agent, missing, update } = at
      const none = ["a 0/1", "b 0/1"]
      assert.deepStrictEqual(yield* missing(agent), none)
      // Of the commit that failed; skipped or left out; by the person of the agent.
      yield* runBy(at, at.memberKey, broken, [], ["a", "b"])
      assert.deepStrictEqual(yield* missing(agent), none)
      // However that commit is spelled.
      for (const same of [broken.slice(0, 8), `${broken} `, `${broken}\u200B`, broken.replaceAll("b", "\uFF42")]) {
        yield* runBy(at, at.memberKey, same, [], ["a", "b"])
        assert.deepStrictEqual(yield* missing(agent), none)
      }
      yield* runBy(at, at.memberKey, mended, [], ["c"], ["a", "b"])
      assert.deepStrictEqual(yield* missing(agent), none)
      yield* runBy(at, at.member, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* missing(agent), none)
      assert.deepStrictEqual(yield* missing(at.member), none)
      // By whom it concerns nothing.
      yield* runBy(at, at.admin, mended, [], ["a"])
      assert.deepStrictEqual(yield* missing(agent), ["b 0/1"])
      yield* runBy(at, at.memberKey, mended.toUpperCase(), [], ["b"])
      assert.deepStrictEqual(yield* missing(agent), [])
      yield* update(at.admin, { passes: 2 })
      assert.deepStrictEqual(yield* missing(agent), ["a 1/2", "b 1/2"])
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* missing(agent), [])
      // A failure begins it anew.
      yield* runBy(at, at.memberKey, "d".repeat(40), ["a"], ["b"])
      assert.deepStrictEqual(yield* missing(agent), ["a 0/2"])
    })
  )

  it.effect("is of another commit than the one that failed last, however many runs ago", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* countAll
      yield* Effect.replicateEffect(runBy(at, at.memberKey, mended, ["c"]), evidenceRuns, { discard: true })
      yield* runBy(at, at.memberKey, broken, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1", "b 0/1"])
      yield* runBy(at, at.memberKey, mended, [], ["a"])
      assert.deepStrictEqual(yield* at.missing(at.agent), ["b 0/1"])
    })
  )

  it.effect("is as old as the failure, however many runs of other tests there were since", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* at.update(at.admin, { passes: 2 })
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      const runs = yield* TestRuns
      const { number } = yield* as(at.memberKey)(runs.start(startBody(at, { git: gitOf("d".repeat(40)) })))
      yield* as(at.memberKey)(runs.finish(number, finishBody({ interrupted: true, tests: resultsOf(["b"], []) })))
      yield* countAll
      yield* Effect.replicateEffect(runBy(at, at.memberKey, mended, ["c"]), evidenceRuns, { discard: true })
      // What failed last in an interrupted run is as old, too.
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 1/2", "b 0/2"])
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.agent), ["b 1/2"])
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
    })
  )

  it.effect("remembers where a commit failed, however often somebody tried on their machine since", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const tried = Effect.gen(function* () {
        const { number } = yield* as(at.memberKey)(
          runs.start(startBody(at, { git: { ...gitOf("d".repeat(40)), dirty: true } }))
        )
        yield* as(at.memberKey)(runs.finish(number, finishBody({ tests: resultsOf(["a"], []) })))
      })
      yield* Effect.replicateEffect(tried, olderResults + 2, { discard: true })
      yield* countAll
      yield* Effect.replicateEffect(runBy(at, at.memberKey, mended, ["c"]), evidenceRuns, { discard: true })
      yield* countAll
      yield* runBy(at, at.memberKey, broken, [], ["a"])
      const refused = yield* Effect.flip(at.update(at.member, { status: at.done }))
      assert.deepInclude("missing" in refused ? refused.missing?.[0]?.notCounted : undefined, { reason: "same_commit" })
      // What was only tried moves nothing.
      yield* runBy(at, at.memberKey, "d".repeat(40), [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
    })
  )

  it.effect("says which test nobody has ever seen", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* at.update(at.admin, { cases: { product: at.product.slug, caseIds: ["a", "nope"] } })
      yield* runBy(at, at.memberKey, broken, [], [], ["nope"])
      const refused = yield* Effect.flip(at.update(at.agent, { status: at.done }))
      assert.deepStrictEqual(
        "missing" in refused ? refused.missing?.map(({ caseId, seen }) => [caseId, seen]) : undefined,
        [
          ["a", undefined],
          ["nope", false]
        ]
      )
      assert.include(refused.message, " No run that is kept has ever run nope: look whether that is the id of a test.")
      yield* runBy(at, at.memberKey, mended, ["nope"], ["a"])
      const later = yield* Effect.flip(at.update(at.agent, { status: at.done }))
      assert.notInclude(later.message, "nope")
    })
  )

  it.effect("is told for each case: the last failure, the runs since, and why some do not count", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const told = Effect.map(as(at.viewer)(read(at.ticket.identifier)), ({ cases, complete }) => [
        complete,
        ...cases.map(({ caseId, failed, needed, passed, runs }) => [
          `${caseId} ${passed}/${needed} after ${failed?.run ?? "none"}`,
          ...runs.map(({ excluded, run }) => `${run} ${excluded}`)
        ])
      ])
      const [failed] = (yield* as(at.admin)((yield* TestRuns).list({}))).runs.map(({ number }) => number)
      assert.deepStrictEqual(yield* told, [false, [`a 0/1 after ${failed}`], [`b 0/1 after ${failed}`]])
      const same = yield* runBy(at, at.memberKey, broken, [], ["a"])
      const own = yield* runBy(at, at.member, mended, [], ["a"])
      const proof = yield* runBy(at, at.admin, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* told, [
        true,
        [`a 1/1 after ${failed}`, `${proof} null`, `${own} of_owner`, `${same} same_commit`],
        [`b 1/1 after ${failed}`, `${proof} null`]
      ])
      assert.strictEqual(yield* refusal(as(at.viewer)(read("NONE-1"))), "NotFound")
      const { cases, product } = yield* as(at.viewer)(read(at.ticket.id))
      assert.strictEqual(product, at.product.slug)
      assert.deepInclude(cases[0], { title: report("a").title })
      const { environment, git } = yield* as(at.viewer)((yield* TestRuns).get(proof))
      const place = { environment: environment.slug, branch: git.branch }
      assert.deepInclude(cases[0]!.failed, { ...place, commit: broken })
      assert.deepInclude(cases[0]!.runs[0], { ...place, run: proof, commit: mended })
      const { number } = yield* start(at)
      const long = report("a", { title: "\u{1F680}".repeat(300) })
      yield* as(at.member)((yield* TestRuns).finish(number, finishBody({ tests: [long] })))
      const renamed = yield* as(at.viewer)(read(at.ticket.id))
      assert.strictEqual(renamed.cases[0]?.title, "\u{1F680}".repeat(maxShownName))
    })
  )

  it.effect("is not of who owned the ticket since the failure, nor of the agent who completes it", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const { missing, update } = at
      const fixer = yield* addMember(at.workspace, "member")
      yield* update(at.admin, { owner: fixer.principal.id })
      yield* update(at.admin, { owner: null })
      yield* runBy(at, fixer, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* missing(at.admin), ["a 0/1", "b 0/1"])
      const outsider = yield* addAgent(at.owner)
      yield* runBy(at, at.owner, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* missing(outsider), ["a 0/1", "b 0/1"])
      assert.deepStrictEqual(yield* missing(at.owner), ["a 0/1", "b 0/1"])
      assert.deepStrictEqual(yield* missing(at.admin), [])
      // Once it has failed again, those who owned it before have nothing to do with it.
      yield* TestClock.adjust("1 minute")
      yield* runBy(at, at.memberKey, "d".repeat(40), ["a", "b"])
      yield* runBy(at, fixer, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* missing(at.admin), [])
    })
  )

  it.effect("is not faked by a retry of the run that failed, nor by a failure of one's own", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      const fixer = yield* addMember(at.workspace, "member")
      const tickets = yield* Tickets
      yield* runBy(at, at.memberKey, mended, [], ["a"])
      const failing = yield* runBy(at, at.memberKey, broken, ["a"])
      const ticket = yield* as(at.admin)(
        tickets.create({
          team: at.team.key,
          title: "Mend it",
          owner: fixer.principal.id,
          cases: { product: at.product.slug, caseIds: ["a"] },
          completion: "evidence"
        })
      )
      const complete = as(fixer)(tickets.update(ticket.id, { status: at.status("completed").id }))
      const notCounted = Effect.map(Effect.flip(complete), (refused) => [
        "missing" in refused ? refused.missing?.map((one) => one.notCounted) : undefined,
        refused.message.includes(`Run ${failing} passed in a retry alone`) &&
          refused.message.includes("publish a new run")
      ])
      assert.deepStrictEqual(yield* notCounted, [[null], false])
      yield* retryPassed(fixer, failing, broken)
      assert.strictEqual(yield* refusal(complete), "Conflict evidence_missing")
      assert.deepStrictEqual(yield* notCounted, [[{ run: failing, reason: "retry" }], true])
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const { cases } = yield* as(at.viewer)(read(ticket.id))
      assert.deepInclude(cases[0], { passed: 0 })
      assert.deepStrictEqual(
        cases[0]!.runs.map(({ excluded, run }) => [run, excluded]),
        [[failing, "retry"]]
      )
      // What came later comes first.
      const same = yield* runBy(at, at.memberKey, broken, [], ["a"])
      assert.deepStrictEqual(yield* notCounted, [[{ run: same, reason: "same_commit" }], false])
      yield* as(fixer)(tickets.update(ticket.id, { owner: null }))
      yield* TestClock.adjust("1 minute")
      yield* runBy(at, fixer, "d".repeat(40), ["a"])
      yield* runBy(at, fixer, "e".repeat(40), [], ["a"])
      assert.strictEqual(yield* refusal(complete), "Conflict evidence_missing")
      yield* runBy(at, at.memberKey, "e".repeat(40), [], ["a"])
      yield* complete
    })
  )

  it.effect("is no flaky pass", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* retryPassed(at.memberKey, yield* runBy(at, at.memberKey, mended, ["a"], ["b"]), mended)
      assert.deepStrictEqual(yield* at.missing(at.agent), ["a 0/1"])
    })
  )

  it.effect("is asked for whichever way the ticket is completed, and overridden by people alone, with a reason", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const { agent, done, ticket, tickets, update } = at
      const batch = yield* as(agent)(tickets.updateMany({ tickets: [ticket.id], changes: { category: "completed" } }))
      assert.deepInclude(batch[0]!.ok ? undefined : batch[0]!.error, {
        reason: "evidence_missing",
        missing: ["a", "b"].map((caseId) => ({
          caseId,
          passed: 0,
          needed: 1,
          environment: at.environment.slug,
          notCounted: null,
          failed: { run: 1, environment: at.environment.slug, commit: broken }
        }))
      })
      const statuses = yield* TicketStatuses
      yield* update(at.admin, { status: at.status("started").id })
      yield* as(at.admin)(statuses.create({ team: at.team.key, name: "Review", category: "started" }))
      const remove = (moveTo: string) => as(at.admin)(statuses.delete(at.status("started").id, moveTo))
      assert.strictEqual(yield* refusal(remove(done)), "Conflict evidence_missing")
      const input = { team: at.team.key, title: "New", status: done, completion: "evidence" } as const
      const cases = { product: at.product.slug, caseIds: ["a"] }
      const created = yield* Effect.flip(as(at.admin)(tickets.create({ ...input, cases })))
      assert.deepInclude(created, { _tag: "Conflict", reason: "evidence_missing" })
      assert.include(created.message, "Create it open: a person may complete it then all the same, with a reason")
      assert.strictEqual(yield* refusal(as(at.admin)(tickets.create(input))), "InvalidInput")
      assert.strictEqual(yield* refusal(update(at.admin, { cases: null })), "InvalidInput")
      // People may cancel it, and what is completed may move on.
      const canceled = at.status("canceled").id
      for (const by of [agent, at.memberKey]) {
        assert.strictEqual(yield* refusal(update(by, { status: canceled })), "Forbidden persons_only")
      }
      yield* update(at.admin, { status: canceled })
      const waived = { field: "status", from: at.status("started").name, to: at.status("canceled").name }

      for (const by of [agent, at.memberKey]) {
        for (const mine of [
          { status: done, override: "I am sure." },
          { completion: "free" },
          { passes: 1 },
          { cases },
          { cases: null }
        ] as const) {
          assert.strictEqual(yield* refusal(update(by, mine)), "Forbidden persons_only")
        }
      }
      const audit = yield* Audit
      const entries = (action: "evidence_changed" | "evidence_overridden" | "evidence_waived") =>
        Effect.map(as(at.owner)(audit.list({ action })), ({ entries: found }) =>
          found.map(({ actor, changes }) => [actor !== null && "id" in actor ? actor.id : null, changes])
        )
      const completed = yield* update(at.admin, { status: done, override: "The test is gone." })
      assert.strictEqual(completed.status.category, "completed")
      assert.deepStrictEqual(yield* entries("evidence_overridden"), [
        [at.admin.principal.id, [{ field: "override", from: null, to: "The test is gone." }]]
      ])
      const told = (yield* eventsOf(at.workspace)).flatMap(({ changes }) => changes ?? [])
      assert.deepInclude(told, { field: "override", from: null, to: "The test is gone." })
      yield* update(at.admin, { title: "Gone" })
      yield* update(at.admin, { status: at.status("started").id })
      yield* update(at.admin, { cases: { product: at.product.slug, caseIds: ["a", "c"] }, passes: 2 })
      assert.deepStrictEqual(yield* entries("evidence_changed"), [
        [
          at.admin.principal.id,
          [
            { field: "passes", from: "1", to: "2" },
            { field: "cases", from: "1: b", to: "1: c" }
          ]
        ]
      ])
      yield* update(at.admin, { completion: "free" })
      assert.deepStrictEqual(yield* entries("evidence_waived"), [
        [at.admin.principal.id, [{ field: "completion", from: "evidence", to: "free" }]],
        [at.admin.principal.id, [waived]]
      ])
      assert.strictEqual((yield* update(agent, { status: done })).status.category, "completed")
    })
  )

  it.effect("holds back what the ticket blocks until people say otherwise, and is told in the audit", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const { tickets, update } = at
      const slug = unique("project")
      const projects = yield* Projects
      yield* as(at.admin)(
        projects.create({ slug, name: "Checkout", teams: [at.team.key], products: [at.product.slug] })
      )
      yield* update(at.agent, { project: slug, blocks: true })
      for (const by of [at.agent, at.memberKey]) {
        for (const change of [{ blocks: false }, { project: null }, { category: "canceled" }] as const) {
          assert.strictEqual(yield* refusal(update(by, change)), "Forbidden persons_only")
        }
      }
      const own = yield* as(at.agent)(
        tickets.create({ team: at.team.key, title: "Mine", cases: { product: at.product.slug, caseIds: ["a"] } })
      )
      yield* as(at.admin)(tickets.update(own.id, { completion: "evidence" }))
      assert.strictEqual(yield* refusal(as(at.agent)(tickets.delete(own.id))), "Forbidden persons_only")
      yield* as(at.admin)(tickets.delete(own.id))
      // Nor by moving it to a status whose tickets are canceled.
      const statuses = yield* TicketStatuses
      const canceled = at.status("canceled")
      const made = yield* as(at.admin)(statuses.create({ team: at.team.key, name: "Later", category: "started" }))
      yield* update(at.agent, { status: made.id })
      assert.strictEqual(
        yield* refusal(as(at.adminKey)(statuses.delete(made.id, canceled.id))),
        "Forbidden persons_only"
      )
      yield* as(at.admin)(statuses.delete(made.id, canceled.id))
      yield* update(at.admin, { status: at.status("started").id })
      yield* update(at.member, { project: null })
      yield* update(at.agent, { project: slug })
      yield* update(at.member, { blocks: false })
      // The same ids are other tests of another product.
      const other = yield* addProduct(at.workspace.id, { name: "Other" })
      yield* update(at.admin, { cases: { product: other.slug, caseIds: ["a", "b"] } })
      const { entries } = yield* as(at.owner)((yield* Audit).list({}))
      assert.deepStrictEqual(
        entries.filter(({ action }) => action.startsWith("evidence_")).map(({ action, changes }) => [action, changes]),
        [
          ["evidence_changed", [{ field: "product", from: at.product.slug, to: other.slug }]],
          ["evidence_waived", [{ field: "blocks", from: "true", to: "false" }]],
          ["evidence_waived", [{ field: "project", from: "Checkout", to: null }]],
          ["evidence_waived", [{ field: "status", from: "Later", to: canceled.name }]],
          ["evidence_waived", [{ field: "ticket", from: own.identifier, to: null }]]
        ]
      )
    })
  )

  it.effect("holds back what the ticket blocks also where its project or team is taken from it, by people alone", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const [projects, teams, readiness] = [yield* Projects, yield* Teams, yield* ReadinessRepo]
      const slug = unique("project")
      const products = [at.product.slug]
      yield* as(at.admin)(projects.create({ slug, name: "Checkout", teams: [at.team.key], products }))
      const other = yield* addProduct(at.workspace.id, { name: "Other" })
      yield* as(at.memberKey)(projects.update(slug, { products: [...products, other.slug] }))
      const isBlocked = Effect.map(
        readiness.blockingTickets(seesAll(at.workspace.id), at.product.id),
        (found) => found.length > 0
      )
      const unlink = projects.update(slug, { products: [other.slug] })
      const archive = projects.archive(slug)
      const archiveTeam = teams.archive(at.team.key)
      // A ticket that holds nothing back keeps nobody from it.
      yield* as(at.memberKey)(archive)
      yield* as(at.memberKey)(projects.restore(slug))
      yield* at.update(at.admin, { project: slug, blocks: true })
      const { identifier } = at.ticket
      assert.strictEqual(
        (yield* Effect.flip(as(at.memberKey)(archive))).message,
        `${identifier} needs evidence and blocks: a person archives the project Checkout, or completes or cancels ${identifier} first. Agents and account keys do neither.`
      )
      const second = yield* as(at.admin)(
        at.tickets.create({
          team: at.team.key,
          title: "Mend more",
          project: slug,
          blocks: true,
          cases: { product: at.product.slug, caseIds: ["a"] },
          completion: "evidence"
        })
      )
      const calls = [
        [Effect.asVoid(unlink), "unlinks the product"],
        [Effect.asVoid(archive), "archives the project Checkout"],
        [Effect.asVoid(archiveTeam), `archives the team ${at.team.name}`]
      ] as const
      const both = [second, at.ticket].map(({ identifier }) => identifier).toSorted()
      for (const [call, what] of calls) {
        const refused = yield* Effect.flip(as(at.adminKey)(call))
        assert.deepInclude(refused, { _tag: "Forbidden", reason: "persons_only" })
        assert.include(refused.message, `${both.join(", ")} need evidence and block: a person ${what}, or completes`)
      }
      // Nobody learns of a ticket of a private team by what they may not do.
      const open = yield* as(at.admin)(teams.create({ key: teamKey(), name: unique("Open"), visibility: "open" }))
      yield* as(at.admin)(projects.update(slug, { teams: [at.team.key, open.key] }))
      yield* as(at.owner)(teams.update(at.team.key, { visibility: "private" }))
      const unseen = yield* Effect.flip(as(at.memberKey)(archive))
      assert.include(unseen.message, "A ticket that you do not see needs evidence and blocks: a person archives")
      assert.notInclude(unseen.message, at.team.key)
      yield* as(at.owner)(teams.update(at.team.key, { visibility: "open" }))
      assert.isTrue(yield* isBlocked)
      // What takes nothing from a product is not refused.
      yield* as(at.memberKey)(projects.update(slug, { name: "Checkout 2", products: [...products, other.slug] }))

      yield* as(at.member)(unlink)
      assert.isFalse(yield* isBlocked)
      yield* as(at.memberKey)(projects.update(slug, { products: [...products, other.slug] }))
      yield* as(at.member)(archive)
      assert.isFalse(yield* isBlocked)
      yield* as(at.member)(projects.restore(slug))
      yield* as(at.admin)(archiveTeam)
      assert.isFalse(yield* isBlocked)
      yield* as(at.admin)(archiveTeam)
      yield* as(at.admin)(teams.restore(at.team.key))
      assert.isTrue(yield* isBlocked)
      const slugs = [at.product.slug, other.slug].toSorted().join(", ")
      const { entries } = yield* as(at.owner)((yield* Audit).list({ action: "evidence_waived" }))
      const tickets = [second, at.ticket].map(({ id, identifier, title }) => [id, `${identifier} ${title}`])
      assert.deepStrictEqual(
        entries.map(({ changes, subject }) => [[subject.id, subject.label], changes]),
        [
          { field: "team", from: at.team.name, to: "archived" },
          { field: "project", from: "Checkout 2", to: "archived" },
          { field: "products", from: slugs, to: other.slug }
        ].flatMap((change) => tickets.map((ticket) => [ticket, [change]]))
      )
      // What is completed or canceled holds nothing back.
      for (const { id } of [at.ticket, second]) {
        yield* as(at.admin)(at.tickets.update(id, { status: at.status("canceled").id }))
      }
      yield* as(at.memberKey)(projects.update(slug, { products: [] }))
      yield* as(at.adminKey)(archiveTeam)
    })
  )

  it.effect("is not of a key that the owner made after the failure", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* at.update(at.admin, { owner: at.admin.principal.id })
      yield* TestClock.adjust("1 second")
      const createdBy = { createdByKind: "user", createdById: at.admin.principal.id } as const
      const ci = yield* newKey(at, null, { ...createdBy, createdAt: yield* now })
      const owned = yield* runBy(at, ci, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.member), ["a 0/1", "b 0/1"])
      // What nobody sees by the run is said: who made its key.
      const refused = yield* Effect.flip(at.update(at.member, { status: at.done }))
      const { name } = ci.principal
      const missing = "missing" in refused ? (refused.missing ?? []) : []
      assert.deepStrictEqual(
        missing.map(({ notCounted }) => notCounted),
        Array.from({ length: 2 }, () => ({ run: owned, reason: "of_owner", key: name }))
      )
      assert.strictEqual(refused.message.split(`The key ${name} is newer than the ticket`).length, 2)
      const read = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
      const { cases } = yield* as(at.viewer)(read(at.ticket.id))
      assert.deepInclude(cases[0]!.runs[0], { run: owned, excluded: "of_owner", key: name })
      yield* runBy(at, at.admin, mended, [], ["a", "b"])
      assert.deepInclude((yield* as(at.viewer)(read(at.ticket.id))).cases[0]!.runs[0], {
        excluded: "of_owner",
        key: null
      })
      // Nor is a key nobody's that such a key has made.
      const made = { createdByKind: "apiKey", createdById: ci.principal.id } as const
      const second = yield* newKey(at, null, { ...made, createdAt: yield* now })
      const third = yield* newKey(at, null, { ...made, createdById: second.principal.id, createdAt: yield* now })
      for (const key of [second, third]) yield* runBy(at, key, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.member), ["a 0/1", "b 0/1"])
      // A failure of that key does not make it older than the failure.
      yield* runBy(at, ci, "e".repeat(40), ["a", "b"])
      yield* TestClock.adjust("1 second")
      yield* runBy(at, ci, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.member), ["a 0/1", "b 0/1"])
      // Of one that was there before the ticket, as that of a CI is, it is: failures by it, too.
      const older = yield* newKey(at, null, { ...createdBy, createdAt: at.ticket.createdAt })
      yield* runBy(at, older, "d".repeat(40), ["a", "b"])
      yield* TestClock.adjust("1 second")
      yield* runBy(at, older, mended, [], ["a", "b"])
      assert.deepStrictEqual(yield* at.missing(at.admin), [])
      assert.deepStrictEqual(yield* at.missing(at.member), [])
    })
  )

  it.effect("is not of who completes the ticket by a key that they made after it", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      yield* TestClock.adjust("1 second")
      const createdBy = { createdByKind: "user", createdById: at.admin.principal.id } as const
      const made = yield* newKey(at, null, { ...createdBy, createdAt: yield* now })
      const second = yield* newKey(at, null, {
        createdByKind: "apiKey",
        createdById: made.principal.id,
        createdAt: yield* now
      })
      const older = yield* newKey(at, null, { ...createdBy, createdAt: at.ticket.createdAt })
      yield* runBy(at, at.admin, mended, [], ["a", "b"])
      yield* runBy(at, made, mended, [], ["a", "b"])
      for (const by of [at.admin, made, second]) assert.deepStrictEqual(yield* at.missing(by), ["a 0/1", "b 0/1"])
      assert.deepStrictEqual(yield* at.missing(older), [])
    })
  )

  it.effect("is asked for of what a completed ticket did not prove, too", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const { done, update } = at
      yield* runBy(at, at.memberKey, mended, ["c"], ["a", "b"])
      yield* update(at.admin, { status: done })
      const { slug: product } = at.product
      const add = (caseIds: ReadonlyArray<string>, more: object = {}) =>
        update(at.admin, { cases: { product, caseIds: [...caseIds] }, ...more })
      const refused = yield* Effect.flip(add(["a", "b", "c", "d"]))
      assert.deepStrictEqual("missing" in refused ? refused.missing?.map(({ caseId }) => caseId) : undefined, [
        "c",
        "d"
      ])
      assert.include(refused.message, "2 of its tests have not passed again")
      assert.include(refused.message, "1 of them failed last in run 2 ")
      assert.strictEqual(yield* refusal(add(["a"], { passes: 2 })), "Conflict evidence_missing")
      // What it proved may fail since: nobody is asked for that again.
      yield* runBy(at, at.memberKey, "d".repeat(40), ["a"], ["b", "c"])
      assert.deepStrictEqual((yield* add(["a", "c"])).cases?.caseIds, ["a", "c"])
      const audit = yield* Audit
      const overridden = Effect.map(as(at.owner)(audit.list({ action: "evidence_overridden" })), ({ entries }) =>
        entries.map(({ changes }) => changes)
      )
      assert.deepStrictEqual(yield* overridden, [])
      yield* add(["c", "d"], { override: "d is gone." })
      assert.deepStrictEqual(yield* overridden, [[{ field: "override", from: null, to: "d is gone." }]])
    })
  )

  it.effect("is not lost to a failure that says that it began after its run ended", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const runs = yield* TestRuns
      const { number } = yield* as(at.memberKey)(runs.start(startBody(at, { git: gitOf("d".repeat(40)) })))
      const ran = { ...attempt("failed"), startedAt: "2999-01-01T00:00:00.000Z" }
      yield* as(at.memberKey)(runs.finish(number, finishBody({ tests: [report("a", { attempt: ran })] })))
      yield* TestClock.adjust("1 minute")
      const passed = { ...attempt("passed"), startedAt: yield* now }
      const later = yield* as(at.memberKey)(runs.start(startBody(at, { git: gitOf(mended) })))
      const tests = ["a", "b"].map((caseId) => report(caseId, { attempt: passed }))
      yield* as(at.memberKey)(runs.finish(later.number, finishBody({ tests })))
      assert.deepStrictEqual(yield* at.missing(at.agent), [])
    })
  )

  it.effect("lets a status with enough evidence be deleted", () =>
    Effect.gen(function* () {
      const at = yield* makeEvidenceScene
      const statuses = yield* TicketStatuses
      yield* at.update(at.admin, { status: at.status("started").id })
      yield* as(at.admin)(statuses.create({ team: at.team.key, name: "Review", category: "started" }))
      yield* runBy(at, at.memberKey, mended, [], ["a", "b"])
      yield* as(at.admin)(statuses.delete(at.status("started").id, at.done))
      assert.strictEqual((yield* as(at.admin)(at.tickets.get(at.ticket.id))).status.category, "completed")
    })
  )
})
