import { createClient, type PromiseClient } from "@delivery/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { type RunningServer, startServer } from "../../client/test/support/server.ts"
import { configuration, makeProject, type Project } from "../../playwright/test/support/project.ts"
import {
  type CiIssuer,
  gitHubClaims,
  gitLabClaims,
  startCiIssuer,
  startGitHubTokens
} from "../../server/test/support/CiIssuer.ts"
import { baseEnvironment } from "../../server/test/support/ServerProcess.ts"
import { main } from "./support/Home.ts"

/** Runs what docs/ci.md says, at a real server: its requests, and the commands of its manifests. */

const root = join(import.meta.dirname, "../../..")
const page = readFileSync(join(root, "docs/ci.md"), "utf8")
const blocks = (language: string): ReadonlyArray<string> =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, text]) => text!)

interface GitHubManifest {
  readonly permissions: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, { readonly steps: ReadonlyArray<{ readonly run?: string }> }>>
}
interface GitLabManifest {
  readonly e2e: {
    readonly variables: Readonly<Record<string, string>>
    readonly id_tokens: Readonly<Record<string, { readonly aud: string }>>
    readonly script: ReadonlyArray<string>
  }
}

interface GitHubShards {
  readonly jobs: {
    readonly e2e: GitHubManifest["jobs"][string] & {
      readonly strategy: { readonly matrix: { readonly shard: ReadonlyArray<number> } }
    }
  }
}
interface GitHubDeploy {
  readonly jobs: {
    readonly e2e: GitHubManifest["jobs"][string] & { readonly env: Readonly<Record<string, string>> }
    readonly deploy: GitHubManifest["jobs"][string]
  }
}
interface GitLabShards {
  readonly e2e: Pick<GitLabManifest["e2e"], "script"> & { readonly parallel: number }
}

const [gitHub, gitLab, gitHubShards, gitLabShards, gitHubDeploy] = blocks("yaml").map(
  (text) => parse(text) as unknown
) as unknown as [GitHubManifest, GitLabManifest, GitHubShards, GitLabShards, GitHubDeploy]

let issuer: CiIssuer
let tokens: Awaited<ReturnType<typeof startGitHubTokens>>
let server: RunningServer
let client: PromiseClient
let project: Project

const junit = `<testsuites><testsuite name="unit"><testcase classname="unit" name="works" time="0.1"/></testsuite></testsuites>`

