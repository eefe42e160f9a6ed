import { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import { quote } from "@delivery/domain/agents/Quote"
import { NotFound } from "@delivery/domain/Errors"
import type { Attempt, TestEntry } from "@delivery/domain/runs/TestEntry"
import { firstCharacters } from "@delivery/domain/Text"
import { Effect } from "effect"
import type { Tool, Toolkit } from "effect/ai"
import { toolHandlers } from "../agents/AgentToolHandlers.ts"
import { fitting, maxAnswer } from "../agents/FittingAnswers.ts"
import { quotedMessage } from "../agents/QuotedAnswers.ts"
import { Releases } from "../releases/Releases.ts"
import { Cases } from "../runs/cases/Cases.ts"
import { TestRunFiles } from "../runs/TestRunFiles.ts"
import { TestRuns } from "../runs/TestRuns.ts"
import {
  quotedCommit,
  quotedFailure,
  quotedFile,
  quotedRun,
  quotedTest,
  quotedTicketTitle,
  quoteTests
} from "./QuotedRuns.ts"
import { RunTools } from "./RunTools.ts"

/** What the tools about runs do. */
export const layer = RunTools.toLayer(Effect.gen(make))

interface Dependencies {
  readonly runs: TestRuns["Service"]
  readonly cases: Cases["Service"]
  readonly files: TestRunFiles["Service"]
  readonly releases: Releases["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    runs: yield* TestRuns,
    cases: yield* Cases,
    files: yield* TestRunFiles,
    releases: yield* Releases
  }
  const { runs } = dependencies
  return yield* toolHandlers(RunTools, {
    list_runs: Effect.fnUntraced(function* (query) {
      const page = yield* runs.list(query)
      const answered = yield* fitting(page.runs, quotedRun, maxAnswer)
      const isWhole = answered.length === page.runs.length
      return { runs: answered, nextCursor: isWhole ? page.nextCursor : answered.at(-1)!.number }
    }),
    get_run: Effect.fnUntraced(function* ({ from = 0, run: number, status }) {
      const { mutes, retries: _, tests: all, ...run } = yield* runs.get(number)
      const tests = status === undefined ? all : all.filter((test) => test.status === status)
      const muted = new Set(mutes.map(({ caseId }) => caseId))
      const answered = yield* fitting(tests.slice(from), quotedTest(muted), maxAnswer)
      const next = from + answered.length
      return { ...quotedRun(run), tests: answered, next: next < tests.length ? next : null }
    }),
    get_failure: getFailure(dependencies),
    get_trace: getTrace(dependencies),
    start_run: startRun(dependencies),
    finish_run: finishRun(dependencies)
  })
}

const getFailure = ({ cases, files, runs }: Dependencies) =>
  Effect.fnUntraced(function* (input: { readonly run: number; readonly caseId: string }) {
    const { mutes, retries: _, tests, ...run } = yield* findTest(runs)(input.run, input.caseId)
    const test = namedTest(tests, input.caseId)
    const failed = test?.attempts.findLast(({ status }) => status === "failed")
    if (test === undefined || failed === undefined) return yield* NotFound.of("failure", input.caseId)
    const passed = yield* cases.lastPass(run.product.slug, test.caseId, {
      environment: run.environment.slug,
      before: run
    })
    const muted = new Set(mutes.map(({ caseId }) => caseId))
    const stored = yield* files.list(run.number, pathsOf(test, failed))
    const answered = yield* fitting(stored, quotedFile(run.number), maxAnswer)
    return quotedFailure(run, quotedTest(muted)(test), failed, passed, {
      files: answered,
      filesLeftOut: stored.length - answered.length
    })
  })

/** The run with the test alone; with all of them where none has the id as it was sent, which may be quoted. */
const findTest = (runs: TestRuns["Service"]) =>
  Effect.fnUntraced(function* (run: number, caseId: string) {
    const one = yield* runs.getTest(run, caseId)
    return one.tests.length === 1 ? one : yield* runs.get(run)
  })

/** The paths of the files of a test and of one of its attempts, whether they were uploaded or not. */
const pathsOf = (test: TestEntry, attempt: Attempt): ReadonlyArray<string> => [
  ...new Set([...attempt.files, ...test.files])
]

/** An agent knows ids as they were quoted to it. */
const namedTest = (tests: ReadonlyArray<TestEntry>, given: string): TestEntry | undefined =>
  tests.find(({ caseId }) => caseId === given) ??
  tests.find(({ caseId }) => {
    const { text } = quote("", caseId)
    return text === given || text.replaceAll(/^> /gm, "") === given
  })

const getTrace = ({ releases }: Dependencies) =>
  Effect.fnUntraced(function* (input: { readonly ticket: string }) {
    const trace = yield* releases.trace(input.ticket)
    const commits = yield* fitting(trace.commits, quotedCommit, maxAnswer)
    const answeredReleases = yield* fitting(trace.releases.toReversed(), (release) => release, maxAnswer)
    const runs = yield* fitting(trace.runs, quotedRun, maxAnswer)
    const messages = yield* fitting(trace.messages, quotedMessage, maxAnswer)
    const stored = trace.commits.length + trace.releases.length + trace.runs.length + trace.messages.length
    return {
      ticket: quotedTicketTitle(trace.ticket),
      commits,
      releases: answeredReleases.toReversed(),
      runs,
      messages,
      text: trace.text,
      leftOut: stored - commits.length - answeredReleases.length - runs.length - messages.length
    }
  })

type Parameters<Name extends keyof Toolkit.Tools<typeof RunTools>> = Tool.Parameters<
  Toolkit.Tools<typeof RunTools>[Name]
>

const startRun = ({ runs }: Dependencies) =>
  Effect.fnUntraced(function* ({ machine, selection, ...input }: Parameters<"start_run">) {
    const { computer } = yield* AgentCaller
    const { muted, number, url } = yield* runs.start({
      ...input,
      machine: machine ?? { hostname: firstCharacters(computer?.name ?? "", 255), platform: "" },
      selection: selection ?? { coverage: null, folders: [], caseIds: [] }
    })
    // Its tokens stay here: what an agent is told is kept by others.
    const answered = yield* fitting(muted, quoteTests, maxAnswer)
    return { run: number, url, muted: answered, mutedLeftOut: muted.length - answered.length }
  })

const finishRun = ({ runs }: Dependencies) =>
  Effect.fnUntraced(function* ({ interrupted = false, run: number, tests, ...report }: Parameters<"finish_run">) {
    const { run } = yield* runs.publishing(number)
    const finished = yield* runs.finish(number, {
      ...report,
      interrupted,
      tests: tests.map(({ attempt, ...test }) => ({
        ...test,
        attempt:
          attempt === null || attempt.status === "skipped"
            ? attempt
            : { ...attempt, startedAt: attempt.startedAt ?? run.startedAt }
      }))
    })
    return quotedRun(finished)
  })
