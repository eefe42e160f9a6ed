import type { DeliveryClientShape } from "@delivery/client"
import { Effect } from "effect"
import { callFailure } from "./Failure.ts"
import { type Connection, connection } from "./Settings.ts"

/** The typed client. It is loaded where a command calls the service, so that `--help` need not wait for it. */
const clientOf = Effect.fnUntraced(function* ({ apiKey, url }: Pick<Connection, "apiKey" | "url">) {
  const { DeliveryClient } = yield* Effect.promise(() => import("@delivery/client"))
  const { FetchHttpClient } = yield* Effect.promise(() => import("effect/http"))
  return yield* DeliveryClient.make({ baseUrl: url, apiKey }).pipe(Effect.provide(FetchHttpClient.layer))
})

/** Calls a service. What fails becomes a line for people and an exit code. */
export const callAt = <A, E, R>(
  at: Pick<Connection, "apiKey" | "url">,
  use: (client: DeliveryClientShape) => Effect.Effect<A, E, R>
) => Effect.flatMap(clientOf(at), use).pipe(Effect.mapError(callFailure(at.url)))

/** Calls the service that flags, environment and profile name. */
export const call = <A, E, R>(use: (client: DeliveryClientShape, connection: Connection) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(connection, (at) => callAt(at, (client) => use(client, at)))
