import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Events } from "./Events.ts"

/** Handlers of the events room. */
export const EventsHttp = HttpApiBuilder.group(DeliveryApi, "events", (handlers) =>
  Effect.map(Events, (events) => handlers.handle("list", () => Effect.map(events.list, (events) => ({ events }))))
)
