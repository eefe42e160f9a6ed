import { Quoted } from "@delivery/domain/agents/Quote"
import { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { AttemptReport, maxTestsPerRun, TestReport, TestStatus } from "@delivery/domain/runs/TestEntry"
import { Machine, Selection, StartTestRun } from "@delivery/domain/runs/TestRun"
import { maxNumber } from "@delivery/domain/Numbers"
import { atLeast, atMost, OneOf, Ref, Text } from "@delivery/domain/Text"
import { Schema } from "effect"
import { Toolkit } from "effect/ai"
import { adds, leftOut, reads, ticket, tool } from "../agents/AgentTools.ts"
import { QuotedFailure, QuotedRun, QuotedTest, QuotedTrace } from "./QuotedRuns.ts"

/** The tools of `/agent/mcp` about runs (docs/contract.md, MCP). What they do is in RunToolHandlers.ts. */

const number = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxNumber }))
const run = number.annotate({ description: "The number of the run." })
const text = Text(500).check(atLeast(1))
const place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxNumber }))

/** How many characters the message of an error has that an agent reports, and its stack. */
const maxError = 20_000
const errorText = Schema.optionalKey(Schema.NullOr(Schema.String.check(atMost(maxError))))

const [{ fields: ran }, skipped] = AttemptReport.members
const { files: _, startedAt, ...attemptFields } = ran
const { attempt, files: __, ...testFields } = TestReport.fields
/** A test as an agent reports it: as the API has it, without files, which an agent does not upload. */
const ReportedTest = Schema.Struct({
  ...testFields,
  caseId: testFields.caseId.annotate({
    description:
      "The id of the test: unique in a run, and the same in every run. It is the true one, not quoted: without `> ` before it."
  }),
  attempt: Schema.NullOr(
    Schema.Union([
      Schema.Struct({
        ...attemptFields,
        startedAt: Schema.optionalKey(startedAt).annotate({ description: "Absent: when the run started." }),
        errorMessage: errorText,
        errorStack: errorText
      }),
      skipped
    ])
  ).annotate({ description: attempt.ast.annotations?.["description"] as string })
})

const haveUniqueIds = Schema.makeFilter<ReadonlyArray<{ readonly caseId: string }>>(
  (tests) => new Set(tests.map(({ caseId }) => caseId)).size === tests.length || "Expected each caseId once"
)

