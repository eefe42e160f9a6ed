import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { atLeast, OneOf, Ref, Text } from "../Text.ts"
import { FinishTestRun } from "./FinishTestRun.ts"
import { LargeBody } from "./LargeBody.ts"
import { StoredFile } from "./StoredFile.ts"
import {
  NumberInPath,
  NumberInQuery,
  StartedTestRun,
  StartTestRun,
  TestRun,
  TestRunPage,
  TestRunSummary
} from "./TestRun.ts"

const path = `${workspacePath}/test-runs` as const
const params = { slug: WorkspaceRef, run: NumberInPath }
const fileParams = {
  ...params,
  path: Schema.String.annotate({
    description:
      "The file's path in the run: 1 to 512 characters. Slashes part segments, written as `/` or `%2F`; no segment is empty, `.` or `..`, and none has a backslash or control character (400).",
    examples: ["checkout/pays-by-card/stdout.txt"]
  })
}
const text = Text(500).check(atLeast(1))

/** A body may hold thousands of wrong values: only the first is told. */
const firstErrorOnly = { errors: "first" } as const

const notRunning = { not_running: "The run is no longer running." }

const header = (description: string, example: string) => ({
  description,
  required: true,
  schema: { type: "string" },
  example
})
const etag = { ETag: header("Names the content of the file.", '"a948904f2f0f479b"') }
const fileHeaders = {
  ...etag,
  "Last-Modified": header("When the file was uploaded.", "Sat, 21 Nov 2026 09:30:40 GMT"),
  "Accept-Ranges": header("`bytes`: ranges are served.", "bytes"),
  "Cache-Control": header("A cache asks before it uses the file again.", "private, no-cache"),
  "X-Content-Type-Options": header("Browsers take the file for what its type says.", "nosniff")
}
const contentRange = (description: string, example: string) => ({ "Content-Range": header(description, example) })
const unsatisfiable = "The file has 12 bytes; the range is beyond its end."

/** What a download answers, beyond what its schemas say. */
const downloads = {
  200: { description: "The file, with the content type it was uploaded with.", headers: fileHeaders },
  206: {
    description: "The range of the file that was asked for.",
    headers: { ...fileHeaders, ...contentRange("The part that is sent, and the whole size.", "bytes 0-4/12") },
    content: {
      "application/octet-stream": { schema: { type: "string", format: "binary" }, example: "hello" }
    }
  },
  304: { description: "The file is the one that `If-None-Match` names. No body.", headers: fileHeaders },
  416: {
    description: "The range lies beyond the end of the file.",
    headers: { ...fileHeaders, ...contentRange("The whole size.", "bytes */12") },
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/InvalidInput" },
        example: {
          _tag: "InvalidInput",
          message: unsatisfiable,
          issues: [{ path: ["Range"], message: unsatisfiable }]
        }
      }
    }
  }
}

