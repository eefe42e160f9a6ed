import type { ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { boolean, day, instant, integer, long, table, uuid } from "../../storage/Table.ts"

/** Up to which number the runs of a workspace have been looked at. Whoever counts holds the row. */
export const caseCounting = table("case_counting", {
  workspaceId: uuid<WorkspaceId>(),
  seenRuns: integer()
})

/** Runs up to there that are to be looked at once they have ended, or again. Triggers add those that were retried or erased. */
export const caseQueue = table("case_queue", {
  id: long(),
  workspaceId: uuid<WorkspaceId>(),
  number: integer()
})

/** Products whose runs are counted again, newest first. A trigger adds those that have another base branch. */
export const caseRecounts = table("case_recounts", {
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  /** Runs numbered below it are yet to be counted again. */
  before: integer(),
  /** Whether each case is then compared with the runs, and its figures computed; up to which row that is done. */
  settles: boolean(),
  settled: integer()
})

/** Days of which `productDays` is to be written again. */
export const staleDays = table("stale_days", {
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  day: day(),
  since: instant()
})

/** How much a step counts. */
export interface CountingSizes {
  /** Tests of its runs together, unless one run has more. */
  readonly tests: number
  /** Runs that it looks at. */
  readonly runs: number
}

/** A step takes some hundred milliseconds, and a second or two where its tests have long histories. */
export const CountingSizes = Context.Reference<CountingSizes>("@delivery/server/runs/cases/CountingSizes", {
  defaultValue: () => ({ tests: 5_000, runs: 200 })
})

/**
 * Counts what the results of tests come to, behind the runs. Each of these runs in a transaction, is small, and answers whether there
 * was something to do. They are safe with many servers: of a workspace, one counts at a time, and what another does is passed over.
 * Each replaces what was counted of a run, so it may be counted any number of times.
 */
export class CaseCountingRepo extends Context.Service<
  CaseCountingRepo,
  {
    /** Counts runs that have ended, and again those whose results have changed or are gone. */
    readonly countRuns: (now: Timestamp) => Effect.Effect<boolean>
    /** Counts runs of a product again that has to be. */
    readonly recount: (now: Timestamp) => Effect.Effect<boolean>
    /** Writes a day of a product again of which runs were counted. Unless it is urgent, one of many tests waits for more runs. */
    readonly refreshDay: (options: { readonly isUrgent: boolean }) => Effect.Effect<boolean>
    /** The workspaces of which anything has been counted. */
    readonly workspaces: Effect.Effect<ReadonlyArray<WorkspaceId>>
    /** Has all products of the workspace counted again; answers how many. */
    readonly recountAll: (workspaceId: WorkspaceId) => Effect.Effect<number>
    /** Whether anything is to be counted, by this server or another. */
    readonly isBehind: Effect.Effect<boolean>
  }
>()("@delivery/server/runs/cases/CaseCountingRepo") {}
