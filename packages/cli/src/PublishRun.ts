import {
  Conflict,
  type Coverage,
  type Deployment,
  type FinishTestRun,
  type StartTestRun,
  type TestRun,
  type TestReport,
  type TestRunSummary
} from "@delivery/client"
import { isId } from "@delivery/domain/Text"
import {
  ciUrlOf,
  type MutedTest,
  mutedTests,
  Publisher,
  readGit,
  readMachine,
  withinLimits
} from "@delivery/publishing"
import { rename, rm, writeFile } from "node:fs/promises"
import { dirname, extname, resolve } from "node:path"
import { type Attachment, attachmentsOf, type Tell } from "./Attachments.ts"
import { callFailure, Failure } from "./Failure.ts"
import { leftBehind, type ResultTimes } from "./ResultTimes.ts"
import { lastEnd, testReports } from "./results/Result.ts"
import { readText, resultsOf } from "./results/ResultFiles.ts"
import { readSaved, type Saved } from "./results/Saved.ts"
import { whileLocked } from "./results/SavedLock.ts"
import { Refused } from "./results/Xml.ts"
import { type Connection, isHttpUrl, plainUrl } from "./Settings.ts"

/** Publishes files of results as one run. */

export { mutedLines } from "@delivery/publishing"

export interface PublishOptions {
  readonly files: ReadonlyArray<string>
  readonly attach: ReadonlyArray<string>
  readonly product?: string
  readonly environment?: string
  readonly baseUrl?: string
  readonly coverage?: Coverage
  /** Whether saved results become another run although they have one. */
  readonly again: boolean
  /** Whether results count that are older than the version of the deployment. */
  readonly ignoreTimes: boolean
  /** Whether a flag names the service, and the workspace. */
  readonly isUrlNamed: boolean
  readonly isWorkspaceNamed: boolean
}

export interface Published {
  readonly run: TestRunSummary
  /** The paths of the attached files in the run. */
  readonly files: ReadonlyArray<string>
  readonly notAttached: ReadonlyArray<{ readonly path: string; readonly reason: string }>
  /** The tests of the run that a ticket has muted, and why. */
  readonly muted: ReadonlyArray<MutedTest>
  /** What was left out of the run to keep within the limits of the service. */
  readonly omitted: string | null
  /** Why its coverage was left out, if it was: the run decides nothing then. */
  readonly uncovered: string | null
  /** Why its coverage would have been left out, if its times had not been ignored. */
  readonly ignored: string | null
}

/** Reads a file, and says which one it is that cannot be published. */
const reading = async <A>(file: string, read: () => A | Promise<A>): Promise<A> => {
  try {
    return await read()
  } catch (error) {
    throw error instanceof Refused ? new Failure({ message: `${file} is not published: ${error.message}` }) : error
  }
}

const isBlob = (file: string): boolean => extname(file).toLowerCase() === ".zip"

interface Read {
  readonly file: string
  readonly text: string
}

/** The texts of the files, blob reports of Playwright as one. */
const readAll = async (files: ReadonlyArray<string>): Promise<ReadonlyArray<Read>> => {
  const blobs = files.filter(isBlob)
  const texts = await Promise.all(
    files
      .filter((file) => !isBlob(file))
      .map(async (file) => ({ file, text: await reading(file, () => readText(file)) }))
  )
  if (blobs.length === 0) return texts
  const { mergedReport } = await import("./InstalledPlaywright.ts")
  return [...texts, { file: blobs.join(", "), text: await mergedReport(blobs) }]
}

/** What is published of files that no reporter has saved. */
interface Fresh {
  readonly finish: FinishTestRun
  readonly times: ReadonlyArray<ResultTimes>
}

/** The report of a run with the results of all files. */
const reportIn = async (read: ReadonlyArray<Read>, coverage: Coverage, now: number): Promise<Fresh> => {
  const results = await Promise.all(read.map(({ file, text }) => reading(file, () => resultsOf(text, file, now))))
  const tests = results.flatMap((one) => one.tests)
  const errors = results.flatMap((one) => one.errors)
  if (tests.length === 0 && errors.length === 0) {
    // A run without tests has failed, and whoever has published it would not see that none had run.
    throw new Failure({ message: `Nothing is published: ${read.map(({ file }) => file).join(", ")} has no test.` })
  }
  return {
    finish: { ...reportOf(testReports(tests, coverage)), error: errors.length === 0 ? null : errors.join("\n\n") },
    times: results.map((one, at) => ({ file: read[at]!.file, endedAt: lastEnd(one.tests) }))
  }
}

