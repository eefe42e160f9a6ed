import { maxFileBytes } from "@delivery/domain/runs/StoredFile"
import type { PromiseClient } from "@delivery/client"
import { openAsBlob } from "node:fs"
import { stat } from "node:fs/promises"
import { isPassing, lineOf, withRetries } from "./Retry.ts"
import type { RunFile } from "./RunFiles.ts"

/** How many files are sent at once. */
export const concurrency = 4

/** A slow connection sends this much in a second. */
export const bytesPerSecond = 256 * 1024

/** How long one try may take for a file of so many bytes, in milliseconds. */
const timeoutOf = (bytes: number): number => 30_000 + Math.ceil(bytes / bytesPerSecond) * 1_000

/** What became of a run's files: how many there were, and those that were not uploaded. */
export interface SettledUploads {
  readonly count: number
  readonly failures: ReadonlyArray<{
    readonly path: string
    readonly reason: string
    /** Whether it may be uploaded another time: not one that is too large, or gone. */
    readonly isPassing: boolean
  }>
}

/** The lines that tell of the files that were not uploaded: one, or none. */
export const notUploaded = ({ count, failures }: SettledUploads): ReadonlyArray<string> =>
  failures.slice(0, 1).map(({ path, reason }) => {
    const what =
      failures.length === 1
        ? "a file was not uploaded"
        : `${failures.length} of ${count} files were not uploaded; the first`
    return `Delivery: ${what}: ${path}: ${reason}`
  })

/** Uploads the files of a run, a few at a time, while the tests run. */
export class Uploads {
  readonly #client: PromiseClient
  readonly #slug: string
  readonly #all: Array<RunFile> = []
  readonly #waiting: Array<RunFile> = []
  readonly #failures: Array<{ readonly file: RunFile; readonly reason: string; readonly isPassing: boolean }> = []
  readonly #workers = new Set<Promise<void>>()
  readonly #sending = new Set<RunFile>()
  readonly #abort = new AbortController()
  #run: number | undefined
  #isServiceLost = false

  constructor(client: PromiseClient, slug: string) {
    this.#client = client
    this.#slug = slug
  }

  /** Every file of the run, sent or not. */
  get all(): ReadonlyArray<RunFile> {
    return this.#all
  }

  /** Adds files. They wait until the run has started. */
  add(files: ReadonlyArray<RunFile>): void {
    this.#all.push(...files)
    this.#waiting.push(...files)
    this.#fill()
  }

  begin(run: number): void {
    this.#run = run
    this.#fill()
  }

  /** The files that the service does not have. */
  get unsent(): ReadonlyArray<RunFile> {
    return [...this.#failures.map(({ file }) => file), ...this.#sending, ...this.#waiting]
  }

  /** How many bytes are still to be sent, and how many files: none of a service that has taken no file so far. */
  async remaining(): Promise<{ readonly files: number; readonly bytes: number }> {
    const sizes = [...this.#sending, ...this.#waiting].map(({ source }) =>
      typeof source === "string"
        ? stat(source).then(
            ({ size }) => size,
            () => 0
          )
        : source.byteLength
    )
    const hasTaken = this.#all.length > sizes.length + this.#failures.length
    return {
      files: hasTaken ? sizes.length : 0,
      bytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    }
  }

  /** Resolves when every file was sent or given up; when `signal` aborts, all others are given up. */
  async settled(signal?: AbortSignal): Promise<SettledUploads> {
    const abort = () => this.#abort.abort(signal?.reason)
    if (signal?.aborted === true) abort()
    signal?.addEventListener("abort", abort, { once: true })
    // oxlint-disable-next-line no-await-in-loop -- each round ends the workers of the one before
    while (this.#workers.size > 0) await Promise.all(this.#workers)
    return {
      count: this.#all.length,
      failures: this.#failures.map(({ file, ...why }) => ({ path: file.path, ...why }))
    }
  }

  #fill(): void {
    if (this.#run === undefined) return
    const run = this.#run
    while (this.#workers.size < concurrency && this.#waiting.length > 0) {
      const worker = this.#work(run).finally(() => {
        this.#workers.delete(worker)
        this.#fill()
      })
      this.#workers.add(worker)
    }
  }

  async #work(run: number): Promise<void> {
    for (let file = this.#waiting.shift(); file !== undefined; file = this.#waiting.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other is what bounds the concurrency
      await this.#send(run, file)
    }
  }

  async #send(run: number, file: RunFile): Promise<void> {
    const { contentType, path, source } = file
    this.#sending.add(file)
    try {
      this.#abort.signal.throwIfAborted()
      const body = typeof source === "string" ? await openAsBlob(source) : source
      const size = body instanceof Blob ? body.size : body.byteLength
      if (size > maxFileBytes) throw new Error(`${size} bytes are more than the limit of ${maxFileBytes}`)
      await withRetries(
        (signal) => this.#client.files.upload({ slug: this.#slug, run, path, body, contentType }, { signal }),
        // Once the service is unreachable, each further file gets one try, or the end of the run would take minutes.
        { timeoutMillis: timeoutOf(size), pauses: this.#isServiceLost ? [] : [500, 2_000], signal: this.#abort.signal }
      )
      this.#isServiceLost = false
    } catch (error) {
      this.#isServiceLost ||= isPassing(error)
      this.#failures.push({ file, reason: lineOf(error), isPassing: isPassing(error) || this.#abort.signal.aborted })
    } finally {
      this.#sending.delete(file)
    }
  }
}
