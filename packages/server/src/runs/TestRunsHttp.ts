import { DeliveryApi } from "@delivery/domain/Api"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { handlersOf } from "../http/Handlers.ts"
import { RunErasure } from "./erasure/RunErasure.ts"
import { isKnown, isUnchanged, requestedRange } from "./RangeRequests.ts"
import { type OpenFile, TestRunFiles } from "./TestRunFiles.ts"
import { TestRuns } from "./TestRuns.ts"

/** Handlers of test runs and their files. */
export const layer = handlersOf(DeliveryApi, "testRuns", (handlers) =>
  Effect.gen(function* () {
    const runs = yield* TestRuns
    const files = yield* TestRunFiles
    const erasure = yield* RunErasure
    return handlers
      .handle("list", ({ query }) => runs.list({ ...query, mine: query.mine === "true" }))
      .handle("start", ({ payload }) => runs.start(payload))
      .handle("get", ({ params }) => runs.get(params.run))
      .handle("finish", ({ params, payload }) => runs.finish(params.run, payload))
      .handle("delete", ({ params }) => erasure.delete(params.run))
      .handleRaw("upload", ({ params, request }) =>
        Effect.map(
          files.upload({
            run: params.run,
            path: params.path,
            contentType: request.headers["content-type"],
            contentLength: request.headers["content-length"],
            body: request.stream
          }),
          ({ created, etag, file }) =>
            HttpServerResponse.jsonUnsafe(file, { status: created ? 201 : 200, headers: { etag } })
        )
      )
      .handle("download", ({ headers, params, request }) =>
        files.open(params.run, params.path).pipe(
          Effect.flatMap((open) => download(open, headers, request.method === "HEAD")),
          Effect.retry({ while: (error) => error._tag === "BlobNotFound", times: 3 }),
          Effect.catchTag("BlobNotFound", Effect.die)
        )
      )
  })
)

interface Conditions {
  readonly range?: string
  readonly "if-none-match"?: string
  readonly "if-range"?: string
}

/**
 * Types that a browser may show in its window: raster images, video, audio and plain text. A list of what is harmless, since
 * nobody knows all types that some browser runs. A comma would let a browser read another type.
 */
const shown =
  /^(?:image\/(?:apng|avif|bmp|gif|heic|jpeg|jxl|png|tiff|webp|x-icon|vnd\.microsoft\.icon)|(?:video|audio)\/[\w.-]+|text\/plain)[\t ]*(?:;[^,]*)?$/i

/** A stored file was written by others: it must not act for the service, whatever its type (docs/contract.md, Files). */
const guards = (contentType: string) => ({
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  ...(shown.test(contentType) ? {} : { "content-disposition": "attachment" })
})

const httpDate = (timestamp: Timestamp): string => new Date(timestamp).toUTCString()

const download = Effect.fnUntraced(function* ({ etag, file, read }: OpenFile, conditions: Conditions, isHead: boolean) {
  const lastModified = httpDate(file.createdAt)
  const headers = {
    etag,
    "last-modified": lastModified,
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    ...guards(file.contentType)
  }
  if (isKnown(conditions["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers })

  // Ranges are of GET alone, and of the file that the client has begun to read.
  const range =
    isHead || !isUnchanged(conditions["if-range"], etag, lastModified)
      ? requestedRange(undefined, file.size)
      : requestedRange(conditions.range, file.size)
  if (range.kind === "unsatisfiable") {
    const message = `The file has ${file.size} bytes; the range is beyond its end.`
    return HttpServerResponse.jsonUnsafe(
      { _tag: "InvalidInput", message, issues: [{ path: ["Range"], message }] },
      { status: 416, headers: { ...headers, "content-range": `bytes */${file.size}` } }
    )
  }

  const { length, offset } = range.kind === "part" ? range : { offset: 0, length: file.size }
  const options = {
    status: range.kind === "part" ? 206 : 200,
    contentType: file.contentType,
    contentLength: length,
    headers:
      range.kind === "part"
        ? { ...headers, "content-range": `bytes ${offset}-${offset + length - 1}/${file.size}` }
        : headers
  }
  if (isHead) return HttpServerResponse.stream(Stream.empty, options)
  return HttpServerResponse.stream(yield* read(offset, length), options)
})
