import { DeliveryApi } from "@delivery/domain/Api"
import { InvalidInput } from "@delivery/domain/Errors"
import type { Attachment } from "@delivery/domain/planning/Attachment"
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

/** What an upload sends. */
interface Content {
  /** A `Blob` is streamed. In Node, `await fs.openAsBlob(path)` uploads a file without reading it into memory. */
  readonly body: Blob | Uint8Array | string
  /** Default: the type of the `Blob`, or `application/octet-stream`. */
  readonly contentType?: string | undefined
}

/** What a download asks for. */
interface Part {
  /** The bytes from `start` to `end`, both included, or the `last` bytes. A range beyond the file fails with `InvalidInput`. */
  readonly range?: { readonly start: number; readonly end?: number } | { readonly last: number } | undefined
}

export interface UploadOptions extends FileAddress, Content {}

export interface DownloadOptions extends FileAddress, Part {}

/** Names a ticket: the slug or id of the workspace, and the identifier or id of the ticket. */
export interface TicketAddress {
  readonly slug: string
  readonly ticket: string
}

export interface AttachOptions extends TicketAddress, Content {
  /** The name of the file: 1 to 255 characters. */
  readonly name: string
}

export interface DownloadAttachmentOptions extends TicketAddress, Part {
  /** The id of the attachment. */
  readonly attachment: string
}

type TestRuns = typeof DeliveryApi.groups.testRuns.endpoints
type Attachments = typeof DeliveryApi.groups.attachments.endpoints

/** Everything that a call of the endpoint can fail with. */
export type CallError<Endpoint extends HttpApiEndpoint.ConstraintRequest> =
  | HttpApiEndpoint.Errors<Endpoint>
  | HttpClientError.HttpClientError
  | Schema.SchemaError

export type UploadError = CallError<TestRuns["upload"]>
export type DownloadError = CallError<TestRuns["download"]>
export type AttachError = CallError<Attachments["upload"]>
export type DownloadAttachmentError = CallError<Attachments["download"]>

/** The files of runs. */
export interface Files {
  /** Uploads a file of at most 100 MiB while its run is running. A file of the same path is replaced. */
  readonly upload: (options: UploadOptions) => Effect.Effect<StoredFile, UploadError>
  /** Succeeds with the head of the answer (200, or 206 for a range). Read its `stream` or its `arrayBuffer`. */
  readonly download: (options: DownloadOptions) => Effect.Effect<HttpClientResponse.HttpClientResponse, DownloadError>
}

/** The calls of attachments whose bodies are bytes. */
export interface AttachmentFiles {
  /** Attaches a file of at most 25 MiB to a ticket. */
  readonly upload: (options: AttachOptions) => Effect.Effect<Attachment, AttachError>
  /** Succeeds with the head of the answer (200, or 206 for a range). Read its `stream` or its `arrayBuffer`. */
  readonly download: (
    options: DownloadAttachmentOptions
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, DownloadAttachmentError>
}

const urls = HttpApiClient.urlBuilder(DeliveryApi)
const decodeUpload = HttpApiClient.decodeResponse(DeliveryApi, { group: "testRuns", endpoint: "upload" })
const decodeDownload = HttpApiClient.decodeResponse(DeliveryApi, { group: "testRuns", endpoint: "download" })
const decodeAttach = HttpApiClient.decodeResponse(DeliveryApi, { group: "attachments", endpoint: "upload" })
const decodeAttachment = HttpApiClient.decodeResponse(DeliveryApi, { group: "attachments", endpoint: "download" })
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
const toBody = ({ body, contentType }: Content): HttpBody.HttpBody => {
  if (body instanceof Blob) {
    const type = contentType ?? (body.type === "" ? undefined : body.type)
    return HttpBody.raw(body, { contentType: type ?? "application/octet-stream", contentLength: body.size })
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  return HttpBody.uint8Array(bytes, contentType ?? "application/octet-stream")
}

const rangeHeader = (range: Part["range"]): { readonly range?: string } => {
  if (range === undefined) return {}
  return { range: "last" in range ? `bytes=-${range.last}` : `bytes=${range.start}-${range.end ?? ""}` }
}

/** Sends a request with the address of the service and the API key. */
type Send = (
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/** The head of a download, or what its answer says is wrong. */
const toFile =
  <E>(decode: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, E>) =>
  (response: HttpClientResponse.HttpClientResponse) => {
    if (response.status === 200 || response.status === 206) return Effect.succeed(response)
    if (response.status === 416) return Effect.flatMap(decodeRangeProblem(response), Effect.fail)
    return Effect.as(decode(response), response)
  }

/** The calls of files of runs. */
export const makeFiles = (
  send: Send,
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
      Effect.flatMap(toFile((response) => decodeDownload(response)))
    )
})

/** The calls of attachments that carry bytes. */
export const makeAttachments = (
  send: Send,
  download: HttpApiClient.Client.Method<Attachments["download"], never, never>
): AttachmentFiles => ({
  upload: (options) =>
    Effect.suspend(() =>
      send(
        HttpClientRequest.post(urls.attachments.upload({ params: options, query: { name: options.name } })).pipe(
          HttpClientRequest.setBody(toBody(options))
        )
      )
    ).pipe(Effect.flatMap((response) => decodeAttach(response))),
  download: (options) =>
    Effect.flatMap(
      download({ params: options, headers: rangeHeader(options.range), responseMode: "response-only" }),
      toFile((response) => decodeAttachment(response))
    )
})
