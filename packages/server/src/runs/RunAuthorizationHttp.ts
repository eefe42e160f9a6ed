import { Unauthorized } from "@delivery/domain/Errors"
import { RunAuthorization, RunCaller } from "@delivery/domain/runs/RunAuthorization"
import { isId, isSlug } from "@delivery/domain/Text"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { recognized } from "../http/RateLimits.ts"
import { IsRunCallerNow } from "./Semaphores.ts"
import { SemaphoresRepo } from "./SemaphoresRepo.ts"

/** Authentication of lease calls by run token, in the workspace of the path alone. */
export const layer = Layer.effect(
  RunAuthorization,
  Effect.gen(function* () {
    const repo = yield* SemaphoresRepo
    return RunAuthorization.of({
      runToken: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const token = Redacted.value(credential)
        const { slug = "" } = yield* HttpRouter.params
        const authenticated =
          isToken("stk_", token) && (isId(slug) || isSlug(slug))
            ? repo.authenticate(hashToken(token), slug)
            : Effect.undefined
        const caller = yield* authenticated
        if (caller === undefined) return yield* Effect.fail(Unauthorized.generic)
        yield* recognized(caller.publisherId)
        return yield* httpEffect.pipe(
          Effect.provideService(RunCaller, caller.owner),
          Effect.provideService(
            IsRunCallerNow,
            Effect.map(authenticated, (now) => now !== undefined)
          )
        )
      })
    })
  })
)
