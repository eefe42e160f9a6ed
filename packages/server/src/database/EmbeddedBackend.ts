import { randomInt } from "node:crypto"
import { extname } from "node:path"
import { Duplex } from "node:stream"
import { Worker } from "node:worker_threads"
import type { FromWorker, ToWorker, WorkerData } from "./EmbeddedDatabaseWorker.ts"
import { concat, copyOf, encryptionRefused, readOpening, startupResponse } from "./PostgresWire.ts"

/** Chunks as a socket would give them, so that a reader that pauses is not given the whole of a large result. */
const chunkBytes = 64 * 1024

/** A clean close writes a checkpoint; if it takes longer than this, recovery at the next start does its work. */
const closeMillis = 10_000

/**
 * PostgreSQL bounds its recursion by its own stack, but some recursion (JSON nested deep) takes only the thread's, which
 * must not run out: that ends the thread. Node's 4 MB hold 50,000 levels, these a million. Memory is used as needed.
 */
const stackSizeMb = 256

const workerFile = new URL(`./EmbeddedDatabaseWorker${extname(import.meta.url)}`, import.meta.url)

class Connection extends Duplex {
  readonly processId: number
  readonly secret = randomInt(2 ** 31)
  readonly #backend: EmbeddedBackend
  #opening: Uint8Array | undefined = new Uint8Array(0)
  #welcomed = false

  constructor(backend: EmbeddedBackend, processId: number) {
    super()
    this.#backend = backend
    this.processId = processId
  }

  deliver(bytes: Uint8Array): void {
    for (let offset = 0; offset < bytes.length && !this.destroyed; offset += chunkBytes) {
      this.push(bytes.subarray(offset, offset + chunkBytes))
    }
  }

  notify(bytes: Uint8Array): void {
    if (this.#welcomed) this.deliver(bytes)
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.#opening === undefined) this.#backend.send(this, chunk)
    else this.#open(concat([this.#opening, chunk]))
    done()
  }

  override _final(done: (error?: Error | null) => void): void {
    done()
    this.destroy()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#backend.disconnect(this)
    done(error)
  }

  #open(bytes: Uint8Array): void {
    this.#opening = bytes
    if (this.#welcomed) return
    const read = readOpening(bytes)
    if (read === undefined) return
    const { opening, rest } = read
    switch (opening._tag) {
      case "EncryptionRequest":
        this.push(encryptionRefused)
        return this.#open(rest)
      case "CancelRequest":
        this.#backend.cancel(opening.processId, opening.secret)
        this.destroy()
        return
      case "Unknown":
        this.destroy(new Error(`The embedded database does not speak protocol ${opening.protocol}`))
        return
      case "Startup":
        this.#opening = rest
        this.#backend.open().then(
          (serverVersion) => this.#start(serverVersion),
          (error: Error) => this.destroy(error)
        )
    }
  }

  #start(serverVersion: string): void {
    if (this.destroyed || this.#opening === undefined) return
    const rest = this.#opening
    this.#opening = undefined
    this.#welcomed = true
    this.push(startupResponse({ processId: this.processId, secret: this.secret, serverVersion }))
    if (rest.length > 0) this.#backend.send(this, rest)
  }
}

/**
 * The thread that holds the database, seen from the server's thread: gives connections that speak PostgreSQL's wire
 * protocol. A thread that broke is started anew for the next connection if its database is in a directory.
 *
 * One class, since the thread and its connections live and end together.
 */
export class EmbeddedBackend {
  readonly #data: WorkerData
  readonly #onBroken: (reason: string) => void
  readonly #onWarning: (text: string) => void
  readonly #connections = new Map<number, Connection>()
  /** Those who wait for a copy, by its number. */
  readonly #copies = new Map<number, (failure: string | undefined) => void>()
  #lastCopy = 0
  #lastProcessId = 0
  #worker: Worker | undefined
  #opened: Promise<string> | undefined
  #ready = false
  #closed = false

