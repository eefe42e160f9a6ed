import type { FinishTestRun, StartedTestRun, StartTestRun, TestRunSummary } from "@delivery/client"
import type {
  FullConfig,
  FullResult,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult
} from "@playwright/test/reporter"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { runFiles } from "./Attachments.ts"
import { readGit, readMachine } from "./Origin.ts"
import { cleanUp, Publisher, withinLimits } from "./Publisher.ts"
import { isPassing, lineOf } from "./Retry.ts"
import { announceRun } from "./RunVariables.ts"
import { type DeliveryReporterOptions, isRequired, readSettings } from "./Settings.ts"
import { attemptReport, type FirstAttempt, messageOf, testReports } from "./TestReports.ts"

/** The options that Playwright itself adds. */
interface PlaywrightOptions {
  readonly _mode?: string
}

/** The run that was started, or why it was not. */
type Begun =
  | { readonly run: StartedTestRun; readonly publisher: Publisher }
  | { readonly problem: string; readonly later?: { readonly publisher: Publisher; readonly start: StartTestRun } }

/**
 * Publishes a run of Playwright Test to the service. It starts a run before the first test, uploads attachments while the
 * tests run, and finishes the run with the first attempt of each test. If something fails on the way, it says so on one
 * line, and no test fails, unless `required` is set.
 *
 * One class, since Playwright calls the methods of one object in turn, and each goes on with what the others gathered.
 */
export class DeliveryReporter implements Reporter {
  readonly #options: DeliveryReporterOptions
  readonly #isListing: boolean
  readonly #isRequired: boolean
  readonly #firstAttempts = new Map<string, FirstAttempt>()
  readonly #errors: Array<string> = []
  readonly #lines: Array<string> = []
  #config: FullConfig | undefined
  #suite: Suite | undefined
  #begun: Promise<Begun> | undefined
  #publisher: Publisher | undefined
  #isRefused = false

  constructor(options: DeliveryReporterOptions & PlaywrightOptions = {}) {
    this.#options = options
    this.#isListing = options._mode === "list" || process.argv.includes("--list")
    this.#isRequired = isRequired(options, process.env)
  }

  printsToStdio(): boolean {
    return false
  }

