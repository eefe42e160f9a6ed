import { Schema } from "effect"
import { EnvironmentClass } from "../catalog/Environment.ts"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { PersonId, TestRunId } from "../Ids.ts"
import { maxNumber } from "../Numbers.ts"
import { atLeast, HttpUrl, OneOf, Ref, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Shard, ShardCounts } from "./Shard.ts"
import { Coverage, exampleTestEntry, TestEntry } from "./TestEntry.ts"

const Count = Schema.Int

export const Counts = Schema.Struct({
  total: Count,
  passed: Count,
  flaky: Count,
  failed: Count,
  skipped: Count
}).annotate({
  identifier: "Counts",
  description: "How many tests of a run have which status.",
  examples: [{ total: 3, passed: 1, flaky: 0, failed: 1, skipped: 1 }]
})
export type Counts = typeof Counts.Type

/** The commit in examples. */
export const exampleGit = {
  branch: "main",
  sha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  dirty: false,
  subject: "Add the basket"
} as const

export const Git = Body({
  branch: Text(500),
  sha: Text(100).check(atLeast(1)),
  dirty: Schema.Boolean.annotate({
    description:
      "Whether the working tree had uncommitted changes. The publishers of this service look at files that git tracks, so a report that lies beside them is none."
  }),
  subject: Text(2_000).annotate({ description: "The first line of the commit message." }),
  pullRequest: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxNumber }))).annotate({
      description:
        "The number of the pull request or merge request that the tests ran for. The commit is then its head, not what the CI merged it into. Absent in answers where there was none.",
      examples: [42]
    })
  )
}).annotate({
  identifier: "Git",
  description: "The commit that the tests came from.",
  examples: [exampleGit]
})
export type Git = typeof Git.Type

export const Machine = Body({ hostname: Text(255), platform: Text(100) }).annotate({
  identifier: "Machine",
  description: "The machine that the tests ran on.",
  examples: [{ hostname: "ci-7", platform: "linux" }]
})
export type Machine = typeof Machine.Type

const isSelection = Schema.isMaxLength(5_000, { message: "Expected at most 5000 entries" })

export const Selection = Body({
  coverage: Schema.NullOr(Coverage),
  folders: Schema.Array(Text(1_000)).check(isSelection),
  caseIds: Schema.Array(Text(500)).check(isSelection)
}).annotate({
  identifier: "Selection",
  description: "Which tests the publisher chose to run. Empty lists mean all.",
  examples: [{ coverage: "acceptance", folders: ["checkout"], caseIds: [] }]
})
export type Selection = typeof Selection.Type

export const CleanupStatus = Schema.Literals(["pending", "complete", "incomplete", "failed"]).annotate({
  identifier: "CleanupStatus",
  description:
    "What became of the test data. It is `pending` while the run or retry runs, and `incomplete` also if it ended without a report.",
  examples: ["complete"]
})
export type CleanupStatus = typeof CleanupStatus.Type

export const Cleanup = Schema.Struct({
  scope: Schema.String.annotate({ description: "The scope under which the test data was created." }),
  expiresAt: Timestamp.annotate({ description: "When the token of the scope expires." }),
  status: CleanupStatus,
  deleted: Schema.NullOr(Count).annotate({ description: "How many objects were deleted; null while pending." }),
  remaining: Schema.NullOr(Count).annotate({ description: "How many objects were left; null while pending." })
}).annotate({
  identifier: "Cleanup",
  description: "What became of the test data of a run or retry.",
  examples: [
    {
      scope: "run-12-4fGhTz0s",
      expiresAt: "2026-11-21T15:30:00.000Z",
      status: "complete",
      deleted: 14,
      remaining: 0
    }
  ]
})
export type Cleanup = typeof Cleanup.Type

export const RunState = Schema.Literals(["running", "finished", "interrupted"]).annotate({
  identifier: "RunState",
  description:
    "The state of a run. It is `interrupted` if its publisher gave it up, or if it was still running after 6 hours.",
  examples: ["finished"]
})
export type RunState = typeof RunState.Type

export const RunResult = Schema.Literals(["passed", "failed"]).annotate({
  identifier: "RunResult",
  description: "The result of a run: `failed` if a test failed or the run has an error, otherwise `passed`.",
  examples: ["passed"]
})
export type RunResult = typeof RunResult.Type

const Rate = Schema.NullOr(Schema.Finite)

