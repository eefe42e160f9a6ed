import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { SavedFilters } from "./SavedFilters.ts"

/** Handlers of saved filters. */
export const layer = handlersOf(DeliveryApi, "savedFilters", (handlers) =>
  Effect.map(SavedFilters, (filters) =>
    handlers
      .handle("list", ({ query }) => Effect.map(filters.list(query.screen), (savedFilters) => ({ savedFilters })))
      .handle("create", ({ payload }) => filters.create(payload))
      .handle("get", ({ params }) => filters.get(params.filter))
      .handle("update", ({ params, payload }) => filters.update(params.filter, payload))
      .handle("delete", ({ params }) => filters.delete(params.filter))
  )
)
