import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { Events } from "./Events.ts"

export const layer = handlersOf(DeliveryApi, "events", (handlers) =>
  Effect.map(Events, (events) => handlers.handle("list", () => Effect.map(events.list, (events) => ({ events }))))
)