/** A test whose failures do not count in a run (docs/contract.md, Muting). */
export const RunMute = Schema.Struct({
  caseId: Schema.String.annotate({ description: "The id of the test." }),
  ticket: Schema.NullOr(Schema.String).annotate({
    description: "The identifier of the ticket that muted it; null if you do not see it, or if it is gone."
  }),
  until: Timestamp.annotate({ description: "When the mute was to end." })
}).annotate({
  identifier: "RunMute",
  description: "A test that was muted when the run started, and why.",
  examples: [{ caseId: exampleTestEntry.caseId, ticket: "ENG-12", until: "2026-12-21T09:30:00.000Z" }]
})
export type RunMute = typeof RunMute.Type

const summaryFields = {
  id: TestRunId,
  number: Count.annotate({ description: "The number of the run, from 1 in the workspace." }),
  url: Schema.String.annotate({ description: "The page of the run on the website." }),
  state: RunState,
  result: Schema.NullOr(RunResult).annotate({
    description: "The result; null while the run is running, and if it was interrupted."
  }),
  gateResult: Schema.NullOr(RunResult).annotate({
    description:
      "The result without the tests that were muted when the run started: `failed` if another test failed or the run has an error. What failed for it stays failed once a retry has ended on another release than the run began on, or tested another address than the run, or with changes that are in no commit. Null when `result` is null."
  }),
  counts: Counts,
  passRate: Rate.annotate({
    description:
      "(passed + flaky) / (total - skipped), from 0 to 1. Null while the run is running, unless shards of it have finished, and if no test counts."
  }),
  firstAttemptPassRate: Rate.annotate({
    description:
      "Tests that passed on their first attempt / (total - skipped), from 0 to 1. Retries never change it. Null when `passRate` is null."
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description:
      "A failure outside of the tests, or `No tests ran.`; null if there was none. A run with an error has failed and cannot be retried."
  }),
  product: Schema.Struct({ slug: Schema.String, name: Schema.String }),
  environment: Schema.Struct({ slug: Schema.String, name: Schema.String, class: EnvironmentClass }),
  baseUrl: Schema.String.annotate({ description: "The URL that the tests ran against." }),
  deploymentBaseUrl: Schema.NullOr(Schema.String).annotate({
    description: "The URL of the deployment when the run started."
  }),
  deploymentVersion: Schema.NullOr(Schema.String).annotate({
    description: "The version of the deployment when the run started."
  }),
  release: Schema.NullOr(Count).annotate({
    description:
      "The number of the deployment's release that was live when the run started; null if it had none, and for runs of servers that did not note it."
  }),
  deploymentChanged: Schema.Boolean.annotate({
    description:
      "Whether the version of the deployment changed, or the deployment was deleted, while the run was running."
  }),
  locked: Schema.Boolean.annotate({
    description: "Whether the version of the deployment cannot change, unless forced, while the run is running."
  }),
  partOfTests: Schema.Boolean.annotate({
    description: "Whether it was to run a part of the tests: `selection` had folders or tests."
  }),
  git: Git,
  machine: Machine,
  ciUrl: Schema.NullOr(Schema.String).annotate({
    description: "The page of the CI job or build that published the run; null if it named none."
  }),
  shards: Schema.NullOr(ShardCounts).annotate({
    description: "How far its shards are; null if one publisher published the whole run."
  }),
  coverage: Schema.NullOr(Coverage).annotate({
    description: "The coverage that was selected when the run started; null if none was."
  }),
  cleanup: Schema.NullOr(Cleanup).annotate({
    description: "What became of the test data; null if the run had no Fixture API."
  }),
  publishedBy: Actor,
  startedAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp).annotate({ description: "When the run ended; null while it is running." }),
  durationMs: Schema.Finite.annotate({
    description: "How long the run took, in milliseconds, as the publisher reported; 0 while it is running."
  })
}

