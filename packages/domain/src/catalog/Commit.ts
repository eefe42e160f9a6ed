import { Schema } from "effect"
import { Body } from "../Body.ts"
import { maxNumber } from "../Numbers.ts"
import { Text, undocumented } from "../Text.ts"
import { TimestampInput } from "../Timestamp.ts"

/** How many commits one change of a version may bring. */
export const maxCommits = 500

/** How many characters a subject may have. */
export const maxSubject = 2_000

const Sha = Schema.String.annotate({
  description: "The commit's SHA, or its first 7 characters or more. It is kept in lower case.",
  examples: ["9fceb02d0ae598e95dc970b74767f19372d61af8"]
}).check(Schema.isPattern(/^[0-9a-fA-F]{7,64}$/, { message: "Expected 7 to 64 hexadecimal digits" }))

/** A commit, as a change of a version brings it (docs/contract.md, Releases). */
export const Commit = Body({
  sha: Sha,
  subject: Text(maxSubject).annotate({
    description: "The first line of the commit message. Identifiers in it, such as `ENG-12`, link tickets."
  }),
  author: Schema.optionalKey(Text(255).annotate({ description: "Who wrote the commit." })),
  at: Schema.optionalKey(TimestampInput.annotate({ description: "When the commit was made." }))
}).annotate({
  identifier: "Commit",
  description: "A commit that a version contains.",
  examples: [
    {
      sha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
      subject: "ENG-12: pay by card",
      author: "Ana Diaz",
      at: "2026-11-21T09:12:00.000Z"
    }
  ]
})
export type Commit = typeof Commit.Type

export const Commits = Schema.Array(Commit)
  .check(Schema.isMaxLength(maxCommits, { message: `Expected at most ${maxCommits} commits` }))
  .annotate({
    description: `The commits that this version has and the version before had not, at most ${maxCommits}. They belong to the product and the version, so that one environment need send them. Ignored if the deployment has this version already.`
  })

/** Commits without a version would belong to nothing. */
export const haveVersion = Schema.makeFilter<{ readonly commits?: unknown; readonly version?: unknown }>(
  ({ commits, version }) =>
    commits === undefined ||
    typeof version === "string" || { path: ["commits"], issue: "Expected a version beside commits" },
  { toJsonSchema: undocumented }
)

/** What may name a ticket: the key of a team, and a number in it. */
export interface TicketMention {
  readonly teamKey: string
  readonly number: number
}

const mention = /(?<![\p{L}\p{N}_])([A-Za-z][A-Za-z0-9]{0,9})-([1-9]\d{0,9})(?![\p{L}\p{N}_])/gu

/**
 * The identifiers such as `ENG-12` in a subject, in any case, each once. They stand alone: no letter, digit or underscore
 * is beside them (docs/contract.md, Releases).
 */
export const ticketMentions = (subject: string): ReadonlyArray<TicketMention> => {
  const found = new Map<string, TicketMention>()
  for (const [, key, digits] of subject.matchAll(mention)) {
    const one = { teamKey: key!.toUpperCase(), number: Number(digits) }
    if (one.number <= maxNumber) found.set(`${one.teamKey}-${one.number}`, one)
  }
  return [...found.values()]
}
