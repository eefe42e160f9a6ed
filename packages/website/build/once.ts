import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"

/** Where builds are. */
export const dist = join(import.meta.dirname, "../dist")

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whether this process is to make it: several servers may start at once. */
const takeLock = (lock: string): boolean => {
  mkdirSync(dist, { recursive: true })
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" })
    return true
  } catch {
    // It is gone already where that process has just ended.
    if (existsSync(lock) && !isAlive(Number(readFileSync(lock, "utf8")))) rmSync(lock, { force: true })
    return false
  }
}

/**
 * Makes a directory of `dist`, unless it is there. It appears whole or not at all; several who make it at once get the same.
 *
 * @param make Fills a draft, which becomes the directory.
 */
export const makeOnce = async (name: string, make: (draft: string) => Promise<void>): Promise<string> => {
  const directory = join(dist, name)
  if (existsSync(directory)) return directory
  const lock = join(dist, `${name}.lock`)
  if (!takeLock(lock)) {
    await setTimeout(100)
    return makeOnce(name, make)
  }
  const draft = join(dist, `draft-${name}-${process.pid}`)
  try {
    await make(draft)
    // Of several who make it at once, one comes first.
    if (!existsSync(directory)) renameSync(draft, directory)
    return directory
  } finally {
    rmSync(draft, { recursive: true, force: true })
    rmSync(lock, { force: true })
  }
}
