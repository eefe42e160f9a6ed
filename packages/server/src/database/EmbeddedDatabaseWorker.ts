import type { PGlite } from "@electric-sql/pglite"
import { join } from "node:path"
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads"
import { BackendScheduler } from "./BackendScheduler.ts"
import { copyDatabase } from "./DatabaseFiles.ts"
import type { DurableFiles } from "./DurableFiles.ts"
import { open, reasonOf } from "./EmbeddedDatabaseOpening.ts"
import { copyOf } from "./PostgresWire.ts"

/** Options of the thread. */
export interface WorkerData {
  /** Absent: in memory. */
  readonly dataDir: string | undefined
  /** A new database with its tables, where that is there. */
  readonly migrated: string | undefined
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

/** WAL since the last checkpoint, in bytes, after which the next is made. */
const checkpointAfter = 32 * 1024 * 1024

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

/** From now on commits share flushes, and nothing is answered before its own. */
const flushing = (files: DurableFiles | undefined, end: (error: unknown) => never) => {
  if (files === undefined) return { owesFlush: () => false, flush: () => {} }
  files.groupsCommits = true
  const flush = () => {
    try {
      files.flush()
    } catch (error) {
      end(error)
    }
  }
  return { owesFlush: () => files.owesFlush, flush }
}

/** Does something while no statement runs and no transaction is open. */
const inTurn = (scheduler: BackendScheduler) => (task: () => Promise<void>) =>
  new Promise<void>((resolve, reject) => {
    scheduler.schedule(() => task().then(resolve, reject))
  })

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

  const { database, files } = await open(options.dataDir, options.migrated).catch(end)
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
      },
      ...flushing(files, end)
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
        inTurn: inTurn(scheduler),
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
