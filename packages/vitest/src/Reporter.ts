import { checkOptions, type DeliveryReporterOptions, isRequired, Publication } from "@delivery/publishing"
import { performance } from "node:perf_hooks"
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from "vitest/node"
import { attachedFiles, messageOf, testReports } from "./TestReports.ts"

const oldestVitest = 5

/**
 * Publishes a run of Vitest to the service. It starts a run before the first test, uploads attachments while the tests run, and
 * finishes the run with the first attempt of each test. If something fails on the way, it says so on one line, and no test fails,
 * unless `required` is set. In watch mode it publishes nothing.
 *
 * One class, since Vitest calls the methods of one object in turn, and each goes on with what the others gathered.
 */
export class DeliveryReporter implements Reporter {
  readonly #publication: Publication
  readonly #isRequired: boolean
  #vitest: Vitest | undefined
  #begun = 0

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
  async onTestRunStart(): Promise<void> {
    if (this.#vitest === undefined) return
    this.#begun = performance.now()
    const { root, shard } = this.#vitest.config
    const problem = await this.#publication.begin({
      directory: root,
      baseUrls: [],
      shard: shard === undefined ? null : { index: shard.index, total: shard.count }
    })
    if (!this.#isRequired || problem === undefined) return
    this.#vitest = undefined
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
    const { bail = 0, root } = vitest.config
    const tests = testReports(modules, { root, projects: vitest.projects.length })
    const failed = tests.filter(({ attempt }) => attempt?.status === "failed").length
    const ofModules = modules.flatMap((module) => module.errors())
    const errors = [...ofModules, ...unhandled].map(messageOf).filter((error) => error !== "")
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
