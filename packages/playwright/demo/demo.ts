/**
 * A real Playwright run, published to a real server, read back and compared with Playwright's own JSON report.
 *
 *     pnpm demo
 *
 * With `--serve`, a server with a team's workspace that keeps running: see `serve.ts`.
 */
import { createClient, type PromiseClient, type TestEntry, type TestRun } from "@delivery/client"
import type { JSONReport, JSONReportSuite, JSONReportTestResult } from "@playwright/test/reporter"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { isDeepStrictEqual, parseArgs, stripVTControlCharacters } from "node:util"
import { startServer } from "../../client/test/support/server.ts"
import { startFixtureApi } from "./FixtureApi.ts"

const slug = "main"
const print = (line = ""): void => void process.stdout.write(`${line}\n`)

/** What the JSON report says of a test: its first attempt. */
interface Reported {
  readonly title: string
  readonly file: string
  readonly status: TestEntry["status"]
  readonly result: JSONReportTestResult | undefined
}

const reportedTests = (suite: JSONReportSuite, titles: ReadonlyArray<string> = []): ReadonlyArray<Reported> => [
  ...suite.specs.flatMap((spec) =>
    spec.tests.map((test): Reported => {
      const result = test.results.find((one) => one.retry === 0)
      const ran = result !== undefined && result.status !== "skipped" && result.status !== "interrupted"
      return {
        title: [...titles, spec.title].join(" › "),
        file: spec.file,
        status: ran ? (result.status === test.expectedStatus ? "passed" : "failed") : "skipped",
        result
      }
    })
  ),
  ...(suite.suites ?? []).flatMap((inner) => reportedTests(inner, [...titles, inner.title]))
]

/** What the JSON report says of an error, without colours and the lines of source that it adds. */
const messageOf = (message: string): string => stripVTControlCharacters(message).replace(/\n\n[ >]+\d+ \|[^]*$/, "")

const attachmentsOf = async (result: JSONReportTestResult | undefined) =>
  Promise.all(
    (result?.attachments ?? [])
      .filter(({ body, name, path }) => (body ?? path) !== undefined && !name.startsWith("_"))
      .map(async ({ body, contentType, path }) => ({
        contentType,
        bytes: body === undefined ? await readFile(path ?? "") : Buffer.from(body, "base64")
      }))
  )

/** Prints each comparison, and counts the differences. */
class Comparison {
  differences = 0

  same(what: string, published: unknown, reported: unknown): void {
    if (isDeepStrictEqual(published, reported)) return
    this.differences++
    print(`DIFFERENT ${what}`)
    print(`  published ${JSON.stringify(published)}`)
    print(`  reported  ${JSON.stringify(reported)}`)
  }

  conclude(what: string, before: number): void {
    if (this.differences === before) print(`equal: ${what}`)
  }
}

const compare = async (client: PromiseClient, run: TestRun, report: JSONReport): Promise<number> => {
  const comparison = new Comparison()
  const reported = report.suites.flatMap((suite) => reportedTests(suite))
  const count = (status: TestEntry["status"]) => reported.filter((test) => test.status === status).length
  const key = (test: { readonly file: string; readonly title: string }) => `${test.file}: ${test.title}`

  let before = comparison.differences
  comparison.same("counts", run.counts, {
    total: reported.length,
    passed: count("passed"),
    flaky: 0,
    failed: count("failed"),
    skipped: count("skipped")
  })
  comparison.conclude(
    `counts (${Object.entries(run.counts)
      .map(([name, value]) => `${value} ${name}`)
      .join(", ")})`,
    before
  )

  before = comparison.differences
  comparison.same("tests", run.tests.map(key).toSorted(), reported.map(key).toSorted())
  comparison.conclude("files and titles of all tests", before)

  before = comparison.differences
  const published = new Map(run.tests.map((test) => [key(test), test]))
  let messages = 0
  for (const test of reported) {
    const entry = published.get(key(test))
    comparison.same(`status of ${key(test)}`, entry?.status, test.status)
    const errors = (test.result?.errors ?? []).map(({ message }) => messageOf(message))
    const expected = test.result?.status === "passed" ? "Expected to fail, but passed." : errors.join("\n\n")
    comparison.same(`message of ${key(test)}`, entry?.errorMessage, test.status === "failed" ? expected : null)
    comparison.same(
      `duration of ${key(test)}`,
      entry?.attempts.map(({ durationMs, startedAt }) => [durationMs, startedAt]),
      test.status === "skipped" ? [] : [[test.result?.duration, test.result?.startTime]]
    )
    if (test.status === "failed") messages++
  }
  comparison.conclude(`status, duration and start of all tests, ${messages} error messages`, before)

  before = comparison.differences
  let files = 0
  let bytes = 0
  for (const test of reported) {
    const paths = published.get(key(test))?.files ?? []
    const attachments = await attachmentsOf(test.result)
    comparison.same(`number of files of ${key(test)}`, paths.length, attachments.length)
    for (const [index, attachment] of attachments.entries()) {
      const path = paths[index] ?? ""
      const response = await client.files.download({ slug, run: run.number, path })
      const stored = Buffer.from(await response.arrayBuffer())
      comparison.same(`bytes of ${path}`, stored.equals(attachment.bytes), true)
      comparison.same(`type of ${path}`, response.headers.get("content-type"), attachment.contentType)
      files++
      bytes += stored.length
    }
  }
  comparison.conclude(`${files} files, ${bytes} bytes, downloaded and compared`, before)
  return comparison.differences
}