/** The results that the reporter has saved, if that is what the only file has. */
const savedIn = async ([first, ...others]: ReadonlyArray<Read>): Promise<Saved | undefined> => {
  const saved = first === undefined ? undefined : await reading(first.file, () => readSaved(first.text))
  if (saved !== undefined && others.length > 0) {
    throw Failure.usage(`${first!.file} has the results of a whole run: publish it alone.`)
  }
  return saved
}

const durationOf = (tests: ReadonlyArray<TestReport>): number =>
  tests.reduce((sum, { attempt }) => sum + (attempt !== null && "durationMs" in attempt ? attempt.durationMs : 0), 0)

const publisherOf = (
  at: Connection,
  { baseUrl, coverage, environment = "", product = "" }: PublishOptions
): Publisher =>
  new Publisher({
    url: at.url,
    apiKey: at.apiKey,
    workspace: at.workspace,
    product,
    environment,
    baseUrl,
    fixtureUrl: undefined,
    coverage: coverage ?? null
  })

/** The URL that the tests ran against. */
const addressOf = async (
  deployment: () => Promise<Deployment>,
  { baseUrl, environment, product }: PublishOptions
): Promise<string> => {
  const address = baseUrl ?? (await deployment()).baseUrl
  if (address === null) {
    throw Failure.usage(`The deployment of ${product} in ${environment} has no address: say with --base-url what ran.`)
  }
  return address
}

/** What a run of these files begins with, and what is wrong with their times, if anything is: its coverage is left out then. */
const startOf = async (
  publisher: Publisher,
  options: PublishOptions,
  times: ReadonlyArray<ResultTimes>
): Promise<{ readonly payload: StartTestRun; readonly tooOld: string | undefined }> => {
  const { coverage, environment, ignoreTimes, product } = options
  if (product === undefined || environment === undefined) {
    throw Failure.usage("Say what was tested, and where: --product and --environment.")
  }
  let asked: Promise<Deployment> | undefined
  const deployment = () => (asked ??= publisher.deployment())
  const tooOld = coverage === undefined ? undefined : await leftBehind(options.files, times, await deployment())
  const payload: StartTestRun = {
    product,
    environment,
    baseUrl: await addressOf(deployment, options),
    git: await readGit(process.cwd(), process.env, {}),
    machine: readMachine(),
    ciUrl: ciUrlOf(process.env),
    selection: {
      coverage: tooOld === undefined || ignoreTimes ? (coverage ?? null) : null,
      folders: [],
      caseIds: []
    }
  }
  return { payload, tooOld }
}

/** Whether saved results have their run already, and go on with it. */
const goesOn = (saved: Saved, { again }: PublishOptions): saved is Extract<Saved, { readonly run: number }> =>
  "run" in saved && !again

/**
 * Where saved results were made. Where they have a run, a flag that says otherwise would move them to where they were not; where
 * they have none, it corrects what may have kept them from having one.
 */
const savedPlace = (
  options: PublishOptions,
  saved: Saved,
  start: NonNullable<Saved["start"]>,
  { note }: Tell
): PublishOptions => {
  for (const name of ["product", "environment"] as const) {
    const given = options[name]
    if (given === undefined || given === start[name]) continue
    if (goesOn(saved, options)) {
      throw Failure.usage(`--${name}: ${options.files[0]} has the results of ${start[name]}. Leave the flag out.`)
    }
    note(`${options.files[0]} was saved for the ${name} ${start[name]}, and is published for ${given}.`)
  }
  return {
    ...options,
    product: options.product ?? start.product,
    environment: options.environment ?? start.environment
  }
}

/** The workspace that saved results were for, whatever the profile says; a number of a run means another one elsewhere. */
const savedDestination = (at: Connection, saved: Saved, options: PublishOptions, { note }: Tell): Connection => {
  const [file] = options.files
  const { service, workspace } = saved
  if (service !== undefined && plainUrl(service) !== at.url) {
    if (goesOn(saved, options) && !options.isUrlNamed) {
      throw Failure.usage(
        `${file} has results of run ${saved.run} of ${service}, and this is ${at.url}. Say with --url where that service is.`
      )
    }
    note(`${file} was saved for ${service}, and goes to ${at.url}.`)
  }
  if (workspace === undefined || workspace === at.workspace) return at
  if (options.isWorkspaceNamed) {
    if (goesOn(saved, options)) {
      throw Failure.usage(`--workspace: ${file} has results of the workspace ${workspace}. Leave the flag out.`)
    }
    return at
  }
  note(`Publishing to the workspace ${workspace}, which ${file} was saved for.`)
  return { ...at, workspace }
}

/** The files of saved results, which lie beside them. */
const savedFiles = ([file]: ReadonlyArray<string>, saved: Saved): ReadonlyArray<Attachment> =>
  (saved.files ?? []).map(({ contentType, path, source }) => ({
    path,
    contentType,
    source: resolve(dirname(file!), source)
  }))

