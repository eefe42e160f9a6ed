import type { MuteCases } from "@delivery/domain/flow/Mute"
import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { Mutes } from "../../src/flow/Mutes.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { as, eventsOf } from "../identity/Scene.ts"
import { makeTicketScene } from "../planning/TicketsScene.ts"
import { attempt, finishBody, makeDeployed, report, startBody } from "../runs/Scene.ts"

/** A workspace with a team and something deployed. */

export const makeFlowScene = Effect.gen(function* () {
  const scene = yield* makeTicketScene
  return { ...scene, ...(yield* makeDeployed({ workspace: scene })) }
})

export type FlowScene = Effect.Success<typeof makeFlowScene>

/** A ticket that the member owns. */
export const ownedTicket = Effect.fnUntraced(function* (at: FlowScene) {
  const tickets = yield* Tickets
  return yield* tickets
    .create({ team: at.team.key, title: "Mend it", owner: at.member.principal.id })
    .pipe(as(at.member))
})

export const daysFromNow = (days: number) =>
  Effect.map(Clock.currentTimeMillis, (millis) => timestamp(millis + days * 24 * 60 * 60_000))

/** Mutes cases by the ticket, for 30 days unless told. */
export const mute = Effect.fnUntraced(function* (
  at: FlowScene,
  ticket: { readonly identifier: string },
  cases: ReadonlyArray<string>,
  fields: Partial<MuteCases> = {}
) {
  const until = yield* daysFromNow(30)
  return yield* (yield* Mutes)
    .set(ticket.identifier, { product: at.product.slug, cases, until, ...fields })
    .pipe(as(at.member))
})

export const start = Effect.fnUntraced(function* (at: FlowScene, fields: Partial<StartTestRun> = {}) {
  return yield* as(at.member)((yield* TestRuns).start(startBody(at, fields)))
})

/** What failed and what passed. */
export const resultsOf = (failed: ReadonlyArray<string>, passed: ReadonlyArray<string> = []) => [
  ...failed.map((caseId) => report(caseId, { attempt: attempt("failed") })),
  ...passed.map((caseId) => report(caseId))
]

export const finish = Effect.fnUntraced(function* (
  at: FlowScene,
  number: number,
  failed: ReadonlyArray<string>,
  passed: ReadonlyArray<string> = []
) {
  const runs = yield* TestRuns
  return yield* as(at.member)(runs.finish(number, finishBody({ tests: resultsOf(failed, passed) })))
})

/** A finished run; answers its summary. */
export const run = Effect.fnUntraced(function* (
  at: FlowScene,
  failed: ReadonlyArray<string>,
  passed: ReadonlyArray<string> = [],
  fields: Partial<StartTestRun> = {}
) {
  const { number } = yield* start(at, fields)
  return yield* finish(at, number, failed, passed)
})

/** The events of these kinds, oldest first: kind, actor and changes. */
export const eventsOfKinds = Effect.fnUntraced(function* (at: FlowScene, ...kinds: ReadonlyArray<string>) {
  const events = yield* eventsOf(at.workspace)
  return events.filter(({ kind }) => kinds.includes(kind))
})
