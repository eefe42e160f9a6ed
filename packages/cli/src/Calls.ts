import type { DeliveryClientShape } from "@delivery/client"
import { isServiceUrl } from "@delivery/domain/ServiceUrl"
import { Effect } from "effect"
import type { CalledAt } from "./Client.ts"
import { callFailure, Failure } from "./Failure.ts"
import { type Connection, connection } from "./Settings.ts"

interface CallOptions {
  /** What the calls ask the service to wait for, in seconds. Default: nothing. */
  readonly waitSeconds?: number
}

/** Calls a service. What fails becomes a line for people and an exit code. */
export const callAt = <A, E, R>(
  at: CalledAt,
  use: (client: DeliveryClientShape) => Effect.Effect<A, E, R>,
  { waitSeconds = 0 }: CallOptions = {}
) =>
  isServiceUrl(at.url)
    ? Effect.promise(() => import("./Client.ts")).pipe(
        Effect.flatMap(({ clientOf }) => clientOf(at, waitSeconds)),
        Effect.flatMap(use),
        Effect.mapError(callFailure(at))
      )
    : Effect.fail(Failure.noServiceUrl("The address of the service"))

/** Calls the service that flags, environment and profile name. */
export const call = <A, E, R>(
  use: (client: DeliveryClientShape, connection: Connection) => Effect.Effect<A, E, R>,
  options?: CallOptions
) => Effect.flatMap(connection, (at) => callAt(at, (client) => use(client, at), options))
