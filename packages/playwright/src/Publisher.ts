import {
  Conflict,
  createClient,
  type CleanupReport,
  type FinishTestRun,
  type FixtureAccess,
  type PromiseClient,
  type StartedTestRun,
  type StartTestRun,
  type TestReport,
  type TestRunSummary
} from "@delivery/client"
import { maxTestsPerRun } from "@delivery/domain/testing/TestEntry"
import { setTimeout } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { lineOf, withRetries } from "./Retry.ts"
import type { Cleanup, Settings } from "./Settings.ts"
import { Uploads } from "./Uploads.ts"

const cleanupLimitMillis = 120_000
/** Below the 64 MiB that the body of a finish may have. */
const maxFinishBytes = 60 * 1024 * 1024

/** What a publisher does with one run, in its order: start, upload, clean up, finish. */
export class Publisher {
  readonly uploads: Uploads
  readonly #client: PromiseClient
  readonly #settings: Settings

  constructor(settings: Settings) {
    this.#settings = settings
    this.#client = createClient({ baseUrl: settings.url, apiKey: settings.apiKey })
    this.uploads = new Uploads(this.#client, settings.workspace)
  }

  /** The URL that the deployment of the product in the environment has, or null. */
  async deploymentUrl(): Promise<string | null> {
    const { environment, product, workspace } = this.#settings
    const deployment = await withRetries(
      (signal) => this.#client.deployments.get({ params: { slug: workspace, product, environment } }, { signal }),
      { timeoutMillis: 10_000, pauses: [500, 1_500] }
    )
    return deployment.baseUrl
  }

  /** Starts the run. After a lost answer a second one is started; the service ends the first at its time limit. */
  async start(payload: StartTestRun): Promise<StartedTestRun> {
    const run = await withRetries(
      (signal) => this.#client.testRuns.start({ params: { slug: this.#settings.workspace }, payload }, { signal }),
      { timeoutMillis: 10_000, pauses: [500, 1_500] }
    )
    this.uploads.begin(run.number)
    return run
  }

  /** Finishes the run. */
  async finish(run: number, payload: FinishTestRun): Promise<TestRunSummary> {
    const params = { slug: this.#settings.workspace, run }
    let tries = 0
    return withRetries(
      async (signal) => {
        tries++
        try {
          return await this.#client.testRuns.finish({ params, payload }, { signal })
        } catch (error) {
          const mayBeOurs = tries > 1 && error instanceof Conflict && error.reason === "not_running"
          if (!mayBeOurs) throw error
          // The answer of an earlier try may be what got lost.
          const stored = await this.#client.testRuns.get({ params }, { signal })
          if (stored.counts.total !== payload.tests.length || stored.durationMs !== payload.durationMs) throw error
          return stored
        }
      },
      { timeoutMillis: 120_000, pauses: [500, 1_000, 2_000, 4_000] }
    )
  }
}

const failedCleanup = (error: string): CleanupReport => ({ status: "failed", deleted: 0, remaining: 0, error })

/** Has the test data of a run deleted, and says what became of it. Never fails. */
export const cleanUp = async (fixture: FixtureAccess, cleanup: Cleanup | string): Promise<CleanupReport> => {
  const limit = new AbortController()
  try {
    const hook: unknown = typeof cleanup === "string" ? (await import(pathToFileURL(cleanup).href)).default : cleanup
    if (typeof hook !== "function") return failedCleanup(`${String(cleanup)} has no function as its default export.`)
    return await Promise.race([
      (hook as Cleanup)(fixture),
      setTimeout(cleanupLimitMillis, failedCleanup("The cleanup took longer than two minutes."), {
        signal: limit.signal
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
        attempt: { ...test.attempt, errorMessage: test.attempt.errorMessage?.slice(0, 2_000) ?? null, errorStack: null }
      }

/** The report within the limits of the service, and what was left out of it. */
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
