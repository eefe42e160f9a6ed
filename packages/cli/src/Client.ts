import { DeliveryClient } from "@delivery/client"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import type { Connection } from "./Settings.ts"

/** Where a call goes, with which key; null where it needs none. */
export type CalledAt = Pick<Connection, "url"> & { readonly apiKey: string | null }

/** The typed client of a service. It has the whole API, so only calls load this module. */
export const clientOf = ({ apiKey, url }: CalledAt) =>
  DeliveryClient.make({ baseUrl: url, apiKey }).pipe(Effect.provide(FetchHttpClient.layer))
