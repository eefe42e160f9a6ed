import { Schema } from "effect"
import { Timestamp, TimestampInput } from "../Timestamp.ts"

/** How much of the product a test belongs to the check of (service document, TestRun). */
export const Coverage = Schema.Literals(["critical", "acceptance", "regression", "exhaustive"]).annotate({
  identifier: "Coverage",
  description: "How much a selection covers, from least to most.",
  examples: ["acceptance"]
})
export type Coverage = typeof Coverage.Type

export const TestStatus = Schema.Literals(["failed", "flaky", "passed", "skipped"]).annotate({
  identifier: "TestStatus",
  examples: ["passed"]
})
export type TestStatus = typeof TestStatus.Type

/** One execution of a test (service document, Attempt entry). */
export const Attempt = Schema.Struct({
  number: Schema.Int.annotate({ description: "From 1 across the run and its retries." }),
  retry: Schema.NullOr(Schema.Int).annotate({ description: "The retry it belongs to; null for the run's own." }),
  status: Schema.Literals(["failed", "passed"]),
  durationMs: Schema.Finite.annotate({ description: "Milliseconds." }),
  startedAt: Timestamp,
  errorMessage: Schema.NullOr(Schema.String),
  errorStack: Schema.NullOr(Schema.String),
  files: Schema.Array(Schema.String)
}).annotate({ identifier: "Attempt", description: "One execution of a test." })
export type Attempt = typeof Attempt.Type

/** A test of a run (service document, Test entry). */
export const TestEntry = Schema.Struct({
  caseId: Schema.String,
  title: Schema.String,
  file: Schema.String,
  coverage: Coverage,
  testKind: Schema.String,
  priority: Schema.NullOr(Schema.String),
  status: TestStatus,
  durationMs: Schema.Finite.annotate({ description: "Milliseconds of the last attempt." }),
  errorMessage: Schema.NullOr(Schema.String).annotate({ description: "Of the last failed attempt." }),
  files: Schema.Array(Schema.String),
  attempts: Schema.Array(Attempt)
}).annotate({ identifier: "TestEntry", description: "A test of a run with its attempts." })
export type TestEntry = typeof TestEntry.Type

const Duration = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "Milliseconds." })
const optionalText = Schema.optionalKey(Schema.NullOr(Schema.String))
const optionalFiles = Schema.optionalKey(Schema.Array(Schema.String))

/** The first attempt of a test as the publisher reports it. */
export const AttemptReport = Schema.Union([
  Schema.Struct({
    status: Schema.Literals(["failed", "passed"]),
    durationMs: Duration,
    startedAt: TimestampInput,
    errorMessage: optionalText,
    errorStack: optionalText,
    files: optionalFiles
  }),
  Schema.Struct({ status: Schema.Literal("skipped") })
]).annotate({ identifier: "AttemptReport", description: "One execution of a test, or `skipped`." })
export type AttemptReport = typeof AttemptReport.Type

const bounded = (minimum: number, maximum: number) =>
  Schema.String.check(Schema.isMinLength(minimum), Schema.isMaxLength(maximum))

/** A test as the publisher reports it on finish. */
export const TestReport = Schema.Struct({
  caseId: bounded(1, 500).annotate({ description: "Unique in the run." }),
  title: bounded(0, 4_000),
  file: bounded(0, 4_000),
  coverage: Coverage,
  testKind: bounded(0, 40).annotate({ description: "Such as `behavior` or `journey`." }),
  priority: Schema.optionalKey(Schema.NullOr(bounded(0, 100))),
  files: optionalFiles,
  attempt: Schema.NullOr(AttemptReport).annotate({ description: "Null or `skipped`: the test did not run." })
}).annotate({ identifier: "TestReport", description: "A test as the publisher reports it." })
export type TestReport = typeof TestReport.Type

/** The most tests that one run may report. */
export const maxTestsPerRun = 5_000
