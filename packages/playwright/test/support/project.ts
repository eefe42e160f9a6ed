import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { RunningServer } from "../../../client/test/support/server.ts"

const playwright = dirname(createRequire(import.meta.url).resolve("@playwright/test/package.json"))
const packages = join(import.meta.dirname, "../../..")

/** What a process of a test has of the tests' own environment. */
export const baseEnvironment: Readonly<Record<string, string | undefined>> = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]
}

/** What tells the reporter to publish runs of the product `shop` on `staging`. */
export const publishingTo = ({ apiKey, url }: RunningServer) => ({
  DELIVERY_URL: url,
  DELIVERY_API_KEY: apiKey,
  DELIVERY_WORKSPACE: "main",
  DELIVERY_PRODUCT: "shop",
  DELIVERY_ENVIRONMENT: "staging"
})

/** A user's project in a directory of its own, with this package installed. */
export interface Project {
  readonly directory: string
  /** What the reporter saved because it could not send it. */
  readonly saved: () => Promise<ReadonlyArray<unknown>>
  readonly remove: () => Promise<void>
}

export const makeProject = async (files: Readonly<Record<string, string>>): Promise<Project> => {
  const directory = await mkdtemp(join(tmpdir(), "delivery-playwright-"))
  await mkdir(join(directory, "node_modules/@delivery"), { recursive: true })
  await mkdir(join(directory, "node_modules/@playwright"))
  await symlink(playwright, join(directory, "node_modules/@playwright/test"))
  await symlink(join(packages, "playwright"), join(directory, "node_modules/@delivery/playwright"))
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  return {
    directory,
    saved: async () => {
      const results = join(directory, "delivery-results")
      const names = (await readdir(results).catch(() => [])).filter((name) => name.endsWith(".json"))
      return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(results, name), "utf8"))))
    },
    remove: () => rm(directory, { recursive: true, force: true })
  }
}

/** The text of a configuration: the reporter's options, and what else stands in it, as source. */
export const configuration = (options: string, rest = ""): string => `
import { defineConfig } from "@playwright/test"
export default defineConfig({
  testDir: "tests",
  workers: 1,
  reporter: [["line"], ["@delivery/playwright", ${options}]],
  use: { baseURL: "https://staging.shop.example.com" },
  ${rest}
})
`

export interface Outcome {
  readonly exitCode: number | null
  readonly output: string
  /** What the reporter said, one line each. */
  readonly lines: ReadonlyArray<string>
}

/** Runs the real command line of Playwright in the project. */
export const runPlaywright = async (
  project: Project,
  environment: Readonly<Record<string, string>>,
  options: {
    readonly command?: string
    readonly args?: ReadonlyArray<string>
    readonly onOutput?: (output: string, process: ChildProcess) => void
  } = {}
): Promise<Outcome> => {
  const child = spawn(
    process.execPath,
    [join(playwright, "cli.js"), options.command ?? "test", ...(options.args ?? [])],
    {
      cwd: project.directory,
      env: { ...baseEnvironment, ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    }
  )
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text
      options.onOutput?.(output, child)
    })
  }
  const [exitCode] = (await once(child, "close")) as [number | null]
  return { exitCode, output, lines: output.split("\n").filter((line) => line.startsWith("Delivery:")) }
}