  constructor(
    data: WorkerData,
    on: { readonly broken: (reason: string) => void; readonly warning: (text: string) => void }
  ) {
    this.#data = data
    this.#onBroken = on.broken
    this.#onWarning = on.warning
  }

  /** Starts the thread unless it runs; answers the server's version. */
  open(): Promise<string> {
    this.#opened ??= this.#closed ? Promise.reject(new Error("The embedded database is closed")) : this.#spawn()
    return this.#opened
  }

  /** A new connection. */
  readonly connect = (): Duplex => {
    const connection = new Connection(this, ++this.#lastProcessId)
    this.#connections.set(connection.processId, connection)
    return connection
  }

  send(connection: Connection, bytes: Uint8Array): void {
    const own = copyOf(bytes)
    this.#post({ _tag: "Data", connection: connection.processId, bytes: own }, [own.buffer])
  }

  cancel(processId: number, secret: number): void {
    if (this.#connections.get(processId)?.secret === secret) this.#post({ _tag: "Cancel", connection: processId })
  }

  disconnect(connection: Connection): void {
    if (this.#connections.delete(connection.processId)) {
      this.#post({ _tag: "Disconnect", connection: connection.processId })
    }
  }

  /** Copies the files of the database, which is in use meanwhile. */
  async copyTo(directory: string): Promise<void> {
    await this.open()
    const id = ++this.#lastCopy
    const failure = await new Promise<string | undefined>((resolve) => {
      this.#copies.set(id, resolve)
      this.#post({ _tag: "Copy", id, directory })
    })
    if (failure !== undefined) throw new Error(failure)
  }

  /** Closes the database and ends the thread. */
  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
    if (this.#ready) {
      this.#post({ _tag: "Close" })
      const late = setTimeout(() => void worker.terminate(), closeMillis)
      await exited
      clearTimeout(late)
    } else {
      void worker.terminate()
      await exited
    }
  }

  #post(message: ToWorker, transfer: ReadonlyArray<ArrayBuffer> = []): void {
    this.#worker?.postMessage(message, transfer)
  }

  #spawn(): Promise<string> {
    const worker = new Worker(workerFile, {
      workerData: this.#data,
      resourceLimits: { stackSizeMb },
      execArgv: []
    })
    this.#worker = worker
    return new Promise((resolve, reject) => {
      let reason: string | undefined
      worker.on("message", (message: FromWorker) => {
        switch (message._tag) {
          case "Ready":
            this.#ready = true
            return resolve(message.serverVersion)
          case "Failed":
            reason = message.reason
            return
          case "Data":
            return this.#connections.get(message.connection)?.deliver(message.bytes)
          case "Notifications":
            for (const connection of this.#connections.values()) connection.notify(message.bytes)
            return
          case "Disconnect":
            this.#connections.get(message.connection)?.destroy(new Error("The wire protocol was violated"))
            return
          case "Copied":
            this.#copies.get(message.id)?.(message.failure)
            this.#copies.delete(message.id)
            return
          case "Warning":
            return this.#onWarning(message.text)
        }
      })
      worker.on("error", (error) => {
        reason = error instanceof Error ? error.message : String(error)
      })
      worker.on("exit", () => {
        const error = new Error(reason ?? "The embedded database is closed")
        const wasReady = this.#ready
        this.#worker = undefined
        this.#ready = false
        // In memory, an empty database must not take the place of the one that is gone.
        if (this.#data.dataDir !== undefined || !wasReady) this.#opened = undefined
        else {
          this.#opened = Promise.reject(error)
          this.#opened.catch(() => {})
        }
        for (const end of this.#copies.values()) end(error.message)
        this.#copies.clear()
        for (const connection of this.#connections.values()) connection.destroy(this.#closed ? undefined : error)
        if (wasReady && !this.#closed) this.#onBroken(error.message)
        reject(error)
      })
    })
  }
}
