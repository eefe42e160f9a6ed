import { Effect, Semaphore } from "effect"

/** Turns by key, of which each has so many at once. A key is kept while somebody uses it. */
export const makeTurns = (atOnce: number) => {
  const keys = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return {
    /** How many have a turn or wait for one. */
    users: (key: string): number => keys.get(key)?.users ?? 0,
    /** Joins those of the key until `leave`. `release` gives back the turn that was taken. */
    join: (key: string) => {
      const turns = keys.get(key) ?? { semaphore: Semaphore.makeUnsafe(atOnce), users: 0 }
      keys.set(key, turns)
      turns.users++
      return {
        isFree: turns.users <= atOnce,
        take: Effect.asVoid(turns.semaphore.take(1)),
        release: Effect.asVoid(turns.semaphore.release(1)),
        leave: Effect.sync(() => {
          turns.users--
          if (turns.users === 0) keys.delete(key)
        })
      }
    }
  }
}