const reportOf = (tests: FinishTestRun["tests"]): FinishTestRun => ({
  interrupted: false,
  error: null,
  durationMs: durationOf(tests),
  cleanup: null,
  tests
})

/** The run that results go into. */
interface Begun {
  readonly number: number
  readonly url: string
  /** Whether it has ended, and so got its files before. */
  readonly isOver: boolean
}

/** Whether a run is of the tests that the results are of, as far as they tell. */
const isOf = ({ environment, git, product }: TestRun, start: Saved["start"]): boolean =>
  start === undefined ||
  (isNamed(product, start.product) && isNamed(environment, start.environment) && git.sha === start.git.sha)

/** Settings name them by slug or id, of which a run has the slug. */
const isNamed = ({ slug }: { readonly slug: string }, ref: string): boolean => slug === ref || isId(ref)

/** The run of saved results, if it is theirs: another service, or one with other data, has another one of that number. */
const runOf = async (
  publisher: Publisher,
  { run: number, start, url }: Extract<Saved, { readonly run: number }>,
  [file]: ReadonlyArray<string>,
  cancelled: AbortSignal
): Promise<Begun> => {
  const run = await publisher.run(number, cancelled)
  if (url !== undefined && url !== run.url) {
    throw Failure.usage(`${file} has results of ${url}, and not of ${run.url}. Say with --url where that service is.`)
  }
  if (!isOf(run, start)) {
    throw Failure.usage(
      `${file} has results of another run than ${run.url}. Publish them as a run of their own: --again.`
    )
  }
  publisher.uploads.begin(number)
  return { number, url: run.url, isOver: run.state !== "running" }
}

const begin = async (
  publisher: Publisher,
  payload: Parameters<Publisher["start"]>[0],
  cancelled: AbortSignal
): Promise<Begun> => {
  const { number, url } = await publisher.start(payload, cancelled)
  return { number, url, isOver: false }
}

/** Starts the run of saved results, or goes on with the one that they have. */
const beginOrGoOn = async (
  publisher: Publisher,
  saved: Saved,
  options: PublishOptions,
  cancelled: AbortSignal
): Promise<Begun> => {
  if (goesOn(saved, options)) return runOf(publisher, saved, options.files, cancelled)
  if (saved.start === undefined) {
    throw Failure.usage(
      `${options.files[0]} does not say what was tested: it can only finish its run, without --again.`
    )
  }
  const { environment = saved.start.environment, product = saved.start.product } = options
  const baseUrl = saved.start.baseUrl ?? (await addressOf(() => publisher.deployment(), options))
  const { requestId, ...asked } = { ...saved.start, product, environment, baseUrl }
  // It stands for the run that the reporter may have started.
  return begin(publisher, requestId === undefined || options.again ? asked : { ...asked, requestId }, cancelled)
}

/** Notes the run, and where it is, in the file of saved results, so that publishing them again does not make another one. */
const keepRun = async (file: string, saved: Saved & { readonly run: number }, note: Tell["note"]): Promise<void> => {
  const written = `${file}.${process.pid}.tmp`
  try {
    await writeFile(written, JSON.stringify(saved, null, 2))
    await rename(written, file)
  } catch {
    await rm(written, { force: true }).catch(() => {})
    note(`${file} cannot be written: publishing it again would make another run.`)
  }
}

const placeOf = ({ environment, product }: PublishOptions) => ({
  ...(product === undefined ? {} : { product }),
  ...(environment === undefined ? {} : { environment })
})

const hasEndedWithout = "lacks files, and takes none any more. To publish all as a run of its own, add --again."

/** Begins the run of saved results, and notes it in their file. What another process has noted meanwhile counts. */
const beginSaved = (
  publisher: Publisher,
  options: PublishOptions,
  { url: service, workspace }: Connection,
  cancelled: AbortSignal,
  { note }: Tell
): Promise<Begun> => {
  const [file] = options.files
  return whileLocked(
    file!,
    async () => {
      const saved = (await savedIn(await readAll(options.files)))!
      const begun = await beginOrGoOn(publisher, saved, options, cancelled)
      const lacksFiles = begun.isOver && "lacksFiles" in saved && saved.lacksFiles === true
      if (lacksFiles) note(`Run ${begun.number} ${hasEndedWithout}`)
      // As it was corrected, so that the run is found to be that of the results.
      const start = saved.start === undefined ? {} : { start: { ...saved.start, ...placeOf(options) } }
      const run = { run: begun.number, url: begun.url, lacksFiles, service, workspace }
      await keepRun(file!, { ...saved, ...start, ...run }, note)
      return begun
    },
    cancelled
  )
}

/** A report that ends a run as interrupted, without tests. */
export const interruptedReport: FinishTestRun = { ...reportOf([]), interrupted: true }

