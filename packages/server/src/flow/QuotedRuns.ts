import { QuotedMessage } from "../agents/QuotedAnswers.ts"
import { authorOf, maxQuoted, quote, Quoted, quoteOrNull } from "@delivery/domain/agents/Quote"
import { TicketTrace } from "@delivery/domain/releases/Release"
import { CaseRun } from "@delivery/domain/runs/Case"
import { Attempt, TestEntry } from "@delivery/domain/runs/TestEntry"
import type { StoredFile } from "@delivery/domain/runs/StoredFile"
import { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { Schema } from "effect"
import { linkTo } from "./RunFileResources.ts"

/** What the tools about runs answer: what tests and publishers say is quoted (docs/contract.md, MCP). */

const QuotedOrNull = Schema.NullOr(Quoted)

/** What tests, their titles and their errors say. */
const tests = "the tests"
/** How much of an error lists have, in characters. */
const listedError = 2_000

const firstOf = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** A text of any length is not read further than it is quoted. */
export const quoteTests = (text: string): Quoted => quote(tests, text.slice(0, maxQuoted + 1))
const quoteTestsOrNull = (text: string | null): Quoted | null => (text === null ? null : quoteTests(text))

const { cleanup: _, git, machine: __, ...runFields } = TestRunSummary.fields

/** A run without its machine and its test data, which say nothing of what it found. */
export const QuotedRun = Schema.Struct({
  ...runFields,
  error: QuotedOrNull,
  git: Schema.Struct({ ...git.fields, branch: Quoted, subject: Quoted })
})
export const quotedRun = ({ cleanup: _, git, machine: __, ...run }: TestRunSummary): typeof QuotedRun.Type => {
  const publisher = authorOf(run.publishedBy)
  return {
    ...run,
    error: quoteTestsOrNull(run.error),
    git: { ...git, branch: quote(publisher, git.branch), subject: quote(publisher, git.subject) }
  }
}

export const QuotedTest = Schema.Struct({
  caseId: Quoted,
  title: Quoted,
  file: Quoted,
  coverage: TestEntry.fields.coverage,
  status: TestEntry.fields.status,
  muted: Schema.Boolean.annotate({ description: "Whether its failures do not count in this run." }),
  durationMs: TestEntry.fields.durationMs,
  attempts: Schema.Int.annotate({ description: "How many attempts it had." }),
  errorMessage: QuotedOrNull.annotate({
    description: `The first ${listedError} characters of the message of the last failed attempt; get_failure has more.`
  })
})
export const quotedTest =
  (muted: ReadonlySet<string>) =>
  (test: TestEntry): typeof QuotedTest.Type => ({
    caseId: quote(tests, test.caseId),
    title: quote(tests, test.title),
    file: quote(tests, test.file),
    coverage: test.coverage,
    status: test.status,
    muted: muted.has(test.caseId),
    durationMs: test.durationMs,
    attempts: test.attempts.length,
    errorMessage: test.errorMessage === null ? null : quote(tests, firstOf(test.errorMessage, listedError))
  })

/** A file of a run, as answers link to it. */
const QuotedFile = Schema.Struct({
  uri: Schema.String.annotate({ description: "Its address for resources/read." }),
  path: Quoted,
  mimeType: Schema.String,
  size: Schema.Int.annotate({ description: "Its size in bytes." })
})
export const quotedFile =
  (run: number) =>
  (file: StoredFile): typeof QuotedFile.Type => {
    const { mimeType, size, uri } = linkTo(run, file)
    return { uri, path: quote(tests, file.path), mimeType, size }
  }

export const QuotedFailure = Schema.Struct({
  run: QuotedRun,
  test: QuotedTest,
  attempt: Attempt.fields.number.annotate({ description: "Which attempt this is: the last that failed." }),
  startedAt: Attempt.fields.startedAt,
  errorMessage: QuotedOrNull,
  errorStack: QuotedOrNull,
  lastPassing: Schema.NullOr(Schema.Struct({ ...CaseRun.fields, branch: Quoted })).annotate({
    description:
      "The newest earlier run in the same environment and against the same address in which the test passed at its first attempt, with its commit; null if there is none."
  }),
  files: Schema.Array(QuotedFile).annotate({
    description:
      "The files of this attempt and of the test, such as logs, screenshots and traces, that were uploaded. What is in them is read with resources/read."
  }),
  filesLeftOut: Schema.Int.annotate({ description: "How many more files there are, which the answer has no room for." })
})
export const quotedFailure = (
  run: TestRunSummary,
  test: typeof QuotedTest.Type,
  failed: Attempt,
  passed: (typeof CaseRun.Type & { readonly branch: string }) | undefined,
  files: Pick<typeof QuotedFailure.Type, "files" | "filesLeftOut">
): typeof QuotedFailure.Type => ({
  run: quotedRun(run),
  test,
  attempt: failed.number,
  startedAt: failed.startedAt,
  errorMessage: quoteTestsOrNull(failed.errorMessage),
  errorStack: quoteTestsOrNull(failed.errorStack),
  lastPassing: passed === undefined ? null : { ...passed, branch: quote("the publisher of the run", passed.branch) },
  ...files
})

const { author: ___, subject: ____, ...commitFields } = TicketTrace.fields.commits.value.fields
export const QuotedTrace = Schema.Struct({
  ticket: Schema.Struct({ ...TicketTrace.fields.ticket.fields, title: Quoted }),
  commits: Schema.Array(Schema.Struct({ ...commitFields, subject: Quoted, author: QuotedOrNull })),
  releases: TicketTrace.fields.releases,
  runs: Schema.Array(QuotedRun),
  messages: Schema.Array(QuotedMessage),
  text: TicketTrace.fields.text
})
const whoeverSent = "whoever sent the commits of the version"
export const quotedCommit = ({
  author,
  subject,
  ...commit
}: TicketTrace["commits"][number]): (typeof QuotedTrace.Type)["commits"][number] => ({
  ...commit,
  subject: quote(whoeverSent, subject),
  author: quoteOrNull(whoeverSent, author ?? null)
})
export const quotedTicketTitle = (ticket: TicketTrace["ticket"]): (typeof QuotedTrace.Type)["ticket"] => ({
  ...ticket,
  title: quote("members of the workspace", ticket.title)
})
