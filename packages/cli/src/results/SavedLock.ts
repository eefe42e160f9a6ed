import { createHash } from "node:crypto"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { Failure } from "../Failure.ts"
import { abandonedMillis, type HeldLock, LockedByAnother, makeFileLock } from "../FileLock.ts"

/** The lock of a file, away from it: its directory may be read-only, or collected by the CI. */
const lockOf = (file: string) =>
  makeFileLock(join(tmpdir(), `delivery-${createHash("sha256").update(resolve(file)).digest("hex").slice(0, 32)}`))

/** Takes the lock, once the others have released it; undefined where none can be made, as on a read-only disk. */
const take = async (
  file: string,
  lock: ReturnType<typeof lockOf>,
  until: number,
  cancelled: AbortSignal
): Promise<HeldLock | undefined> => {
  try {
    return lock.take()
  } catch (cause) {
    if (!(cause instanceof LockedByAnother)) return undefined
    if (performance.now() > until) throw new Failure({ message: `${file} is being published by another process.` })
    await wait(20 + 20 * Math.random(), undefined, { signal: cancelled })
    return take(file, lock, until, cancelled)
  }
}

/**
 * Does something with saved results while no other `runs publish` of this machine does: two that start their run at once would
 * make two of it.
 */
export const whileLocked = async <A>(file: string, use: () => Promise<A>, cancelled: AbortSignal): Promise<A> => {
  const held = await take(file, lockOf(file), performance.now() + 2 * abandonedMillis, cancelled)
  try {
    return await use()
  } finally {
    held?.close()
  }
}
