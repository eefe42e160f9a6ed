import { TooManyRequests } from "@delivery/domain/Errors"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { networkOf } from "../http/RateLimits.ts"
import { hashToken } from "../ids/Tokens.ts"
import { type ThrottleRow, ThrottlesRepo } from "./ThrottlesRepo.ts"

const windowMillis = 60 * 60 * 1000

/** How many failed proofs one network address may send in an hour. */
const maxAttempts = 20

/** How many mails one address may be sent in an hour. */
const maxMails = 5

/** Over a limit. It says in how many seconds another attempt may succeed. */
export interface Throttled {
  readonly _tag: "Throttled"
  readonly retryAfter: number
  /** What there is too much of; attempts if absent. */
  readonly of?: "attempts" | "mails" | "work"
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
    /** Counts a mail that is asked for, whoever has the address, like an attempt that fails; at most 5 an hour to one address. */
    readonly mail: (from: string, to: string) => Effect.Effect<void, Throttled>
    /** Counts an invite that is mailed, at most 5 an hour to one address. Signing in is left what it has. */
    readonly invite: (to: string) => Effect.Effect<void, Throttled>
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
      const subjectOf = (address: string) => `attempts of ${networkOf(address)}`
      // Who asks for a mail may type anybody's address: it is not kept.
      const takeMail = (kind: string, to: string) =>
        Effect.asVoid(
          Effect.mapError(take(`${kind} to ${hashToken(to)}`, maxMails), (over) => ({ ...over, of: "mails" as const }))
        )
      return Throttles.of({
        take,
        mail: (from, to) => Effect.andThen(take(subjectOf(from), maxAttempts), takeMail("mails", to)),
        invite: (to) => takeMail("invites", to),
        attempt: (address, proof) =>
          Effect.flatMap(take(subjectOf(address), maxAttempts), (counter) =>
            Effect.tap(proof, () => repo.giveBack(counter))
          )
      })
    })
  )
}

const limits = {
  attempts: `Too many attempts: at most ${maxAttempts} in an hour from one network address.`,
  mails: `Too many mails: at most ${maxMails} in an hour to one address.`,
  work: "The server has too many mails to send."
}

export const tooManyAttempts = ({ of = "attempts", retryAfter }: Throttled): TooManyRequests =>
  new TooManyRequests({ message: `${limits[of]} Try again in ${retryAfter} s.` })
