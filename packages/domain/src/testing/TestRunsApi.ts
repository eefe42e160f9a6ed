import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ref, Text } from "../Text.ts"
import { FinishTestRun } from "./FinishTestRun.ts"
import { LargeBody } from "./LargeBody.ts"
import { StoredFile } from "./StoredFile.ts"
import { NumberInPath, StartedTestRun, StartTestRun, TestRun, TestRunPage, TestRunSummary } from "./TestRun.ts"

const path = `${workspacePath}/test-runs` as const
const params = { slug: WorkspaceRef, run: NumberInPath }
const fileParams = {
  ...params,
  path: Schema.String.annotate({
    description: "1 to 512 characters. Slashes part segments, written as `/` or `%2F`."
  })
}
const text = Text(500).check(Schema.isMinLength(1))

/** Test runs and their files (service document, Test runs; contract, section 6). */
export class TestRunsApi extends HttpApiGroup.make("testRuns")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        product: Schema.optionalKey(Ref.annotate({ description: "A product's slug or id." })),
        environment: Schema.optionalKey(Ref.annotate({ description: "An environment's slug or id." })),
        result: Schema.optionalKey(
          Schema.Literals(["passed", "failed", "flaky"]).annotate({ description: "`flaky`: finished with flaky tests." })
        ),
        q: Schema.optionalKey(
          text.annotate({ description: "Part of the branch or commit subject, or the start of a commit SHA; any case." })
        ),
        commit: Schema.optionalKey(text.annotate({ description: "A full commit SHA." })),
        mine: Schema.optionalKey(
          Schema.Literals(["true", "false"]).annotate({ description: "`true`: only runs you published." })
        ),
        cursor: Schema.optionalKey(
          Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(1)).annotate({
            description: "The `nextCursor` of the page before; the page holds runs numbered below it."
          })
        )
      },
      success: TestRunPage,
      error: NotFound
    }).annotateMerge(
      doc(
        "List test runs",
        "50 per page, newest first; filters combine. A product or environment that does not exist: 404."
      )
    ),
    HttpApiEndpoint.post("start", path, {
      params: { slug: WorkspaceRef },
      payload: StartTestRun,
      success: StartedTestRun.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Start a test run",
        "Members and up, and account API keys. The publisher then uploads files, deletes the scope on the deployment, and finishes. No deployment: 409 `not_deployed`; an archived product or environment: 409 `archived`. A run still running after 6 hours becomes interrupted."
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:run`, { params, success: TestRun, error: NotFound }).annotateMerge(
      doc("Get a test run", "One run with its retries and tests.")
    ),
    HttpApiEndpoint.post("finish", `${path}/:run/finish`, {
      params,
      payload: FinishTestRun,
      success: TestRunSummary,
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(LargeBody)
      .annotateMerge(
        doc(
          "Finish a test run",
          "Only its publisher (403), only while it runs (409 `not_running`). Up to 5,000 tests, each with its first attempt; files that were never uploaded may be named. A run with a scope and no `cleanup` report counts as incomplete. The body may have 64 MiB. After a lost answer, read the run: a repeated finish is 409."
        )
      ),
    HttpApiEndpoint.put("upload", `${path}/:run/files/:path`, {
      params: fileParams,
      payload: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      success: [StoredFile.pipe(HttpApiSchema.status(201)), StoredFile],
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Upload a file",
        "201 for a new file, 200 for a replaced one, with an `ETag`. Any content type; `Content-Length` is required, at most 100 MiB (400). Only the run's publisher (403), only while it runs (409 `not_running`)."
      )
    ),
    HttpApiEndpoint.get("download", `${path}/:run/files/:path`, {
      params: fileParams,
      headers: {
        range: Schema.optionalKey(Schema.String.annotate({ description: "One byte range; others are ignored." })),
        "if-none-match": Schema.optionalKey(Schema.String),
        "if-range": Schema.optionalKey(Schema.String)
      },
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      error: NotFound
    }).annotateMerge(
      doc(
        "Download a file",
        "The file with its own content type. One `Range`: 206 with `Content-Range`, or 416 when it cannot be satisfied. `If-None-Match` with the current `ETag`: 304. `HEAD` answers the headers alone."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Test runs", description: "Browser-test runs, their tests and files." }))
{}