  /** Playwright awaits this before it starts workers, so that the tests find their run in the environment. */
  async preprocess({ config }: { readonly config: FullConfig }): Promise<void> {
    if (this.#isListing) return
    const begun = await this.#begin(config)
    if (this.#isRequired && "problem" in begun) {
      this.#isRefused = true
      throw new Error(`Delivery: the run cannot be published: ${begun.problem}`)
    }
  }

  /** The first call if the global setup or the web server failed, and in versions of Playwright without `preprocess`. */
  onBegin(config: FullConfig, suite: Suite): void {
    this.#config = config
    this.#suite = suite
    if (!this.#isListing) void this.#begin(config)
  }

  onError(error: TestError): void {
    this.#errors.push(messageOf(error))
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    if (result.retry > 0 || this.#config === undefined) return
    const files = runFiles(test, result, this.#config.rootDir)
    const paths = files.map((file) => file.path)
    this.#firstAttempts.set(test.id, {
      attempt: attemptReport(test, result, paths),
      annotations: result.annotations,
      files: paths
    })
    this.#publisher?.uploads.add(files)
  }

  async onEnd(result: FullResult): Promise<{ status?: FullResult["status"] } | undefined> {
    if (this.#isListing || this.#isRefused || this.#config === undefined) return undefined
    const isPublished = await this.#publish(this.#config, result)
    return this.#isRequired && !isPublished && result.status === "passed" ? { status: "failed" } : undefined
  }

  async onExit(): Promise<void> {
    for (const line of this.#lines) console.log(line)
  }

  #begin(config: FullConfig): Promise<Begun> {
    this.#begun ??= this.#start(config)
    return this.#begun
  }

  async #start(config: FullConfig): Promise<Begun> {
    const settings = readSettings(this.#options, process.env)
    if (typeof settings === "string") return { problem: settings }
    const publisher = new Publisher(settings)
    this.#publisher = publisher
    let later: { readonly publisher: Publisher; readonly start: StartTestRun } | undefined
    try {
      const [git, baseUrl] = await Promise.all([
        readGit(config.rootDir, process.env, this.#options.git ?? {}),
        settings.baseUrl ??
          config.projects.map((project) => project.use.baseURL).find((url) => url !== undefined) ??
          publisher.deploymentUrl()
      ])
      if (baseUrl === null) return { problem: "settings are missing: baseUrl (or DELIVERY_BASE_URL, or use.baseURL)" }
      const start: StartTestRun = {
        product: settings.product,
        environment: settings.environment,
        baseUrl,
        git,
        machine: readMachine(),
        selection: {
          coverage: settings.coverage,
          folders: this.#options.folders ?? [],
          caseIds: this.#options.caseIds ?? []
        },
        fixtureUrl: settings.fixtureUrl ?? null
      }
      later = { publisher, start }
      const run = await publisher.start(start)
      announceRun(run)
      return { run, publisher }
    } catch (error) {
      const problem = lineOf(error)
      return later !== undefined && isPassing(error) ? { problem, later } : { problem }
    }
  }

  /** Everything after the last test. Returns whether the service has the run. */
  async #publish(config: FullConfig, result: FullResult): Promise<boolean> {
    const report = this.#report(config, result)
    let begun = await this.#begin(config)
    if ("problem" in begun && begun.later !== undefined) {
      // The service may have come back while the tests ran.
      const { publisher, start } = begun.later
      begun = await publisher.start(start).then(
        (run) => ({ run, publisher }),
        (error: unknown) => ({ problem: lineOf(error), later: { publisher, start } })
      )
    }
    if ("problem" in begun) {
      const saved =
        begun.later === undefined ? "" : await this.#save(config, { start: begun.later.start, finish: report })
      this.#lines.push(`Delivery: the run was not published: ${begun.problem}${saved}`)
      return false
    }
    const { publisher, run } = begun
    const { count, failures } = await publisher.uploads.settled()
    const [failure] = failures
    if (failure !== undefined) {
      this.#lines.push(
        `Delivery: ${failures.length} of ${count} files were not uploaded; the first: ${failure.path}: ${failure.reason}`
      )
    }
    const cleanup =
      run.fixture === null || this.#options.cleanup === undefined
        ? null
        : await cleanUp(run.fixture, this.#cleanup(config, this.#options.cleanup))
    if (cleanup !== null && cleanup.status !== "complete") {
      this.#lines.push(`Delivery: the cleanup of ${run.fixture?.scope} is ${cleanup.status}: ${cleanup.error ?? ""}`)
    }
    const finish = withinLimits({ ...report, cleanup })
    if (finish.omitted !== null) this.#lines.push(`Delivery: left out of the run: ${finish.omitted}`)
    try {
      this.#lines.push(summaryLine(await publisher.finish(run.number, finish.report)))
      return true
    } catch (error) {
      const saved = await this.#save(config, { run: run.number, finish: finish.report })
      this.#lines.push(`Delivery: run ${run.number} is not finished: ${lineOf(error)}${saved} ${run.url}`)
      return false
    }
  }

  #report(config: FullConfig, result: FullResult): FinishTestRun {
    const tests = this.#suite?.allTests() ?? []
    const isStoppedEarly =
      config.maxFailures > 0 &&
      tests.filter((test) => test.outcome() === "unexpected").length >= config.maxFailures &&
      tests.some((test) => test.results.every((one) => one.status === "interrupted"))
    const errors = this.#errors.filter((error) => error !== "")
    if (result.status === "timedout" && errors.length === 0)
      errors.push("The tests took longer than the global timeout.")
    return {
      interrupted: result.status === "interrupted" || isStoppedEarly,
      error: errors.length === 0 ? null : errors.join("\n\n"),
      durationMs: Math.max(0, Math.round(result.duration)),
      cleanup: null,
      tests: testReports(tests, this.#firstAttempts, {
        rootDir: config.rootDir,
        projects: config.projects.length
      })
    }
  }

  #cleanup<Hook>(config: FullConfig, cleanup: Hook): Hook | string {
    return typeof cleanup === "string" ? resolve(directoryOf(config), cleanup) : cleanup
  }

  /** Saves what could not be sent, and returns a sentence about it. */
  async #save(config: FullConfig, content: object): Promise<string> {
    const path = join(directoryOf(config), "delivery-results", `${new Date().toISOString().replaceAll(/\D/g, "")}.json`)
    try {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, JSON.stringify(content, null, 2))
      return `. Its results: ${path}`
    } catch (error) {
      return `. Its results could not be saved: ${lineOf(error)}`
    }
  }
}

const directoryOf = (config: FullConfig): string =>
  config.configFile === undefined ? config.rootDir : dirname(config.configFile)

const summaryLine = ({ counts, number, result, state, url }: TestRunSummary): string => {
  const parts = [`${counts.passed} passed`, `${counts.failed} failed`, `${counts.skipped} skipped`]
  return `Delivery: run ${number} ${result ?? state} (${parts.join(", ")}): ${url}`
}