const summaryExample = {
  id: TestRunId.make("0197a1b2-0000-7000-8000-000000000012"),
  number: 12,
  url: "http://localhost:4000/w/main/test-runs/12",
  state: "finished",
  result: "failed",
  gateResult: "failed",
  counts: { total: 1, passed: 0, flaky: 0, failed: 1, skipped: 0 },
  passRate: 0,
  firstAttemptPassRate: 0,
  error: null,
  product: { slug: "shop", name: "Shop" },
  environment: { slug: "staging", name: "Staging", class: "non-production" },
  baseUrl: "https://staging.shop.example.com",
  deploymentBaseUrl: "https://staging.shop.example.com",
  deploymentVersion: "9fceb02",
  release: 4,
  deploymentChanged: false,
  locked: false,
  partOfTests: false,
  git: exampleGit,
  machine: { hostname: "ci-7", platform: "linux" },
  ciUrl: "https://github.com/example/shop/actions/runs/9876543210",
  shards: null,
  coverage: null,
  cleanup: null,
  publishedBy: {
    kind: "user",
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  startedAt: "2026-11-21T09:30:00.000Z",
  finishedAt: "2026-11-21T09:31:05.000Z",
  durationMs: 64_210
} as const

/** A run in lists and in answers to a finish, without `retries` and `tests` (docs/contract.md, Test runs). */
export const TestRunSummary = Schema.Struct(summaryFields).annotate({
  identifier: "TestRunSummary",
  description: "A test run without its retries and tests.",
  examples: [summaryExample]
})
export type TestRunSummary = typeof TestRunSummary.Type

/** A retry of the failed tests of a run (docs/contract.md, Retries). */
export const Retry = Schema.Struct({
  number: Count.annotate({ description: "The number of the retry, from 1 in the run." }),
  state: RunState,
  requiredPasses: Count.annotate({ description: "How often a test must run, and pass each time, to become flaky." }),
  testCount: Count.annotate({
    description: "The tests that it was to run: those that had failed, or passed elsewhere alone, at its start."
  }),
  flakyCount: Count.annotate({
    description: "The tests that passed every attempt of this retry, which makes them flaky."
  }),
  elsewhere: Schema.Boolean.annotate({
    description:
      "Whether it tested another address than the run, or with changes that are in no commit, or by their times all of its attempts began before the first test of the run, or it ended on another release than the run began on, after its deployment was deleted, or while that had another address than the run, which tested it. What passed in it alone has failed for `gateResult`, and can be retried again."
  }),
  baseUrl: Schema.String.annotate({ description: "The URL that the tests ran against." }),
  gitSha: Schema.String.annotate({ description: "The run's own commit." }),
  cleanup: Schema.NullOr(Cleanup).annotate({ description: "Null when the run had no Fixture API." }),
  publishedBy: Actor,
  startedAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp).annotate({ description: "When the retry ended; null while it is running." })
}).annotate({
  identifier: "Retry",
  description: "A retry of a run's failed tests.",
  examples: [
    {
      number: 1,
      state: "finished",
      requiredPasses: 2,
      testCount: 1,
      flakyCount: 0,
      elsewhere: false,
      baseUrl: summaryExample.baseUrl,
      gitSha: summaryExample.git.sha,
      cleanup: null,
      publishedBy: summaryExample.publishedBy,
      startedAt: "2026-11-21T09:40:00.000Z",
      finishedAt: "2026-11-21T09:40:20.000Z"
    }
  ]
})
export type Retry = typeof Retry.Type

/** A run with its retries and tests (docs/contract.md, Test runs). */
export const TestRun = Schema.Struct({
  ...summaryFields,
  mutes: Schema.Array(RunMute).annotate({
    description: "The tests that were muted when the run started, by id, whether they are in the run or not."
  }),
  retries: Schema.Array(Retry).annotate({ description: "Oldest first." }),
  tests: Schema.Array(TestEntry).annotate({
    description: "The tests: failed ones first, then flaky, passed and skipped ones, each by title."
  })
}).annotate({
  identifier: "TestRun",
  description: "A test run with its retries and tests.",
  examples: [{ ...summaryExample, mutes: [], retries: [], tests: [exampleTestEntry] }]
})
export type TestRun = typeof TestRun.Type

/** A page of the list of runs. */
export const TestRunPage = Schema.Struct({
  runs: Schema.Array(TestRunSummary),
  nextCursor: Schema.NullOr(Count).annotate({
    description: "Send it as `cursor`, with the same filters, to get the next page. Null on the last page.",
    examples: [null]
  })
}).annotate({ identifier: "TestRunPage", description: "At most 50 runs, newest first." })
export type TestRunPage = typeof TestRunPage.Type

/** How many runs a page has. */
export const runsPageSize = 50

/** A shard belongs to a build, and a build to nothing else. */
const haveBuild = Schema.makeFilter<{ readonly build?: string | null; readonly shard?: Shard | null }>(
  ({ build, shard }) =>
    ((build ?? null) === null) === ((shard ?? null) === null) || {
      path: [(build ?? null) === null ? "build" : "shard"],
      issue: "Expected build and shard together"
    },
  { toJsonSchema: undocumented }
)

