import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { BlobNotFound } from "../files/Blob.ts"
import { isKnown, isUnchanged, requestedRange } from "./RangeRequests.ts"

/** A file that may be read. */
export interface OpenFile {
  readonly file: {
    readonly size: number
    readonly contentType: string
    /** In hexadecimal. */
    readonly sha256: string
    readonly createdAt: Timestamp
  }
  readonly etag: string
  /** `Content-Disposition`: what a browser does with it; undefined where it may show it. */
  readonly disposition: string | undefined
  /** The bytes from `offset`. Fails where the file has been replaced since: open it again. */
  readonly read: (offset: number, length: number) => Effect.Effect<Stream.Stream<Uint8Array>, BlobNotFound, Scope.Scope>
}

/** The headers of a request that say which part of a file it wants, and when. */
export interface Conditions {
  readonly range?: string | undefined
  readonly "if-none-match"?: string | undefined
  readonly "if-range"?: string | undefined
}

/**
 * Types that a browser may show in its window: raster images, video, audio and plain text. A list of what is harmless, since
 * nobody knows all types that some browser runs. A comma would let a browser read another type.
 */
const shown =
  /^(?:image\/(?:apng|avif|bmp|gif|heic|jpeg|jxl|png|tiff|webp|x-icon|vnd\.microsoft\.icon)|(?:video|audio)\/[\w.-]+|text\/plain)[\t ]*(?:;[^,]*)?$/i

/** `Content-Disposition` of a file by its type, where no name is known. */
export const dispositionOf = (contentType: string): string | undefined =>
  shown.test(contentType) ? undefined : "attachment"

/** A stored file was written by others: it must not act for the service, whatever its type (docs/contract.md, Files). */
const guards = (disposition: string | undefined) => ({
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  ...(disposition === undefined ? {} : { "content-disposition": disposition })
})

/** The answer to a request for a file, which is opened again where it has been replaced since. */
export const download = <E extends { readonly _tag: string }, R>(
  open: Effect.Effect<OpenFile, E, R>,
  conditions: Conditions,
  isHead: boolean
) =>
  open.pipe(
    Effect.flatMap((file) => answerOf(file, conditions, isHead)),
    Effect.retry({ while: (error) => error._tag === "BlobNotFound", times: 3 }),
    Effect.catchTag("BlobNotFound", Effect.die)
  )

const httpDate = (timestamp: Timestamp): string => new Date(timestamp).toUTCString()

const answerOf = Effect.fnUntraced(function* (
  { disposition, etag, file, read }: OpenFile,
  conditions: Conditions,
  isHead: boolean
) {
  const lastModified = httpDate(file.createdAt)
  const headers = {
    etag,
    "last-modified": lastModified,
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    ...guards(disposition)
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
