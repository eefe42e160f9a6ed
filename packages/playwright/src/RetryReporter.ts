import {
  Conflict,
  type FinishRetry,
  type RanReport,
  type RetryTest,
  type StartedRetry,
  type TestRun,
  type TestRunSummary
} from "@delivery/client"
import {
  announceRetry,
  cleanUp,
  type DeliveryReporterOptions,
  gateAddition,
  isPassing,
  lineOf,
  mutedEntries,
  mutedLines,
  notUploaded,
  Publisher,
  readGit,
  readMachine,
  readSettings,
  timeFor,
  TimeLimit
} from "@delivery/publishing"
import type {
  FullConfig,
  FullResult,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult
} from "@playwright/test/reporter"
import { writeFile } from "node:fs/promises"
import { resolve } from "node:path"
import { attachedFiles } from "./Attachments.ts"
import { checkGivenOptions } from "./GivenOptions.ts"
import { directoryOf } from "./Reporter.ts"
import type { RetryRequest } from "./RetryRequest.ts"
import { onTermination } from "./Termination.ts"
import { attemptReport, fileOf, messageOf, testReports, titleOf } from "./TestReports.ts"

interface TestRunControl {
  readonly exclude: (test: TestCase) => void
  readonly mode: (suite: Suite) => string
}

/** A retry that has started. */
interface Begun {
  readonly run: TestRun
  readonly retry: StartedRetry
  readonly publisher: Publisher
}

/** The same for all repetitions of a test: its project, file and titles. */
const keyOf = (test: TestCase): string => test.titlePath().join("\0")

