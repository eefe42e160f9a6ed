import { Schema } from "effect"
import { exampleTest } from "../runs/TestEntry.ts"
import { exampleGit } from "../runs/TestRun.ts"
import { CaseRun } from "../runs/Case.ts"
import { EvidenceExclusion } from "./EvidenceExclusion.ts"
import { exclusionMeanings } from "./EvidenceWords.ts"
import { maxShownName } from "./ShownName.ts"
import { Timestamp } from "../Timestamp.ts"

/** What proves that the tests of a ticket pass again (docs/contract.md, Evidence). */

/** How many runs an answer has of each test, at most. */
export const shownEvidence = 20

const ranAt = {
  environment: Schema.String.annotate({
    description: "The slug of the environment of the run.",
    examples: ["staging"]
  }),
  branch: Schema.String.annotate({ description: "The branch of its commit.", examples: [exampleGit.branch] })
}

const exampleRun = {
  run: 14,
  environment: "staging",
  branch: "main",
  commit: "1d2e3f4aabbccddeeff00112233445566778899a",
  at: "2026-11-22T09:31:05.000Z",
  excluded: null,
  key: null
} as const

const EvidenceRun = Schema.Struct({
  run: Schema.Int.annotate({ description: "The number of the run." }),
  ...ranAt,
  commit: Schema.String,
  at: Timestamp.annotate({ description: "When the run ended." }),
  excluded: Schema.NullOr(EvidenceExclusion).annotate({
    description: `Why it does not count; null where it does. ${exclusionMeanings}`
  }),
  key: Schema.NullOr(Schema.String).annotate({
    description:
      "With `of_owner`, the name of the account API key that published it, which an owner of the ticket, or who asks, made after the ticket; null for others."
  })
}).annotate({
  identifier: "EvidenceRun",
  description: "A finished run in which a test passed since it failed last, or in a retry of that.",
  examples: [exampleRun]
})
export type EvidenceRun = typeof EvidenceRun.Type

const exampleCase = {
  caseId: exampleTest.caseId,
  title: exampleTest.title,
  passed: 1,
  needed: 2,
  environment: "staging",
  failed: {
    run: 12,
    environment: "staging",
    branch: exampleGit.branch,
    commit: exampleGit.sha,
    at: "2026-11-21T09:31:05.000Z"
  },
  runs: [exampleRun]
} as const

const EvidenceFailure = Schema.Struct({ ...CaseRun.fields, ...ranAt }).annotate({
  identifier: "EvidenceFailure",
  description: "A finished run in which a test failed or was flaky.",
  examples: [exampleCase.failed]
})

const EvidenceCase = Schema.Struct({
  caseId: Schema.String,
  title: Schema.NullOr(Schema.String).annotate({
    description: `The first ${maxShownName} characters of the title of the test in the newest of those runs; null where it is in none.`
  }),
  passed: Schema.Int.annotate({ description: "In how many runs it passed that count." }),
  needed: Schema.Int.annotate({ description: "In how many it must pass." }),
  environment: Schema.NullOr(Schema.String).annotate({
    description:
      "The slug of the environment in which it must pass: where it failed last. Null where it failed in none, or where the product is not deployed any more: then it may pass in each."
  }),
  failed: Schema.NullOr(EvidenceFailure).annotate({
    description: "The run in which it failed or was flaky last, however old that is; null for none."
  }),
  runs: Schema.Array(EvidenceRun).annotate({
    description: `The runs since then in which it passed, newest first, at most ${shownEvidence}. After them that run itself, where a retry of it passed (\`retry\`).`
  })
}).annotate({
  identifier: "EvidenceCase",
  description: "A test of a ticket, and the runs that prove that it passes again.",
  examples: [exampleCase]
})

/** Whether a ticket could be completed with evidence now, and by what. */
export const TicketEvidence = Schema.Struct({
  product: Schema.NullOr(Schema.String).annotate({
    description: "The slug of the product that the tests are of; null where the ticket is about none."
  }),
  complete: Schema.Boolean.annotate({ description: "Whether each of its cases has passed in enough runs." }),
  cases: Schema.Array(EvidenceCase).annotate({ description: "The cases of the ticket, in their order." })
}).annotate({
  identifier: "TicketEvidence",
  description: "What proves that the tests of a ticket pass again. It is the same where the ticket asks for none.",
  examples: [{ product: "shop", complete: false, cases: [exampleCase] }]
})
export type TicketEvidence = typeof TicketEvidence.Type
