import { Schema } from "effect"

/** Why a run in which a test passed does not prove that it passes again (docs/contract.md, Evidence). */

const meanings = {
  other_address: "it tested another address than the deployment's, such as a preview",
  other_environment: "it ran in another environment than the one where the test failed last",
  deployment_changed: "the deployment changed while it ran",
  same_commit: "it ran the commit that failed last",
  uncommitted_changes: "it ran changes that are in no commit",
  of_owner: "it was published by who owned the ticket since the failure, or by you as an agent"
} as const

export const EvidenceExclusion = Schema.Literals([
  "other_address",
  "other_environment",
  "deployment_changed",
  "same_commit",
  "uncommitted_changes",
  "of_owner"
])
export type EvidenceExclusion = typeof EvidenceExclusion.Type

/** Follows "run 14 does not count: ". */
export const whyExcluded = (reason: EvidenceExclusion): string => meanings[reason]

/** A function, so that first screens, which know the reasons of errors, are not sent it. */
export const exclusionMeanings = (): string =>
  Object.entries(meanings)
    .map(([reason, meaning]) => `\`${reason}\`: ${meaning}.`)
    .join(" ")

/** All that a run must be for its passes to count, in words. */
export const whatCounts =
  "Runs count that ended after the test failed last, in the environment where it did, at the address of the deployment, while that did not change, of another commit, without uncommitted changes, and published by nobody who owned the ticket since."
