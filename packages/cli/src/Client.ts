import { DeliveryClient } from "@delivery/client"
import { Effect } from "effect"
import { answerSeconds, answeringWithin } from "./Http.ts"
import type { Connection } from "./Settings.ts"

/** Where a call goes, with which key; null where it needs none. The workspace is named where it is not found. */
export type CalledAt = Pick<Connection, "url"> &
  Partial<Pick<Connection, "workspace">> & { readonly apiKey: string | null }

/**
 * The typed client of a service. It has the whole API, so only calls load this module.
 *
 * @param waitSeconds What the calls ask the service to wait for, beyond which it has the usual time to answer.
 */
export const clientOf = ({ apiKey, url }: CalledAt, waitSeconds: number) =>
  DeliveryClient.make({ baseUrl: url, apiKey }).pipe(Effect.provide(answeringWithin(answerSeconds + waitSeconds)))
