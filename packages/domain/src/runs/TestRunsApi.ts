import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { downloadAnswers, downloadHeaders, etagHeader } from "../Downloads.ts"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { NumberInPath, NumberInQuery } from "../Numbers.ts"
import { FinishTestRun } from "./FinishTestRun.ts"
import { LargeBody, largeBody } from "./LargeBody.ts"
import { runFilters } from "./ListFilters.ts"
import { SignedUrl, SignFileUrl } from "./SignedUrl.ts"
import { StoredFile } from "./StoredFile.ts"
import { StartedTestRun, StartTestRun, TestRun, TestRunPage, TestRunSummary } from "./TestRun.ts"
import { AnswersFile, RestOfPath, Streams } from "../Endpoint.ts"

const path = `${workspacePath}/test-runs` as const
const params = { slug: WorkspaceRef, run: NumberInPath }
const fileParams = {
  ...params,
  path: Schema.String.annotate({
    description:
      "The path of the file in the run: 1 to 512 characters. Slashes, written as `/` or `%2F`, separate segments. A segment may not be empty, `.` or `..`, or have a backslash or control character (400).",
    examples: ["checkout/pays-by-card/stdout.txt"]
  })
}
const notRunning = { not_running: "The run is no longer running." }

/** Test runs and their files (docs/contract.md, Test runs). */
export class TestRunsApi extends HttpApiGroup.make("testRuns")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        ...runFilters,
        cursor: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({
              description: "The `nextCursor` of the previous page. The page has runs with lower numbers."
            })
          )
        )
      },
      success: TestRunPage,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List test runs",
        "Lists runs, newest first, 50 a page. Filters combine; send the same filters for every page. Returns 404 if the product or environment of a filter does not exist. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("start", path, {
      params: { slug: WorkspaceRef },
      payload: StartTestRun,
      success: StartedTestRun.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "publish",
          "Start a test run",
          "Starts a run of tests against a deployment. The response has the number of the run, access to the Fixture API if the deployment has one, and access to semaphores. You then run the tests, upload files, delete the test data on the deployment, and finish the run. Returns 409 `not_deployed` if the product has no deployment in the environment, and 409 `archived` if one of them is archived. A run that is still running after 6 hours becomes interrupted. With `build` and `shard`, the first shard of a build starts the run, and the others join it: they get its number, and access of their own. A shard that starts twice gets a new run token. Returns 409 `total_mismatch` if the build has another number of shards, and 409 `finished` if its run has ended, or the shard has finished. All shards test the same: 409 `other_commit` for another commit, 409 `other_address` if one tests the deployment and the other a preview, and 409 `other_selection` for another coverage, or a part of the tests where the others run all. One shard with uncommitted changes gives them to the run. With a `requestId`, the same start again returns the run that the first one started; 409 `request_id_reused` if it was used for another start, and 409 `finished` if the run has ended. Requires the role `member` or higher; account API keys may call this.",
          {
            conflicts: {
              not_deployed:
                "The product has no deployment in the environment. Deploy it there first, or name another environment.",
              archived: "The product is archived.",
              total_mismatch: "The run of this build has 3 shards.",
              finished: "The run of this build, or this shard of it, has ended.",
              other_commit:
                "The run of this build is of another commit, 9fceb02d0ae598e95dc970b74767f19372d61af8. All shards of a build test the same one.",
              other_address:
                "The run of this build tests another address, https://preview-42.acme.example. All shards of a build test the same one.",
              other_selection:
                "The run of this build is of other tests: all of the coverage acceptance. All shards of a build select the same.",
              request_id_reused: "The requestId was used for another request."
            }
          }
        )
      ),
    HttpApiEndpoint.get("get", `${path}/:run`, { params, success: TestRun, error: NotFound }).annotateMerge(
      doc("read", "Get a test run", "Returns the run with its retries and tests. Any role may call this.")
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
          "publish",
          "Finish a test run",
          `Reports up to 5,000 tests, each with its first attempt, and ends the run. A run without tests fails with the error \`No tests ran.\`, unless it reports another error. Tests may name files that were never uploaded. All semaphore leases of the run end. Only the publisher of the run can finish it (403 \`not_publisher\`; keys that one trusted publisher got are one), and only while it runs (409 \`not_running\`). If the response got lost, read the run: a second finish is 409. In a run of shards, \`shard\` says which one finishes, and the run ends with the last; until then it is \`running\`. The shards have 5,000 tests together. The same report of a shard again is answered with the run. A shard that has not started is 409 \`not_started\`, another number of shards 409 \`total_mismatch\`. ${largeBody}`,
          {
            conflicts: {
              ...notRunning,
              not_started: "The shard has not started.",
              total_mismatch: "The run of this build has 3 shards."
            }
          }
        )
      ),
    HttpApiEndpoint.delete("delete", `${path}/:run`, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Delete a test run",
        "Erases the run with its tests, retries and files, for good. It is gone at once; what it takes in storage goes within minutes. Its number is not used again. The counts of releases, and what trends need of it, stay. A run that is running, or has a retry that is, cannot be deleted (409 `running`). Requires the role `admin` or `owner`.",
        { conflicts: { running: "The run, or a retry of it, is still running." } }
      )
    ),
    HttpApiEndpoint.put("upload", `${path}/:run/files/:path`, {
      params: fileParams,
      payload: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      success: [StoredFile.pipe(HttpApiSchema.status(201)), StoredFile],
      error: [Forbidden, NotFound, Conflict]
    })
      .annotate(Streams, true)
      .annotate(RestOfPath, true)
      .annotateMerge(
        doc(
          "publish",
          "Upload a file",
          "Stores the body as a file of the run. Send the content type of the file: downloads will have it. A content type that is missing, malformed (RFC 9110, section 8.3.1) or longer than 255 characters becomes `application/octet-stream`. `Content-Length` is required and at most 100 MiB (400). If the body is shorter, the answer is 400 and nothing is kept. Only the publisher of the run, or of its running retry, can upload (403 `not_publisher`), and only while that runs (409 `not_running`).",
          {
            conflicts: notRunning,
            responses: {
              200: { description: "The file replaced another one of the same path.", headers: etagHeader },
              201: { description: "The file is new in the run.", headers: etagHeader }
            }
          }
        )
      ),
    HttpApiEndpoint.get("download", `${path}/:run/files/:path`, {
      params: fileParams,
      headers: downloadHeaders,
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      error: NotFound
    })
      .annotate(RestOfPath, true)
      .annotate(AnswersFile, true)
      .annotateMerge(
        doc(
          "read",
          "Download a file",
          "Returns the file with its own content type. One `Range` is answered with 206 and `Content-Range`, or with 416 if it lies beyond the end. `If-None-Match` with the current `ETag` is answered with 304. Browsers run no file (`Content-Security-Policy: sandbox; default-src 'none'`), and show only raster images, video, audio and plain text: all others have `Content-Disposition: attachment`. `HEAD` answers with the headers only. Returns 404 if the file was never uploaded, even if a test names it. Any role may call this.",
          { responses: downloadAnswers("Absent for raster images, video, audio and plain text.", "attachment") }
        )
      ),
    HttpApiEndpoint.post("signUrl", `${path}/:run/signed-urls`, {
      params,
      payload: SignFileUrl,
      success: SignedUrl,
      error: [NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "read",
          "Sign the URL of a file",
          "Returns a URL by which a browser reads the file for 5 minutes without a credential, and one that opens it in Playwright's trace viewer. Both are on an origin of their own (`FILES_ORIGIN`), where nothing else is: what a trace has in it was written by others. The URL is of the file as it is now: once it is replaced, the answer is 404. Returns 404 if the file was never uploaded, and 409 `no_files_origin` if the server has no such origin. Any role may call this.",
          { conflicts: { no_files_origin: "This server has no origin for files of others: FILES_ORIGIN is false." } }
        )
      )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Test runs",
      description:
        "Runs of browser tests, with their tests and files. A publisher starts a run, uploads files, and finishes the run."
    })
  ) {}
