import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Schedule, type Scope } from "effect"
import { background } from "../telemetry/Background.ts"

/** Instants that are recorded on every request and written together. */
export interface WriteBehind<Id extends string> {
  /** Records the current time. */
  readonly note: (id: Id) => Effect.Effect<void>
  /** The later one of the stored instant and the recorded one that is not yet written. */
  readonly latest: <Stored extends Timestamp | null>(id: Id, stored: Stored) => Timestamp | Stored
  /** How many are yet to be written. */
  readonly unwritten: () => number
}

/**
 * Writes the recorded instants twice a second, and the rest when the scope closes. A failed write is repeated.
 * `task` names the work in metrics; `failure` is the warning, a sentence.
 */
export const makeWriteBehind = Effect.fnUntraced(function* <Id extends string>(
  task: string,
  failure: string,
  store: (batch: ReadonlyMap<Id, Timestamp>) => Effect.Effect<void>
): Effect.fn.Return<WriteBehind<Id>, never, Scope.Scope> {
  /** In milliseconds since 1970: most are replaced before they are written. */
  let pending = new Map<Id, number>()
  /** The last batch. It stays here after it is written, for rows that were read before. */
  let writing: ReadonlyMap<Id, number> = new Map()

  const write = Effect.suspend(() => {
    if (pending.size === 0) return Effect.void
    writing = pending
    pending = new Map()
    const batch = new Map(Array.from(writing, ([id, millis]) => [id, timestamp(millis)]))
    return Effect.onError(store(batch), () =>
      Effect.sync(() => {
        pending = new Map([...writing, ...pending])
      })
    )
  })
  yield* Effect.addFinalizer(() => write)
  const round = yield* background(task, failure, write)
  yield* round.pipe(Effect.repeat(Schedule.spaced("500 millis")), Effect.forkScoped)

  return {
    note: (id) =>
      Effect.map(Clock.currentTimeMillis, (millis) => {
        pending.set(id, millis)
      }),
    latest: (id, stored) => {
      const noted = Math.max(pending.get(id) ?? Number.NEGATIVE_INFINITY, writing.get(id) ?? Number.NEGATIVE_INFINITY)
      return noted === Number.NEGATIVE_INFINITY ? stored : later(stored, timestamp(noted))
    },
    unwritten: () => pending.size
  }
})

const later = <A extends Timestamp | null>(a: A, b: Timestamp): Timestamp | A => (a === null || b > a ? b : a)
