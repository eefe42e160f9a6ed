import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"

/** Another process holds the lock or tries to take it. */
export class LockedByAnother extends Error {
  override readonly name = "LockedByAnother"
}

/** A lock of this process, until it is closed. */
export interface HeldLock {
  readonly close: () => void
}

/**
 * How long, in milliseconds, another entry must stay before it is taken for what a killed process left. Whoever holds the
 * lock closes it sooner. Both count running time: a computer that sleeps ages no lock.
 */
export const abandonedMillis = 30_000

/**
 * Takes a lock that processes share: a directory with an entry for whoever holds it or tries to. Each writes an entry of its own and then
 * looks for others. Of two that try at once, the later one sees the other's entry and gives up; maybe both do, never none. So
 * two never have it. It also holds between containers that mount the same directory.
 *
 * The attempts of one wait share a lock object, since it remembers since when it has seen the entries of others.
 */
export const makeFileLock = (directory: string, now: () => number = () => performance.now()) => {
  const seenSince = new Map<string, number>()

  /** Those that another may hold the lock by. */
  const livingOthers = (own?: string): ReadonlyArray<string> =>
    readdirSync(directory).filter((entry) => {
      if (entry === own) return false
      const since = seenSince.get(entry) ?? now()
      seenSince.set(entry, since)
      return now() - since < abandonedMillis
    })

  const giveUp = (): never => {
    throw new LockedByAnother("Another process holds the lock.")
  }

  return {
    /** Throws `LockedByAnother` where it cannot have it now. */
    take: (): HeldLock => {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      // Whoever waits leaves no entries, which would keep others from the lock.
      if (livingOthers().length > 0) giveUp()
      const entry = randomUUID()
      const path = join(directory, entry)
      writeFileSync(path, "", { mode: 0o600, flag: "wx" })
      const close = () => rmSync(path, { force: true })
      try {
        const others = livingOthers(entry)
        // Its own entry may have been removed as abandoned, by one that had seen it for long while this process stood still.
        if (others.length > 0 || !existsSync(path)) giveUp()
        for (const abandoned of readdirSync(directory)) {
          if (abandoned !== entry && seenSince.has(abandoned)) rmSync(join(directory, abandoned), { force: true })
        }
        return { close }
      } catch (cause) {
        close()
        throw cause
      }
    }
  }
}

/**
 * Takes a lock, once the others have released it. Throws `LockedByAnother` where they keep it for longer than a killed process
 * does.
 */
export const whenReleased = async (
  lock: ReturnType<typeof makeFileLock>,
  signal?: AbortSignal,
  until = performance.now() + 2 * abandonedMillis
): Promise<HeldLock> => {
  try {
    return lock.take()
  } catch (cause) {
    if (!(cause instanceof LockedByAnother) || performance.now() > until) throw cause
    await wait(16 + 8 * Math.random(), undefined, signal === undefined ? {} : { signal })
    return whenReleased(lock, signal, until)
  }
}
