import { TooManyRequests } from "@delivery/domain/Errors"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { networkOf } from "../http/RateLimits.ts"
import { type ThrottleRow, ThrottlesRepo } from "./ThrottlesRepo.ts"

const windowMillis = 60 * 60 * 1000

/** How many failed proofs one network address may send in an hour. */
const maxAttempts = 20

/** Over a limit. It says in how many seconds another attempt may succeed. */
export interface Throttled {
  readonly _tag: "Throttled"
  readonly retryAfter: number
}

/** What may be tried only so often in an hour, counted for all servers together (docs/contract.md, Sessions). */
export class Throttles extends Context.Service<
  Throttles,
  {
    /**
     * Runs an attempt to prove who one is, unless 20 of the same network address failed in this hour. An attempt that is
     * running counts like one that failed, so that many at once do not get through; one that succeeds does not count.
     */
    readonly attempt: <A, E, R>(address: string, proof: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Throttled, R>
    /** Counts one more for the subject: fails where it is more than `limit` in this hour. */
    readonly take: (subject: string, limit: number) => Effect.Effect<ThrottleRow, Throttled>
  }
>()("@delivery/server/auth/Throttles") {
  static readonly layer = Layer.effect(
    Throttles,
    Effect.map(ThrottlesRepo, (repo) => {
      const take = Effect.fn("Throttles.take")(function* (subject: string, limit: number) {
        const now = yield* Clock.currentTimeMillis
        const counter = yield* repo.count(subject, timestamp(now), timestamp(now - windowMillis))
        if (counter.count <= limit) return counter
        const millis = Date.parse(counter.startedAt) + windowMillis - now
        return yield* Effect.fail<Throttled>({ _tag: "Throttled", retryAfter: Math.max(1, Math.ceil(millis / 1000)) })
      })
      return Throttles.of({
        take,
        attempt: (address, proof) =>
          Effect.flatMap(take(`attempts of ${networkOf(address)}`, maxAttempts), (counter) =>
            Effect.tap(proof, () => repo.giveBack(counter))
          )
      })
    })
  )
}

export const tooManyAttempts = ({ retryAfter }: Throttled): TooManyRequests =>
  new TooManyRequests({
    message: `Too many attempts: at most ${maxAttempts} in an hour from one network address. Try again in ${retryAfter} s.`
  })
