import { Schema } from "effect"
import { EnvironmentClass } from "../catalog/Environment.ts"
import { TicketId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { comparedRuns, countedDays, newestResults } from "./CaseFigures.ts"
import { Coverage, exampleTest } from "./TestEntry.ts"
import { exampleGit } from "./TestRun.ts"

const states = {
  failing: "its newest result is a failure",
  passing: "its newest result is no failure",
  flaky: `one of its results of ${countedDays} days was flaky`,
  slow: "`durationP95Ms` is 10 seconds or more, and three times the median of the product or more",
  muted: "a ticket has muted it: its failures do not count"
}

const meanings = Object.entries(states)
  .map(([state, meaning]) => `\`${state}\`: ${meaning}.`)
  .join(" ")

const AnyState = OneOf(["failing", "flaky", "slow", "muted", "passing"])

/** What a case can be (docs/contract.md, Tests over time). */
export const CaseState = AnyState.annotate({
  identifier: "CaseState",
  description: `What a case is. ${meanings}`,
  examples: ["failing"]
})
export type CaseState = typeof CaseState.Type

/** The same as a filter. */
export const CaseStateFilter = AnyState.annotate({
  description: `Only cases of which this holds. ${meanings}`,
  examples: ["failing"]
})

/** The run of a failure, in the short form that cases have. */
export const CaseRun = Schema.Struct({
  run: Schema.Int.annotate({ description: "The number of the run." }),
  commit: Schema.String.annotate({ description: "The SHA of the commit that the tests came from." }),
  at: Timestamp.annotate({ description: "When the run ended." })
}).annotate({
  identifier: "CaseRun",
  description: "A run in which a case failed.",
  examples: [{ run: 12, commit: exampleGit.sha, at: "2026-11-21T09:31:05.000Z" }]
})
export type CaseRun = typeof CaseRun.Type

const CaseTicket = Schema.Struct({ id: TicketId, identifier: Schema.String, title: Schema.String }).annotate({
  identifier: "CaseTicket",
  description: "The ticket of a case.",
  examples: [{ id: TicketId.make("0197a1b2-0000-7000-8000-0000000000f1"), identifier: "ENG-12", title: "Pay by card" }]
})

const openTicketField = Schema.NullOr(CaseTicket).annotate({
  description: "The oldest open ticket about it that you see; null if there is none."
})

const CaseMute = Schema.Struct({
  ticket: Schema.NullOr(Schema.String).annotate({
    description: "The identifier of the ticket; null if you do not see it."
  }),
  until: Timestamp
}).annotate({
  identifier: "CaseMute",
  description: "Why and until when the failures of a case do not count.",
  examples: [{ ticket: "ENG-12", until: "2026-12-21T09:30:00.000Z" }]
})

const Failure = (description: string) => Schema.NullOr(CaseRun).annotate({ description })
const Rate = (description: string) =>
  Schema.NullOr(Schema.Finite).annotate({
    description: `${description}, from 0 to 1, of its results of ${countedDays} days: today and the days before, in UTC. Null where it has none.`
  })

const caseFields = {
  caseId: Schema.String.annotate({ description: "The id of the test: the same in every run." }),
  title: Schema.String.annotate({ description: "The title of the test, as in the newest run that counts." }),
  file: Schema.String.annotate({ description: "The source file of the test, as in the newest run that counts." }),
  coverage: Coverage,
  testKind: Schema.String.annotate({ description: "The kind of test, in the words of its publisher." }),
  states: Schema.Array(CaseState).annotate({
    description: `What the case is: \`failing\` or \`passing\`, and what else holds. Where its newest result is older than ${countedDays} days, at most \`muted\`.`
  }),
  firstFailure: Failure("The first run in which it failed; null if it never did."),
  lastFailure: Failure("The last run in which it failed; null if it never did."),
  failingSince: Failure("The first of the runs since which it has failed each time; null unless it is `failing`."),
  flakeRate: Rate("How many were flaky"),
  passRate: Rate("How many passed or were flaky"),
  durationP50Ms: Schema.Finite.annotate({
    description: `Half of its newest ${newestResults} results took at most so long, in milliseconds. The value is that of a result (nearest rank).`
  }),
  durationP95Ms: Schema.Finite.annotate({
    description: `95 of 100 of its newest ${newestResults} results took at most so long, in milliseconds. The value is that of a result (nearest rank).`
  }),
  muted: Schema.NullOr(CaseMute).annotate({
    description: "The ticket that has muted it, of several the one that does so longest; null if it is not muted."
  }),
  ticket: openTicketField
}

const exampleFailure = { run: 12, commit: exampleGit.sha, at: "2026-11-21T09:31:05.000Z" } as const

const exampleCase = {
  caseId: exampleTest.caseId,
  title: exampleTest.title,
  file: exampleTest.file,
  coverage: exampleTest.coverage,
  testKind: exampleTest.testKind,
  states: ["failing", "flaky"],
  firstFailure: { run: 3, commit: "1d2e3f4aabbccddeeff00112233445566778899a", at: "2026-11-02T14:05:10.000Z" },
  lastFailure: exampleFailure,
  failingSince: exampleFailure,
  flakeRate: 0.1,
  passRate: 0.9,
  durationP50Ms: 2_410,
  durationP95Ms: 3_120,
  muted: null,
  ticket: null
} as const

/** A test over many runs (docs/contract.md, Tests over time). */
export const Case = Schema.Struct(caseFields).annotate({
  identifier: "Case",
  description: "A test of a product over many runs.",
  examples: [exampleCase]
})
export type Case = typeof Case.Type

const resultFields = {
  run: Schema.Int.annotate({ description: "The number of the run." }),
  status: Schema.Literals(["failed", "flaky", "passed"]),
  durationMs: Schema.Finite.annotate({ description: "How long the last attempt took, in milliseconds." })
}

/** How many cases a page has. */
export const casesPageSize = 100

/** How many results a list adds to each case, at most. */
export const mostListedResults = 30

/** What a list says of the result of a test in a run. */
const ListedResult = Schema.Struct(resultFields).annotate({
  identifier: "ListedResult",
  description: "The result of a case in a finished run, in short.",
  examples: [{ run: 12, status: "failed", durationMs: 3_120 }]
})
export type ListedResult = typeof ListedResult.Type

/** A case, as a list shows it. */
export const ListedCase = Schema.Struct({
  ...caseFields,
  results: Schema.optionalKey(
    Schema.Array(ListedResult).annotate({
      description: "Its newest results, newest run first. Only if they are asked for."
    })
  )
}).annotate({
  identifier: "ListedCase",
  description: "A test of a product over many runs, with its newest results if they are asked for.",
  examples: [{ ...exampleCase, results: [{ run: 12, status: "failed", durationMs: 3_120 }] }]
})
export type ListedCase = typeof ListedCase.Type

export const CasePage = Schema.Struct({
  cases: Schema.Array(ListedCase),
  nextCursor: Schema.NullOr(Schema.String).annotate({
    description: "Send it as `cursor`, with the same filters, to get the next page. Null on the last page.",
    examples: [null]
  })
}).annotate({ identifier: "CasePage", description: `At most ${casesPageSize} cases, by title.` })
export type CasePage = typeof CasePage.Type

const exampleResult = {
  run: 12,
  environment: { slug: "staging", name: "Staging", class: "non-production" },
  commit: exampleGit.sha,
  branch: exampleGit.branch,
  status: "failed",
  attempts: 1,
  durationMs: 3_120,
  errorGroup: "1796f39aad9cfb93",
  at: "2026-11-21T09:31:05.000Z"
} as const

/** The result of a test in a run, as a case shows it. */
const CaseResult = Schema.Struct({
  ...resultFields,
  environment: Schema.Struct({ slug: Schema.String, name: Schema.String, class: EnvironmentClass }),
  commit: Schema.String.annotate({ description: "The SHA of the commit that the tests came from." }),
  branch: Schema.String,
  attempts: Schema.Int.annotate({ description: "How many attempts it had, those of retries included." }),
  errorGroup: Schema.NullOr(Schema.String).annotate({
    description: "The id of what its last failed attempt said, as the errors of the run have it; null if none failed."
  }),
  at: Timestamp.annotate({ description: "When the run ended." })
}).annotate({
  identifier: "CaseResult",
  description: "The result of a case in a finished run.",
  examples: [exampleResult]
})
export type ShownResult = typeof CaseResult.Type

/** How many results a page has. */
export const resultsPageSize = 100

/** A case with its newest results. */
export const CaseWithResults = Schema.Struct({
  ...caseFields,
  results: Schema.Array(CaseResult).annotate({
    description: `Its results, newest run first, at most ${resultsPageSize}. A page with fewer is the last.`
  })
}).annotate({
  identifier: "CaseWithResults",
  description: "A test of a product over many runs, with its results.",
  examples: [{ ...exampleCase, results: [exampleResult] }]
})
export type CaseWithResults = typeof CaseWithResults.Type

/** Whether a failure is news. */
export const ErrorState = Schema.Literals(["new", "known", "muted"]).annotate({
  identifier: "ErrorState",
  description: `Whether a failure is news. \`known\`: the same case fails in the same way in its newest result on the base branch before the run, or failed so in one of the ${comparedRuns} finished runs of the product before it. \`muted\`: the case was muted when the run started, so it does not count.`,
  examples: ["new"]
})
export type ErrorState = typeof ErrorState.Type

/** Failures of a run that say the same (docs/contract.md, Tests over time). */
export const RunError = Schema.Struct({
  id: Schema.String.annotate({ description: "The same wherever failures say the same." }),
  message: Schema.String.annotate({
    description:
      "What the first of the failures says, at most 2,000 characters, without colours. Empty if it says nothing."
  }),
  count: Schema.Int.annotate({ description: "How many tests failed so." }),
  state: ErrorState,
  cases: Schema.Array(
    Schema.Struct({
      caseId: Schema.String,
      title: Schema.String,
      state: ErrorState,
      ticket: openTicketField
    })
  ).annotate({
    description: "By title."
  })
}).annotate({
  identifier: "RunError",
  description:
    "Failures of a run that say the same. Its state is `new` if one of its cases is, else `known` if one is, else `muted`.",
  examples: [
    {
      id: "1796f39aad9cfb93",
      message: "Expected 200, got 500",
      count: 1,
      state: "new",
      cases: [{ caseId: exampleTest.caseId, title: exampleTest.title, state: "new", ticket: null }]
    }
  ]
})
export type RunError = typeof RunError.Type

export const RunErrors = Schema.Struct({ errors: Schema.Array(RunError) }).annotate({
  identifier: "RunErrors",
  description: "The failures of a run, grouped by what they say: new ones first, then those of more tests."
})
export type RunErrors = typeof RunErrors.Type

const DayRate = (description: string) =>
  Schema.NullOr(Schema.Finite).annotate({ description: `${description}, from 0 to 1; null if no test counts.` })
const DayDuration = (description: string) =>
  Schema.NullOr(Schema.Finite).annotate({
    description: `${description} of the tests took at most so long, in milliseconds. The value is that of a test (nearest rank). Null if no test ran.`
  })

/** What the finished runs of a day came to, all of their tests together (docs/contract.md, Tests over time). */
export const TrendDay = Schema.Struct({
  date: Schema.String.annotate({ format: "date", description: "The day on which the runs ended, in UTC." }),
  runs: Schema.Int.annotate({ description: "How many runs finished." }),
  passRate: DayRate("(passed + flaky) / (total - skipped)"),
  firstAttemptPassRate: DayRate("Tests that passed on their first attempt / (total - skipped)"),
  flaky: Schema.Int.annotate({
    description: "How many tests were flaky; one that was flaky in two runs counts twice."
  }),
  durationP50Ms: DayDuration("Half"),
  durationP95Ms: DayDuration("95 of 100")
}).annotate({
  identifier: "TrendDay",
  description: "What the finished runs of a day came to, all of their tests together.",
  examples: [
    {
      date: "2026-11-21",
      runs: 14,
      passRate: 0.98,
      firstAttemptPassRate: 0.96,
      flaky: 3,
      durationP50Ms: 2_410,
      durationP95Ms: 8_020
    }
  ]
})
export type TrendDay = typeof TrendDay.Type

export const Trends = Schema.Struct({ days: Schema.Array(TrendDay) }).annotate({
  identifier: "Trends",
  description: "Each of the days, oldest first."
})
export type Trends = typeof Trends.Type

/** The place of a case in a list by title. */
export interface CasePlace {
  readonly titleKey: string
  readonly caseId: string
}

/** Cursors are of the lists that gave them, and of no others. */
export const caseCursor = ({ caseId, titleKey }: CasePlace): string =>
  `${encodeURIComponent(titleKey)}:${encodeURIComponent(caseId)}`

/** Undefined for a text that is no cursor. */
export const readCaseCursor = (cursor: string): CasePlace | undefined => {
  const parts = cursor.split(":")
  if (parts.length !== 2 || cursor.length > 10_000) return undefined
  try {
    const [titleKey, caseId] = parts.map((part) => decodeURIComponent(part)) as [string, string]
    const place = { titleKey, caseId }
    return caseId !== "" && caseCursor(place) === cursor && !cursor.includes("%00") ? place : undefined
  } catch {
    return undefined
  }
}