export const StartTestRun = Body({
  product: Ref.annotate({ description: "The slug or id of the product." }),
  environment: Ref.annotate({ description: "The slug or id of the environment." }),
  baseUrl: HttpUrl.annotate({ description: "The URL that the tests run against." }),
  git: Git,
  machine: Machine,
  selection: Selection,
  ciUrl: Schema.optionalKey(
    Schema.NullOr(HttpUrl).annotate({ description: "The page of the CI job or build that publishes the run." })
  ),
  fixtureUrl: Schema.optionalKey(
    Schema.NullOr(HttpUrl).annotate({
      description: "The Fixture API for this run, in place of that of the deployment."
    })
  ),
  build: Schema.optionalKey(
    Schema.NullOr(Text(200).check(atLeast(1))).annotate({
      description:
        "The id of the CI build whose shards publish one run together: the first one starts it. It comes with `shard`.",
      examples: ["9876543210-1"]
    })
  ),
  shard: Schema.optionalKey(
    Schema.NullOr(Shard).annotate({
      description: "Which shard of the build starts. It comes with `build`.",
      message: "Expected an object or null"
    })
  ),
  requestId: Schema.optionalKey(
    Text(100)
      .check(atLeast(1))
      .annotate({
        description:
          "An id that you choose, to make the start safe to repeat when its response was lost. The same request with the same id gets the run that the first one started, with a new run token in place of the first. Without it, a second run starts. A shard needs none.",
        examples: ["0b7f6a52-3f5e-4d0a-9f38-6a5f2f3f8f11"]
      })
  ),
  locked: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "Takes the deployment for the run: until the run ends, its version changes only where that is forced. Other locked runs may run beside it.",
      default: false
    })
  )
})
  .check(haveBuild)
  .annotate({
    identifier: "StartTestRun",
    description: "What is tested, where, and from which commit and machine.",
    examples: [
      {
        product: "shop",
        environment: "staging",
        baseUrl: "https://staging.shop.example.com",
        git: summaryExample.git,
        machine: { hostname: "ci-7", platform: "linux" },
        selection: { coverage: null, folders: [], caseIds: [] }
      }
    ]
  })
export type StartTestRun = typeof StartTestRun.Type

/** The access of a run to a Fixture API, to make and delete test data (docs/contract.md, Fixtures). */
export const FixtureAccess = Schema.Struct({
  scope: Schema.String.annotate({ description: "Create test data under this scope, and delete it by this scope." }),
  token: Schema.String.annotate({
    description: "A JWT for the Fixture API. `/.well-known/jwks.json` has the keys to verify it."
  }),
  url: Schema.String.annotate({ description: "The URL of the Fixture API. The token is valid only there." }),
  expiresAt: Timestamp
}).annotate({
  identifier: "FixtureAccess",
  description: "The access of a run to a Fixture API, to make and delete test data.",
  examples: [
    {
      scope: "run-12-4fGhTz0s",
      token: "eyJhbGciOiJFZERTQSJ9.eyJzY29wZSI6InJ1bi0xMi00ZkdoVHowcyJ9.c2lnbmF0dXJl",
      url: "https://staging.shop.example.com/fixtures",
      expiresAt: "2026-11-21T15:30:00.000Z"
    }
  ]
})
export type FixtureAccess = typeof FixtureAccess.Type

/** The access of a run to semaphores (docs/contract.md, Semaphores). */
export const SemaphoreAccess = Schema.Struct({
  url: Schema.String.annotate({ description: "The URL of the semaphores of the workspace." }),
  token: Schema.String.annotate({
    description: "The run token (`stk_...`). It works until the run, the shard or the retry ends."
  }),
  expiresAt: Timestamp
}).annotate({
  identifier: "SemaphoreAccess",
  description: "The access of a run to semaphores.",
  examples: [
    {
      url: "http://localhost:4000/v1/workspaces/main/semaphores",
      token: "stk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk",
      expiresAt: "2026-11-21T15:30:00.000Z"
    }
  ]
})
export type SemaphoreAccess = typeof SemaphoreAccess.Type

export const StartedTestRun = Schema.Struct({
  number: Count.annotate({ examples: [12] }),
  url: Schema.String.annotate({ description: "The page of the run on the website.", examples: [summaryExample.url] }),
  fixture: Schema.NullOr(FixtureAccess).annotate({ description: "Null when the deployment has no Fixture API." }),
  semaphores: SemaphoreAccess,
  muted: Schema.Array(Schema.String).annotate({
    description:
      "The ids of the tests of the product that are muted now, in the order of their code units: their failures do not count in `gateResult` of this run.",
    examples: [[]]
  })
}).annotate({ identifier: "StartedTestRun", description: "A run that has started, and what its tests may use." })
export type StartedTestRun = typeof StartedTestRun.Type

const NonNegativeInt = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxNumber }))

/** What became of the test data of a scope, as the publisher reports it. */
export const CleanupReport = Body({
  status: OneOf(["complete", "incomplete", "failed"]),
  deleted: NonNegativeInt,
  remaining: NonNegativeInt,
  error: Schema.optionalKey(Schema.NullOr(Schema.String))
}).annotate({
  identifier: "CleanupReport",
  description: "What became of the test data of a scope, as the publisher reports it.",
  examples: [{ status: "complete", deleted: 14, remaining: 0, error: null }]
})
export type CleanupReport = typeof CleanupReport.Type
