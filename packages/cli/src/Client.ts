import { DeliveryClient } from "@delivery/client"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import type { Connection } from "./Settings.ts"

/** The typed client of a service. It has the whole API, so only calls load this module. */
export const clientOf = ({ apiKey, url }: Pick<Connection, "apiKey" | "url">) =>
  DeliveryClient.make({ baseUrl: url, apiKey }).pipe(Effect.provide(FetchHttpClient.layer))
