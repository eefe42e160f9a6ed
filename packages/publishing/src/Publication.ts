import type { FinishTestRun, Shard, StartedTestRun, StartTestRun, TestRunSummary } from "@delivery/client"
import { gateText } from "@delivery/domain/runs/GateText"
import { randomUUID } from "node:crypto"
import { join, resolve } from "node:path"
import { buildOf, ciUrlOf } from "./Ci.ts"
import { mutedLines, mutedTests } from "./Muted.ts"
import { readGit, readMachine } from "./Origin.ts"
import { cleanUp, partOf, Publisher, timeFor, withinLimits } from "./Publisher.ts"
import { isPassing, lineOf } from "./Retry.ts"
import type { RunFile } from "./RunFiles.ts"
import { announceRun } from "./RunVariables.ts"
import { type DeliveryReporterOptions, readSettings, type Settings } from "./Settings.ts"
import { type Destination, saveResults } from "./SavedResults.ts"
import { shellWord } from "./Shell.ts"
import { TimeLimit } from "./TimeLimit.ts"
import { notUploaded, type SettledUploads } from "./Uploads.ts"

/** What the tool that runs the tests knows before it runs them. */
export interface PublicationContext {
  /** The directory of the configuration: git is asked there, and results are saved below it. */
  readonly directory: string
  /** Where the tests run, where the options do not say: the first that there is. Without one, the URL of the deployment. */
  readonly baseUrls: ReadonlyArray<string | undefined>
  /** Which part of the suite runs here; null where all of it does. */
  readonly shard: Shard | null
}

/** A start that may lack the URL of a deployment that could not be read. */
type Start = Omit<StartTestRun, "baseUrl"> & { readonly baseUrl?: string }

/** The run that was started, or why it was not. */
type Begun =
  | { readonly run: StartedTestRun; readonly start: StartTestRun }
  | { readonly problem: string; readonly start?: Start; readonly again?: StartTestRun }

/** What a reporter prints where a suite without tests passes: a run without tests would fail. */
export const nothingToPublish = "Delivery: nothing is published: there is no test."

const beforeMillis = 5_000
const afterMillis = 10_000

/**
 * Publishes what a reporter gathers as one run: starts it, uploads files while the tests run, and finishes it. Nothing fails:
 * `lines` has what to print, one problem a line.
 *
 * One class, since a reporter calls it in turn, and each call goes on with what those before have done.
 */
export class Publication {
  /** What to print at the end. */
  readonly lines: Array<string> = []
  readonly #options: DeliveryReporterOptions
  readonly #after = new TimeLimit(afterMillis)
  #context: PublicationContext | undefined
  #begun: Promise<Begun> | undefined
  #publisher: Publisher | undefined
  #destination: Destination | undefined
  /** Files that came while nothing could be published. */
  readonly #kept: Array<RunFile> = []
  #shard: { readonly build: string; readonly shard: Shard } | undefined
  #muted: ReadonlySet<string> = new Set()
  #isPublished = false

  constructor(options: DeliveryReporterOptions) {
    this.#options = options
  }

  /** Starts the run, once. Answers why it did not start; undefined where it did. */
  async begin(context: PublicationContext): Promise<string | undefined> {
    this.#context ??= context
    this.#begun ??= this.#start(context)
    const begun = await this.#begun
    return "problem" in begun ? begun.problem : undefined
  }