export const RunTools = Toolkit.make(
  tool("list_runs", {
    title: "List test runs",
    description:
      "Test runs, newest first, at most 50, without their tests. For further ones send nextCursor as cursor, with the same filters.",
    parameters: Schema.Struct({
      product: Schema.optionalKey(Ref.annotate({ description: "Only runs of this product, by slug or id." })),
      environment: Schema.optionalKey(Ref.annotate({ description: "Only runs in this environment, by slug or id." })),
      result: Schema.optionalKey(
        OneOf(["passed", "failed", "flaky"]).annotate({
          description: "Only runs with this result. `flaky` means finished runs with at least one flaky test."
        })
      ),
      commit: Schema.optionalKey(text.annotate({ description: "Only runs of this commit, by its full SHA." })),
      q: Schema.optionalKey(
        text.annotate({
          description:
            "Only runs that match this text: part of the branch or of the commit subject, or the start of the commit SHA."
        })
      ),
      cursor: Schema.optionalKey(number.annotate({ description: "Only runs numbered below it." }))
    }),
    success: Schema.Struct({
      runs: Schema.Array(QuotedRun),
      nextCursor: Schema.NullOr(Schema.Int).annotate({ description: "Null if there are no further runs." })
    }),
    hints: reads
  }),
  tool("get_run", {
    title: "Get a test run",
    description:
      "A test run with its tests: failed ones first, then flaky, passed and skipped ones. Of a run with many tests it has as many as the answer has room for: for the others send next as from.",
    parameters: Schema.Struct({
      run,
      status: Schema.optionalKey(OneOf(TestStatus.literals).annotate({ description: "Only tests with this status." })),
      from: Schema.optionalKey(place.annotate({ description: "How many tests to leave out at the beginning." }))
    }),
    success: Schema.Struct({
      ...QuotedRun.fields,
      tests: Schema.Array(QuotedTest),
      next: Schema.NullOr(Schema.Int).annotate({ description: "Null if these are the last tests." })
    }),
    hints: reads
  }),
  tool("get_failure", {
    title: "Get a failure",
    description:
      "Why a test failed in a run: the error and stack of its last failed attempt, the last commit with which it passed before, and links to its files, such as logs, screenshots and traces, which you read with resources/read.",
    parameters: Schema.Struct({
      run,
      caseId: Schema.String.check(atLeast(1)).annotate({
        description: "The id of the test, as get_run quotes it, with or without `> `."
      })
    }),
    success: QuotedFailure,
    hints: reads,
    links: ({ files }) => files.map(({ path, ...file }) => ({ ...file, name: path.text.replace(/^> /, "") }))
  }),
  tool("get_trace", {
    title: "Get the trace of a ticket",
    description:
      "What became of a ticket: the commits that name it, where their versions run, the runs that tested them, and messages to agents. leftOut counts the commits, releases, runs and messages that the answer has no room for.",
    parameters: Schema.Struct({ ticket }),
    success: Schema.Struct({ ...QuotedTrace.fields, leftOut }),
    hints: reads
  }),
  tool("start_run", {
    title: "Start a test run",
    description:
      "Starts a test run that you publish, after you have run tests yourself or before you do: people see it as a run of yours. End it with finish_run, which takes its tests; after 6 hours it is interrupted. It has no test data and takes no semaphores: tests that need them publish with a reporter. A run of yours is no evidence for what you or your person fixed: that takes a run that somebody else publishes, such as the CI.",
    parameters: Schema.Struct({
      product: StartTestRun.fields.product,
      environment: StartTestRun.fields.environment,
      baseUrl: StartTestRun.fields.baseUrl,
      git: StartTestRun.fields.git,
      machine: Schema.optionalKey(
        Machine.annotate({
          description: "The machine that the tests run on. Absent: the computer that you are signed in on."
        })
      ),
      selection: Schema.optionalKey(Selection.annotate({ description: "Which tests you chose to run. Absent: all." })),
      ciUrl: StartTestRun.fields.ciUrl
    }),
    success: Schema.Struct({
      run: Schema.Int.annotate({ description: "The number of the run, for finish_run." }),
      url: Schema.String.annotate({ description: "The page of the run on the website." }),
      muted: Schema.Array(Quoted).annotate({
        description:
          "The ids of the tests that are muted: their failures do not count in the gateResult of this run. Run and report them as all others."
      }),
      mutedLeftOut: Schema.Int.annotate({ description: "How many more are muted, which the answer has no room for." })
    }),
    hints: adds
  }),
  tool("finish_run", {
    title: "Finish a test run",
    description: `Ends a test run that you started, with its tests: all of them in this one call, at most ${maxTestsPerRun} and 1 MiB of JSON. Report every test that you ran as it came out, and those that you skipped as skipped. A run that you could not end is interrupted: it keeps the tests, and has no result.`,
    parameters: Schema.Struct({
      run,
      tests: Schema.Array(ReportedTest).check(
        Schema.isMaxLength(maxTestsPerRun, { message: `Expected at most ${maxTestsPerRun} tests` }),
        haveUniqueIds
      ),
      durationMs: FinishTestRun.fields.durationMs,
      interrupted: Schema.optionalKey(
        Schema.Boolean.annotate({
          description: "Whether you gave the run up before its end: then it has no result. Absent: false."
        })
      ),
      error: Schema.optionalKey(
        Schema.NullOr(Schema.String.check(atMost(maxError))).annotate({
          description: "A failure outside of the tests, such as a web server that did not start. It makes the run fail."
        })
      )
    }),
    success: QuotedRun,
    hints: adds
  })
)
