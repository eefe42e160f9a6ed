import {
  ciFetch,
  Conflict,
  createClient,
  type CleanupReport,
  type Deployment,
  type FinishTestRun,
  type FinishRetry,
  type FixtureAccess,
  NotFound,
  type PromiseClient,
  type StartedRetry,
  type StartedTestRun,
  type StartRetry,
  type StartTestRun,
  type TestReport,
  type TestRun,
  type TestRunSummary
} from "@delivery/client"
import { maxTestsPerRun } from "@delivery/domain/runs/TestEntry"
import { firstCharacters } from "@delivery/domain/Text"
import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { missingPlace } from "./MissingPlace.ts"
import { lineOf, withRetries } from "./Retry.ts"
import type { Cleanup, Settings } from "./Settings.ts"
import { bytesPerSecond, concurrency, Uploads } from "./Uploads.ts"

const cleanupLimitMillis = 120_000
/** Less than the 64 MiB that the body of a finish may have. */
const maxFinishBytes = 60 * 1024 * 1024

/** Why a shard that starts is none of the run of its build. */
const otherRun = new Set(["finished", "other_address", "other_commit", "other_selection", "total_mismatch"])

/** What starts a run of a part of the tests: that part alone says nothing of the coverage. */
export const partOf = <A extends { readonly selection: StartTestRun["selection"] }>(start: A): A => ({
  ...start,
  selection: { ...start.selection, coverage: null }
})

/**
 * Publishes one run or retry: start, upload, clean up, finish. One class, since each step needs the same client, settings
 * and uploads, and what the steps before it have done.
 */
