import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Shard } from "./Shard.ts"
import { exampleTestReport, maxTestsPerRun, TestReport } from "./TestEntry.ts"
import { CleanupReport } from "./TestRun.ts"
import { maxRunErrorCharacters } from "./RunErrorLimit.ts"

const hasUniqueCaseIds = Schema.makeFilter<ReadonlyArray<TestReport>>(
  (tests) => new Set(tests.map((test) => test.caseId)).size === tests.length || "Expected each caseId once"
)

/** The body that finishes a run (docs/contract.md, Test runs). */
export const FinishTestRun = Body({
  interrupted: Schema.Boolean.annotate({
    description:
      "Whether the run was given up before its end. Its tests are kept, but it has no result, and `error` is ignored."
  }),
  error: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description: `A failure outside of the tests, such as a web server that did not start. It makes the run fail. Its first ${maxRunErrorCharacters} characters are kept.`
    })
  ),
  durationMs: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "How long the run took, in milliseconds."
  }),
  cleanup: Schema.optionalKey(
    Schema.NullOr(CleanupReport).annotate({
      description:
        "What became of the test data. A run with a fixture scope should report it; without a report it counts as `incomplete`.",
      message: "Expected an object or null"
    })
  ),
  shard: Schema.optionalKey(
    Schema.NullOr(Shard).annotate({
      description: "Which shard finishes, in a run of shards. The run ends with the last of them.",
      message: "Expected an object or null"
    })
  ),
  tests: Schema.Array(TestReport).check(
    Schema.isMaxLength(maxTestsPerRun, { message: `Expected at most ${maxTestsPerRun} tests` }),
    hasUniqueCaseIds
  )
}).annotate({
  identifier: "FinishTestRun",
  description: "The outcome of a run: its tests, or the error that kept them from running.",
  examples: [{ interrupted: false, error: null, durationMs: 64_210, cleanup: null, tests: [exampleTestReport] }]
})
export type FinishTestRun = typeof FinishTestRun.Type
