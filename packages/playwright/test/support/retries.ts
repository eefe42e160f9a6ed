import { createClient, type PromiseClient, type TestRun } from "@delivery/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { type RunningServer, startServer } from "../../../client/test/support/server.ts"
import { type FixtureApi, startFixtureApi } from "../../demo/FixtureApi.ts"
import { baseEnvironment, makeProject, type Outcome, type Project, publishingTo, runPlaywright } from "./project.ts"

/** A server with a deployment and its Fixture API, for suites of the command line that retries. */

const slug = "main"
const cli = join(import.meta.dirname, "../../src/cli.ts")

let server: RunningServer
export let client: PromiseClient
export let fixtures: FixtureApi
let environment: Record<string, string>
const projects: Array<Project> = []

/** Starts both before the first test of a file, and stops them after its last. */
export const withDeployment = (): void => {
  beforeAll(async () => {
    server = await startServer()
    client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
    const params = { slug }
    fixtures = await startFixtureApi(server.url, (await client.workspaces.get({ params })).id)
    await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "website" } })
    await client.environments.create({ params, payload: { slug: "staging", name: "Staging", class: "non-production" } })
    await client.deployments.create({
      params,
      payload: {
        product: "shop",
        environment: "staging",
        baseUrl: "https://deployed.shop.example.com",
        fixtureUrl: fixtures.url
      }
    })
    environment = publishingTo(server)
  }, 240_000)

  afterAll(async () => {
    for (const project of projects) await project.remove()
    await fixtures.close()
    await server.stop()
  })
}

/** Runs `delivery-playwright` in the project. */
export const deliver = async (project: Project, ...args: ReadonlyArray<string>): Promise<Outcome> => {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: project.directory,
    env: { ...baseEnvironment, ...environment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  }
  const [exitCode] = (await once(child, "close")) as [number | null]
  return { exitCode, output, lines: output.split("\n").filter((line) => line.startsWith("Delivery:")) }
}

export const projectOf = async (files: Readonly<Record<string, string>>): Promise<Project> => {
  const project = await makeProject(files)
  projects.push(project)
  return project
}

export const numberOf = ({ lines, output }: Outcome): number => {
  const number = /test-runs\/(\d+)$/.exec(lines.at(-1) ?? "")?.[1]
  if (number === undefined) throw new Error(`Nothing was published:\n${output}`)
  return Number(number)
}

export const readRun = (run: number): Promise<TestRun> => client.testRuns.get({ params: { slug, run } })

export const byTitle = (run: TestRun) =>
  Object.fromEntries(
    run.tests.map((test) => [test.title, [test.status, ...test.attempts.map((one) => `${one.retry}:${one.status}`)]])
  )

/** Counts in a file how often a test has begun, over all processes. */
export const counted = `
  import { appendFileSync, readFileSync } from "node:fs"
  const times = (name) => {
    appendFileSync(name + ".count", "x")
    return readFileSync(name + ".count", "utf8").length
  }
`

/** Runs Playwright in the project, which publishes a run. */
export const play = (
  project: Project,
  options: Parameters<typeof runPlaywright>[2] = {},
  more: Readonly<Record<string, string>> = {}
): Promise<Outcome> => runPlaywright(project, { ...environment, ...more }, options)
