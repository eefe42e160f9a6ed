import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { LargeBody } from "./LargeBody.ts"
import { NumberInPath, TestRunSummary } from "./TestRun.ts"
import { FinishRetry, StartedRetry, StartRetry } from "./TestRetry.ts"

const path = `${workspacePath}/test-runs/:run/retries` as const
const params = { slug: WorkspaceRef, run: NumberInPath }

const RetryInPath = NumberInPath.pipe(
  Schema.annotateEncoded({ description: "The number in the run.", examples: ["1"] })
)

/** A body may hold thousands of wrong values: only the first is told. */
const firstErrorOnly = { errors: "first" } as const

/** Retries of the failed tests of runs (docs/contract.md, Retries). */
export class RetriesApi extends HttpApiGroup.make("retries")
  .add(
    HttpApiEndpoint.post("start", path, {
      params,
      payload: StartRetry,
      success: StartedRetry.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .annotate(HttpApi.PayloadParseOptions, firstErrorOnly)
      .annotateMerge(
        doc(
          "Start a retry",
          "Members and up, account API keys too; the run may be another's. Answers the failed tests, by title, and access to fixtures (a scope of its own) and semaphores. The publisher then uploads files, deletes the scope on the deployment, and finishes. Refused with 409, in this order: a run that is not finished or has an error (`not_retryable`), a `git.sha` that is not the run's commit (`other_commit`), another retry that runs (`retry_running`), no failed test (`nothing_to_retry`). A retry still running after 6 hours becomes interrupted.",
          {
            conflicts: {
              not_retryable: "The run is not finished.",
              other_commit: "The run is of another commit.",
              retry_running: "Retry 1 of the run is still running.",
              nothing_to_retry: "No test of the run has failed."
            }
          }
        )
      ),
    HttpApiEndpoint.post("finish", `${path}/:retry/finish`, {
      params: { ...params, retry: RetryInPath },
      payload: FinishRetry,
      success: TestRunSummary,
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(LargeBody)
      .annotate(HttpApi.PayloadParseOptions, firstErrorOnly)
      .annotateMerge(
        doc(
          "Finish a retry",
          "Only its publisher (403), only while it runs (409 `not_running`). The attempts are added to the run's tests and the run is recounted: a test that ran at least `requiredPasses` times in this retry and passed each time becomes flaky; `result` and `passRate` follow, `firstAttemptPassRate` never changes. An interrupted retry counts the attempts it sends. A `caseId` that is unknown, repeated, or of a test that had not failed when the retry started, and a skipped attempt: 400, nothing stored. A retry with a scope and no `cleanup` report counts as incomplete. All its semaphore leases end. The body may have 64 MiB. Answers the run. After a lost answer, read the run: a repeated finish is 409.",
          { conflicts: { not_running: "The retry is no longer running." } }
        )
      )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Retries",
      description:
        "Retries of a finished run's failed tests, one at a time. A failed test that passes every attempt of a retry is flaky."
    })
  ) {}
