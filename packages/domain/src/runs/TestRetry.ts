import { Schema } from "effect"
import { EnvironmentClass } from "../catalog/Environment.ts"
import { Body } from "../Body.ts"
import { HttpUrl } from "../Text.ts"
import { CaseId, exampleAttempt, exampleTest, maxTestsPerRun, RanReport } from "./TestEntry.ts"
import { CleanupReport, exampleGit, FixtureAccess, Git, Machine, SemaphoreAccess } from "./TestRun.ts"

const passesMessage = "Expected a whole number from 1 to 5"

/** The body that starts a retry (docs/contract.md, Retries). */
export const StartRetry = Body({
  passes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }, { message: passesMessage })).annotate({
    message: passesMessage,
    description: "How often a failed test must pass, and pass each time, to become flaky."
  }),
  baseUrl: Schema.NullOr(HttpUrl).annotate({ description: "The URL the tests run against; null: the run's." }),
  fixtureUrl: Schema.optionalKey(
    Schema.NullOr(HttpUrl).annotate({
      description: "Overrides the run's Fixture API for this retry; of no effect where the run had none."
    })
  ),
  git: Git,
  machine: Machine
}).annotate({
  identifier: "StartRetry",
  description: "How often failed tests must pass, where they run, and from which commit and machine.",
  examples: [{ passes: 3, baseUrl: null, git: exampleGit, machine: { hostname: "ci-7", platform: "linux" } }]
})
export type StartRetry = typeof StartRetry.Type

/** A failed test that a retry is to run. */
export const RetryTest = Schema.Struct({
  caseId: Schema.String.annotate({ description: "Names the test in the run." }),
  title: Schema.String,
  file: Schema.String,
  nextAttempt: Schema.Int.annotate({ description: "The number that its next attempt gets." })
}).annotate({
  identifier: "RetryTest",
  description: "A failed test that a retry is to run.",
  examples: [{ caseId: exampleTest.caseId, title: exampleTest.title, file: exampleTest.file, nextAttempt: 2 }]
})
export type RetryTest = typeof RetryTest.Type

/** A retry that has begun (docs/contract.md, Retries). */
export const StartedRetry = Schema.Struct({
  retry: Schema.Int.annotate({ description: "Its number, from 1 in the run.", examples: [1] }),
  requiredPasses: Schema.Int.annotate({
    description: "How often a test must pass, and pass each time, to become flaky.",
    examples: [3]
  }),
  baseUrl: Schema.String.annotate({
    description: "The URL the tests run against.",
    examples: ["https://staging.shop.example.com"]
  }),
  tests: Schema.Array(RetryTest).annotate({ description: "The run's failed tests, by title." }),
  environment: Schema.Struct({
    slug: Schema.String.annotate({ examples: ["staging"] }),
    class: EnvironmentClass
  }),
  fixture: Schema.NullOr(FixtureAccess).annotate({ description: "Null when the run had no Fixture API." }),
  semaphores: SemaphoreAccess
}).annotate({
  identifier: "StartedRetry",
  description: "A retry that has begun, the tests it is to run, and what they may use."
})
export type StartedRetry = typeof StartedRetry.Type

/** The most attempts of one test that a retry may report. */
export const maxAttemptsPerTest = 100

/** What a retry's publisher says of one test. */
export const RetryTestReport = Body({
  caseId: CaseId,
  attempts: Schema.Array(RanReport)
    .check(Schema.isMaxLength(maxAttemptsPerTest, { message: `Expected at most ${maxAttemptsPerTest} attempts` }))
    .annotate({ description: `In order, at most ${maxAttemptsPerTest}; numbered on from \`nextAttempt\`.` })
}).annotate({
  identifier: "RetryTestReport",
  description: "The attempts of one test in a retry.",
  examples: [{ caseId: exampleTest.caseId, attempts: [exampleAttempt] }]
})
export type RetryTestReport = typeof RetryTestReport.Type

const hasUniqueCaseIds = Schema.makeFilter<ReadonlyArray<RetryTestReport>>(
  (tests) => new Set(tests.map((test) => test.caseId)).size === tests.length || "Expected each caseId once"
)

/** The body that finishes a retry (docs/contract.md, Retries). */
export const FinishRetry = Body({
  interrupted: Schema.Boolean.annotate({ description: "Whether it was given up. The attempts sent still count." }),
  cleanup: Schema.optionalKey(
    Schema.NullOr(CleanupReport).annotate({
      description: "For a retry with a scope; none counts as `incomplete`.",
      message: "Expected an object or null"
    })
  ),
  tests: Schema.Array(RetryTestReport)
    .check(
      Schema.isMaxLength(maxTestsPerRun, { message: `Expected at most ${maxTestsPerRun} tests` }),
      hasUniqueCaseIds
    )
    .annotate({
      description: "Tests that had failed when the retry started; those left out, or without attempts, stay failed."
    })
}).annotate({
  identifier: "FinishRetry",
  description: "What became of a retry.",
  examples: [{ interrupted: false, cleanup: null, tests: [{ caseId: exampleTest.caseId, attempts: [exampleAttempt] }] }]
})
export type FinishRetry = typeof FinishRetry.Type
