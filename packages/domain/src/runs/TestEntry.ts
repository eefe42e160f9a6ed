import { Schema } from "effect"
import { Body } from "../Body.ts"
import { atLeast, atMost, OneOf } from "../Text.ts"
import { Timestamp, TimestampInput } from "../Timestamp.ts"

/** How much of the product a test belongs to the check of (docs/contract.md, Test runs). */
export const Coverage = OneOf(["critical", "acceptance", "regression", "exhaustive"]).annotate({
  identifier: "Coverage",
  description: "How much a selection covers, from least to most.",
  examples: ["acceptance"]
})
export type Coverage = typeof Coverage.Type

export const TestStatus = Schema.Literals(["failed", "flaky", "passed", "skipped"]).annotate({
  identifier: "TestStatus",
  description: "`flaky`: failed in the run, and passed every attempt of a retry.",
  examples: ["passed"]
})
export type TestStatus = typeof TestStatus.Type

const files = Schema.Array(Schema.String)

/** The attempt that examples show. */
export const exampleAttempt = {
  status: "failed",
  durationMs: 3_120,
  startedAt: "2026-11-21T09:30:10.000Z",
  errorMessage: "Expected 200, got 500",
  errorStack: "Error: Expected 200, got 500\n    at checkout.spec.ts:12:9",
  files: ["checkout/pays-by-card/stdout.txt"]
} as const

/** The test that examples name. */
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
  number: Schema.Int.annotate({ description: "From 1 across the run and its retries." }),
  retry: Schema.NullOr(Schema.Int).annotate({ description: "The retry it belongs to; null for the run's own." }),
  status: Schema.Literals(["failed", "passed"]),
  durationMs: Schema.Finite.annotate({ description: "Milliseconds." }),
  startedAt: Timestamp,
  errorMessage: Schema.NullOr(Schema.String),
  errorStack: Schema.NullOr(Schema.String),
  files: files.annotate({ description: "Paths of the attempt's files, uploaded or not." })
}).annotate({
  identifier: "Attempt",
  description: "One execution of a test.",
  examples: [{ number: 1, retry: null, ...exampleAttempt }]
})
export type Attempt = typeof Attempt.Type

const descriptions = {
  caseId: "Names the test across runs; unique in one.",
  title: "As the test runner prints it.",
  file: "Where the test is written.",
  testKind: "Such as `behavior` or `journey`.",
  priority: "How much the test matters, in the team's own words.",
  files: "Paths of the test's files, uploaded or not."
}

/** The test that the examples of a run show. */
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
  durationMs: Schema.Finite.annotate({ description: "Milliseconds of the last attempt; 0 for a skipped test." }),
  errorMessage: Schema.NullOr(Schema.String).annotate({ description: "Of the last failed attempt." }),
  files: files.annotate({ description: descriptions.files }),
  attempts: Schema.Array(Attempt).annotate({ description: "In order; none for a skipped test." })
}).annotate({
  identifier: "TestEntry",
  description: "A test of a run with its attempts.",
  examples: [exampleTestEntry]
})
export type TestEntry = typeof TestEntry.Type

const Duration = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "Milliseconds." })
const optionalText = Schema.optionalKey(Schema.NullOr(Schema.String))
const optionalFiles = Schema.optionalKey(files.annotate({ description: descriptions.files }))

const ran = {
  durationMs: Duration,
  startedAt: TimestampInput,
  errorMessage: optionalText,
  errorStack: optionalText,
  files: optionalFiles
}

/** An attempt that ran, as the publisher of a retry reports it. */
export const RanReport = Body({ status: OneOf(["failed", "passed"]), ...ran }).annotate({
  identifier: "RanReport",
  description: "One execution of a test.",
  examples: [exampleAttempt]
})
export type RanReport = typeof RanReport.Type

/** The first attempt of a test as the publisher reports it. */
export const AttemptReport = Schema.Union([
  Schema.Struct({
    status: Schema.Literals(["failed", "passed"]).annotate({ message: "Expected one of failed, passed, skipped" }),
    ...ran
  }).annotate({ title: "ran" }),
  Schema.Struct({ status: Schema.Literal("skipped") }).annotate({ title: "skipped" })
]).annotate({
  identifier: "AttemptReport",
  description: "One execution of a test, or `skipped`.",
  examples: [exampleAttempt]
})
export type AttemptReport = typeof AttemptReport.Type

/** The test that the example of a finish call reports. */
export const exampleTestReport = { ...exampleTest, attempt: exampleAttempt } as const

/** The id of a test in bodies. */
export const CaseId = Schema.String.check(atLeast(1), atMost(500)).annotate({ description: descriptions.caseId })

/** A test as the publisher reports it on finish. */
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
    description: "Null or `skipped`: the test did not run.",
    message: "Expected an object or null"
  })
}).annotate({
  identifier: "TestReport",
  description: "A test as the publisher reports it.",
  examples: [exampleTestReport]
})
export type TestReport = typeof TestReport.Type

/** The most tests that one run may report. */
export const maxTestsPerRun = 5_000
