import type { DeliveryClientShape } from "@delivery/client"
import { Effect } from "effect"
import type { CalledAt } from "./Client.ts"
import { callFailure } from "./Failure.ts"
import { type Connection, connection } from "./Settings.ts"

/** Calls a service. What fails becomes a line for people and an exit code. */
export const callAt = <A, E, R>(at: CalledAt, use: (client: DeliveryClientShape) => Effect.Effect<A, E, R>) =>
  Effect.promise(() => import("./Client.ts")).pipe(
    Effect.flatMap(({ clientOf }) => clientOf(at)),
    Effect.flatMap(use),
    Effect.mapError(callFailure(at.url))
  )

/** Calls the service that flags, environment and profile name. */
export const call = <A, E, R>(use: (client: DeliveryClientShape, connection: Connection) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(connection, (at) => callAt(at, (client) => use(client, at)))
