import { Effect, Schedule, type Scope } from "effect"
import { background } from "../telemetry/Background.ts"

/** Values that requests record and that are written together, for ids. */
export interface Behind<Id extends string, A> {
  readonly note: (id: Id, value: A) => void
  /** What is not yet written, or was written last; undefined where there is none. */
  readonly noted: (id: Id) => A | undefined
}

/**
 * Writes what was recorded twice a second, and the rest when the scope closes. A failed write is repeated.
 *
 * @param options.task Names the work in metrics.
 * @param options.failure The warning, a sentence.
 * @param options.merge What is recorded of an id beside what was before.
 */
export const makeBehind = Effect.fnUntraced(function* <Id extends string, A>({
  failure,
  merge,
  store,
  task
}: {
  readonly task: string
  readonly failure: string
  readonly merge: (before: A, value: A) => A
  readonly store: (batch: ReadonlyMap<Id, A>) => Effect.Effect<void>
}): Effect.fn.Return<Behind<Id, A>, never, Scope.Scope> {
  let pending = new Map<Id, A>()
  /** The last batch. It stays here after it is written, for rows that were read before. */
  let writing: ReadonlyMap<Id, A> = new Map()

  const note = (id: Id, value: A) => {
    const before = pending.get(id)
    pending.set(id, before === undefined ? value : merge(before, value))
  }
  const write = Effect.suspend(() => {
    if (pending.size === 0) return Effect.void
    const batch = pending
    writing = batch
    pending = new Map()
    return Effect.onError(store(batch), () =>
      Effect.sync(() => {
        const since = pending
        pending = new Map(batch)
        for (const [id, value] of since) note(id, value)
      })
    )
  })
  yield* Effect.addFinalizer(() => write)
  const round = yield* background(task, failure, write)
  yield* round.pipe(Effect.repeat(Schedule.spaced("500 millis")), Effect.forkScoped)
  return { note, noted: (id) => pending.get(id) ?? writing.get(id) }
})
