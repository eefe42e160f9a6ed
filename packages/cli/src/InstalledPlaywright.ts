import { execFile } from "node:child_process"
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { cwd } from "node:process"
import { promisify } from "node:util"
import { Signals, start } from "./Child.ts"
import { Failure } from "./Failure.ts"

/** The Playwright of the working directory. What it wrote it reads best, and in the version that wrote it. */

const notInstalled = (why: string) =>
  Failure.usage(`${why} needs Playwright: run this where @playwright/test is installed.`)

const commandLine = (why: string): string => {
  try {
    const manifest = createRequire(join(cwd(), "package.json")).resolve("@playwright/test/package.json")
    return join(dirname(manifest), "cli.js")
  } catch {
    throw notInstalled(why)
  }
}

/** The JSON report of blob reports, which one run wrote on several machines. */
export const mergedReport = async (blobs: ReadonlyArray<string>): Promise<string> => {
  const playwright = commandLine("A blob report")
  const directory = await mkdtemp(join(tmpdir(), "delivery-blobs-"))
  try {
    await Promise.all(
      blobs.map((blob, index) =>
        copyFile(blob, join(directory, `${index}.zip`)).catch(() => {
          throw new Failure({ message: `${blob} is not published: it cannot be read.` })
        })
      )
    )
    const report = join(directory, "report.json")
    await promisify(execFile)(process.execPath, [playwright, "merge-reports", "--reporter", "json", directory], {
      env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: report },
      maxBuffer: 64 * 1024 * 1024
    }).catch((error: { readonly stderr?: string }) => {
      const [why = ""] = (error.stderr ?? "").trim().split("\n", 1)
      throw new Failure({ message: `${blobs.join(", ")} is not published: Playwright cannot merge it. ${why}`.trim() })
    })
    return await readFile(report, "utf8")
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Runs a program of Node in front, and answers its exit code. */
const run = async (args: ReadonlyArray<string>, environment: NodeJS.ProcessEnv): Promise<number> => {
  const signals = new Signals()
  const child = await start({ command: process.execPath, args, environment, hasInput: true })
  signals.runs(child)
  return child.ended
}

/** Shows a trace until its window is closed. */
export const showTrace = (file: string): Promise<number> =>
  run([commandLine("A trace"), "show-trace", file], process.env)

const retryCommand = (from: string): string => {
  const found = join(from, "node_modules/@delivery/playwright")
  if (existsSync(found)) {
    const { bin } = createRequire(import.meta.url)(join(found, "package.json")) as {
      readonly bin: Readonly<Record<string, string>>
    }
    return resolve(found, bin["delivery-playwright"] ?? "")
  }
  if (dirname(from) !== from) return retryCommand(dirname(from))
  throw Failure.usage("A retry needs @delivery/playwright, the reporter: run this where it is installed.")
}

export interface Retry {
  readonly run: number
  readonly passes: number
  /** Arguments for Playwright. */
  readonly args: ReadonlyArray<string>
  /** Where to publish: `DELIVERY_URL` and others. */
  readonly environment: Readonly<Record<string, string>>
}

/** Runs the failed tests of a run again, as `delivery-playwright retry` does. Answers its exit code. */
export const retry = ({ args, environment, passes, run: number }: Retry): Promise<number> =>
  run([retryCommand(cwd()), "retry", String(number), "--passes", String(passes), "--", ...args], {
    ...process.env,
    ...environment
  })
