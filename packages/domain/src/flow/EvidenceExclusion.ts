import { Schema } from "effect"

/** Why a run in which a test passed does not prove that it passes again (docs/contract.md, Evidence). */
export const EvidenceExclusion = Schema.Literals([
  "other_address",
  "other_environment",
  "deployment_changed",
  "ran_before",
  "unknown_commit",
  "same_commit",
  "uncommitted_changes",
  "of_owner",
  "retry"
])
export type EvidenceExclusion = typeof EvidenceExclusion.Type
