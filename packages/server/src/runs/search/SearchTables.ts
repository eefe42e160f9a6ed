import type { WorkspaceId } from "@delivery/domain/Ids"
import { bits, boolean, integer, table, uuid } from "../../storage/Table.ts"

/** The tables of the search of runs. Only SQL has them: the memory storage compares every run. */

/** Up to which number the runs of a workspace are in the index. */
export const testRunSearch = table("test_run_search", {
  workspaceId: uuid<WorkspaceId>(),
  indexedRuns: integer(),
  /** Up to which number the index has forgotten the runs, which are all erased; then the terms of the block after it. */
  forgottenRuns: integer(),
  forgottenTerms: integer()
})

/** Which runs of a block have a term: a bit for each run from `firstRun` on. */
export const testRunPostings = table("test_run_postings", {
  workspaceId: uuid<WorkspaceId>(),
  term: integer(),
  firstRun: integer(),
  /** How many have it. */
  runCount: integer(),
  runs: bits()
})

/** Runs of which the index says other results than they have. */
export const testRunReindex = table("test_run_reindex", {
  workspaceId: uuid<WorkspaceId>(),
  number: integer(),
  /** Looked up beside the index until then: it would not find the run by its new result. */
  retried: boolean()
})
