import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"

/** What the variables of a CI say of the job that publishes. */

type Environment = Readonly<Record<string, string | undefined>>

/** The pull request or merge request that the job runs for. */
export interface PullRequest {
  readonly number: number
  /** Its head, where the job has checked out what the CI merged it into; null elsewhere. */
  readonly head: { readonly sha: string; readonly merge: string; readonly title: string } | null
}

const wholeNumber = (text: string | undefined): number | undefined =>
  /^[1-9]\d{0,8}$/.test(text ?? "") ? Number(text) : undefined

/** The page of the job or build; null outside of a CI, and of one that names none. */
export const ciUrlOf = (environment: Environment): string | null => {
  const { GITHUB_REPOSITORY, GITHUB_RUN_ATTEMPT = "1", GITHUB_RUN_ID, GITHUB_SERVER_URL } = environment
  const github =
    GITHUB_SERVER_URL !== undefined && GITHUB_REPOSITORY !== undefined && GITHUB_RUN_ID !== undefined
      ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}/attempts/${GITHUB_RUN_ATTEMPT}`
      : undefined
  const url = [
    environment["DELIVERY_CI_URL"],
    github,
    environment["CI_JOB_URL"],
    environment["BUILDKITE_BUILD_URL"],
    environment["CIRCLE_BUILD_URL"],
    environment["BUILD_URL"]
  ].find(
    (one) => one !== undefined && /^https?:\/\/[^\s\p{Cc}]+$/iu.test(one) && one.length <= 2_000 && URL.canParse(one)
  )
  return url ?? null
}

/** The options of Playwright and Vitest that select a suite; files of one are selected in many ways, and count as one suite. */
const selecting = /^(?:--project|--grep|--grep-invert|-g|--config|-c|--testNamePattern|-t|--root|-r)(?:=|$)/

/** What tells the suite of a command line from others of the same build. */
const suiteOf = (args: ReadonlyArray<string>): string => {
  let isSelecting = false
  const selected = args.filter((arg) => {
    if (arg.startsWith("-")) isSelecting = selecting.test(arg)
    return isSelecting
  })
  return selected.length === 0 ? "" : `-${createHash("sha256").update(selected.join("\0")).digest("hex").slice(0, 8)}`
}

/**
 * The id of the build that the shards of a suite have in common; null where nothing names one. The id that a CI gives its build
 * says which suite is meant, too: a build may have several, each in shards.
 */
export const buildOf = (environment: Environment, args: ReadonlyArray<string>): string | null => {
  const { CI_PIPELINE_ID, DELIVERY_BUILD, GITHUB_RUN_ATTEMPT = "1", GITHUB_RUN_ID } = environment
  const named = (DELIVERY_BUILD ?? "").trim()
  if (named !== "") return withinLimit(named)
  const build = GITHUB_RUN_ID ? `${GITHUB_RUN_ID}-${GITHUB_RUN_ATTEMPT}` : CI_PIPELINE_ID
  return build ? `${build}${suiteOf(args)}` : null
}

/** The most characters that the service takes. */
const longest = 200

/** What is longer keeps its beginning, and what tells it from others that begin alike. */
const withinLimit = (build: string): string =>
  build.length <= longest
    ? build
    : `${build.slice(0, 150)}-${createHash("sha256").update(build).digest("hex").slice(0, 40)}`

/** Whether the shards that run here are of a build, and publish one run together. */
export const hasBuild = (): boolean => buildOf(process.env, process.argv.slice(2)) !== null

interface GithubEvent {
  readonly pull_request?: {
    readonly number?: number
    readonly title?: string
    readonly head?: { readonly sha?: string }
  }
}

const readEvent = async (path: string): Promise<GithubEvent> => {
  try {
    return (JSON.parse(await readFile(path, "utf8")) ?? {}) as GithubEvent
  } catch {
    return {}
  }
}

/** GitHub gives the job of a pull request a commit that merges it, and its head in the file of the event alone. */
const ofGithub = async (environment: Environment): Promise<PullRequest | null> => {
  const path = environment["GITHUB_EVENT_PATH"]
  if (path === undefined || !(environment["GITHUB_EVENT_NAME"] ?? "").startsWith("pull_request")) return null
  const { head, number, title = "" } = (await readEvent(path)).pull_request ?? {}
  const known = wholeNumber(String(number))
  if (known === undefined) return null
  const [merge, sha] = [environment["GITHUB_SHA"], head?.sha]
  // On `pull_request_target` GITHUB_SHA is the base, and a job that has it checked out tests that.
  const isMerged = environment["GITHUB_EVENT_NAME"] === "pull_request" && merge !== undefined && sha !== undefined
  return { number: known, head: isMerged ? { sha, merge, title } : null }
}

const ofGitlab = (environment: Environment): PullRequest | null => {
  const number = wholeNumber(environment["CI_MERGE_REQUEST_IID"])
  if (number === undefined) return null
  // Only pipelines of merged results have it.
  const [merge, sha] = [environment["CI_COMMIT_SHA"], environment["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"]]
  const head = merge && sha ? { sha, merge, title: environment["CI_MERGE_REQUEST_TITLE"] ?? "" } : null
  return { number, head }
}

/** The pull request of the job; null where there is none. */
export const pullRequestOf = async (environment: Environment): Promise<PullRequest | null> => {
  const found = (await ofGithub(environment)) ?? ofGitlab(environment)
  if (found !== null) return found
  const number = wholeNumber(
    [
      environment["BUILDKITE_PULL_REQUEST"],
      /\/(\d+)$/.exec(environment["CIRCLE_PULL_REQUEST"] ?? "")?.[1],
      environment["CHANGE_ID"]
    ].find((text) => wholeNumber(text) !== undefined)
  )
  return number === undefined ? null : { number, head: null }
}