const printRun = (run: TestRun): void => {
  print()
  print(`Run ${run.number}: ${run.state}, ${run.result}, ${Math.round(run.durationMs)} ms, ${run.url}`)
  print(`${run.product.name} in ${run.environment.name} at ${run.baseUrl}, commit ${run.git.sha} on ${run.git.branch}`)
  if (run.cleanup !== null)
    print(`Test data of ${run.cleanup.scope}: ${run.cleanup.status}, ${run.cleanup.deleted} deleted`)
  print()
  print("status   ms     files  coverage    test")
  for (const test of run.tests) {
    const columns = [
      test.status.padEnd(8),
      String(Math.round(test.durationMs)).padEnd(6),
      String(test.files.length).padEnd(6),
      test.coverage.padEnd(11),
      `${test.file}: ${test.title}`
    ]
    print(columns.join(" "))
    const [message = ""] = test.errorMessage?.split("\n") ?? []
    if (message !== "") print(`${" ".repeat(34)}${message}`)
  }
  print()
}

const playwrightCli = join(dirname(createRequire(import.meta.url).resolve("@playwright/test/package.json")), "cli.js")

const demo = async (output: string): Promise<number> => {
  await using resources = new AsyncDisposableStack()
  print("Starting a server with an embedded database ...")
  const server = resources.adopt(await startServer(), (server) => server.stop())
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  const params = { slug }
  const { id } = await client.workspaces.get({ params })
  const fixtures = resources.adopt(await startFixtureApi(server.url, id), (api) => api.close())
  await client.products.create({ params, payload: { slug: "delivery", name: "Delivery", type: "api" } })
  await client.environments.create({ params, payload: { slug: "demo", name: "Demo", class: "non-production" } })
  await client.deployments.create({
    params,
    payload: {
      product: "delivery",
      environment: "demo",
      baseUrl: server.url,
      fixtureUrl: fixtures.url,
      version: "1.0.0"
    }
  })

  print("Running the tests in this directory; some of them are made to fail ...")
  const { CI: _, ...environment } = process.env
  const playwright = spawn(
    process.execPath,
    [playwrightCli, "test", "-c", join(import.meta.dirname, "playwright.config.ts")],
    {
      env: {
        ...environment,
        DEMO_OUTPUT: output,
        DELIVERY_URL: server.url,
        DELIVERY_API_KEY: server.apiKey,
        DELIVERY_WORKSPACE: slug,
        DELIVERY_PRODUCT: "delivery",
        DELIVERY_ENVIRONMENT: "demo"
      },
      stdio: ["ignore", "pipe", "inherit"]
    }
  )
  let playwrightOutput = ""
  playwright.stdout.setEncoding("utf8").on("data", (text: string) => (playwrightOutput += text))
  const [exitCode] = (await once(playwright, "close")) as [number | null]
  for (const line of playwrightOutput.split("\n").filter((line) => line.startsWith("Delivery:"))) print(line)

  const { runs } = await client.testRuns.list({ params })
  const report = JSON.parse(await readFile(join(output, "report.json"), "utf8")) as JSONReport
  const [latest] = runs
  if (runs.length !== 1 || latest === undefined) {
    print(playwrightOutput)
    print(`Expected one run, found ${runs.length}.`)
    return 1
  }
  const run = await client.testRuns.get({ params: { slug, run: latest.number } })
  printRun(run)
  if (exitCode !== 1) print(`DIFFERENT exit code of Playwright: ${exitCode}`)
  return (await compare(client, run, report)) + (exitCode === 1 ? 0 : 1)
}

const compareOnce = async (): Promise<void> => {
  const output = await mkdtemp(join(tmpdir(), "delivery-demo-"))
  try {
    const differences = await demo(output)
    print(differences === 0 ? "\nWhat was published equals what Playwright reported." : `\n${differences} differences.`)
    process.exitCode = differences === 0 ? 0 : 1
  } finally {
    await rm(output, { recursive: true, force: true })
  }
}

const { values } = parseArgs({ options: { serve: { type: "boolean" }, help: { type: "boolean", short: "h" } } })
if (values.help === true) {
  print("pnpm demo          publishes a real Playwright run to a server, reads it back, and compares the two")
  print(
    "pnpm demo --serve  starts a server with the workspace of a team, until it is ended, and prints its sign-in link"
  )
} else await (values.serve === true ? import("./serve.ts") : compareOnce())
