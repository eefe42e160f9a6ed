import {
  checkOptions,
  type DeliveryReporterOptions,
  isRequired,
  hasBuild,
  nothingToPublish,
  onInterruption,
  Publication
} from "@delivery/publishing"
import { performance } from "node:perf_hooks"
import { setTimeout } from "node:timers/promises"
import type {
  Reporter,
  SerializedError,
  TestCase,
  TestModule,
  TestRunEndReason,
  TestSpecification,
  Vitest
} from "vitest/node"
import { attachedFiles, errorsOf, testReports } from "./TestReports.ts"

const oldestVitest = 5

/** Workers tell of the tests that have ended at most 100 milliseconds later. */
const tellingMillis = 250

const unexplained = "Vitest says that the run failed, and names no test or error."

/**
 * Publishes a run of Vitest to the service. It starts a run before the first test, uploads attachments while the tests run, and
 * finishes the run with the first attempt of each test. If something fails on the way, it says so on one line, and no test fails,
 * unless `required` is set. In watch mode it publishes nothing. Vitest ends at once when it is interrupted (SIGINT, SIGTERM): then
 * it waits until the run is finished as interrupted.
 *
 * One class, since Vitest calls the methods of one object in turn, and each goes on with what the others gathered.
 */
export class DeliveryReporter implements Reporter {
  readonly #publication: Publication
  readonly #isRequired: boolean
  #vitest: Vitest | undefined
  #begun = 0
  #ended: Promise<void> | undefined
  #stopListening: (() => void) | undefined

  constructor(options: DeliveryReporterOptions = {}) {
    checkOptions(options)
    this.#publication = new Publication(options)
    this.#isRequired = isRequired(options, process.env)
  }

  onInit(vitest: Vitest): void {
    if (vitest.config.watch) return
    // Older ones say nothing of the attempts of a test.
    if (Number.parseInt(vitest.version, 10) < oldestVitest) {
      const problem = `@delivery/vitest needs Vitest ${oldestVitest} or later, and this is ${vitest.version}.`
      if (this.#isRequired) throw new Error(`Delivery: the run cannot be published: ${problem}`)
      vitest.logger.log(`Delivery: nothing is published: ${problem}`)
      return
    }
    this.#vitest = vitest
  }

  /** Vitest awaits this before it starts workers, so that the tests find their run in the environment. */
  async onTestRunStart(files: ReadonlyArray<TestSpecification>): Promise<void> {
    if (this.#vitest === undefined) return
    const { passWithNoTests, root, shard } = this.#vitest.config
    // A shard without tests is still one that the run of its build waits for.
    if (files.length === 0 && passWithNoTests && (shard === undefined || !hasBuild())) {
      this.#vitest.logger.log(nothingToPublish)
      this.#vitest = undefined
      return
    }
    this.#begun = performance.now()
    this.#listen(this.#vitest)
    const problem = await this.#publication.begin({
      directory: root,
      baseUrls: [],
      shard: shard === undefined ? null : { index: shard.index, total: shard.count }
    })
    if (!this.#isRequired || problem === undefined) return
    this.#vitest = undefined
    this.#stopListening?.()
    throw new Error(`Delivery: the run cannot be published: ${problem}`)
  }

  onTestCaseResult(test: TestCase): void {
    if (this.#vitest !== undefined) this.#publication.addFiles(attachedFiles(test, this.#vitest.config.root))
  }

  async onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandled: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason
  ): Promise<void> {
    const vitest = this.#vitest
    if (vitest === undefined) return
    // Workers that are interrupted too are lost to Vitest, which is no error of the tests.
    this.#ended ??= this.#end(vitest, modules, reason, reason === "interrupted" ? [] : unhandled)
    await this.#ended
    this.#stopListening?.()
  }

  #listen(vitest: Vitest): void {
    this.#stopListening = onInterruption({
      finish: async () => {
        void vitest.cancelCurrentRun("keyboard-input").catch(() => {})
        await setTimeout(tellingMillis)
        this.#ended ??= this.#end(vitest, vitest.state.getTestModules(), "interrupted")
        await this.#ended
      },
      giveUp: () => this.#publication.giveUp("it was interrupted twice")
    })
  }

  async #end(
    vitest: Vitest,
    modules: ReadonlyArray<TestModule>,
    reason: TestRunEndReason,
    unhandled: ReadonlyArray<SerializedError> = []
  ): Promise<void> {
    const { bail = 0, root } = vitest.config
    const tests = testReports(modules, { root, projects: vitest.projects.length })
    const failed = tests.filter(({ attempt }) => attempt?.status === "failed").length
    const errors = errorsOf(modules, unhandled)
    // Whatever Vitest fails for, no run passes beside it. The service itself says where there is no test.
    if (reason === "failed" && failed === 0 && errors.length === 0 && tests.length > 0) errors.push(unexplained)
    const isPublished = await this.#publication.end({
      interrupted:
        reason === "interrupted" || (bail > 0 && failed >= bail && tests.some(({ attempt }) => attempt === null)),
      error: errors.length === 0 ? null : errors.join("\n\n"),
      durationMs: Math.max(0, Math.round(performance.now() - this.#begun)),
      cleanup: null,
      tests
    })
    for (const line of this.#publication.lines) vitest.logger.log(line)
    if (this.#isRequired && !isPublished) process.exitCode = 1
  }
}
