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
    description: "How often a failed test has to run, passing each time, to become flaky: 1 to 5."
  }),
  baseUrl: Schema.NullOr(HttpUrl).annotate({
    description: "The URL that the tests run against; null for that of the run."
  }),
  fixtureUrl: Schema.optionalKey(
    Schema.NullOr(HttpUrl).annotate({
      description: "Replaces the Fixture API of the run for this retry. It has no effect if the run had none."
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

/** A failed test that a retry has to run. */
export const RetryTest = Schema.Struct({
  caseId: Schema.String.annotate({ description: "The id of the test." }),
  title: Schema.String,
  file: Schema.String,
  nextAttempt: Schema.Int.annotate({ description: "The number of its next attempt." })
}).annotate({
  identifier: "RetryTest",
  description: "A failed test that the retry has to run.",
  examples: [{ caseId: exampleTest.caseId, title: exampleTest.title, file: exampleTest.file, nextAttempt: 2 }]
})
export type RetryTest = typeof RetryTest.Type

/** A retry that has started (docs/contract.md, Retries). */
export const StartedRetry = Schema.Struct({
  retry: Schema.Int.annotate({ description: "The number of the retry, from 1 in its run.", examples: [1] }),
  requiredPasses: Schema.Int.annotate({
    description: "How often a test has to run, passing each time, to become flaky.",
    examples: [3]
  }),
  baseUrl: Schema.String.annotate({
    description: "The URL that the tests run against.",
    examples: ["https://staging.shop.example.com"]
  }),
  tests: Schema.Array(RetryTest).annotate({ description: "The failed tests of the run, by title." }),
  environment: Schema.Struct({
    slug: Schema.String.annotate({ examples: ["staging"] }),
    class: EnvironmentClass
  }),
  fixture: Schema.NullOr(FixtureAccess).annotate({
    description: "Access to the Fixture API; null if the run had none."
  }),
  semaphores: SemaphoreAccess
}).annotate({
  identifier: "StartedRetry",
  description: "A retry that has started: the tests to run, and what they may use."
})
export type StartedRetry = typeof StartedRetry.Type

/** How many attempts of one test a retry may report. */
export const maxAttemptsPerTest = 100

/** The attempts of one test, as the publisher of a retry reports them. */
export const RetryTestReport = Body({
  caseId: CaseId,
  attempts: Schema.Array(RanReport)
    .check(Schema.isMaxLength(maxAttemptsPerTest, { message: `Expected at most ${maxAttemptsPerTest} attempts` }))
    .annotate({
      description: `The attempts in order, at most ${maxAttemptsPerTest}. They are numbered from \`nextAttempt\` on.`
    })
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
  interrupted: Schema.Boolean.annotate({
    description: "Whether the retry was given up before its end. The attempts that are sent still count."
  }),
  cleanup: Schema.optionalKey(
    Schema.NullOr(CleanupReport).annotate({
      description:
        "What became of the test data. A retry with a fixture scope should report it; without a report it counts as `incomplete`.",
      message: "Expected an object or null"
    })
  ),
  tests: Schema.Array(RetryTestReport)
    .check(
      Schema.isMaxLength(maxTestsPerRun, { message: `Expected at most ${maxTestsPerRun} tests` }),
      hasUniqueCaseIds
    )
    .annotate({
      description:
        "The tests that were retried. Each must have failed when the retry started. Tests that are left out, or have no attempts, stay failed."
    })
}).annotate({
  identifier: "FinishRetry",
  description: "The outcome of a retry.",
  examples: [{ interrupted: false, cleanup: null, tests: [{ caseId: exampleTest.caseId, attempts: [exampleAttempt] }] }]
})
export type FinishRetry = typeof FinishRetry.Type
