import { quote } from "@delivery/domain/agents/Quote"
import { NotFound } from "@delivery/domain/Errors"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { Effect } from "effect"
import { toolHandlers } from "../agents/AgentToolHandlers.ts"
import { fitting, maxAnswer } from "../agents/FittingAnswers.ts"
import { quotedMessage } from "../agents/QuotedAnswers.ts"
import { Releases } from "../releases/Releases.ts"
import { Cases } from "../runs/cases/Cases.ts"
import { TestRuns } from "../runs/TestRuns.ts"
import { quotedCommit, quotedFailure, quotedRun, quotedTest, quotedTicketTitle } from "./QuotedRuns.ts"
import { RunTools } from "./RunTools.ts"

/** What the tools about runs do. */
export const layer = RunTools.toLayer(Effect.gen(make))

interface Dependencies {
  readonly runs: TestRuns["Service"]
  readonly cases: Cases["Service"]
  readonly releases: Releases["Service"]
}

function* make() {
  const dependencies: Dependencies = { runs: yield* TestRuns, cases: yield* Cases, releases: yield* Releases }
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
    get_trace: getTrace(dependencies)
  })
}

const getFailure = ({ cases, runs }: Dependencies) =>
  Effect.fnUntraced(function* (input: { readonly run: number; readonly caseId: string }) {
    const { mutes, retries: _, tests, ...run } = yield* runs.get(input.run)
    const test = namedTest(tests, input.caseId)
    const failed = test?.attempts.findLast(({ status }) => status === "failed")
    if (test === undefined || failed === undefined) return yield* NotFound.of("failure", input.caseId)
    const passed = yield* cases.lastPass(run.product.slug, test.caseId, {
      environment: run.environment.slug,
      before: run.number
    })
    const muted = new Set(mutes.map(({ caseId }) => caseId))
    return quotedFailure(run, quotedTest(muted)(test), failed, passed)
  })

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
