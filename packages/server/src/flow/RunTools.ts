import { TestStatus } from "@delivery/domain/runs/TestEntry"
import { maxNumber } from "@delivery/domain/Numbers"
import { atLeast, OneOf, Ref, Text } from "@delivery/domain/Text"
import { Schema } from "effect"
import { Toolkit } from "effect/ai"
import { leftOut, reads, ticket, tool } from "../agents/AgentTools.ts"
import { QuotedFailure, QuotedRun, QuotedTest, QuotedTrace } from "./QuotedRuns.ts"

/** The tools of `/agent/mcp` about runs (docs/contract.md, MCP). What they do is in RunToolHandlers.ts. */

const number = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxNumber }))
const run = number.annotate({ description: "The number of the run." })
const text = Text(500).check(atLeast(1))
const place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxNumber }))

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
      "Why a test failed in a run: the error and stack of its last failed attempt, and the last commit with which it passed before.",
    parameters: Schema.Struct({
      run,
      caseId: Schema.String.check(atLeast(1)).annotate({
        description: "The id of the test, as get_run quotes it, with or without `> `."
      })
    }),
    success: QuotedFailure,
    hints: reads
  }),
  tool("get_trace", {
    title: "Get the trace of a ticket",
    description:
      "What became of a ticket: the commits that name it, where their versions run, the runs that tested them, and messages to agents. leftOut counts the commits, releases, runs and messages that the answer has no room for.",
    parameters: Schema.Struct({ ticket }),
    success: Schema.Struct({ ...QuotedTrace.fields, leftOut }),
    hints: reads
  })
)
