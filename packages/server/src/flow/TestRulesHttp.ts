import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { TestRules } from "./TestRules.ts"

export const layer = handlersOf(DeliveryApi, "testRules", (handlers) =>
  Effect.map(TestRules, (rules) =>
    handlers
      .handle("list", () => Effect.map(rules.list, (testRules) => ({ testRules })))
      .handle("create", ({ payload }) => rules.create(payload))
      .handle("update", ({ params, payload }) => rules.update(params.testRule, payload))
      .handle("delete", ({ params }) => rules.delete(params.testRule))
      .handle("tickets", ({ params }) => Effect.map(rules.tickets(params.testRule), (tickets) => ({ tickets })))
  )
)
