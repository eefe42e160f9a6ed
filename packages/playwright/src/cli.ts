#!/usr/bin/env node
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { retryVariables } from "./RetryRequest.ts"

const usage = `Usage: delivery-playwright retry RUN --passes N [-- PLAYWRIGHT ARGUMENTS]

Runs the failed tests of a run again, N times each (1 to 5), and publishes this as a retry of the run. A test that
passes all N times becomes flaky. The options of the reporter in the Playwright configuration, and the same environment
variables as for a run, say where to publish. Exits with 0 if the run has passed then, with 1 if not.

    delivery-playwright retry 12 --passes 3
    delivery-playwright retry 12 --passes 3 -- -c e2e/playwright.config.ts --workers 2
`

const fail = (message: string): never => {
  console.error(message)
  return process.exit(2)
}

/** The command line of the Playwright that is installed in the current directory. */
const playwrightCli = (): string => {
  try {
    const require = createRequire(join(process.cwd(), "package.json"))
    return join(dirname(require.resolve("@playwright/test/package.json")), "cli.js")
  } catch {
    return fail("@playwright/test is not installed here.")
  }
}

const playwright = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  stdout: "inherit" | "ignore"
): Promise<number> => {
  const child = spawn(process.execPath, [playwrightCli(), "test", ...args], {
    env: { ...process.env, ...environment },
    stdio: ["inherit", stdout, "inherit"]
  })
  // The terminal sends it to both processes. This one waits for the other, which still has to finish the retry.
  process.on("SIGINT", () => {})
  process.on("SIGTERM", () => child.kill("SIGINT"))
  const [code] = (await once(child, "close")) as [number | null]
  return code ?? 1
}

/** Without this reporter, Playwright would run all tests and publish nothing. */
const isReporterConfigured = async (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) => {
  const directory = await mkdtemp(join(tmpdir(), "delivery-retry-"))
  try {
    const probe = join(directory, "probe")
    await playwright([...args, "--list"], { ...environment, [retryVariables.probe]: probe }, "ignore")
    return existsSync(probe)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const given = process.argv.slice(2)
const end = given.includes("--") ? given.indexOf("--") : given.length
const forPlaywright = given.slice(end + 1)

const { positionals, values } = (() => {
  try {
    return parseArgs({
      args: given.slice(0, end),
      allowPositionals: true,
      options: { passes: { type: "string" }, help: { type: "boolean", short: "h" } }
    })
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
  }
})()
if (values.help === true) {
  console.log(usage)
  process.exit(0)
}
const [command, run = "", ...rest] = positionals
const passes = values.passes ?? ""
if (command !== "retry" || !/^[1-9]\d{0,9}$/.test(run) || !/^[1-5]$/.test(passes) || rest.length > 0) fail(usage)

const environment = { [retryVariables.run]: run, [retryVariables.passes]: passes }
if (!(await isReporterConfigured(forPlaywright, environment))) {
  fail("The Playwright configuration cannot be loaded, or its reporters do not include @delivery/playwright.")
}
process.exitCode = await playwright(
  [...forPlaywright, "--repeat-each", passes, "--retries", "0", "--max-failures", "0"],
  environment,
  "inherit"
)
