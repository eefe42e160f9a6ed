import { DeliveryApi } from "@delivery/domain/Api"
import { InvalidInput } from "@delivery/domain/Errors"
import { pathProblem, type StoredFile } from "@delivery/domain/runs/StoredFile"
import { Effect, type Schema } from "effect"
import { HttpBody, type HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { HttpApiClient, type HttpApiEndpoint } from "effect/http-api"

/** Names a file: the slug or id of the workspace, the number of the run, and the path of the file, with slashes. */
export interface FileAddress {
  readonly slug: string
  readonly run: number
  /** 1 to 512 characters. */
  readonly path: string
}

export interface UploadOptions extends FileAddress {
  /** A `Blob` is streamed. In Node, `await fs.openAsBlob(path)` uploads a file without reading it into memory. */
  readonly body: Blob | Uint8Array | string
  /** Default: the type of the `Blob`, or `application/octet-stream`. */
  readonly contentType?: string | undefined
}

export interface DownloadOptions extends FileAddress {
  /** The bytes from `start` to `end`, both included, or the `last` bytes. A range beyond the file fails with `InvalidInput`. */
  readonly range?: { readonly start: number; readonly end?: number } | { readonly last: number } | undefined
}

type TestRuns = typeof DeliveryApi.groups.testRuns.endpoints

/** Everything that a call of the endpoint can fail with. */
export type CallError<Endpoint extends HttpApiEndpoint.ConstraintRequest> =
  | HttpApiEndpoint.Errors<Endpoint>
  | HttpClientError.HttpClientError
  | Schema.SchemaError

export type UploadError = CallError<TestRuns["upload"]>
export type DownloadError = CallError<TestRuns["download"]>

/** The files of runs. */
export interface Files {
  /** Uploads a file of at most 100 MiB while its run is running. A file of the same path is replaced. */
  readonly upload: (options: UploadOptions) => Effect.Effect<StoredFile, UploadError>
  /** Succeeds with the head of the answer (200, or 206 for a range). Read its `stream` or its `arrayBuffer`. */
  readonly download: (options: DownloadOptions) => Effect.Effect<HttpClientResponse.HttpClientResponse, DownloadError>
}

const urls = HttpApiClient.urlBuilder(DeliveryApi)
const decodeUpload = HttpApiClient.decodeResponse(DeliveryApi, { group: "testRuns", endpoint: "upload" })
const decodeDownload = HttpApiClient.decodeResponse(DeliveryApi, { group: "testRuns", endpoint: "download" })
const decodeRangeProblem = HttpClientResponse.schemaBodyJson(InvalidInput)

/** Checked here, because a URL resolves `..` before the server could refuse it. */
const checkPath = (path: string): Effect.Effect<void, InvalidInput> => {
  const problem = pathProblem(path)
  return problem === undefined ? Effect.void : Effect.fail(InvalidInput.at("path", problem))
}

/**
 * The server requires a `Content-Length`. Fetch sends one for bodies whose size it knows, and never for streams. So this does
 * not use the derived method, which takes a stream.
 */
const toBody = ({ body, contentType }: UploadOptions): HttpBody.HttpBody => {
  if (body instanceof Blob) {
    const type = contentType ?? (body.type === "" ? undefined : body.type)
    return HttpBody.raw(body, { contentType: type ?? "application/octet-stream", contentLength: body.size })
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  return HttpBody.uint8Array(bytes, contentType ?? "application/octet-stream")
}

const rangeHeader = (range: DownloadOptions["range"]): { readonly range?: string } => {
  if (range === undefined) return {}
  return { range: "last" in range ? `bytes=-${range.last}` : `bytes=${range.start}-${range.end ?? ""}` }
}

/** The calls whose bodies are bytes. `send` knows the address of the service and the API key. */
export const makeFiles = (
  send: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>,
  download: HttpApiClient.Client.Method<TestRuns["download"], never, never>
): Files => ({
  upload: (options) =>
    checkPath(options.path).pipe(
      Effect.andThen(
        Effect.suspend(() =>
          send(
            HttpClientRequest.put(urls.testRuns.upload({ params: options })).pipe(
              HttpClientRequest.setBody(toBody(options))
            )
          )
        )
      ),
      Effect.flatMap((response) => decodeUpload(response))
    ),
  download: (options) =>
    checkPath(options.path).pipe(
      Effect.andThen(download({ params: options, headers: rangeHeader(options.range), responseMode: "response-only" })),
      Effect.flatMap((response) => {
        if (response.status === 200 || response.status === 206) return Effect.succeed(response)
        if (response.status === 416) return Effect.flatMap(decodeRangeProblem(response), Effect.fail)
        return Effect.as(decodeDownload(response), response)
      })
    )
})
