import type { EventId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RecordedTest } from "@delivery/domain/runs/TestResults"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { memoryTable } from "../storage/MemoryStorage.ts"
import type {
  FinishedTestRun,
  FoundTestRun,
  LockedTestRun,
  NewTestRun,
  Numbered,
  TestRunFilter
} from "./TestRunRows.ts"

/** The tests of each run in memory, each with the run's own attempt alone, by the run's id. */
export const testRunTests = memoryTable<ReadonlyArray<RecordedTest>>("test_run_tests")

/** Stores test runs with their tests. */
export class TestRunsRepo extends Context.Service<
  TestRunsRepo,
  {
    /**
     * Stores a run that starts, under the workspace's next number, with the event `run_started`. Numbers are without
     * gaps however many start at once. The event's label and path are those of the number.
     */
    readonly start: (run: NewTestRun, event: StoredEvent) => Effect.Effect<Numbered>
    /**
     * Stores a run's results with its event, if it still runs at `finishedAt`; of all finish calls and the expiry,
     * one wins. Answers whether this one did.
     */
    readonly finish: (
      id: TestRunId,
      finished: FinishedTestRun,
      tests: ReadonlyArray<RecordedTest>,
      event: StoredEvent
    ) => Effect.Effect<boolean>
    /**
     * Ends runs that are overdue at `now` as interrupted, each with an event that has one of the ids; at most as many
     * as there are ids. Safe with many servers. Answers which.
     */
    readonly expire: (
      now: Timestamp,
      eventIds: ReadonlyArray<EventId>
    ) => Effect.Effect<ReadonlyArray<{ readonly workspaceId: WorkspaceId; readonly number: number }>>
    readonly find: (workspaceId: WorkspaceId, number: number) => Effect.Effect<FoundTestRun | undefined>
    /** With the tests as of the same instant, and how many retries have started. */
    readonly findWithTests: (
      workspaceId: WorkspaceId,
      number: number
    ) => Effect.Effect<
      | {
          readonly run: FoundTestRun
          readonly tests: ReadonlyArray<RecordedTest>
          readonly retryCount: number
        }
      | undefined
    >
    /** Each with the run's own attempt alone. In no order. */
    readonly tests: (id: TestRunId) => Effect.Effect<ReadonlyArray<RecordedTest>>
    /** Newest first, at most `limit`. */
    readonly list: (
      workspaceId: WorkspaceId,
      filter: TestRunFilter,
      limit: number
    ) => Effect.Effect<ReadonlyArray<FoundTestRun>>
    /**
     * Makes `q` find runs sooner: indexes the next full block of runs of any workspace, in a transaction. Safe with many
     * servers. Answers whether there was one.
     */
    readonly indexBlock: Effect.Effect<boolean>
    /**
     * Updates the results that the index has of a block's runs that ended or were retried since they were indexed, so that
     * `q` with `result`, and several filters, compare fewer runs. In a transaction, and safe with many servers. Answers
     * whether there were some.
     */
    readonly indexResults: Effect.Effect<boolean>
    /** The run's state; holds its row until the transaction ends. */
    readonly lock: (id: TestRunId) => Effect.Effect<LockedTestRun | undefined>
  }
>()("@delivery/server/runs/TestRunsRepo") {}