/** The id of the first repetition of a test, from that of any repetition. */
const firstIdOf = (caseId: string): string => caseId.replace(/ #\d+(?=( \(\d+\))?$)/, "")

/** What helps where the process of the retry that still runs is gone. */
const hintOf = (error: unknown, run: number | string): string =>
  error instanceof Conflict && error.reason === "retry_running"
    ? ` If nobody finishes it, its publisher can end it: delivery runs end ${run}`
    : ""

/**
 * Publishes a retry. It starts the retry, lets only the failed tests of the run run (and, in serial groups, the tests
 * before them), and finishes with each execution of a failed test as an attempt.
 *
 * One class, since Playwright calls the methods of one object in turn, and each goes on with what the others gathered.
 */
export class RetryReporter implements Reporter {
  readonly #options: DeliveryReporterOptions
  readonly #request: RetryRequest
  readonly #isListing: boolean
  readonly #attempts = new Map<string, Array<RanReport>>()
  /** The ids of failed tests, by the test that runs them again: one test for all its repetitions. */
  readonly #caseIds = new Map<string, Array<string>>()
  readonly #errors: Array<string> = []
  readonly #lines: Array<string> = []
  #config: FullConfig | undefined
  #begun: Begun | undefined
  #isRefused = false
  #stopListening: (() => void) | undefined

  constructor(options: DeliveryReporterOptions & { readonly _mode?: string }, request: RetryRequest) {
    this.#options = options
    this.#request = request
    this.#isListing = options._mode === "list" || process.argv.includes("--list")
  }

  printsToStdio(): boolean {
    return false
  }

  async preprocess(params: {
    readonly config: FullConfig
    readonly suite: Suite
    readonly testRun: TestRunControl
  }): Promise<void> {
    if (this.#isListing) return
    this.#config = params.config
    try {
      checkGivenOptions(params.config, this.#options)
      this.#begun = await this.#begin(params.config, params.suite)
    } catch (error) {
      this.#isRefused = true
      // What may pass is no fault of the command, nor of the configuration.
      if (!isPassing(error) && this.#request.refused !== undefined) await writeFile(this.#request.refused, "")
      const refusal = new Error(
        `Delivery: run ${this.#request.run} cannot be retried: ${lineOf(error)}${hintOf(error, this.#request.run)}`
      )
      // Playwright prints the stack, in which its caller finds nothing that it could change.
      refusal.stack = ""
      throw refusal
    }
    announceRetry(this.#begun.run, this.#begun.retry)
    const wanted = this.#wanted(params.suite, params.testRun)
    for (const test of params.suite.allTests()) {
      if (wanted.has(test)) continue
      try {
        params.testRun.exclude(test)
      } catch {
        // Tests of projects that others depend on always run. They do not count as attempts.
      }
    }
  }

  async onBegin(config: FullConfig): Promise<void> {
    this.#config = config
    if (this.#isListing && this.#request.probe !== undefined) await writeFile(this.#request.probe, "")
  }

  onError(error: TestError): void {
    this.#errors.push(messageOf(error))
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const caseIds = this.#caseIds.get(keyOf(test))
    if (caseIds === undefined || this.#begun === undefined || this.#config === undefined) return
    const files = attachedFiles(test, result, this.#config.rootDir).map((file) => ({
      ...file,
      path: `retry-${this.#begun?.retry.retry}/${file.path}`
    }))
    const paths = files.map((file) => file.path)
    const attempt = attemptReport(test, result, paths)
    if (attempt === null || attempt.status === "skipped") return
    for (const caseId of caseIds) this.#attempts.set(caseId, [...(this.#attempts.get(caseId) ?? []), attempt])
    this.#begun.publisher.uploads.add(files)
  }

  async onEnd(result: FullResult): Promise<{ status?: FullResult["status"] } | undefined> {
    if (this.#isListing || this.#isRefused) return undefined
    if (this.#begun === undefined || this.#config === undefined) {
      this.#lines.push(`Delivery: run ${this.#request.run} was not retried: its tests could not be loaded.`)
      return { status: "failed" }
    }
    const run = await this.#publish(this.#begun, this.#config, result)
    return { status: run?.gateResult === "passed" ? "passed" : "failed" }
  }

  async onExit(): Promise<void> {
    for (const line of this.#lines) console.log(line)
    this.#stopListening?.()
  }

  async #begin(config: FullConfig, suite: Suite): Promise<Begun> {
    const settings = readSettings(this.#options, process.env)
    if ("problem" in settings) throw new Error(settings.problem)
    this.#stopListening ??= onTermination()
    const publisher = new Publisher(settings)
    const limit = new TimeLimit(5_000)
    const run = await limit.within((signal) => publisher.run(this.#request.run, signal))
    this.#match(config, suite, run)
    const baseUrl =
      settings.baseUrl ?? config.projects.map((project) => project.use.baseURL).find((url) => url !== undefined) ?? null
    const git = await readGit(config.rootDir, process.env, this.#options.git ?? {})
    const fixtureUrl = settings.fixtureUrl ?? null
    const start = { passes: this.#request.passes, baseUrl, fixtureUrl, git, machine: readMachine() }
    const retry = await limit.within((signal) => publisher.startRetry(run.number, start, signal))
    return { run, retry, publisher }
  }

  /**
   * Finds the failed tests of the run by their ids; tests that set their id while they run are found by file and titles.
   * All repetitions of a test are one test here. Tests that no longer exist stay failed.
   */
  #match(config: FullConfig, suite: Suite, run: TestRun): void {
    const tests = suite.allTests().filter((test) => test.repeatEachIndex === 0)
    const reports = testReports(tests, new Map(), { rootDir: config.rootDir, projects: config.projects.length })
    const byId = new Map(reports.map((report, index) => [report.caseId, tests[index]]))
    const isOf = (test: TestCase, failed: Pick<RetryTest, "caseId" | "title" | "file">): boolean => {
      const project = test.parent.project()?.name ?? ""
      const isOfProject = config.projects.length === 1 || project === "" || failed.caseId.includes(` [${project}]`)
      return isOfProject && titleOf(test) === failed.title && fileOf(test, config.rootDir) === failed.file
    }
    const missing: Array<string> = []
    for (const failed of run.tests.filter((test) => test.status === "failed")) {
      const firstId = firstIdOf(failed.caseId)
      const isFree = (one: TestCase) => (this.#caseIds.get(keyOf(one)) ?? []).every((id) => firstIdOf(id) === firstId)
      const test = byId.get(failed.caseId) ?? byId.get(firstId) ?? tests.find((one) => isFree(one) && isOf(one, failed))
      if (test === undefined) missing.push(failed.caseId)
      else this.#caseIds.set(keyOf(test), [...(this.#caseIds.get(keyOf(test)) ?? []), failed.caseId])
    }
    if (missing.length > 0) {
      this.#lines.push(
        `Delivery: ${missing.length} failed tests of the run do not exist here; the first: ${missing[0]}`
      )
      if (this.#caseIds.size === 0) throw new Error("none of its failed tests exists here")
    }
  }

  /** The failed tests, and in serial groups also the tests before them, which they depend on. */
  #wanted(suite: Suite, testRun: TestRunControl): ReadonlySet<TestCase> {
    const wanted = new Set<TestCase>()
    for (const test of suite.allTests()) {
      if (!this.#caseIds.has(keyOf(test))) continue
      let serial: Suite | undefined
      for (let group: Suite | undefined = test.parent; group !== undefined; group = group.parent) {
        if (testRun.mode(group) === "serial") serial = group
      }
      const group = serial?.allTests() ?? [test]
      for (const one of group.slice(0, group.indexOf(test) + 1)) wanted.add(one)
    }
    return wanted
  }

  /** Says which of the tests that ran again are muted in the run, and why. */
  async #tellMuted(publisher: Publisher, { tests }: StartedRetry, { mutes, number }: TestRun): Promise<void> {
    const again = new Set(tests.map(({ caseId }) => caseId))
    if (!mutes.some(({ caseId }) => again.has(caseId))) return
    const run = await new TimeLimit(5_000).within((signal) => publisher.run(number, signal)).catch(() => undefined)
    if (run === undefined) this.#lines.push("Delivery: why tests are muted could not be read.")
    const ran = run?.tests.filter(({ caseId }) => again.has(caseId)) ?? []
    for (const line of mutedLines(mutedEntries(run?.mutes ?? [], ran))) this.#lines.push(`Delivery: ${line}`)
  }

  async #publish({ publisher, retry, run }: Begun, config: FullConfig, result: FullResult) {
    const limit = new TimeLimit(10_000)
    const uploads = await limit.within((signal) => publisher.uploads.settled(signal), {
      most: 5_000,
      more: async () => timeFor(publisher, await publisher.uploads.remaining())
    })
    this.#lines.push(...notUploaded(uploads))
    const { cleanup: hook } = this.#options
    const cleanup =
      retry.fixture === null || hook === undefined
        ? null
        : await cleanUp(retry.fixture, typeof hook === "string" ? resolve(directoryOf(config), hook) : hook)
    if (cleanup !== null && cleanup.status !== "complete") {
      this.#lines.push(`Delivery: the cleanup of ${retry.fixture?.scope} is ${cleanup.status}: ${cleanup.error ?? ""}`)
    }
    for (const error of this.#errors) this.#lines.push(`Delivery: ${error.split("\n")[0]}`)
    const report: FinishRetry = {
      interrupted: result.status === "interrupted" || result.status === "timedout",
      cleanup,
      tests: [...this.#attempts].map(([caseId, attempts]) => ({
        caseId,
        attempts: attempts.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
      }))
    }
    try {
      const bytes = Buffer.byteLength(JSON.stringify(report))
      const finished = await limit.within((signal) => publisher.finishRetry(run.number, retry.retry, report, signal), {
        more: () => timeFor(publisher, { bytes, files: 0 })
      })
      this.#lines.push(summaryLine(retry, run, finished))
      await this.#tellMuted(publisher, retry, run)
      return finished
    } catch (error) {
      this.#lines.push(
        `Delivery: retry ${retry.retry} of run ${run.number} is not finished: ${lineOf(error)} ${run.url}`
      )
      return undefined
    }
  }
}

const summaryLine = (retry: StartedRetry, before: TestRun, finished: TestRunSummary): string => {
  const { counts, number, result, url } = finished
  return (
    `Delivery: retry ${retry.retry} of run ${number}: ${counts.flaky - before.counts.flaky} of ${retry.tests.length} failed tests are flaky; ` +
    `run ${number} ${result}${gateAddition(finished)} (${counts.passed} passed, ${counts.flaky} flaky, ${counts.failed} failed, ${counts.skipped} skipped): ${url}`
  )
}
