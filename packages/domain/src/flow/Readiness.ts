import { Schema } from "effect"
import { Coverage, exampleTestEntry } from "../runs/TestEntry.ts"
import { Counts, exampleGit } from "../runs/TestRun.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Severity } from "./ReadinessPolicy.ts"
import { maxShownName } from "./ShownName.ts"

const kinds = {
  version_unknown:
    "no deployment of the product ever had the version of the request, and no run tested it; always `warn`",
  version_missing:
    "the request names no version, and none of the product is known to run in the environment of the policy's `from`, or here where the policy has none, or that environment is archived; always `block`",
  source_archived:
    "the request names a version, and the environment of the policy's `from`, whose runs decide, is archived, or the product is not deployed there; always `block`",
  version_name:
    "a run decides, and the version has no digit, such as `latest`, or is a branch in full or that which the run tested: other code may have the same name; always `warn`",
  run_missing:
    "no run of the version with the whole coverage, without folders or cases that narrow it, has finished in the environment of `from`, or in another one where the policy has no `from`; runs that skipped everything, of agents, with uncommitted changes, and those against another address than the deployment's, do not count",
  run_failed: "the newest of them failed",
  test_missing:
    "the newest of them passed, but without tests that failed in an earlier one of the version, also at an address that the deployment had then, have not passed there since, by when the tests began, and are not muted",
  test_dropped:
    "the newest of them passed, but without tests that failed when they last ran in its environment with its coverage, in a run of another version, have passed in no run that counts there since, are not muted, and are in no ticket that needs evidence and was completed since; always `warn`",
  tests_fewer:
    "the newest of them passed, but ran fewer tests than the largest of the newest such runs of the five other versions before it, in the same environment and with the same coverage: three or more, and a twentieth or more; always `warn`",
  test_muted:
    "the newest of them passed, but without tests that failed when they last ran there and are muted; always `warn`",
  mute_overdue: "a test is muted past its time",
  ticket_blocks: "a ticket with `blocks: true` is open",
  secret_missing: "a secret has a value in the environment that the version comes from, and none here",
  drift: "a secret changed since the product loaded it",
  frozen: "nothing may go out now"
}

/** Why a version may not go out, or what is to be known of it, in the order of answers (docs/contract.md, Readiness). */
export const ReasonKind = OneOf([
  "version_unknown",
  "version_missing",
  "source_archived",
  "version_name",
  "run_missing",
  "run_failed",
  "test_missing",
  "test_dropped",
  "tests_fewer",
  "test_muted",
  "mute_overdue",
  "ticket_blocks",
  "secret_missing",
  "drift",
  "frozen"
]).annotate({
  identifier: "ReasonKind",
  description: Object.entries(kinds)
    .map(([kind, meaning]) => `\`${kind}\`: ${meaning}.`)
    .join(" "),
  examples: ["run_failed"]
})
export type ReasonKind = typeof ReasonKind.Type

const ReasonSubject = Schema.Struct({
  type: OneOf(["version", "environment", "coverage", "run", "ticket", "secret", "freeze"]),
  id: Schema.String.annotate({
    description:
      "Of a version and of a coverage the word, of a freeze its two times with a slash between them, else the id."
  }),
  label: Schema.String.annotate({ description: "The name of the subject, for people." }),
  url: Schema.NullOr(Schema.String).annotate({ description: "The page of the subject on the website; null for none." })
}).annotate({
  identifier: "ReasonSubject",
  description: "What a reason is about.",
  examples: [
    {
      type: "run",
      id: "0197a1b2-0000-7000-8000-000000000201",
      label: "Run 12",
      url: "https://delivery.example.com/w/main/test-runs/12"
    }
  ]
})
export type ReasonSubject = typeof ReasonSubject.Type

const exampleReason = {
  kind: "run_failed",
  severity: "block",
  subject: {
    type: "run",
    id: "0197a1b2-0000-7000-8000-000000000201",
    label: "Run 12",
    url: "https://delivery.example.com/w/main/test-runs/12"
  },
  message: "Run 12 in Staging, the newest of 9fceb02 with the coverage critical, failed."
} as const

