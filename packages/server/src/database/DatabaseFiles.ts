import { constants } from "node:fs"
import { copyFile, mkdir, readdir } from "node:fs/promises"
import { dirname, join } from "node:path"

/** Where a checkpoint says from where on the log has to be replayed. */
const controlFile = "global/pg_control"
const logDirectory = "pg_wal"
/** What the process that runs has for itself. */
const ownFiles = new Set(["postmaster.pid", "postmaster.opts"])

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT"

const copyInto = async (from: string, to: string, path: string): Promise<void> => {
  await mkdir(dirname(join(to, path)), { recursive: true, mode: 0o700 })
  await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE)
}

/**
 * Copies the files of a database that is in use. As in PostgreSQL's own base backups, its tables are copied while they change,
 * and the log of these changes last. Who opens the copy replays the log from the checkpoint before: it has each page whole that
 * was changed since, whatever the copy of it has. So no checkpoint may be made between the two turns.
 */
export const copyDatabase = async (
  from: string,
  to: string,
  database: {
    /** Does something while no statement runs and no transaction is open. */
    readonly inTurn: (task: () => Promise<void>) => Promise<void>
    readonly checkpoint: () => Promise<unknown>
  }
): Promise<void> => {
  await mkdir(to, { mode: 0o700 })
  await database.inTurn(async () => {
    await database.checkpoint()
    await copyInto(from, to, controlFile)
  })
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name).slice(from.length + 1)
    const isLog = path === logDirectory || path.startsWith(`${logDirectory}/`)
    if (isLog || path === controlFile || ownFiles.has(path)) continue
    try {
      // oxlint-disable-next-line no-await-in-loop -- the server has the disk, too
      await (entry.isDirectory() ? mkdir(join(to, path), { recursive: true, mode: 0o700 }) : copyInto(from, to, path))
    } catch (error) {
      // Dropped meanwhile, which the log has, too.
      if (!isMissing(error)) throw error
    }
  }
  await database.inTurn(() => copyDirectory(from, to, logDirectory))
}

const copyDirectory = async (from: string, to: string, directory: string): Promise<void> => {
  await mkdir(join(to, directory), { recursive: true, mode: 0o700 })
  for (const entry of await readdir(join(from, directory), { withFileTypes: true })) {
    const path = join(directory, entry.name)
    // oxlint-disable-next-line no-await-in-loop -- few files, one disk
    await (entry.isDirectory() ? copyDirectory(from, to, path) : copyInto(from, to, path))
  }
}
