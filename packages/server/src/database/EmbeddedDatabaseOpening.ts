import { type Extensions, PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { gunzipSync } from "node:zlib"
import { flush, flushAll } from "./Flush.ts"
import { DurableFiles } from "./DurableFiles.ts"

/** Settings that keep memory and disk small; the embedded database serves one process. */
const small = ["shared_buffers=16MB", "min_wal_size=32MB", "max_wal_size=64MB"]

/** A commit is answered once it is on the disk. See `DurableFiles`. */
const durable = ["fsync=on", "wal_sync_method=fsync"]

const withoutFlush = "-F"

const inMemory = "memory://"

const settings = (of: ReadonlyArray<string>): Array<string> => of.flatMap((setting) => ["-c", setting])

export const reasonOf = (error: unknown): string =>
  error instanceof Error || (typeof error === "object" && error !== null && "message" in error)
    ? String(error.message)
    : String(error)

const postgresMessage = /\b(?:FATAL|PANIC|ERROR|HINT|DETAIL):\s+(.*)/

/** Opens a database. The reason of a failure is what PostgreSQL logged, since PGlite itself does not report it. */
const start = async (options: PGliteOptions): Promise<PGlite> => {
  const lines: Array<string> = []
  try {
    return await PGlite.create({
      startParams: [...PGlite.defaultStartParams, ...settings(small)],
      ...options,
      onStderr: (line) => {
        const found = postgresMessage.exec(line)
        if (found !== null) lines.push(found[1]!)
        return false
      }
    })
  } catch (error) {
    throw new Error([reasonOf(error), ...lines].join(": "), { cause: error })
  }
}

/** A new database without tables, as a tar. */
const makeEmpty = async (): Promise<Blob> => {
  const database = await start({ dataDir: inMemory })
  try {
    // Never used here. Unvacuumed, they would let the transaction ids run out in the end.
    await database.exec("UPDATE pg_database SET datistemplate = false WHERE datname LIKE 'template_'")
    await database.exec("DROP DATABASE template0")
    await database.exec("DROP DATABASE template1")
    await database.exec("CHECKPOINT")
    return await database.dumpDataDir("none")
  } finally {
    await database.close()
  }
}

const clear = (dataDir: string): void => {
  if (dataDir === inMemory) return
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { mode: 0o700 })
}

const make = async (dataDir: string, migrated: string | undefined): Promise<PGlite> => {
  clear(dataDir)
  if (migrated !== undefined && existsSync(migrated)) {
    try {
      // PGlite would wait forever for the rest of a file that was cut.
      return await start({ dataDir, loadDataDir: new Blob([gunzipSync(readFileSync(migrated))]) })
    } catch {
      // Of another PostgreSQL, or damaged: the migrations make the same.
      clear(dataDir)
    }
  }
  return await start({ dataDir, loadDataDir: await makeEmpty() })
}

export interface Opened {
  readonly database: PGlite
  /** Absent: in memory. */
  readonly files: DurableFiles | undefined
}

/**
 * Opens the database in `dataDir`, which is made unless it is there: from `migrated`, a tar of one with its tables, where that is
 * there, else empty. Absent: in memory. Without `extensions`, which tests look for damage with, PostgreSQL has none.
 */
export const open = async (
  dataDir: string | undefined,
  migrated: string | undefined,
  extensions: Extensions = {}
): Promise<Opened> => {
  if (dataDir === undefined) return { database: await make(inMemory, migrated), files: undefined }
  const directory = join(dataDir, "postgres")
  const isNew = !existsSync(directory)
  if (isNew) {
    // Made in a draft directory and renamed: the next start would take half a database for a whole one.
    const draft = `${directory}.new`
    await (await make(draft, migrated)).close()
    flushAll(draft)
    renameSync(draft, directory)
    flush(dirname(directory))
  }
  return await openDurably(directory, isNew, extensions)
}

const openDurably = async (directory: string, isNew: boolean, extensions: Extensions): Promise<Opened> => {
  // A process that the power left while it began has an empty one, which PostgreSQL refuses; `DataDirLock` is what excludes others.
  rmSync(join(directory, "postmaster.pid"), { force: true })
  // What it finds may have been written by a version that did not flush, or copied here.
  if (!isNew) flushAll(directory)
  const files = new DurableFiles(directory)
  const startParams = [
    ...PGlite.defaultStartParams.filter((param) => param !== withoutFlush),
    ...settings([...small, ...durable])
  ]
  return { database: await start({ fs: files, extensions, startParams }), files }
}
