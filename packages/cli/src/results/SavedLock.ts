import { createHash } from "node:crypto"
import { lstatSync, mkdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Failure } from "../Failure.ts"
import { type HeldLock, LockedByAnother, makeFileLock, whenReleased } from "../FileLock.ts"

/**
 * The directory of the user's locks, away from the files: their directory may be read-only, or collected by the CI. Everybody may
 * write to the one for temporary files, so what somebody else has put there, or a link, is not used.
 */
const ownDirectory = (): string => {
  const user = process.getuid?.()
  const directory = join(tmpdir(), `delivery-locks-${user ?? ""}`)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch {
    // It is there, or there can be none: then it is not found.
  }
  const found = lstatSync(directory)
  if (!found.isDirectory() || (user !== undefined && found.uid !== user)) throw new Error("It is somebody else's.")
  return directory
}

/** Takes the lock, once the others have released it; undefined where none can be made, as on a read-only disk. */
const take = async (file: string, cancelled: AbortSignal): Promise<HeldLock | undefined> => {
  try {
    const name = createHash("sha256").update(resolve(file)).digest("hex")
    return await whenReleased(makeFileLock(join(ownDirectory(), name)), cancelled)
  } catch (cause) {
    cancelled.throwIfAborted()
    if (cause instanceof LockedByAnother) {
      throw new Failure({ message: `${file} is being published by another process.` })
    }
    return undefined
  }
}

/**
 * Does something with saved results while no other `runs publish` of this user does: two that start their run at once would make
 * two of it.
 */
export const whileLocked = async <A>(file: string, use: () => Promise<A>, cancelled: AbortSignal): Promise<A> => {
  const held = await take(file, cancelled)
  try {
    return await use()
  } finally {
    held?.close()
  }
}