  /** Uploads files, as soon as the run has started. */
  addFiles(files: ReadonlyArray<RunFile>): void {
    if (this.#publisher === undefined) this.#kept.push(...files)
    else this.#publisher.uploads.add(files)
  }

  /** Whether the run is published and all of these tests, at least one, are muted: they fail nobody. */
  areMuted(caseIds: ReadonlyArray<string>): boolean {
    return this.#isPublished && caseIds.length > 0 && caseIds.every((caseId) => this.#muted.has(caseId))
  }

  /** Everything after the last test. Answers whether the service has the run. */
  async end(tests: FinishTestRun): Promise<boolean> {
    const report = this.#shard === undefined ? tests : { ...tests, shard: this.#shard.shard }
    const begun = await this.#startAgain(await this.#begun)
    if (begun === undefined || "problem" in begun || this.#publisher === undefined) {
      const { problem, start } =
        begun === undefined || "run" in begun ? { problem: "no test ran", start: undefined } : begun
      const saved = start === undefined ? "" : await this.#save({ start, finish: report })
      this.lines.push(`Delivery: the run was not published: ${problem.replace(/\.$/, "")}.${saved}`)
      return false
    }
    const publisher = this.#publisher
    if (publisher.ownRunReason !== undefined) {
      this.lines.push(`Delivery: this shard is run ${begun.run.number}, a run of its own. ${publisher.ownRunReason}`)
    }
    const { failures } = await this.#settleUploads(publisher)
    const cleanup = await this.#cleanUp(begun.run)
    // A run without tests has failed. This is the part of another one, whose tests the other shards have.
    const interrupted = report.interrupted || (publisher.ownRunReason !== undefined && report.tests.length === 0)
    const finish = withinLimits({ ...report, interrupted, cleanup })
    if (finish.omitted !== null) this.lines.push(`Delivery: left out of the run: ${finish.omitted}`)
    try {
      const bytes = Buffer.byteLength(JSON.stringify(finish.report))
      const finished = await this.#after.within((signal) => publisher.finish(begun.run.number, finish.report, signal), {
        more: () => timeFor(publisher, { bytes, files: 0 })
      })
      if (failures.some(({ isPassing }) => isPassing)) await this.#keepFiles(publisher, begun, finish.report)
      this.lines.push(summaryLine(finished))
      this.#isPublished = true
      await this.#tellMuted(publisher, begun.run, finish.report)
      return true
    } catch (error) {
      const { run, start } = begun
      const saved = await this.#save({ run: run.number, url: run.url, start, finish: finish.report })
      this.lines.push(
        `Delivery: run ${run.number} (${run.url}) is not finished: ${lineOf(error).replace(/\.$/, "")}.${saved}`
      )
      return false
    }
  }

  /** A run that has ended takes no more files: those that it lacks are kept with the results, for a run of its own. */
  async #keepFiles(
    publisher: Publisher,
    { run, start }: Extract<Begun, { readonly run: object }>,
    finish: FinishTestRun
  ): Promise<void> {
    const content = { run: run.number, url: run.url, lacksFiles: true, start, finish }
    const kept = await this.#save(content, { files: publisher.uploads.all, isOver: true })
    this.lines.push(`Delivery: run ${run.number} lacks files.${kept}`)
  }

  /** Says which tests of the report are muted, and why. */
  async #tellMuted(publisher: Publisher, { muted, number }: StartedTestRun, { tests }: FinishTestRun): Promise<void> {
    this.#muted = new Set(muted)
    if (!tests.some(({ caseId }) => this.#muted.has(caseId))) return
    const run = await this.#after.within((signal) => publisher.run(number, signal)).catch(() => undefined)
    if (run === undefined) this.lines.push("Delivery: why tests are muted could not be read.")
    else for (const line of mutedLines(mutedTests(run.mutes, tests))) this.lines.push(`Delivery: ${line}`)
  }

  /** Makes `end` save what is not sent yet, for this reason. */
  giveUp(reason: string): void {
    this.#after.giveUp(reason)
  }

  async #start(context: PublicationContext): Promise<Begun> {
    const settings = readSettings(this.#options, process.env)
    if ("problem" in settings) {
      const { problem, rest } = settings
      if (rest !== undefined) this.#destination = destinationOf(rest)
      return rest === undefined ? { problem } : { problem, start: await this.#startOf(rest, context) }
    }
    this.#destination = destinationOf(settings)
    const publisher = new Publisher(settings)
    this.#publisher = publisher
    const start = await this.#startOf(settings, context)
    let again = withUrl(start, start.baseUrl)
    try {
      return await new TimeLimit(beforeMillis).within(async (signal) => {
        again ??= withUrl(start, (await publisher.deployment(signal)).baseUrl)
        if (again === undefined) return { problem: "settings are missing: baseUrl (or DELIVERY_BASE_URL)", start }
        const run = await publisher.start(again, signal)
        announceRun(run)
        return { run, start: again }
      })
    } catch (error) {
      const problem = lineOf(error)
      return again !== undefined && isPassing(error)
        ? { problem, start: again, again }
        : { problem, start: again ?? start }
    }
  }

  /** What the run begins with. */
  async #startOf(settings: Settings, { baseUrls, directory, shard }: PublicationContext): Promise<Start> {
    const build = buildOf(process.env, process.argv.slice(2))
    const isPart = shard !== null && shard.total > 1
    if (isPart && build !== null) this.#shard = { build, shard }
    const { environment, fixtureUrl, product } = settings
    const baseUrl = settings.baseUrl ?? baseUrls.find((url) => url !== undefined)
    const start = {
      product,
      environment,
      git: await readGit(directory, process.env, this.#options.git ?? {}),
      machine: readMachine(),
      ciUrl: ciUrlOf(process.env),
      selection: {
        coverage: settings.coverage,
        folders: this.#options.folders ?? [],
        caseIds: this.#options.caseIds ?? []
      },
      fixtureUrl: fixtureUrl ?? null,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...this.#shard,
      // Saved with the results, so that publishing them later finds the run whose start was not heard of.
      requestId: randomUUID()
    }
    return isPart && build === null ? partOf(start) : start
  }

  /** The service may have come back while the tests ran. */
  async #startAgain(begun: Begun | undefined): Promise<Begun | undefined> {
    const publisher = this.#publisher
    if (begun === undefined || "run" in begun || begun.again === undefined || publisher === undefined) return begun
    const start = begun.again
    return this.#after
      .within((signal) => publisher.start(start, signal), { most: afterMillis / 2 })
      .then(
        (run) => ({ run, start }),
        (error: unknown) => ({ problem: lineOf(error), start })
      )
  }

  async #settleUploads(publisher: Publisher): Promise<SettledUploads> {
    const uploads = await this.#after.within((signal) => publisher.uploads.settled(signal), {
      most: afterMillis / 2,
      more: async () => timeFor(publisher, await publisher.uploads.remaining())
    })
    this.lines.push(...notUploaded(uploads))
    return uploads
  }

  async #cleanUp({ fixture }: StartedTestRun) {
    const { cleanup } = this.#options
    if (fixture === null || cleanup === undefined) return null
    const hook = typeof cleanup === "string" ? resolve(this.#context?.directory ?? ".", cleanup) : cleanup
    const report = await cleanUp(fixture, hook, this.#after.givenUp)
    if (report.status !== "complete") {
      this.lines.push(`Delivery: the cleanup of ${fixture.scope} is ${report.status}: ${report.error ?? ""}`)
    }
    return report
  }

  /** Saves what could not be sent, and returns a sentence about it. */
  async #save(
    content: object,
    {
      files = this.#publisher?.uploads.unsent ?? this.#kept,
      isOver = false
    }: { readonly files?: ReadonlyArray<RunFile>; readonly isOver?: boolean } = {}
  ): Promise<string> {
    const directory = join(this.#context?.directory ?? ".", "delivery-results")
    try {
      const path = await saveResults(directory, content, this.#destination, files)
      return isOver
        ? ` All of it is kept, to be a run of its own: delivery runs publish --again ${shellWord(path)}`
        : ` Its results are kept: delivery runs publish ${shellWord(path)}`
    } catch (error) {
      return ` Its results could not be saved: ${lineOf(error)}`
    }
  }
}

const destinationOf = ({ url, workspace }: Settings): Destination => ({ service: url, workspace })

const withUrl = (start: Start, baseUrl: string | null | undefined): StartTestRun | undefined =>
  baseUrl === undefined || baseUrl === null ? undefined : { ...start, baseUrl }

/** What a reporter prints of a run: what it came to, for the gate too where that says something else. */
export const summaryLine = ({
  counts,
  gateResult,
  number,
  result,
  shards,
  state,
  url
}: Pick<TestRunSummary, "counts" | "gateResult" | "number" | "result" | "shards" | "state" | "url">): string => {
  const parts = [`${counts.passed} passed`, `${counts.failed} failed`, `${counts.skipped} skipped`]
  if (shards !== null && state === "running") {
    return `Delivery: run ${number} has ${shards.finished} of ${shards.total} shards (${parts.join(", ")}): ${url}`
  }
  return `Delivery: run ${number} ${result ?? state}${gateAddition({ gateResult, result })} (${parts.join(", ")}): ${url}`
}

/** The same after the result. */
export const gateAddition = (run: Pick<TestRunSummary, "gateResult" | "result">): string => {
  const text = gateText(run)
  return text === undefined ? "" : `, ${text}`
}
