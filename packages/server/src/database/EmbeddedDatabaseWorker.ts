import { PGlite } from "@electric-sql/pglite"
import { existsSync } from "node:fs"
import { mkdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads"
import { BackendScheduler } from "./BackendScheduler.ts"
import { copyDatabase } from "./DatabaseFiles.ts"
import * as EmbeddedDatabaseTemplate from "./EmbeddedDatabaseTemplate.ts"
import { copyOf } from "./PostgresWire.ts"

/** Options of the thread. */
export interface WorkerData {
  /** Absent: in memory. */
  readonly dataDir: string | undefined
  readonly patienceMillis: number
  readonly maintenanceMillis: number
}

export type ToWorker =
  | { readonly _tag: "Data"; readonly connection: number; readonly bytes: Uint8Array }
  | { readonly _tag: "Cancel"; readonly connection: number }
  | { readonly _tag: "Disconnect"; readonly connection: number }
  | { readonly _tag: "Copy"; readonly id: number; readonly directory: string }
  | { readonly _tag: "Close" }

export type FromWorker =
  | { readonly _tag: "Ready"; readonly serverVersion: string }
  | { readonly _tag: "Failed"; readonly reason: string }
  | { readonly _tag: "Data"; readonly connection: number; readonly bytes: Uint8Array }
  | { readonly _tag: "Notifications"; readonly bytes: Uint8Array }
  | { readonly _tag: "Disconnect"; readonly connection: number }
  | { readonly _tag: "Copied"; readonly id: number; readonly failure: string | undefined }
  | { readonly _tag: "Warning"; readonly text: string }

/** Settings that keep memory and disk small; the embedded database serves one process. */
const startParams = [
  ...PGlite.defaultStartParams,
  ...["shared_buffers=16MB", "min_wal_size=32MB", "max_wal_size=64MB"].flatMap((setting) => ["-c", setting])
]

/** WAL since the last checkpoint, in bytes, after which the next is made. */
const checkpointAfter = 32 * 1024 * 1024

const reasonOf = (error: unknown): string =>
  error instanceof Error || (typeof error === "object" && error !== null && "message" in error)
    ? String(error.message)
    : String(error)

const postgresMessage = /\b(?:FATAL|PANIC|ERROR|HINT|DETAIL):\s+(.*)/

/** Opens a database. The reason of a failure is what PostgreSQL logged, since PGlite itself does not report it. */
const start = async (dataDir: string, loadDataDir?: Blob): Promise<PGlite> => {
  const lines: Array<string> = []
  try {
    return await PGlite.create({
      dataDir,
      startParams,
      ...(loadDataDir === undefined ? {} : { loadDataDir }),
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

const makeTemplate = async (): Promise<Blob> => {
  const database = await start("memory://")
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

const fromTemplate = async (dataDir: string, use: "keep" | "do not keep"): Promise<PGlite> => {
  const template = await EmbeddedDatabaseTemplate.read()
  if (template !== undefined) {
    try {
      return await start(dataDir, template)
    } catch {
      await EmbeddedDatabaseTemplate.remove()
    }
  }
  const made = await makeTemplate()
  if (use === "keep") await EmbeddedDatabaseTemplate.write(made)
  return await start(dataDir, made)
}

const open = async (dataDir: string | undefined): Promise<PGlite> => {
  if (dataDir === undefined) return await fromTemplate("memory://", "keep")
  const directory = join(dataDir, "postgres")
  if (!existsSync(directory)) {
    // Made in a draft directory and renamed: the next start would take half a database for a whole one.
    const draft = `${directory}.new`
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft, { recursive: true, mode: 0o700 })
    await (await fromTemplate(draft, "do not keep")).close()
    await rename(draft, directory)
  }
  return await start(directory)
}

/** PostgreSQL left its main loop by an error it handles, and wants to be called again. */
const longJump = 100

/**
 * PGlite goes on calling a backend that has ended or broken, forever. The thread ends instead; the database recovers
 * when it is opened next.
 */
const endWhenBroken = (database: PGlite, end: (error: unknown) => never): void => {
  const backend = database.Module as unknown as { _PostgresMainLoopOnce: () => void }
  const run = backend._PostgresMainLoopOnce
  backend._PostgresMainLoopOnce = () => {
    try {
      run()
    } catch (error) {
      if (typeof error === "object" && error !== null && "status" in error && error.status === longJump) throw error
      end(error)
    }
  }
}

/** Collects the backend's answer to a cycle. PGlite's own method parses every message and never frees them. */
const executor = (database: PGlite) => {
  let buffer = Buffer.allocUnsafe(1024 * 1024)
  let length = 0
  const onRawData = (bytes: Uint8Array) => {
    if (length + bytes.length > buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (length + bytes.length))
      larger.set(buffer.subarray(0, length))
      buffer = larger
    }
    buffer.set(bytes, length)
    length += bytes.length
  }
  return async (cycle: Uint8Array): Promise<Uint8Array> => {
    length = 0
    if (buffer.length > 8 * 1024 * 1024) buffer = Buffer.allocUnsafe(1024 * 1024)
    await database.execProtocolRawStream(cycle, { syncToFs: false, onRawData })
    return buffer.subarray(0, length)
  }
}

/**
 * Does the work of PostgreSQL's background processes, which a single backend does not have. Without checkpoints the
 * write-ahead log would grow without end, and without vacuum the tables would. The thresholds are those of autovacuum.
 */
const maintain = async (
  database: PGlite,
  scheduler: BackendScheduler,
  isCopied: boolean,
  warn: (error: unknown) => void
): Promise<void> => {
  const {
    rows: [log]
  } = await database.query<{ readonly full: boolean }>(
    "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) > $1::bigint AS full FROM pg_control_checkpoint()",
    [checkpointAfter]
  )
  if (log?.full === true && !isCopied) await database.exec("CHECKPOINT")
  const { rows: tables } = await database.query<{ readonly name: string; readonly vacuum: boolean }>(`
    SELECT * FROM (
      SELECT
        format('%I.%I', s.schemaname, s.relname) AS name,
        s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
          OR s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0)
          OR age(c.relfrozenxid) > 200000000 AS vacuum,
        s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0) AS stale
      FROM pg_stat_all_tables s
      JOIN pg_class c ON c.oid = s.relid
      WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND s.schemaname <> 'pg_toast'
    ) AS tables
    WHERE vacuum OR stale
  `)
  for (const { name, vacuum } of tables) {
    // In turn with the requests, so that they wait for one table at most.
    scheduler.schedule(async () => {
      await database.exec(vacuum ? `VACUUM (ANALYZE) ${name}` : `ANALYZE ${name}`).catch(warn)
    })
  }
}

const serve = async (port: MessagePort, options: WorkerData): Promise<void> => {
  const send = (message: FromWorker) => port.postMessage(message)
  const sendBytes = (message: Extract<FromWorker, { readonly bytes: Uint8Array }>) => {
    const bytes = copyOf(message.bytes)
    port.postMessage({ ...message, bytes }, [bytes.buffer])
  }
  const end = (error: unknown): never => {
    send({ _tag: "Failed", reason: reasonOf(error) })
    process.exit(1)
  }

  const database = await open(options.dataDir).catch(end)
  endWhenBroken(database, end)
  const execute = executor(database)

  const scheduler: BackendScheduler = new BackendScheduler(
    {
      execute: (cycle) => execute(cycle).catch(end),
      reply: (connection, bytes) => sendBytes({ _tag: "Data", connection, bytes }),
      notify: (bytes) => sendBytes({ _tag: "Notifications", bytes }),
      disconnect: (connection) => send({ _tag: "Disconnect", connection }),
      receive: () => {
        for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
          handle(next.message)
        }
      }
    },
    options.patienceMillis
  )

  let copies = 0
  let maintained = 0
  const maintenance = setInterval(() => {
    if (scheduler.served === maintained) return
    maintained = scheduler.served
    const warn = (error: unknown) => send({ _tag: "Warning", text: `maintenance failed: ${reasonOf(error)}` })
    scheduler.schedule(() => maintain(database, scheduler, copies > 0, warn).catch(warn))
  }, options.maintenanceMillis)

  const copyTo = async (directory: string): Promise<void> => {
    if (options.dataDir === undefined) throw new Error("A database in memory has no files")
    copies++
    try {
      await copyDatabase(join(options.dataDir, "postgres"), directory, {
        inTurn: (task) =>
          new Promise((resolve, reject) => {
            scheduler.schedule(() => task().then(resolve, reject))
          }),
        checkpoint: () => database.exec("CHECKPOINT")
      })
    } finally {
      copies--
    }
  }

  const close = async () => {
    clearInterval(maintenance)
    await scheduler.stop()
    await database.close()
    process.exit(0)
  }

  const handle = (message: ToWorker): void => {
    switch (message._tag) {
      case "Data":
        return scheduler.receive(message.connection, message.bytes)
      case "Cancel":
        return scheduler.cancel(message.connection)
      case "Disconnect":
        return scheduler.disconnect(message.connection)
      case "Copy":
        copyTo(message.directory).then(
          () => send({ _tag: "Copied", id: message.id, failure: undefined }),
          (error: unknown) => send({ _tag: "Copied", id: message.id, failure: reasonOf(error) })
        )
        return
      case "Close":
        close().catch(end)
    }
  }

  const {
    rows: [version]
  } = await database.query<{ readonly server_version: string }>("SHOW server_version")
  port.on("message", handle)
  send({ _tag: "Ready", serverVersion: version?.server_version ?? "" })
}

if (parentPort !== null) await serve(parentPort, workerData as WorkerData)
