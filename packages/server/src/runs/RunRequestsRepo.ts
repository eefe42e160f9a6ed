import type { TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { type Row, table, text, uuid } from "../storage/Table.ts"
import type { FoundTestRun, NewTestRun } from "./TestRunsRepo.ts"

/** The runs that were started with a `requestId`. */
export const testRunRequests = table("test_run_requests", {
  workspaceId: uuid<WorkspaceId>(),
  publisherKind: text<ActorRef["kind"]>(),
  /** A person or a key, or the trusted publisher of keys. */
  publisherId: uuid<string>(),
  requestId: text(),
  runId: uuid<TestRunId>(),
  /** Tells whether another start is the same again. */
  fingerprint: text()
})

export type TestRunRequestRow = Row<typeof testRunRequests>

/** What identifies the start of a run among all. */
export type RunRequest = Pick<TestRunRequestRow, "workspaceId" | "publisherKind" | "publisherId" | "requestId">

/** The run that a request has started before. */
export interface RequestedRun extends Pick<FoundTestRun, "id" | "number" | "state" | "expiresAt"> {
  readonly fingerprint: string
  readonly scope: string | null
  readonly fixtureUrl: string | null
}

/** Stores which requests have started runs. All belongs into one transaction. */
export class RunRequestsRepo extends Context.Service<
  RunRequestsRepo,
  {
    /** The run of the request, if it has started one; nobody else starts it until the transaction ends. */
    readonly hold: (request: RunRequest) => Effect.Effect<RequestedRun | undefined>
    readonly insert: (request: TestRunRequestRow) => Effect.Effect<void>
    /** Gives a run another run token, which ends with the credential that it is given to. */
    readonly replaceToken: (run: TestRunId, token: Pick<NewTestRun, "tokenHash" | "makerId">) => Effect.Effect<void>
  }
>()("@delivery/server/runs/RunRequestsRepo") {}
