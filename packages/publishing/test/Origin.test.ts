import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { buildOf, ciUrlOf } from "../src/Ci.ts"
import { readGit } from "../src/Origin.ts"

/** A real repository with a merge commit, as GitHub makes one of a pull request. */

let directory = ""
const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-c", "user.name=Ana", "-c", "user.email=ana@example.com", ...args], {
    cwd: directory,
    encoding: "utf8"
  }).trim()
let head = ""
let merge = ""

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "delivery-origin-"))
  git("init", "--quiet", "--initial-branch", "main")
  git("commit", "--quiet", "--allow-empty", "-m", "Begin")
  git("switch", "--quiet", "-c", "basket")
  git("commit", "--quiet", "--allow-empty", "-m", "Add the basket")
  head = git("rev-parse", "HEAD")
  git("switch", "--quiet", "--detach", "main")
  git("merge", "--quiet", "--no-ff", "-m", "Merge basket into main", "basket")
  merge = git("rev-parse", "HEAD")
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

const githubOf = (event: string, sha: string) => {
  const path = join(tmpdir(), `delivery-event-${process.pid}.json`)
  const pullRequest = { number: 42, title: "The basket", head: { sha } }
  writeFileSync(path, JSON.stringify({ pull_request: pullRequest }))
  return { GITHUB_EVENT_NAME: event, GITHUB_EVENT_PATH: path, GITHUB_SHA: merge, GITHUB_HEAD_REF: "basket" }
}

describe("the commit of a run", () => {
  it("is the head of a pull request that GitHub has merged", async () => {
    const read = await readGit(directory, githubOf("pull_request", head), {})
    expect(read).toEqual({ sha: head, branch: "basket", dirty: false, subject: "Add the basket", pullRequest: 42 })
  })

  it("has uncommitted changes where files of it have, and not by reports that lie beside them", async () => {
    const dirtyOf = async () => (await readGit(directory, {}, {})).dirty
    writeFileSync(join(directory, "tests.ts"), "one")
    git("add", "tests.ts")
    expect(await dirtyOf()).toBe(true)
    git("commit", "--quiet", "-m", "Add tests")
    writeFileSync(join(directory, "report.xml"), "<testsuites/>")
    expect(await dirtyOf()).toBe(false)
    writeFileSync(join(directory, "tests.ts"), "two")
    expect(await dirtyOf()).toBe(true)
    git("checkout", "--quiet", "--", "tests.ts")
    git("reset", "--quiet", "--hard", "HEAD~1")
  })

  it("has the title of the pull request where a shallow checkout lacks its head", async () => {
    const missing = "0123456789".repeat(4)
    const read = await readGit(directory, githubOf("pull_request", missing), {})
    expect(read).toMatchObject({ sha: missing, subject: "The basket", pullRequest: 42 })
  })

  it("is what is checked out on pull_request_target, and where a job has checked out something else", async () => {
    expect(await readGit(directory, githubOf("pull_request_target", head), {})).toMatchObject({
      sha: merge,
      pullRequest: 42
    })
    const other = { ...githubOf("pull_request", head), GITHUB_SHA: "f".repeat(40) }
    expect(await readGit(directory, other, {})).toMatchObject({ sha: merge, subject: "Merge basket into main" })
  })

  it("is the head of a merge request in a pipeline of merged results", async () => {
    const gitlab = {
      CI_MERGE_REQUEST_IID: "7",
      CI_COMMIT_SHA: merge,
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head,
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: "basket"
    }
    expect(await readGit(directory, gitlab, {})).toMatchObject({ sha: head, branch: "basket", pullRequest: 7 })
    const detached = { ...gitlab, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: "" }
    expect(await readGit(directory, detached, {})).toMatchObject({ sha: merge, pullRequest: 7 })
  })

  it("has no pull request outside of one, also where a variable is no number", async () => {
    for (const environment of [{}, { BUILDKITE_PULL_REQUEST: "false" }, { GITHUB_EVENT_NAME: "push" }]) {
      expect(await readGit(directory, environment, {})).not.toHaveProperty("pullRequest")
    }
    const circle = { CIRCLE_PULL_REQUEST: "https://github.com/example/shop/pull/8" }
    expect(await readGit(directory, circle, {})).toMatchObject({ sha: merge, pullRequest: 8 })
  })
})

describe("the page of the job", () => {
  it("is the attempt of a workflow, the job of a pipeline, or what a variable says", () => {
    const github = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "example/shop", GITHUB_RUN_ID: "5" }
    expect(ciUrlOf(github)).toBe("https://github.com/example/shop/actions/runs/5/attempts/1")
    expect(ciUrlOf({ CI_JOB_URL: "https://gitlab.com/example/-/jobs/9" })).toBe("https://gitlab.com/example/-/jobs/9")
    expect(ciUrlOf({ ...github, DELIVERY_CI_URL: "https://ci.example.com/5" })).toBe("https://ci.example.com/5")
    expect(ciUrlOf({ BUILD_URL: "javascript:alert(1)" })).toBeNull()
    expect(ciUrlOf({})).toBeNull()
  })
})

describe("the build of shards", () => {
  const github = { GITHUB_RUN_ID: "98765", GITHUB_RUN_ATTEMPT: "2" }

  it("is the attempt of a workflow, the pipeline, or what a variable says", () => {
    expect(buildOf(github, [])).toBe("98765-2")
    expect(buildOf({ GITHUB_RUN_ID: "98765" }, [])).toBe("98765-1")
    expect(buildOf({ CI_PIPELINE_ID: "42" }, [])).toBe("42")
    const long = ["1", "2"].map((end) => buildOf({ DELIVERY_BUILD: "x".repeat(400) + end }, [])!)
    expect(long.map(({ length }) => length <= 200)).toEqual([true, true])
    expect(long[0]).not.toBe(long[1])
    expect(buildOf({ ...github, DELIVERY_BUILD: " e2e 7 " }, ["--project=a"])).toBe("e2e 7")
    expect(buildOf({ DELIVERY_BUILD: " ", GITHUB_RUN_ID: "", CI_PIPELINE_ID: "" }, [])).toBeNull()
  })

  it("is the same in each shard of a suite, and another for each suite", () => {
    const of = (...args: ReadonlyArray<string>) => buildOf(github, ["test", ...args])
    expect(of("--shard=1/3", "--output", "a", "--workers=2")).toBe("98765-2")
    const chromium = of("--shard=1/3", "--project", "chromium", "--output=a")
    expect(chromium).toMatch(/^98765-2-[0-9a-f]{8}$/)
    expect(of("--project", "chromium", "--shard", "2/3")).toBe(chromium)
    expect(of("--project", "firefox", "--shard", "2/3")).not.toBe(chromium)
    expect(of("-c", "smoke.config.ts")).not.toBe(of("-c", "e2e.config.ts"))
  })
})