/** How long the service may take to hear that publishing was cancelled, in milliseconds. */
const cancelMillis = 5_000

const rejectionOf = (cancelled: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (cancelled.aborted) reject(cancelled.reason as Error)
    cancelled.addEventListener("abort", () => reject(cancelled.reason as Error), { once: true })
  })

/** Leaves no run behind that seems to go on. Saved results can still finish theirs. */
const leave = async (publisher: Publisher, run: number, savedIn: string | undefined, { note }: Tell): Promise<void> => {
  if (savedIn !== undefined) return note(`Run ${run} is not finished. Publish ${savedIn} again to finish it.`)
  await publisher.finish(run, interruptedReport, AbortSignal.timeout(cancelMillis)).then(
    () => note(`Run ${run} has ended as interrupted.`),
    (error: unknown) =>
      note(
        error instanceof Conflict
          ? `Run ${run} was published before.`
          : `Run ${run} could not be ended. ${endLater(run)}`
      )
  )
}

const endLater = (run: number): string =>
  `\`delivery runs end ${run}\` ends it; otherwise the service does, at its time limit.`

/** Why the run is not finished, and what finishes or ends it: whoever only publishes again makes another one. */
const unfinished = (at: Connection, run: number, savedIn: string | undefined, error: unknown): Failure => {
  const failure = callFailure(at)(error)
  if (error instanceof Conflict && error.reason === "not_running") {
    if (savedIn === undefined) return failure
    return new Failure({ message: `${failure.message} To publish ${savedIn} as a run of its own, add --again.` })
  }
  const advice = savedIn === undefined ? endLater(run) : `Publish ${savedIn} again to finish it.`
  return new Failure({
    message: `Run ${run} was started and is not finished: ${failure.message} ${advice}`,
    ...(failure.exitCode === undefined ? {} : { exitCode: failure.exitCode })
  })
}

/** Reads everything first, so that a file that is refused starts no run. Ends the run where it is cancelled before its end. */
export const publishRun = async (
  at: Connection,
  options: PublishOptions,
  tell: Tell,
  cancelled: AbortSignal
): Promise<Published> => {
  const { baseUrl, coverage = "regression" } = options
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    throw Failure.usage("--base-url: expected an absolute http or https URL.")
  }
  const read = await readAll(options.files)
  const saved = await savedIn(read)
  if (options.again && saved === undefined) {
    tell.note("--again changes nothing here: each time these files are published, they become a run of their own.")
  }
  const { finish, times } =
    saved === undefined ? await reportIn(read, coverage, Date.now()) : { finish: saved.finish, times: [] }
  const asked = await attachmentsOf(options.attach, tell)
  const about = saved?.start === undefined ? options : savedPlace(options, saved, saved.start, tell)
  const destination = saved === undefined ? at : savedDestination(at, saved, options, tell)
  const publisher = publisherOf(destination, about)
  cancelled.throwIfAborted()
  const started = saved === undefined ? await startOf(publisher, about, times) : undefined
  const { isOver, number } = await (started === undefined
    ? beginSaved(publisher, about, destination, cancelled, tell)
    : begin(publisher, started.payload, cancelled))
  const tooOld = started?.tooOld ?? null
  if (publisher.ownRunReason !== undefined) {
    tell.note(`This shard is run ${number}, a run of its own. ${publisher.ownRunReason}`)
  }
  try {
    const own = saved === undefined || isOver ? [] : savedFiles(options.files, saved)
    const attachments = [...own, ...asked]
    tell.progress(`Run ${number}: sending files: ${attachments.length}, tests: ${finish.tests.length}.`)
    publisher.uploads.add(attachments)
    const settled = await Promise.race([publisher.uploads.settled(), rejectionOf(cancelled)])
    const failures =
      settled.failures.length > 0 && own.length > 0 && (await publisher.run(number, cancelled)).state !== "running"
        ? // Another process has published the same results meanwhile, with their files.
          settled.failures.filter(({ path }) => own.every((file) => file.path !== path))
        : settled.failures
    const { omitted, report } = withinLimits(finish)
    const run = await publisher.finish(number, report, cancelled)
    const failed = new Set(failures.map(({ path }) => path))
    return {
      run,
      muted: run.state === "finished" ? mutedTests((await publisher.run(number, cancelled)).mutes, report.tests) : [],
      files: attachments.map(({ path }) => path).filter((path) => !failed.has(path)),
      notAttached: failures,
      omitted,
      uncovered: about.ignoreTimes ? null : tooOld,
      ignored: about.ignoreTimes ? tooOld : null
    }
  } catch (error) {
    const savedIn = saved === undefined ? undefined : options.files[0]
    if (!cancelled.aborted) throw unfinished(at, number, savedIn, error)
    await leave(publisher, number, savedIn, tell)
    throw error
  }
}