/** A command of the packages in the project, as npm installs it. */
const install = (name: string, file: string) => {
  const bin = join(project.directory, "node_modules/.bin")
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`)
  chmodSync(join(bin, name), 0o755)
}

beforeAll(async () => {
  issuer = await startCiIssuer()
  tokens = await startGitHubTokens(issuer)
  server = await startServer({ CI_ISSUERS: issuer.url })
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  project = await makeProject({
    "playwright.config.ts": configuration(`{ git: { sha: "9fceb02", branch: "main", dirty: false } }`),
    "tests/works.spec.ts": `import { test } from "@playwright/test"\ntest("works", () => {})\n`,
    "results/junit.xml": junit
  })
  install("delivery", main)
  const playwright = createRequire(join(root, "packages/playwright/package.json"))
  install("playwright", join(dirname(playwright.resolve("@playwright/test/package.json")), "cli.js"))
}, 240_000)

afterAll(async () => {
  await project.remove()
  await server.stop()
  await tokens.close()
  await issuer.close()
})

/** What a shell makes of the script, as a runner calls it. */
const run = async (script: string, environment: Readonly<Record<string, string>>): Promise<string> => {
  // `npx @delivery/cli` runs the command of the package: `pnpm release:check` has it from npm.
  const installed = script.replaceAll("npx --yes @delivery/cli", "delivery")
  const child = spawn("bash", ["-e", "-o", "pipefail", "-c", installed], {
    cwd: project.directory,
    env: {
      ...baseEnvironment,
      PATH: `${join(project.directory, "node_modules/.bin")}:${baseEnvironment["PATH"]}`,
      HOME: project.directory,
      ...environment
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  }
  const [code] = (await once(child, "close")) as [number]
  assert.strictEqual(code, 0, `${script}\n${output}`)
  return output
}

/** The page's issuers are played by the one of the tests, and its service is the server. */
const here = (text: string): string =>
  text
    .replaceAll("https://token.actions.githubusercontent.com", issuer.url)
    .replaceAll("https://gitlab.com", issuer.url)
    .replaceAll("https://delivery.example.com", server.url)

const hereAll = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, here(value)]))

/** npm installs from a registry what the project has here. */
const withoutInstalling = (scripts: ReadonlyArray<string>): ReadonlyArray<string> => {
  assert.strictEqual(scripts[0], "npm ci")
  return scripts.slice(1)
}

const publishers = async () => {
  const { runs } = await client.testRuns.list({ params: { slug: "main" } })
  return runs.map(({ publishedBy, state }) => [
    state,
    publishedBy.kind,
    publishedBy.kind === "removed" ? null : publishedBy.name
  ])
}

describe("docs/ci.md", () => {
  it("makes what must be there, and trusts workflows", { timeout: 120_000 }, async () => {
    const requests = blocks("sh")
    assert.lengthOf(requests, 4)
    const environment = { DELIVERY_URL: server.url, DELIVERY_API_KEY: server.apiKey }
    // In one shell: what the first defines is used by the last.
    await run(here(requests.join("\n")), environment)
    const { trustedPublishers } = await client.trustedPublishers.list({ params: { slug: "main" } })
    assert.deepStrictEqual(
      trustedPublishers.map(({ workflow }) => workflow),
      [".gitlab-ci.yml", "e2e.yml"]
    )
  })

  it("publishes from GitHub Actions", { timeout: 240_000 }, async () => {
    assert.strictEqual(gitHub.permissions["id-token"], "write")
    const environment = { ...hereAll(gitHub.env), ...tokens.environment, CI: "true", GITHUB_ACTIONS: "true" }
    const scripts = withoutInstalling(gitHub.jobs["e2e"]!.steps.flatMap(({ run }) => run ?? []))
    const outputs: Array<string> = []
    for (const script of scripts) outputs.push(await run(here(script), environment))
    // Whatever was printed, no key was but in the line that hides it from the log.
    assert.notMatch(outputs.join("\n").replaceAll(/^::add-mask::.*$/gm, ""), /ctk_/)
    assert.match(outputs.at(-1)!, /^2$/m)
    assert.deepStrictEqual(await publishers(), [
      ["finished", "apiKey", "e2e.yml"],
      ["finished", "apiKey", "e2e.yml"]
    ])
    assert.deepStrictEqual([...new Set(tokens.audiences)], [server.url])
  })

  it("publishes from GitLab", { timeout: 240_000 }, async () => {
    const none = Object.fromEntries(Object.keys(gitHubClaims).map((name) => [name, undefined]))
    const variables = hereAll(gitLab.e2e.variables)
    const claims = { ...none, ...gitLabClaims }
    const given: Record<string, string> = {}
    for (const [name, { aud }] of Object.entries(gitLab.e2e.id_tokens)) {
      given[name] = await issuer.token(here(aud), { claims })
    }
    for (const script of withoutInstalling(gitLab.e2e.script)) {
      await run(script, { ...variables, ...given, CI: "true", GITLAB_CI: "true" })
    }
    assert.deepStrictEqual((await publishers()).slice(0, 2), [
      ["finished", "apiKey", ".gitlab-ci.yml"],
      ["finished", "apiKey", ".gitlab-ci.yml"]
    ])
  })

  it("publishes the shards of a build as one run, each with a key of its own", { timeout: 400_000 }, async () => {
    const newest = async () => {
      const { runs } = await client.testRuns.list({ params: { slug: "main" } })
      return runs.slice(0, 2).map(({ counts, number, result, shards }) => [number, result, counts.total, shards])
    }
    const [before] = (await newest())[0]! as [number]
    const [, only] = gitHubShards.jobs.e2e.steps.flatMap(({ run }) => run ?? [])
    const environment = {
      ...hereAll(gitHub.env),
      ...tokens.environment,
      GITHUB_RUN_ID: "9876",
      GITHUB_RUN_ATTEMPT: "1"
    }
    for (const shard of gitHubShards.jobs.e2e.strategy.matrix.shard) {
      await run(only!.replace("${{ matrix.shard }}", String(shard)), environment)
    }
    const all = { total: 3, started: 3, finished: 3 }
    assert.deepStrictEqual((await newest())[0], [before + 1, "passed", 1, all])

    const none = Object.fromEntries(Object.keys(gitHubClaims).map((name) => [name, undefined]))
    const { parallel, script } = gitLabShards.e2e
    for (let index = 1; index <= parallel; index++) {
      const given = {
        ...hereAll(gitLab.e2e.variables),
        DELIVERY_ID_TOKEN: await issuer.token(server.url, { claims: { ...none, ...gitLabClaims } }),
        GITLAB_CI: "true",
        CI_PIPELINE_ID: "42",
        CI_NODE_INDEX: String(index),
        CI_NODE_TOTAL: String(parallel)
      }
      for (const one of withoutInstalling(script)) await run(one, given)
    }
    assert.deepStrictEqual(await newest(), [
      [before + 2, "passed", 1, all],
      [before + 1, "passed", 1, all]
    ])
  })

  it("asks before it deploys, and does so only if the service says yes", { timeout: 240_000 }, async () => {
    const sha = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    const { deploy, e2e } = gitHubDeploy.jobs
    const scriptOf = ({ steps }: GitHubManifest["jobs"][string]) =>
      steps.flatMap(({ run }) => run?.replaceAll("${{ github.sha }}", sha) ?? [])
    const script = scriptOf(deploy).join(" && ")
    writeFileSync(join(project.directory, "deploy.sh"), '#!/bin/sh\necho "Deployed $2 to $1."\n', { mode: 0o755 })
    const environment = { ...hereAll(gitHub.env), ...tokens.environment }
    const refused = await run(`(${script}) || test $? = 1`, environment)
    assert.match(refused, /^block\s+run_missing\s+No run of 9fceb02/m)
    assert.notInclude(refused, "Deployed")
    for (const one of withoutInstalling(scriptOf(e2e))) await run(one, { ...environment, ...e2e.env })
    const allowed = await run(script, environment)
    assert.match(allowed, /^9fceb02\w+ for shop in production: ready$/m)
    assert.match(allowed, /^Run \d+ in staging, critical: passed \(1 passed\), main 9fceb02$/m)
    assert.include(allowed, `Deployed ${sha} to production.`)
    const params = { slug: "main", product: "shop", environment: "production" }
    assert.strictEqual((await client.deployments.get({ params })).version, sha)
    // Whoever cannot ask deploys nothing either.
    const unreachable = { ...environment, DELIVERY_URL: "http://127.0.0.1:1", DELIVERY_API_KEY: server.apiKey }
    assert.notInclude(await run(`(${script}) || test $? = 4`, unreachable), "Deployed")
  })

  it("says why there is no key", { timeout: 120_000 }, async () => {
    const elsewhere = await startGitHubTokens(issuer, { repository_id: "1" })
    try {
      const environment = { ...hereAll(gitHub.env), ...elsewhere.environment }
      const said = await run("npx delivery runs list || test $? = 3", environment)
      assert.include(said, "trusts no such publisher")
      assert.include(
        await run("npx delivery status", environment),
        "Commands exchange the ID token of this job for a key."
      )
      const reported = await run("npx playwright test", environment)
      assert.match(reported, /Delivery: the run was not published: .*trusts no such publisher/)
    } finally {
      await elsewhere.close()
    }
  })
})
