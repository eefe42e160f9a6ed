import { type DeliveryReporterOptions, isRequired, hasBuild, nothingToPublish, Publication } from "@delivery/publishing"
import type { FinishTestRun } from "@delivery/client"
import type {
  FullConfig,
  FullResult,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult
} from "@playwright/test/reporter"
import { dirname } from "node:path"
import { attachedFiles } from "./Attachments.ts"
import { checkGivenOptions } from "./GivenOptions.ts"
import { onTermination } from "./Termination.ts"
import { attemptReport, type FirstAttempt, messageOf, testReports } from "./TestReports.ts"

/** The options that Playwright itself adds. */
interface PlaywrightOptions {
  readonly _mode?: string
}

/**
 * Publishes a run of Playwright Test to the service. It starts a run before the first test, uploads attachments while the
 * tests run, and finishes the run with the first attempt of each test. If something fails on the way, it says so on one
 * line, and no test fails, unless `required` is set.
 *
 * One class, since Playwright calls the methods of one object in turn, and each goes on with what the others gathered.
 */
export class DeliveryReporter implements Reporter {
  readonly #publication: Publication
  readonly #options: DeliveryReporterOptions
  readonly #isListing: boolean
  readonly #isRequired: boolean
  readonly #firstAttempts = new Map<string, FirstAttempt>()
  readonly #errors: Array<string> = []
  #config: FullConfig | undefined
  #suite: Suite | undefined
  #isRefused = false
  /** Whether there is no test. */
  #isEmpty = false
  #stopListening: (() => void) | undefined

  constructor(options: DeliveryReporterOptions & PlaywrightOptions = {}) {
    this.#publication = new Publication(options)
    this.#options = options
    this.#isListing = options._mode === "list" || process.argv.includes("--list")
    this.#isRequired = isRequired(options, process.env)
  }

  printsToStdio(): boolean {
    return false
  }

  /** Playwright awaits this before it starts workers, so that the tests find their run in the environment. */
  async preprocess({ config, suite }: { readonly config: FullConfig; readonly suite: Suite }): Promise<void> {
    if (this.#isListing) return
    this.#check(config)
    const problem = await this.#begin(config, suite)
    if (this.#isRequired && problem !== undefined) {
      this.#isRefused = true
      throw new Error(`Delivery: the run cannot be published: ${problem}`)
    }
  }

  /** The first call if the global setup or the web server failed, and in versions of Playwright without `preprocess`. */
  onBegin(config: FullConfig, suite: Suite): void {
    this.#config = config
    this.#suite = suite
    if (this.#isListing || this.#isRefused) return
    this.#check(config)
    void this.#begin(config, suite)
  }

  onError(error: TestError): void {
    this.#errors.push(messageOf(error))
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    if (result.retry > 0 || this.#config === undefined) return
    const files = attachedFiles(test, result, this.#config.rootDir)
    const paths = files.map((file) => file.path)
    this.#firstAttempts.set(test.id, {
      attempt: attemptReport(test, result, paths),
      annotations: result.annotations,
      files: paths
    })
    this.#publication.addFiles(files)
  }

  async onEnd(result: FullResult): Promise<{ status?: FullResult["status"] } | undefined> {
    if (this.#isListing || this.#isRefused || this.#config === undefined) return undefined
    if (this.#isEmpty && result.status === "passed") {
      this.#publication.lines.push(nothingToPublish)
      return undefined
    }
    if (this.#isEmpty) await this.#start(this.#config)
    const report = this.#report(this.#config, result)
    const isPublished = await this.#publication.end(report)
    if (this.#isRequired && !isPublished && result.status === "passed") return { status: "failed" }
    return this.#isMuted(report, result) ? { status: "passed" } : undefined
  }

  async onExit(): Promise<void> {
    for (const line of this.#publication.lines) console.log(line)
    this.#stopListening?.()
  }

  /** Whether Playwright fails for muted tests alone. */
  #isMuted({ error, interrupted, tests }: FinishTestRun, { status }: FullResult): boolean {
    if (status !== "failed" || error !== null || interrupted) return false
    // The reports are in the order of the tests.
    const outcomes = (this.#suite?.allTests() ?? []).map((test) => test.outcome())
    return this.#publication.areMuted(
      tests.flatMap(({ caseId }, index) => (outcomes[index] === "unexpected" ? [caseId] : []))
    )
  }

  #check(config: FullConfig): void {
    this.#isRefused = true
    checkGivenOptions(config, this.#options)
    this.#isRefused = false
  }

  /** Starts the run, unless there is no test: whether Playwright lets that pass is known at the end. */
  async #begin(config: FullConfig, suite: Suite): Promise<string | undefined> {
    // A shard without tests is still one that the run of its build waits for.
    this.#isEmpty = suite.allTests().length === 0 && config.shard === null
    return this.#isEmpty ? undefined : this.#start(config)
  }

  #start(config: FullConfig): Promise<string | undefined> {
    this.#stopListening ??= onTermination()
    return this.#publication.begin({
      directory: directoryOf(config),
      baseUrls: config.projects.map((project) => project.use.baseURL),
      shard: config.shard === null ? null : { index: config.shard.current, total: config.shard.total }
    })
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
    // That a shard is empty is known only once its run has begun. Where no build waits for it, the run has no result.
    const isLone = tests.length === 0 && result.status === "passed" && config.shard !== null && !hasBuild()
    return {
      interrupted: result.status === "interrupted" || isStoppedEarly || isLone,
      error: errors.length === 0 ? null : errors.join("\n\n"),
      durationMs: Math.max(0, Math.round(result.duration)),
      cleanup: null,
      tests: testReports(tests, this.#firstAttempts, {
        rootDir: config.rootDir,
        projects: config.projects.length
      })
    }
  }
}

/** The directory of the configuration. */
export const directoryOf = (config: FullConfig): string =>
  config.configFile === undefined ? config.rootDir : dirname(config.configFile)
