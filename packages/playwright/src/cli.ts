#!/usr/bin/env node
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { installedVersion, versionProblem } from "./InstalledPlaywright.ts"
import { retryVariables } from "./RetryRequest.ts"

const usage = `Usage: delivery-playwright retry RUN --passes N [-- PLAYWRIGHT ARGUMENTS]

Runs the failed tests of a run again, N times each (1 to 5), and publishes this as a retry of the run. A test that
passes all N times becomes flaky. The options of the reporter in the Playwright configuration, and the same environment
variables as for a run, say where to publish. Exits with 0 if the run has passed then, with 1 if not or if the service cannot
be reached, and with 2 if the command or the configuration is wrong, or if the service refuses the retry.

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
if (command === "retry" && rest.length === 0 && !/^[1-5]$/.test(passes)) {
  fail(
    `${passes === "" ? "--passes is missing" : `--passes is "${passes}"`}: how often each failed test runs, 1 to 5.\n\n${usage}`
  )
}
if (command !== "retry" || !/^[1-9]\d{0,9}$/.test(run) || !/^[1-5]$/.test(passes) || rest.length > 0) fail(usage)

const problem = versionProblem("A retry needs", installedVersion(playwrightCli()) ?? "0")
if (problem !== undefined) fail(problem)

const directory = await mkdtemp(join(tmpdir(), "delivery-retry-"))
const environment = { [retryVariables.run]: run, [retryVariables.passes]: passes }
try {
  // Without this reporter, Playwright would run all tests and publish nothing.
  const probe = join(directory, "probe")
  await playwright([...forPlaywright, "--list"], { ...environment, [retryVariables.probe]: probe }, "ignore")
  if (!existsSync(probe)) {
    throw new Error(
      "The Playwright configuration cannot be loaded, or its reporters do not include @delivery/playwright."
    )
  }
  const refused = join(directory, "refused")
  const code = await playwright(
    [...forPlaywright, "--repeat-each", passes, "--retries", "0", "--max-failures", "0"],
    { ...environment, [retryVariables.refused]: refused },
    "inherit"
  )
  process.exitCode = existsSync(refused) ? 2 : code
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
} finally {
  await rm(directory, { recursive: true, force: true })
}