const exampleMutedFailures = {
  count: 1,
  tests: [{ caseId: exampleTestEntry.caseId, title: exampleTestEntry.title, ticket: "ENG-12" }]
} as const

const exampleNewer = { run: 13, state: "interrupted" } as const

const exampleRun = {
  coverage: "critical",
  run: 12,
  environment: "staging",
  result: "failed",
  gateResult: "failed",
  git: { branch: exampleGit.branch, sha: exampleGit.sha, dirty: false },
  counts: { total: 40, passed: 35, flaky: 0, failed: 2, skipped: 3 },
  mutedFailures: exampleMutedFailures,
  runningRetry: null,
  newer: exampleNewer,
  finishedAt: "2026-11-21T09:31:05.000Z"
} as const

export const Reason = Schema.Struct({
  kind: ReasonKind,
  severity: Severity,
  subject: Schema.NullOr(ReasonSubject).annotate({
    description: "What the reason is about; null where that is a ticket that you do not see."
  }),
  message: Schema.String.annotate({ description: "The reason as a sentence for people. Its wording may change." })
}).annotate({
  identifier: "ReadinessReason",
  description: "A reason that keeps a version back, or that warns.",
  examples: [exampleReason]
})
export type Reason = typeof Reason.Type

/** How many muted failures of a run readiness names. */
export const maxMutedFailures = 20

const MutedFailures = Schema.Struct({
  count: Schema.Int,
  tests: Schema.Array(
    Schema.Struct({
      caseId: Schema.String,
      title: Schema.String.annotate({ description: `The first ${maxShownName} characters of its title.` }),
      ticket: Schema.NullOr(Schema.String).annotate({
        description: "The identifier of the ticket that muted it; null if you do not see it, or if it is gone."
      })
    })
  ).annotate({ description: `The first ${maxMutedFailures} of them, by id.` })
}).annotate({
  identifier: "MutedFailures",
  description:
    "The tests that failed in a run and do not count, since they were muted when it started. That stays, though they may not be muted any more.",
  examples: [exampleMutedFailures]
})

const NewerRun = Schema.Struct({
  run: Schema.Int.annotate({ description: "The number of the run.", examples: [13] }),
  state: OneOf(["running", "interrupted"])
}).annotate({
  identifier: "NewerRun",
  description: "A run that started after the one that decides, and has no result.",
  examples: [exampleNewer]
})
export type NewerRun = typeof NewerRun.Type

const TestedCommit = Schema.Struct({
  branch: Schema.String,
  sha: Schema.String.annotate({ description: "`unknown` where git did not say." }),
  dirty: Schema.Boolean.annotate({ description: "Whether the working tree had uncommitted changes." })
}).annotate({
  identifier: "TestedCommit",
  description: "The commit that the tests of a run came from.",
  examples: [exampleRun.git]
})

const DecidingRun = Schema.Struct({
  coverage: Coverage,
  run: Schema.Int.annotate({ description: "The number of the run.", examples: [12] }),
  environment: Schema.String.annotate({ description: "The slug of its environment.", examples: ["staging"] }),
  result: OneOf(["passed", "failed"]),
  gateResult: OneOf(["passed", "failed"]).annotate({
    description: "The result without the tests that were muted when the run started. It decides."
  }),
  git: TestedCommit,
  counts: Counts,
  mutedFailures: MutedFailures,
  runningRetry: Schema.NullOr(Schema.Int).annotate({
    description: "The number of the retry of the run that is running, which may change its result; null where none is."
  }),
  newer: Schema.NullOr(NewerRun).annotate({
    description:
      "A run of the version with the whole coverage that could decide in place of this one, but has no result: one that is running, or one that started later and was interrupted. Else null."
  }),
  finishedAt: Timestamp
}).annotate({
  identifier: "DecidingRun",
  description:
    "The run that decides for a coverage: the newest that finished in the environment of the policy's `from`, or in another one where it has none, of those that ran all tests of the coverage without uncommitted changes, against the base URL that the deployment had and has, in which something passed or failed, and that no agent published.",
  examples: [exampleRun]
})
export type DecidingRun = typeof DecidingRun.Type

