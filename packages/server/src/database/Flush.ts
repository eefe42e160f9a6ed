import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

/** Makes what is in a file, or which entries a directory has, survive a power loss. */
export const flush = (path: string): void => {
  const opened = openSync(path, "r")
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

/** Makes a directory and all that is in it survive a power loss, but not its own entry. */
export const flushAll = (directory: string): void => {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) flushAll(path)
    else if (entry.isFile()) flush(path)
  }
  flush(directory)
}

/** The directories that have the new entries once `mkdir` has made `path`, and the `first` of those above it that were missing. */
export const changedBy = (path: string, first: string | undefined): ReadonlyArray<string> => {
  const changed: Array<string> = []
  if (first === undefined) return changed
  for (let made = resolve(path); made.length >= first.length; made = dirname(made)) changed.push(dirname(made))
  return changed
}

/** Makes a directory and those above it that are missing, so that their entries survive a power loss. */
export const makeDirectory = (path: string): void => {
  for (const directory of changedBy(path, mkdirSync(path, { recursive: true, mode: 0o700 }))) flush(directory)
}
