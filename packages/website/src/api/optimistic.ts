import type { QueryClient } from "@tanstack/react-query"
import { useSyncExternalStore } from "react"

/**
 * Changes that are shown before the server has answered. They lie over what was read, and not in it: whatever is read meanwhile
 * shows them too, and one that is refused takes nothing else back.
 */
export interface Optimistic<C> {
  /** The changes that are on their way, in the order in which they were made. */
  readonly usePending: () => ReadonlyArray<C>
  /** The same, now. */
  readonly current: () => ReadonlyArray<C>
  /** Shows changes, sends them, and reads again. One that is refused alone is told to `refuse`; a rejection refuses all. */
  readonly run: <A>(
    changes: ReadonlyArray<C>,
    send: (refuse: (change: C) => void) => Promise<A>,
    readAgain: () => Promise<unknown>
  ) => Promise<A>
}

export const makeOptimistic = <C>(): Optimistic<C> => {
  let pending: ReadonlyArray<C> = []
  let running = 0
  let readings = 0
  const listeners = new Set<() => void>()
  const set = (next: ReadonlyArray<C>) => {
    pending = next
    for (const listener of listeners) listener()
  }
  const drop = (gone: ReadonlyArray<C>) => set(pending.filter((one) => !gone.includes(one)))
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  // What is done stays over what was read before it, until that is read anew.
  const settle = async (readAgain: () => Promise<unknown>) => {
    if (running > 0) return
    const done = pending
    const reading = ++readings
    await readAgain()
    if (running === 0 && reading === readings) drop(done)
  }
  return {
    usePending: () => useSyncExternalStore(subscribe, () => pending),
    current: () => pending,
    run: async (changes, send, readAgain) => {
      set([...pending, ...changes])
      running++
      try {
        return await send((change) => drop([change]))
      } catch (error) {
        drop(changes)
        throw error
      } finally {
        running--
        void settle(readAgain)
      }
    }
  }
}

/** Reads queries again, and waits until none of them is being read: an event may have begun that anew meanwhile. */
export const readAnew = async (queries: QueryClient, keys: ReadonlyArray<ReadonlyArray<unknown>>): Promise<void> => {
  await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })))
  const isReading = () => keys.some((queryKey) => queries.isFetching({ queryKey }) > 0)
  if (!isReading()) return
  await new Promise<void>((resolve) => {
    const stop = queries.getQueryCache().subscribe(() => {
      if (isReading()) return
      stop()
      resolve()
    })
  })
}
