import { Schema } from "effect"
import { Body } from "../Body.ts"
import { atLeast, atMost, OneOf } from "../Text.ts"
import { Timestamp, TimestampInput } from "../Timestamp.ts"

/** Which selections a test belongs to (docs/contract.md, Test runs). */
export const Coverage = OneOf(["critical", "acceptance", "regression", "exhaustive"]).annotate({
  identifier: "Coverage",
  description: "How much a selection of tests covers, from the fewest tests (`critical`) to all (`exhaustive`).",
  examples: ["acceptance"]
})
export type Coverage = typeof Coverage.Type

export const TestStatus = Schema.Literals(["failed", "flaky", "passed", "skipped"]).annotate({
  identifier: "TestStatus",
  description:
    "The status of a test. `flaky` means that it failed in the run and then passed every attempt of a retry.",
  examples: ["passed"]
})
export type TestStatus = typeof TestStatus.Type

const files = Schema.Array(Schema.String)

/** The attempt in examples. */
export const exampleAttempt = {
  status: "failed",
  durationMs: 3_120,
  startedAt: "2026-11-21T09:30:10.000Z",
  errorMessage: "Expected 200, got 500",
  errorStack: "Error: Expected 200, got 500\n    at checkout.spec.ts:12:9",
  files: ["checkout/pays-by-card/stdout.txt"]
} as const

/** The test in examples. */
export const exampleTest = {
  caseId: "checkout.spec.ts:pays-by-card",
  title: "Checkout › pays by card",
  file: "checkout.spec.ts",
  coverage: "acceptance",
  testKind: "journey",
  priority: null,
  files: []
} as const

/** One execution of a test (docs/contract.md, Test runs). */
export const Attempt = Schema.Struct({
  number: Schema.Int.annotate({ description: "The number of the attempt, from 1, across the run and its retries." }),
  retry: Schema.NullOr(Schema.Int).annotate({
    description: "The retry that the attempt belongs to; null for the run itself."
  }),
  status: Schema.Literals(["failed", "passed"]),
  durationMs: Schema.Finite.annotate({ description: "How long the attempt took, in milliseconds." }),
  startedAt: Timestamp,
  errorMessage: Schema.NullOr(Schema.String),
  errorStack: Schema.NullOr(Schema.String),
  files: files.annotate({ description: "Paths of the files of the attempt, whether they were uploaded or not." })
}).annotate({
  identifier: "Attempt",
  description: "One execution of a test.",
  examples: [{ number: 1, retry: null, ...exampleAttempt }]
})
export type Attempt = typeof Attempt.Type

const descriptions = {
  caseId: "The id of the test: unique in a run, and the same in every run.",
  title: "The title of the test, as the test runner prints it.",
  file: "The source file of the test.",
  testKind: "The kind of test, in your own words, such as `behavior` or `journey`.",
  priority: "The priority of the test, in your own words.",
  files: "Paths of the files of the test, whether they are uploaded or not."
}

/** The test in the examples of a run. */
export const exampleTestEntry = {
  ...exampleTest,
  status: "failed",
  durationMs: exampleAttempt.durationMs,
  errorMessage: exampleAttempt.errorMessage,
  attempts: [{ number: 1, retry: null, ...exampleAttempt }]
} as const

/** A test of a run (docs/contract.md, Test runs). */
export const TestEntry = Schema.Struct({
  caseId: Schema.String.annotate({ description: descriptions.caseId }),
  title: Schema.String.annotate({ description: descriptions.title }),
  file: Schema.String.annotate({ description: descriptions.file }),
  coverage: Coverage,
  testKind: Schema.String.annotate({ description: descriptions.testKind }),
  priority: Schema.NullOr(Schema.String).annotate({ description: descriptions.priority }),
  status: TestStatus,
  durationMs: Schema.Finite.annotate({
    description: "How long the last attempt took, in milliseconds; 0 for a skipped test."
  }),
  errorMessage: Schema.NullOr(Schema.String).annotate({
    description: "The error message of the last failed attempt; null if none failed."
  }),
  files: files.annotate({ description: descriptions.files }),
  attempts: Schema.Array(Attempt).annotate({ description: "The attempts in order. A skipped test has none." })
}).annotate({
  identifier: "TestEntry",
  description: "A test of a run with its attempts.",
  examples: [exampleTestEntry]
})
export type TestEntry = typeof TestEntry.Type

const Duration = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
  description: "How long the attempt took, in milliseconds."
})
const optionalText = Schema.optionalKey(Schema.NullOr(Schema.String))
const optionalFiles = Schema.optionalKey(files.annotate({ description: descriptions.files }))

const ran = {
  durationMs: Duration,
  startedAt: TimestampInput,
  errorMessage: optionalText,
  errorStack: optionalText,
  files: optionalFiles
}

/** An attempt, as the publisher of a retry reports it. */
export const RanReport = Body({ status: OneOf(["failed", "passed"]), ...ran }).annotate({
  identifier: "RanReport",
  description: "One execution of a test.",
  examples: [exampleAttempt]
})
export type RanReport = typeof RanReport.Type

/** The first attempt of a test, as the publisher reports it. */
export const AttemptReport = Schema.Union([
  Schema.Struct({
    status: Schema.Literals(["failed", "passed"]).annotate({ message: "Expected one of failed, passed, skipped" }),
    ...ran
  }).annotate({ title: "ran" }),
  Schema.Struct({ status: Schema.Literal("skipped") }).annotate({ title: "skipped" })
]).annotate({
  identifier: "AttemptReport",
  description: "One execution of a test, or the fact that it was skipped.",
  examples: [exampleAttempt]
})
export type AttemptReport = typeof AttemptReport.Type

/** The test in the example of a finish call. */
export const exampleTestReport = { ...exampleTest, attempt: exampleAttempt } as const

/** The id of a test, in bodies. */
export const CaseId = Schema.String.check(atLeast(1), atMost(500)).annotate({ description: descriptions.caseId })

/** A test, as the publisher reports it when a run finishes. */
export const TestReport = Body({
  caseId: CaseId,
  title: Schema.String.check(atMost(4_000)).annotate({ description: descriptions.title }),
  file: Schema.String.check(atMost(4_000)).annotate({ description: descriptions.file }),
  coverage: Coverage,
  testKind: Schema.String.check(atMost(40)).annotate({ description: descriptions.testKind }),
  priority: Schema.optionalKey(
    Schema.NullOr(Schema.String.check(atMost(100))).annotate({ description: descriptions.priority })
  ),
  files: optionalFiles,
  attempt: Schema.NullOr(AttemptReport).annotate({
    description: "The first attempt. Null, or an attempt with the status `skipped`, means that the test did not run.",
    message: "Expected an object or null"
  })
}).annotate({
  identifier: "TestReport",
  description: "A test with its first attempt, as the publisher reports it.",
  examples: [exampleTestReport]
})
export type TestReport = typeof TestReport.Type

/** The most tests that one run may report. */
export const maxTestsPerRun = 5_000
