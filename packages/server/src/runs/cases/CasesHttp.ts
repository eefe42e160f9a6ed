import { DeliveryApi } from "@delivery/domain/Api"
import { RunError } from "@delivery/domain/runs/Case"
import { Effect } from "effect"
import { handlersOf } from "../../http/Handlers.ts"
import { listAnswer } from "../../http/ListAnswer.ts"
import { ListTurns } from "../../http/ListTurns.ts"
import { Cases } from "./Cases.ts"

/** Handlers of tests over time. */
export const layer = handlersOf(DeliveryApi, "cases", (handlers) =>
  Effect.gen(function* () {
    const cases = yield* Cases
    // A run may have 5,000 errors of 2,000 characters.
    const errorList = listAnswer(yield* ListTurns, "errors", RunError)
    return handlers
      .handle("list", ({ params, query }) => cases.list(params.product, query))
      .handle("get", ({ params, query }) => cases.get(params.product, params.caseId, query))
      .handle("errors", ({ params }) => errorList(Effect.map(cases.errors(params.run), ({ errors }) => errors)))
      .handle("trends", ({ params, query }) => cases.trends(params.product, query))
  })
)
