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
  let pending = new Map<Id, Timestamp>()
  /** The last batch. It stays here after it is written, for rows that were read before. */
  let writing: ReadonlyMap<Id, Timestamp> = new Map()

  const write = Effect.suspend(() => {
    if (pending.size === 0) return Effect.void
    writing = pending
    pending = new Map()
    return Effect.onError(store(writing), () =>
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
        pending.set(id, timestamp(millis))
      }),
    latest: (id, stored) => later(stored, later(writing.get(id) ?? null, pending.get(id) ?? null)),
    unwritten: () => pending.size
  }
})

const later = <A extends Timestamp | null>(a: A, b: Timestamp | null): Timestamp | A =>
  b !== null && (a === null || b > a) ? b : a