export class Publisher {
  readonly uploads: Uploads
  readonly #client: PromiseClient
  readonly #settings: Settings
  #ownRunReason: string | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    const { apiKey = null, url, workspace } = settings
    this.#client = createClient({
      baseUrl: url,
      apiKey,
      fetch: apiKey === null ? ciFetch({ baseUrl: url, workspace }) : undefined
    })
    this.uploads = new Uploads(this.#client, settings.workspace)
  }

  /** Why the shard is a run of its own, in words of the service; undefined where it is part of the run of its build. */
  get ownRunReason(): string | undefined {
    return this.#ownRunReason
  }

  /** The deployment that is tested. */
  deployment(limit?: AbortSignal): Promise<Deployment> {
    const { environment, product, workspace } = this.#settings
    const params = { slug: workspace, product, environment }
    return withRetries((signal) => this.#client.deployments.get({ params }, { signal }), {
      timeoutMillis: 10_000,
      pauses: [500, 1_500],
      signal: limit
    }).catch((error: unknown) => this.#refuse(error, limit))
  }

  /** Whether the service answers within a moment. */
  async isAlive(): Promise<boolean> {
    const answer = await this.#client.safe.system.health({ signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    return answer?.ok === true
  }

  /**
   * Starts the run, once, also where the answer is lost: `requestId` tells the service that it is the same again. A shard that
   * runs again when its run has ended, or tests something else than that, is a run of its own, without the coverage, which it has a
   * part of. So is what was started before, and has ended since.
   */
  async start(payload: StartTestRun, limit?: AbortSignal): Promise<StartedTestRun> {
    const { requestId = randomUUID(), ...start } = payload
    const run = await this.#start({ ...start, requestId }, limit).catch((error: unknown) => {
      const { message, reason } = error instanceof Conflict ? error : { message: "", reason: "" }
      if (start.shard != null && otherRun.has(reason)) {
        this.#ownRunReason = message
        return this.#start({ ...partOf({ ...start, build: null, shard: null }), requestId }, limit)
      }
      if (payload.requestId !== undefined && ["finished", "request_id_reused"].includes(reason)) {
        return this.#start({ ...start, requestId: randomUUID() }, limit)
      }
      return this.#refuse(error, limit)
    })
    this.uploads.begin(run.number)
    return run
  }

  #start(payload: StartTestRun, limit: AbortSignal | undefined): Promise<StartedTestRun> {
    return withRetries(
      (signal) => this.#client.testRuns.start({ params: { slug: this.#settings.workspace }, payload }, { signal }),
      { timeoutMillis: 10_000, pauses: [500, 1_500], signal: limit }
    )
  }

  /** Fails with the error, and says what is missing where the place of the run is not found. */
  async #refuse(thrown: unknown, limit: AbortSignal | undefined): Promise<never> {
    const mayMiss = thrown instanceof NotFound || (thrown instanceof Conflict && thrown.reason === "not_deployed")
    if (!mayMiss) throw thrown
    const message = await missingPlace(this.#client, this.#settings, limit).catch(() => undefined)
    throw message === undefined ? thrown : new NotFound({ message })
  }

  /** A run with its tests. */
  run(run: number, limit?: AbortSignal): Promise<TestRun> {
    return withRetries(
      (signal) => this.#client.testRuns.get({ params: { slug: this.#settings.workspace, run } }, { signal }),
      { timeoutMillis: 30_000, pauses: [500, 1_500], signal: limit }
    )
  }

  /** Starts a retry. If the answer is lost, the retry that it may have started is ended, because its tokens are lost too. */
  async startRetry(run: number, payload: StartRetry, limit?: AbortSignal): Promise<StartedRetry> {
    const params = { slug: this.#settings.workspace, run }
    let tries = 0
    const retry = await withRetries(
      async (signal) => {
        tries++
        try {
          return await this.#client.retries.start({ params, payload }, { signal })
        } catch (error) {
          const mayBeOurs = tries > 1 && error instanceof Conflict && error.reason === "retry_running"
          const lost = mayBeOurs ? (await this.run(run)).retries.at(-1) : undefined
          if (lost === undefined) throw error
          const finish = { params: { ...params, retry: lost.number }, payload: { interrupted: true, tests: [] } }
          const ended = await this.#client.safe.retries.finish(finish, { signal })
          if (!ended.ok) throw error
          return await this.#client.retries.start({ params, payload }, { signal })
        }
      },
      { timeoutMillis: 10_000, pauses: [500, 1_500], signal: limit }
    )
    this.uploads.begin(run)
    return retry
  }

  /** Finishes a retry. */
  async finishRetry(run: number, retry: number, payload: FinishRetry, limit?: AbortSignal): Promise<TestRunSummary> {
    const params = { slug: this.#settings.workspace, run, retry }
    let tries = 0
    return withRetries(
      async (signal) => {
        tries++
        try {
          return await this.#client.retries.finish({ params, payload }, { signal })
        } catch (error) {
          const mayBeOurs = tries > 1 && error instanceof Conflict && error.reason === "not_running"
          if (!mayBeOurs) throw error
          // An earlier try may have succeeded, with its answer lost.
          const { retries, tests, ...stored } = await this.run(run)
          const attempts = tests.flatMap((test) => test.attempts.filter((attempt) => attempt.retry === retry))
          const sent = payload.tests.reduce((sum, test) => sum + test.attempts.length, 0)
          const state = payload.interrupted ? "interrupted" : "finished"
          if (attempts.length !== sent || retries[retry - 1]?.state !== state) throw error
          return stored
        }
      },
      { timeoutMillis: 120_000, pauses: [500, 1_000, 2_000, 4_000], signal: limit }
    )
  }

  /** Finishes the run. The same report again changes nothing. */
  async finish(run: number, payload: FinishTestRun, limit?: AbortSignal): Promise<TestRunSummary> {
    const params = { slug: this.#settings.workspace, run }
    return withRetries(
      async (signal) => {
        try {
          return await this.#client.testRuns.finish({ params, payload }, { signal })
        } catch (error) {
          if (!(error instanceof Conflict) || error.reason !== "not_running") throw error
          // An earlier try may have succeeded, with its answer lost, or results were published before.
          const stored = await this.#client.testRuns.get({ params }, { signal })
          if (stored.counts.total !== payload.tests.length || stored.durationMs !== payload.durationMs) throw error
          return stored
        }
      },
      { timeoutMillis: 120_000, pauses: [500, 1_000], signal: limit }
    )
  }
}

/** How long a service that answers may take for what a file needs beside its bytes, and for all files, in milliseconds. */
const millisOfFile = 10_000
const mostMillisOfFiles = 60_000

/**
 * How much longer than its time limit a service that answers may take for what is still to be sent, in milliseconds. Small
 * files have few bytes, and may take as long where the service is slow.
 */
export const timeFor = async (
  publisher: Publisher,
  { bytes, files }: { readonly bytes: number; readonly files: number }
): Promise<number> => {
  const rounds = Math.ceil(files / concurrency)
  const millis = Math.floor(bytes / bytesPerSecond) * 1_000 + Math.min(mostMillisOfFiles, rounds * millisOfFile)
  return millis > 0 && (await publisher.isAlive()) ? millis : 0
}

const failedCleanup = (error: string): CleanupReport => ({ status: "failed", deleted: 0, remaining: 0, error })

/** Runs the cleanup of a run, and returns its report. Never fails. */
export const cleanUp = async (
  fixture: FixtureAccess,
  cleanup: Cleanup | string,
  givenUp?: AbortSignal
): Promise<CleanupReport> => {
  const limit = new AbortController()
  try {
    const hook: unknown = typeof cleanup === "string" ? (await import(pathToFileURL(cleanup).href)).default : cleanup
    if (typeof hook !== "function")
      return failedCleanup(`${String(cleanup)} does not export a function as its default.`)
    return await Promise.race([
      (hook as Cleanup)(fixture),
      setTimeout(cleanupLimitMillis, failedCleanup("The cleanup took longer than two minutes."), {
        signal: givenUp === undefined ? limit.signal : AbortSignal.any([limit.signal, givenUp])
      })
    ])
  } catch (error) {
    return failedCleanup(lineOf(error))
  } finally {
    limit.abort()
  }
}

const severity = (test: TestReport): number => (test.attempt === null ? 2 : test.attempt.status === "failed" ? 0 : 1)

const shortened = (test: TestReport): TestReport =>
  test.attempt === null || test.attempt.status === "skipped"
    ? test
    : {
        ...test,
        attempt: {
          ...test.attempt,
          errorMessage: firstCharacters(test.attempt.errorMessage ?? "", 2_000) || null,
          errorStack: null
        }
      }

/** The report, cut to the limits of the service, and what was left out. */
export const withinLimits = (
  report: FinishTestRun
): { readonly report: FinishTestRun; readonly omitted: string | null } => {
  const surplus = report.tests.length - maxTestsPerRun
  const tests =
    surplus > 0 ? report.tests.toSorted((a, b) => severity(a) - severity(b)).slice(0, maxTestsPerRun) : report.tests
  const isTooLarge = Buffer.byteLength(JSON.stringify(tests)) > maxFinishBytes
  return {
    report: { ...report, tests: isTooLarge ? tests.map(shortened) : tests },
    omitted: surplus > 0 ? `${surplus} tests beyond the first ${maxTestsPerRun}` : isTooLarge ? "error stacks" : null
  }
}