const exampleNotCounted = {
  coverage: "critical",
  run: 14,
  environment: "staging",
  result: "failed",
  reason: "other_address",
  baseUrl: "https://pr-12.preview.shop.example.com"
} as const

/** Why a run of a version decides nothing (docs/contract.md, Readiness). */
export const RunExclusion = OneOf([
  "other_address",
  "deployment_changed",
  "uncommitted_changes",
  "of_agent",
  "part_of_tests",
  "no_coverage",
  "nothing_tested",
  "ran_before"
])
export type RunExclusion = typeof RunExclusion.Type

const UncountedRun = Schema.Struct({
  coverage: Schema.NullOr(Coverage).annotate({ description: "The coverage of the run; null where it names none." }),
  run: Schema.Int.annotate({ description: "The number of the run.", examples: [14] }),
  environment: Schema.String.annotate({ description: "The slug of its environment.", examples: ["staging"] }),
  result: OneOf(["passed", "failed"]).annotate({
    description: "The result without the tests that were muted when the run started."
  }),
  reason: RunExclusion.annotate({
    description:
      "Why it decides nothing. `other_address`: it tested another address than its deployment had and has, such as that of a preview. `deployment_changed`: the deployment changed while it ran. `uncommitted_changes`: it ran changes that are in no commit. `of_agent`: an agent published it. `part_of_tests`: it ran a part of the tests. `no_coverage`: it names no coverage. `nothing_tested`: nothing in it passed or failed, muted tests aside. `ran_before`: it passed, but was started when its tests had run, and by their times all of them began more than a minute before the version was set there, or before the first test of a run of the same release and coverage that failed and finished before it."
  }),
  baseUrl: Schema.String.annotate({ description: `What it tested: the first ${maxShownName} characters.` })
}).annotate({
  identifier: "UncountedRun",
  description: "A run of the version that decides nothing, and why.",
  examples: [exampleNotCounted]
})

/** Whether a version may go out to a deployment, and what says so (docs/contract.md, Readiness). */
export const Readiness = Schema.Struct({
  ready: Schema.Boolean.annotate({ description: "Whether no reason has the severity `block`." }),
  version: Schema.NullOr(Schema.String).annotate({
    description:
      "The version that was looked at: that of the request, in full where it was the beginning of one that is known, else the one that runs in the environment of the policy's `from`, else the one that runs here. Null where none is known. Where none is known there, `version_missing` says so."
  }),
  at: Timestamp.annotate({ description: "When it was decided." }),
  changesAt: Schema.NullOr(Timestamp).annotate({
    description:
      "When time alone may change it: the next freeze window begins or ends, or a mute of the product runs out. Null where nothing is to come: it holds until something happens."
  }),
  requires: Schema.Array(Coverage).annotate({
    description: "The coverages of which the policy requires a run. Empty: no run is required."
  }),
  reasons: Schema.Array(Reason).annotate({
    description: "What blocks first, then what warns; each by kind, in the order of the kinds."
  }),
  runs: Schema.Array(DecidingRun).annotate({
    description: "For each coverage that the policy requires, the run that decided, if there is one."
  }),
  notCounted: Schema.Array(UncountedRun).annotate({
    description:
      "For each coverage that the policy requires, the newest run that would decide if it had not tested another address than the deployment's, if there is one. Then, for each coverage and for none, a run that decides nothing for another reason: where a run decides, the newest after it that failed, or that passed where the deciding one keeps the version back; else the newest."
  })
}).annotate({
  identifier: "Readiness",
  description: "Whether a version may go out, with the reasons against it and the runs that decided.",
  examples: [
    {
      ready: false,
      version: "9fceb02",
      at: "2026-11-21T09:40:00.000Z",
      changesAt: "2026-12-23T00:00:00.000Z",
      requires: ["critical"],
      reasons: [exampleReason],
      runs: [exampleRun],
      notCounted: [exampleNotCounted]
    }
  ]
})
export type Readiness = typeof Readiness.Type