/** Test runs and their files (docs/contract.md, Test runs). */
export class TestRunsApi extends HttpApiGroup.make("testRuns")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        product: Schema.optionalKey(Ref.annotate({ description: "A product's slug or id.", examples: ["shop"] })),
        environment: Schema.optionalKey(
          Ref.annotate({ description: "An environment's slug or id.", examples: ["staging"] })
        ),
        result: Schema.optionalKey(
          OneOf(["passed", "failed", "flaky"]).annotate({
            description: "`flaky`: finished, with at least one flaky test."
          })
        ),
        q: Schema.optionalKey(
          text.annotate({
            description: "Part of the branch or commit subject, or the start of a commit SHA; any case.",
            examples: ["basket"]
          })
        ),
        commit: Schema.optionalKey(
          text.annotate({
            description: "A full commit SHA.",
            examples: ["9fceb02d0ae598e95dc970b74767f19372d61af8"]
          })
        ),
        mine: Schema.optionalKey(
          OneOf(["true", "false"]).annotate({ description: "`true`: only runs you published.", default: "false" })
        ),
        cursor: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({
              description: "The `nextCursor` of the page before; the page holds runs numbered below it."
            })
          )
        )
      },
      success: TestRunPage,
      error: NotFound
    }).annotateMerge(
      doc(
        "List test runs",
        "50 per page, newest first; filters combine. Keep them on every page. A product or environment that does not exist: 404. Every role."
      )
    ),
    HttpApiEndpoint.post("start", path, {
      params: { slug: WorkspaceRef },
      payload: StartTestRun,
      success: StartedTestRun.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .annotate(HttpApi.PayloadParseOptions, firstErrorOnly)
      .annotateMerge(
        doc(
          "Start a test run",
          "Members and up, account API keys too. The publisher then uploads files, deletes the scope on the deployment, and finishes. No deployment: 409 `not_deployed`; an archived product or environment: 409 `archived`. A run still running after 6 hours becomes interrupted.",
          {
            conflicts: {
              not_deployed: "The product has no deployment in the environment.",
              archived: "The product is archived."
            }
          }
        )
      ),
    HttpApiEndpoint.get("get", `${path}/:run`, { params, success: TestRun, error: NotFound }).annotateMerge(
      doc("Get a test run", "One run with its retries and tests. Every role.")
    ),
    HttpApiEndpoint.post("finish", `${path}/:run/finish`, {
      params,
      payload: FinishTestRun,
      success: TestRunSummary,
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(LargeBody)
      .annotate(HttpApi.PayloadParseOptions, firstErrorOnly)
      .annotateMerge(
        doc(
          "Finish a test run",
          "Only its publisher (403), only while it runs (409 `not_running`). Up to 5,000 tests, each with its first attempt; files that were never uploaded may be named. A run with a scope and no `cleanup` report counts as incomplete. With no tests and no error of its own, the run fails with `No tests ran.`. All semaphore leases of the run end. The body may have 64 MiB. After a lost answer, read the run: a repeated finish is 409.",
          { conflicts: notRunning }
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
        "The body is the file, under any content type, which downloads repeat; one that is missing, malformed (RFC 9110, section 8.3.1) or longer than 255 characters becomes `application/octet-stream`. `Content-Length` is required, at most 100 MiB (400); fewer bytes than it says: 400, and nothing is kept. Only the publisher of the run, or of its running retry (403), only while that runs (409 `not_running`).",
        {
          conflicts: notRunning,
          responses: {
            200: { description: "The file, in place of the one that had the path.", headers: etag },
            201: { description: "The file, new in the run.", headers: etag }
          }
        }
      )
    ),
    HttpApiEndpoint.get("download", `${path}/:run/files/:path`, {
      params: fileParams,
      headers: {
        range: Schema.optionalKey(
          Schema.String.annotate({
            description: "One range of bytes. Several, or a malformed one, are ignored.",
            examples: ["bytes=0-4"]
          })
        ),
        "if-none-match": Schema.optionalKey(
          Schema.String.annotate({
            description: "An `ETag` of before: 304 while it is current.",
            examples: ['"a948904f2f0f479b"']
          })
        ),
        "if-range": Schema.optionalKey(
          Schema.String.annotate({
            description:
              "An `ETag` or date of before: the range is served only while it is current, else the whole file.",
            examples: ['"a948904f2f0f479b"']
          })
        )
      },
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      error: NotFound
    }).annotateMerge(
      doc(
        "Download a file",
        "The file with its own content type. One `Range`: 206 with `Content-Range`, or 416 when it lies beyond the end. `If-None-Match` with the current `ETag`: 304. HTML, SVG and XML come with `Content-Security-Policy: sandbox`. `HEAD` answers the headers alone. A file that was named but never uploaded: 404. Every role.",
        { responses: downloads }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Test runs",
      description: "Browser-test runs, their tests and files. A publisher starts a run, uploads files and finishes it."
    })
  ) {}
