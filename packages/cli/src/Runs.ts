import type { TestRun, TestRunSummary } from "@delivery/client"
import { gateText } from "@delivery/domain/runs/GateText"
import { retryOutcome } from "@delivery/domain/runs/RetryOutcome"
import { runRemarks, testedNothing } from "@delivery/domain/runs/RunRemarks"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { call } from "./Calls.ts"
import { callFailure, Failure } from "./Failure.ts"
import { given, optionalText, textOr } from "./Flags.ts"
import { openPage } from "./OpenPage.ts"
import type { Published } from "./PublishRun.ts"
import { colour, note, oneLine, plainLines, print, table, noteNow } from "./Output.ts"
import { runNumber } from "./RunNumber.ts"
import { retry, trace } from "./RunsPlaywright.ts"
import { connection, connectionFlags, Json, UrlFlag, WorkspaceFlag } from "./Settings.ts"

/** `delivery runs`. */

const countsOf = ({ counts }: TestRunSummary): string =>
  [
    `${counts.passed} passed`,
    ...(counts.flaky > 0 ? [`${counts.flaky} flaky`] : []),
    `${counts.failed} failed`,
    `${counts.skipped} skipped`
  ].join(", ")

const resultOf = ({ result, state }: TestRunSummary): string => result ?? state

/** Which commit was tested; nothing where git did not say. */
const commitOf = ({ git: { branch, sha, subject } }: TestRunSummary): string =>
  sha === "unknown" ? "" : `, ${[branch, sha, subject].map(oneLine).join(" ").trimEnd()}`

/** A remark as a line of its own. */
const sentence = (remark: string): string => `${remark.charAt(0).toUpperCase()}${remark.slice(1)}`

const coloured = (result: string): string =>
  result === "passed" ? colour("green", result) : result === "failed" ? colour("red", result) : colour("yellow", result)

/** A run is of the version that its deployment had, and that is recorded before the tests run. */
const versionlessText = ({ environment, product }: TestRunSummary): string =>
  `No version is set in ${oneLine(environment.name)}: this run counts for no version. To set one before the tests run: delivery deployments set-version --product ${product.slug} --environment ${environment.slug}`

const publish = Command.make(
  "publish",
  {
    files: Argument.String("file").pipe(
      Argument.variadic({ min: 1 }),
      Argument.withDescription(
        "Results: JUnit XML, Playwright's JSON or blob reports, or one file of results that its reporter saved"
      )
    ),
    product: textOr("product", "DELIVERY_PRODUCT", "Product that was tested. Saved results name it").pipe(
      Flag.optional
    ),
    environment: textOr(
      "environment",
      "DELIVERY_ENVIRONMENT",
      "Environment that it ran in. Saved results name it"
    ).pipe(Flag.optional),
    baseUrl: textOr("base-url", "DELIVERY_BASE_URL", "URL that was tested. Default: that of the deployment").pipe(
      Flag.optional
    ),
    coverage: Flag.Literals("coverage", ["critical", "acceptance", "regression", "exhaustive"]).pipe(
      Flag.optional,
      Flag.withDescription("Which selection of the tests ran. Default: none was selected")
    ),
    attach: Flag.String("attach").pipe(
      Flag.atLeast(0),
      Flag.withDescription("File or directory to store with the run. May be repeated")
    ),
    again: Flag.Boolean("again").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Publish saved results as another run. Default: those that have been published stay one run")
    ),
    ignoreTimes: Flag.Boolean("ignore-times").pipe(
      Flag.withDefault(false),
      Flag.withDescription(
        "Keep the coverage of results from before the version of the deployment was set, by when a file was written or by the times in it. Default: left out, since they are of an earlier version"
      )
    ),
    fail: Flag.Boolean("fail").pipe(
      Flag.withDefault(false),
      Flag.withDescription(
        "Exit with 1 if the run failed, if none of its tests passed or failed, muted ones left out, or if its results are of an earlier version. Default: 0 once it is published"
      )
    )
  },
  Effect.fnUntraced(function* ({ again, attach, fail, files, ignoreTimes, ...options }) {
    const at = yield* connection
    const [isUrlNamed, isWorkspaceNamed] = [Option.isSome(yield* UrlFlag), Option.isSome(yield* WorkspaceFlag)]
    const isJson = yield* Json
    const { mutedLines, publishRun } = yield* Effect.promise(() => import("./PublishRun.ts"))
    const tell = {
      note: noteNow,
      progress: (line: string) => {
        if (!isJson && process.stderr.isTTY) noteNow(line)
      }
    }
    const published = yield* Effect.callback<Published, Failure>((resume) => {
      const cancelling = new AbortController()
      const publishing = publishRun(
        at,
        { again, attach, files, ignoreTimes, isUrlNamed, isWorkspaceNamed, ...given(options) },
        tell,
        cancelling.signal
      ).then(
        (published) => resume(Effect.succeed(published)),
        (error: unknown) => resume(Effect.fail(callFailure(at)(error)))
      )
      return Effect.promise(() => {
        // Whoever does not wait until the service has heard of it presses Ctrl-C again.
        process.once("SIGINT", () => process.exit(130))
        cancelling.abort()
        return publishing
      })
    })
    const { ignored, muted, notAttached, omitted, run, uncovered } = published
    if (omitted !== null) yield* note(`Left out of the run: ${omitted}.`)
    if (uncovered !== null) {
      yield* note(`${uncovered}. So the run has no coverage, and decides nothing. --ignore-times keeps it.`)
    }
    if (ignored !== null) yield* note(`${ignored}. --ignore-times keeps the coverage of the run all the same.`)
    if (run.coverage !== null && run.deploymentVersion === null) yield* note(versionlessText(run))
    for (const line of mutedLines(muted)) yield* note(oneLine(line))
    const said = `Run ${run.number} ${coloured(resultOf(run))}: ${countsOf(run)}. ${run.url}`
    yield* print(
      published,
      [said, ...(testsDeployment(run) ? [] : [elsewhereText(run)]), ...runRemarks(run).map(sentence)].join("\n")
    )
    const [first] = notAttached
    if (first !== undefined) {
      return yield* new Failure({
        message: `The run is published, but ${notAttached.length === 1 ? "a file is not attached" : `${notAttached.length} files are not attached; the first`}: ${oneLine(first.path)}: ${oneLine(first.reason)}`
      })
    }
    if (fail && run.gateResult === "failed") return yield* new Failure({ message: "The run failed." })
    if (fail && uncovered !== null) {
      return yield* new Failure({ message: "The results are older than the version: nothing was tested of it." })
    }
    if (fail && testedNothing(run)) {
      return yield* new Failure({ message: "Nothing was tested: no test passed or failed, muted ones left out." })
    }
  })
).pipe(Command.withDescription("Publish results as a run, whether tests failed or not"))

