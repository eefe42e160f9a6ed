import type { EvidenceExclusion } from "./EvidenceExclusion.ts"

/** What counts as evidence, in words: apart from the errors, which come to every screen. */

const meanings = {
  other_address: "it tested another address than the deployment's, such as a preview",
  other_environment: "it ran in another environment than the one where the test failed",
  deployment_changed: "the deployment changed while it ran",
  ran_before: "its test ran before the one that failed, and was published later",
  unknown_commit: "nobody knows which commit it ran",
  same_commit: "it ran a commit that failed there",
  uncommitted_changes: "it ran changes that are in no commit",
  of_owner:
    "it was published by who owned the ticket since the failure, by who completes it, or by an agent or a key of theirs that is newer than the ticket",
  retry: "it is the run that failed, whose retry passed: that does not undo it; publish a new run"
} as const satisfies Readonly<Record<EvidenceExclusion, string>>

/** Follows "run 14 does not count: ". */
export const whyExcluded = (reason: string): string => (meanings as Readonly<Record<string, string>>)[reason] ?? reason

/** The same where it may be for a key. */
export const whyNotCounted = ({ key, reason }: { readonly reason: string; readonly key?: string }): string =>
  key === undefined
    ? whyExcluded(reason)
    : `it was published with the key ${key}, which an owner of the ticket, or who completes it, made after the ticket`

export const exclusionMeanings = Object.entries(meanings)
  .map(([reason, meaning]) => `\`${reason}\`: ${meaning}.`)
  .join(" ")

/** All that a run must be for its passes to count. Each follows "Runs that". */
export const countingRules = [
  "ran and ended after the test failed last, in each environment where it did",
  "ran at the address of the deployment, while that did not change",
  "ran a commit that has not failed there, without uncommitted changes",
  "were published neither by who owned the ticket since nor by who completes it"
] as const

/** The same in a sentence. */
export const whatCounts = `Runs count that ${countingRules.slice(0, -1).join(", ")}, and ${countingRules.at(-1)}.`
