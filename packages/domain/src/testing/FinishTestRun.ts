import { Schema } from "effect"
import { maxTestsPerRun, TestReport } from "./TestEntry.ts"
import { CleanupReport } from "./TestRun.ts"

const hasUniqueCaseIds = Schema.makeFilter<ReadonlyArray<TestReport>>(
  (tests) => new Set(tests.map((test) => test.caseId)).size === tests.length || "Expected each caseId once"
)

/** The body that finishes a run (service document, Test runs). */
export const FinishTestRun = Schema.Struct({
  interrupted: Schema.Boolean,
  error: Schema.optionalKey(Schema.NullOr(Schema.String)),
  durationMs: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "Milliseconds." }),
  cleanup: Schema.optionalKey(Schema.NullOr(CleanupReport)),
  tests: Schema.Array(TestReport).check(Schema.isMaxLength(maxTestsPerRun), hasUniqueCaseIds)
}).annotate({
  identifier: "FinishTestRun",
  examples: [
    {
      interrupted: false,
      error: null,
      durationMs: 64_210,
      cleanup: null,
      tests: [
        {
          caseId: "checkout.spec.ts:pays-by-card",
          title: "Checkout › pays by card",
          file: "checkout.spec.ts",
          coverage: "acceptance",
          testKind: "journey",
          priority: null,
          files: [],
          attempt: {
            status: "failed",
            durationMs: 3_120,
            startedAt: "2026-11-21T09:30:10.000Z",
            errorMessage: "Expected 200, got 500",
            errorStack: null,
            files: ["checkout/pays-by-card/trace.zip"]
          }
        }
      ]
    }
  ]
})
export type FinishTestRun = typeof FinishTestRun.Type