/** What the gate says, where the result says something else. */
const gatesOf = (run: TestRunSummary): ReadonlyArray<string> => {
  const text = gateText(run)
  return text === undefined ? [] : [text]
}

const rowOf = (run: TestRunSummary): ReadonlyArray<string> => [
  String(run.number),
  [resultOf(run), ...gatesOf(run), ...(testsDeployment(run) ? [] : ["of another address"]), ...runRemarks(run)].join(
    ", "
  ),
  countsOf(run),
  run.product.slug,
  run.environment.slug,
  run.git.branch,
  run.git.sha.slice(0, 7),
  run.startedAt
]

const list = Command.make(
  "list",
  {
    product: optionalText("product", "Only runs of this product"),
    environment: optionalText("environment", "Only runs in this environment"),
    result: Flag.Literals("result", ["passed", "failed", "flaky"]).pipe(
      Flag.optional,
      Flag.withDescription("Only runs with this result")
    ),
    query: optionalText("query", "Only runs whose branch, commit subject or start of the SHA has this text"),
    mine: Flag.Boolean("mine").pipe(Flag.withDefault(false), Flag.withDescription("Only runs that you published")),
    before: Flag.Int("before").pipe(
      Flag.optional,
      Flag.withDescription("Only runs with lower numbers, for the next page")
    )
  },
  Effect.fnUntraced(function* ({ before, environment, mine, product, query, result }) {
    const page = yield* call((client, { workspace }) =>
      client.testRuns.list({
        params: { slug: workspace },
        query: {
          ...given({ cursor: before, environment, product, q: query, result }),
          ...(mine ? { mine: "true" as const } : {})
        }
      })
    )
    yield* print(
      page,
      page.runs.length === 0
        ? "No runs."
        : table(
            ["Run", "Result", "Tests", "Product", "Environment", "Branch", "Commit", "Started"],
            page.runs.map(rowOf)
          )
    )
    if (page.nextCursor !== null && !(yield* Json)) yield* note(`There are more: add --before ${page.nextCursor}`)
  })
).pipe(Command.withDescription("List runs, newest first, 50 at a time"))

const retryText = (retry: TestRun["retries"][number]): string => {
  const { baseUrl, elsewhere, flakyCount, number, testCount } = retry
  const outcome = retryOutcome(retry)
  const tests = `${testCount} ${testCount === 1 ? "test" : "tests"}`
  return outcome === "running"
    ? `Retry ${number} is ${coloured(outcome)}: ${tests}`
    : `Retry ${number} ${coloured(outcome)}: ${flakyCount} of ${tests} passed${elsewhere ? `, on another release or address, or with uncommitted changes: ${oneLine(baseUrl)}` : ""}`
}

