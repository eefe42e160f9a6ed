import { DeliveryApi } from "@delivery/domain/Api"
import type { Conflict } from "@delivery/domain/Errors"
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { handlersOf } from "../http/Handlers.ts"
import { type LeaseAnswer, Semaphores } from "./Semaphores.ts"

const statuses = { new: 201, again: 200, queued: 202 } as const

const leaseAnswer = (answer: LeaseAnswer) =>
  HttpServerResponse.jsonUnsafe(answer.kind === "queued" ? answer.place : answer.lease, {
    status: statuses[answer.kind]
  })

/** `full` says in a header, too, when another try may help. */
const full = ({ _tag, capacity, holders, message, reason, retryAfterMs }: Conflict) =>
  HttpServerResponse.jsonUnsafe(
    { _tag, message, reason, capacity, holders, retryAfterMs },
    { status: 409, headers: { "retry-after": String(Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1000))) } }
  )

/** Handlers of semaphores and leases. */
export const layer = Layer.mergeAll(
  handlersOf(DeliveryApi, "semaphores", (handlers) =>
    Effect.gen(function* () {
      const semaphores = yield* Semaphores
      return handlers.handle("list", () => semaphores.list).handle("usage", () => semaphores.usage)
    })
  ),
  handlersOf(DeliveryApi, "leases", (handlers) =>
    Effect.gen(function* () {
      const semaphores = yield* Semaphores
      return handlers
        .handle("take", ({ params, payload }) =>
          semaphores.take(params.name, payload).pipe(
            Effect.map(leaseAnswer),
            Effect.catchTag("Conflict", (conflict) =>
              conflict.reason === "full" ? Effect.succeed(full(conflict)) : Effect.fail(conflict)
            )
          )
        )
        .handle("renew", ({ params, payload }) => semaphores.renew(params.name, params.lease, payload ?? {}))
        .handle("release", ({ params }) => semaphores.release(params.name, params.lease))
    })
  )
)
