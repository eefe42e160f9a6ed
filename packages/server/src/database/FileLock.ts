import { DatabaseSync } from "node:sqlite"

const sqliteBusy = 5

/**
 * Locks a file until it is closed. Throws if another process holds the lock for longer than `timeoutMillis`.
 *
 * The lock is an open SQLite transaction on an empty file, that is a record lock of the operating system: it needs no
 * clean-up, for it ends with the process however that ends, two that start at once cannot both have it, and it holds
 * between containers that mount the same directory. No other code of this process may open the file: closing it would
 * end the lock.
 */
export const lockFile = (path: string, timeoutMillis: number): DatabaseSync => {
  const file = new DatabaseSync(path, { timeout: timeoutMillis })
  try {
    file.exec("BEGIN EXCLUSIVE")
    return file
  } catch (cause) {
    file.close()
    throw cause
  }
}

/** Whether the lock could not be taken because another process holds it. */
export const isLocked = (cause: unknown): boolean =>
  cause instanceof Error && "errcode" in cause && cause.errcode === sqliteBusy
