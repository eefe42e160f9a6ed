import { Conflict, NotFound } from "@delivery/domain/Errors"
import type { Cleanup, SemaphoreAccess, TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { Access } from "../access/Access.ts"
import type { FinishedTestRun, FoundTestRun, ShownRuns } from "./TestRunsRepo.ts"
import { asOf, runPath } from "./TestRunState.ts"

/** What calls of runs, of retries and of files answer alike (docs/contract.md, Test runs). */

/** The page of a run on the website. `baseUrl` is the service's. */
export const pageOf = (baseUrl: string, slug: string, number: number) => `${pagesOf(baseUrl, slug)}${number}`

/** The pages of the runs of a workspace, to be followed by their numbers. */
export const pagesOf = (baseUrl: string, slug: string) => `${baseUrl}/w/${slug}/${runPath}`

/** The run as lists and finish calls answer it. */
export const summaryOf = (baseUrl: string, { workspace }: Access, run: FoundTestRun): TestRunSummary =>
  withPage(pagesOf(baseUrl, workspace.slug), run)

const withPage = (
  pages: string,
  { expiresAt: _, mutedCount: __, publisher: ___, workspaceId: ____, ...run }: FoundTestRun
): TestRunSummary => ({ ...run, url: `${pages}${run.number}` })

/** The run as a list shows it. */
export const shownRun = ({ at, pages }: ShownRuns, run: FoundTestRun): TestRunSummary => withPage(pages, asOf(run, at))

/** Where and with what a run or retry that starts takes leases. */
export const semaphoresOf = (
  baseUrl: string,
  { workspace }: Access,
  token: string,
  expiresAt: Timestamp
): SemaphoreAccess => ({ url: `${baseUrl}/v1/workspaces/${workspace.slug}/semaphores`, token, expiresAt })

/** The cleanup after a finish call: without a report it is incomplete, and a run without a scope has none. */
export const cleanupAfter = (
  before: Cleanup | null,
  report: Pick<Cleanup, "status" | "deleted" | "remaining"> | null | undefined
): FinishedTestRun["cleanup"] =>
  before === null
    ? null
    : {
        status: report?.status ?? "incomplete",
        deleted: report?.deleted ?? null,
        remaining: report?.remaining ?? null
      }

/** 0 stands for a path segment that is not a number: the caller did not send 0. */
const sent = (number: number) => (number === 0 ? undefined : number)

export const noRun = (number: number): NotFound => NotFound.of("test run", sent(number))

export const noRetry = (number: number): NotFound => NotFound.of("retry", sent(number))

export const notRunningMessage = (what: "run" | "shard" | "retry"): string => `The ${what} is no longer running.`

/** The error of a call that needs a running run, shard or retry. */
export const notRunning = (what: "run" | "shard" | "retry"): Conflict =>
  new Conflict({ message: notRunningMessage(what), reason: "not_running" })