const elsewhereText = ({ baseUrl, deploymentBaseUrl }: Pick<TestRun, "baseUrl" | "deploymentBaseUrl">): string =>
  `Tested ${oneLine(baseUrl)}, which is not the deployment: ${oneLine(deploymentBaseUrl!)}`

const runText = (run: TestRun): string => {
  const tests = run.tests.filter(({ status }) => status === "failed" || status === "flaky")
  return [
    `Run ${run.number} ${coloured(resultOf(run))}: ${countsOf(run)}`,
    `${oneLine(run.product.name)} in ${oneLine(run.environment.name)}${commitOf(run)}`,
    ...(testsDeployment(run) ? [] : [elsewhereText(run)]),
    ...runRemarks(run).map(sentence),
    ...(run.git.pullRequest == null ? [] : [`Pull request ${run.git.pullRequest}`]),
    ...(run.ciUrl === null ? [] : [oneLine(run.ciUrl)]),
    ...gatesOf(run).map((text) => text.replace(/^\S+/, coloured)),
    ...run.retries.map(retryText),
    run.url,
    ...(run.error === null ? [] : [plainLines(run.error)]),
    ...tests.map((test) => {
      const { caseId, errorMessage, file, status, title } = test
      // Those of several projects have the same title, and ids of their own.
      const isAlone = tests.every((other) => other === test || other.title !== title || other.file !== file)
      return `\n${coloured(status)} ${oneLine(title)} ${colour("dim", oneLine(isAlone ? file : caseId))}${errorMessage === null ? "" : `\n${plainLines(errorMessage)}`}`
    })
  ].join("\n")
}

const get = (run: number) => call((client, { workspace }) => client.testRuns.get({ params: { slug: workspace, run } }))

const show = Command.make(
  "show",
  { number: runNumber },
  Effect.fnUntraced(function* ({ number }) {
    const run = yield* get(number)
    yield* print(run, runText(run))
  })
).pipe(Command.withDescription("Show a run with its failed and flaky tests"))

const open = Command.make(
  "open",
  { number: runNumber },
  Effect.fnUntraced(function* ({ number }) {
    const { url } = yield* get(number)
    const isOpened = yield* openPage(url)
    yield* print({ url, opened: isOpened }, url)
  })
).pipe(Command.withDescription("Open the page of a run in a browser, and print its address"))

/** The retry of a run that is over, which is running all the same. */
const runningRetryOf = ({ retries, state }: TestRun): TestRun["retries"][number] | undefined => {
  const last = retries.at(-1)
  return state !== "running" && last?.state === "running" ? last : undefined
}

const nameOf = ({ publishedBy }: TestRun["retries"][number]): string =>
  "name" in publishedBy ? oneLine(publishedBy.name) : "who was removed"

const endRetry = Effect.fnUntraced(function* ({ number }: TestRun, retry: TestRun["retries"][number]) {
  const run = yield* call((client, { workspace }) =>
    client.retries
      .finish({
        params: { slug: workspace, run: number, retry: retry.number },
        payload: { interrupted: true, tests: [] }
      })
      .pipe(
        Effect.mapError((error) =>
          error._tag === "Forbidden" && error.reason === "not_publisher"
            ? new Failure({
                message: `Only its publisher, ${nameOf(retry)}, or an admin may end retry ${retry.number} of run ${number}. Otherwise the service ends it, at its time limit.`
              })
            : error
        )
      )
  )
  yield* print(run, `Retry ${retry.number} of run ${number} has ended as interrupted. ${run.url}`)
})

const end = Command.make(
  "end",
  { number: runNumber },
  Effect.fnUntraced(function* ({ number }) {
    const found = yield* get(number)
    const retry = runningRetryOf(found)
    if (retry !== undefined) return yield* endRetry(found, retry)
    const { interruptedReport } = yield* Effect.promise(() => import("./PublishRun.ts"))
    const run = yield* call((client, { workspace }) =>
      client.testRuns.finish({ params: { slug: workspace, run: number }, payload: interruptedReport })
    )
    yield* print(run, `Run ${number} has ended as interrupted. ${run.url}`)
  })
).pipe(Command.withDescription("End a run of yours, or its retry, that was started and never finished, as interrupted"))

export const runs = Command.make("runs").pipe(
  Command.withDescription("Test runs: list, show, publish, end, retry, open, trace"),
  Command.withSubcommands([list, show, publish, end, retry, open, trace]),
  Command.withGlobalFlags(connectionFlags)
)
