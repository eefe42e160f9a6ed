import type { CreateTestRule } from "@delivery/domain/flow/TestRule"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TestReport } from "@delivery/domain/runs/TestEntry"
import { Effect } from "effect"
import { TestRules } from "../../src/flow/TestRules.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { as } from "../identity/Scene.ts"
import { attempt, finishBody, report } from "../runs/Scene.ts"
import { type FlowScene, start } from "./FlowScene.ts"

/** Rules, and what they make of runs. */

export const rule = Effect.fnUntraced(function* (at: FlowScene, fields: Partial<CreateTestRule> = {}) {
  const rules = yield* TestRules
  return yield* as(at.member)(
    rules.create({ product: at.product.slug, when: { failures: 1 }, team: at.team.key, ...fields })
  )
})

/** The tickets of the team, oldest first: their tests, categories and numbers of comments. */
export const ticketsOf = Effect.fnUntraced(function* (at: FlowScene) {
  const tickets = yield* as(at.owner)((yield* Tickets).list({ team: at.team.key }))
  return tickets
    .toSorted((a, b) => a.number - b.number)
    .map(({ cases, commentCount, status }) => [cases?.caseIds.join(" "), status.category, commentCount] as const)
})

export const ticket = Effect.fnUntraced(function* (
  at: FlowScene,
  number = 1
): Effect.fn.Return<Ticket, unknown, Tickets> {
  return yield* as(at.owner)((yield* Tickets).get(`${at.team.key}-${number}`))
})

export const failing = (caseId: string, errorMessage: string): TestReport =>
  report(caseId, { attempt: { ...attempt("failed"), errorMessage } })

export const runOf = Effect.fnUntraced(function* (at: FlowScene, tests: ReadonlyArray<TestReport>) {
  const { number } = yield* start(at)
  return yield* as(at.member)((yield* TestRuns).finish(number, finishBody({ tests })))
})
