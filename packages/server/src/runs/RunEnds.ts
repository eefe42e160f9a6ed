import type { TestRunId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { Access } from "../access/Access.ts"
import type { FoundTestRun } from "./TestRunsRepo.ts"

/** What follows from the end of a run (docs/contract.md, Test rules). The room `flow` supplies it. */
export class RunEnds extends Context.Service<
  RunEnds,
  {
    /** Whether anything is to follow where the run finishes. */
    readonly isWatched: (run: TestRunId) => Effect.Effect<boolean>
    /** Called in the transaction that has finished the run, which holds its row. */
    readonly finished: (by: Access, run: FoundTestRun) => Effect.Effect<void>
  }
>()("@delivery/server/runs/RunEnds") {}
