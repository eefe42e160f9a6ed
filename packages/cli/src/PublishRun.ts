import type { Coverage, TestReport, TestRunSummary } from "@delivery/client"
import { maxFileBytes, pathProblem } from "@delivery/domain/runs/StoredFile"
import { Publisher, readGit, readMachine, withinLimits } from "@delivery/playwright/publishing"
import { readdir, stat } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { Failure } from "./Failure.ts"
import { testReports } from "./results/Result.ts"
import { readResults } from "./results/ResultFiles.ts"
import { Refused } from "./results/Xml.ts"
import { type Connection, isHttpUrl } from "./Settings.ts"

/** Publishes files of results as one run. */

export interface PublishOptions {
  readonly files: ReadonlyArray<string>
  readonly attach: ReadonlyArray<string>
  readonly product: string
  readonly environment: string
  readonly baseUrl: string | undefined
  readonly coverage: Coverage | undefined
}

export interface Published {
  readonly run: TestRunSummary
  /** The paths of the attached files in the run. */
  readonly files: ReadonlyArray<string>
  readonly notAttached: ReadonlyArray<{ readonly path: string; readonly reason: string }>
  /** What was left out of the run to keep within the limits of the service. */
  readonly omitted: string | null
}

interface Attachment {
  readonly path: string
  readonly contentType: string
  readonly source: string
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".html": "text/html",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".log": "text/plain",
  ".md": "text/markdown",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".txt": "text/plain",
  ".webm": "video/webm",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".zip": "application/zip"
}

/** The files that an argument names: itself, or all below it. */
const filesBelow = async (path: string): Promise<ReadonlyArray<string>> => {
  const found = await stat(path).catch(() => {
    throw Failure.usage(`--attach: ${path} cannot be read.`)
  })
  if (!found.isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** The path of an attached file in the run: its path from the working directory, or its name if it lies elsewhere. */
const attachmentOf = async (file: string): Promise<Attachment> => {
  const below = relative(process.cwd(), file)
  const path = (below.startsWith("..") ? file.split(sep).at(-1)! : below).split(sep).join("/")
  const problem = pathProblem(path)
  if (problem !== undefined) throw Failure.usage(`--attach: ${file}: ${problem}.`)
  const { size } = await stat(file)
  if (size > maxFileBytes) throw Failure.usage(`--attach: ${file} is longer than 100 MiB.`)
  return { path, source: file, contentType: contentTypes[extname(file).toLowerCase()] ?? "application/octet-stream" }
}

const attachmentsOf = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Attachment>> => {
  const files = (await Promise.all(paths.map(filesBelow))).flat()
  const attachments = await Promise.all([...new Set(files)].map(attachmentOf))
  const taken = new Set<string>()
  for (const { path } of attachments) {
    if (taken.has(path)) throw Failure.usage(`--attach: two files would be ${path} in the run.`)
    taken.add(path)
  }
  return attachments
}

const testsOf = async (files: ReadonlyArray<string>, coverage: Coverage, now: number) => {
  const results = await Promise.all(
    files.map((file) =>
      readResults(file, now).catch((error: unknown) => {
        throw error instanceof Refused ? new Failure({ message: `${file} is not published: ${error.message}` }) : error
      })
    )
  )
  return testReports(results.flat(), coverage)
}

const durationOf = (tests: ReadonlyArray<TestReport>): number =>
  tests.reduce((sum, { attempt }) => sum + (attempt !== null && "durationMs" in attempt ? attempt.durationMs : 0), 0)

/** Reads everything first, so that a file that is refused starts no run. */
export const publishRun = async (
  at: Connection,
  options: PublishOptions,
  progress: (line: string) => void
): Promise<Published> => {
  const { baseUrl, coverage, environment, product } = options
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    throw Failure.usage("--base-url: expected an absolute http or https URL.")
  }
  const tests = await testsOf(options.files, coverage ?? "regression", Date.now())
  const attachments = await attachmentsOf(options.attach)
  const publisher = new Publisher({
    url: at.url,
    apiKey: at.apiKey,
    workspace: at.workspace,
    product,
    environment,
    baseUrl,
    fixtureUrl: undefined,
    coverage: coverage ?? null
  })
  const address = baseUrl ?? (await publisher.deploymentUrl())
  if (address === null) {
    throw Failure.usage(`The deployment of ${product} in ${environment} has no address: say with --base-url what ran.`)
  }
  const started = await publisher.start({
    product,
    environment,
    baseUrl: address,
    git: await readGit(process.cwd(), process.env, {}),
    machine: readMachine(),
    selection: { coverage: coverage ?? null, folders: [], caseIds: [] }
  })
  progress(`Run ${started.number}: sending ${attachments.length} files and ${tests.length} tests.`)
  publisher.uploads.add(attachments)
  const { failures } = await publisher.uploads.settled()
  const { omitted, report } = withinLimits({
    interrupted: false,
    error: null,
    durationMs: durationOf(tests),
    cleanup: null,
    tests
  })
  const run = await publisher.finish(started.number, report)
  const failed = new Set(failures.map(({ path }) => path))
  return {
    run,
    files: attachments.map(({ path }) => path).filter((path) => !failed.has(path)),
    notAttached: failures,
    omitted
  }
}
