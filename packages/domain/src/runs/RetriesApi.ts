import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { LargeBody, largeBody } from "./LargeBody.ts"
import { NumberInPath } from "../Numbers.ts"
import { TestRunSummary } from "./TestRun.ts"
import { FinishRetry, StartedRetry, StartRetry } from "./TestRetry.ts"

const path = `${workspacePath}/test-runs/:run/retries` as const
const params = { slug: WorkspaceRef, run: NumberInPath }

const RetryInPath = NumberInPath.pipe(
  Schema.annotateEncoded({ description: "The number of the retry in its run.", examples: ["1"] })
)

/** Retries of the failed tests of a run (docs/contract.md, Retries). */
export class RetriesApi extends HttpApiGroup.make("retries")
  .add(
    HttpApiEndpoint.post("start", path, {
      params,
      payload: StartRetry,
      success: StartedRetry.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "publish",
          "Start a retry",
          "Starts a retry of the failed tests of a finished run, your own or another's. The response lists those tests by title, with access to fixtures (in a scope of its own) and to semaphores. You then run the tests, upload files, delete the test data on the deployment, and finish the retry. Returns 409 if the run is not finished or has an error (`not_retryable`), if `git.sha` is not the commit of the run (`other_commit`), if another retry is running (`retry_running`), or if no test failed (`nothing_to_retry`), checked in this order. A retry that is still running after 6 hours becomes interrupted. Requires the role `member` or higher; account API keys may call this.",
          {
            conflicts: {
              not_retryable: "The run is not finished.",
              other_commit: "The run tested another commit.",
              retry_running: "Retry 1 of the run is still running.",
              nothing_to_retry: "The run has no failed tests."
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
      .annotateMerge(
        doc(
          "publish",
          "Finish a retry",
          `Adds the attempts to the tests of the run and counts the run again. A test that ran at least \`requiredPasses\` times in this retry, and passed each time, becomes flaky. \`counts\`, \`result\` and \`passRate\` follow; \`firstAttemptPassRate\` never changes. An interrupted retry still counts the attempts that it reports. Returns 400, and stores nothing, if a \`caseId\` is unknown, repeated, or had not failed when the retry started, or if an attempt is skipped. All semaphore leases of the retry end. Only the publisher of the retry can finish it (403 \`not_publisher\`); an admin can end it as interrupted, without tests, and only while it runs (409 \`not_running\`). If the response got lost, read the run: a second finish is 409. ${largeBody}`,
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
        "Retries run the failed tests of a finished run again, one retry at a time. A failed test that passes every attempt of a retry is flaky."
    })
  ) {}
