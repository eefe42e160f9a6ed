import { Schema } from "effect"

/** What downloads of files have in common: the conditions of their requests, and what their answers say beside their schemas. */

/** The headers of a request that say which part of a file it wants, and when. */
export const downloadHeaders = {
  range: Schema.optionalKey(
    Schema.String.annotate({
      description: "One range of bytes. Several ranges, or a malformed one, are ignored.",
      examples: ["bytes=0-4"]
    })
  ),
  "if-none-match": Schema.optionalKey(
    Schema.String.annotate({
      description: "An `ETag` that you have. The answer is 304 while it is current.",
      examples: ['"a948904f2f0f479b"']
    })
  ),
  "if-range": Schema.optionalKey(
    Schema.String.annotate({
      description:
        "An `ETag` or date that you have. The range is sent only while it is current, otherwise the whole file.",
      examples: ['"a948904f2f0f479b"']
    })
  )
}

const header = (description: string, example: string) => ({
  description,
  required: true,
  schema: { type: "string" },
  example
})
/** `ETag` of an answer. */
export const etagHeader = { ETag: header("Identifies the content of the file.", '"a948904f2f0f479b"') }
const fileHeadersOf = (isShown: string, disposition: string) => ({
  ...etagHeader,
  "Last-Modified": header("When the file was uploaded.", "Sat, 21 Nov 2026 09:30:40 GMT"),
  "Accept-Ranges": header("`bytes`: ranges are supported.", "bytes"),
  "Cache-Control": header("A cache must revalidate the file before it uses it again.", "private, no-cache"),
  "X-Content-Type-Options": header("Browsers must not guess another content type.", "nosniff"),
  "Content-Security-Policy": header(
    "Browsers run nothing of the file, and load nothing for it.",
    "sandbox; default-src 'none'"
  ),
  "Content-Disposition": {
    ...header(`What browsers do with the file. ${isShown}`, disposition),
    required: false
  }
})
const contentRange = (description: string, example: string) => ({ "Content-Range": header(description, example) })
const unsatisfiable = "The file has 12 bytes; the range is beyond its end."

/**
 * The answers of a download that its schemas do not describe.
 *
 * @param isShown Which files browsers may show, in a sentence.
 */
export const downloadAnswers = (isShown: string, disposition: string) => {
  const fileHeaders = fileHeadersOf(isShown, disposition)
  return {
    200: { description: "The file, with the content type of its upload.", headers: fileHeaders },
    206: {
      description: "The requested range of the file.",
      headers: {
        ...fileHeaders,
        ...contentRange("Which bytes are sent, and the size of the whole file.", "bytes 0-4/12")
      },
      content: {
        "application/octet-stream": { schema: { type: "string", format: "binary" }, example: "hello" }
      }
    },
    304: { description: "The file is the one that `If-None-Match` names. There is no body.", headers: fileHeaders },
    416: {
      description: "The range lies beyond the end of the file.",
      headers: { ...fileHeaders, ...contentRange("The size of the whole file.", "bytes */12") },
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
}
