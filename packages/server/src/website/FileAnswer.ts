import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { SiteFile } from "./SiteFiles.ts"

const bodyFor = (accepted: string, { br, gzip, plain }: SiteFile): readonly [body: Uint8Array, encoding?: string] => {
  if (br !== undefined && /\bbr\b/.test(accepted)) return [br, "br"]
  if (gzip !== undefined && /\bgzip\b/.test(accepted)) return [gzip, "gzip"]
  return [plain]
}

/** A file of a build as the answer to a request, in the form that its client understands. */
export const fileAnswer = (
  request: HttpServerRequest.HttpServerRequest,
  file: SiteFile,
  headers: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse => {
  const shared = { ...headers, etag: file.etag, vary: "Accept-Encoding" }
  if (request.headers["if-none-match"]?.includes(file.etag) === true) {
    return HttpServerResponse.empty({ status: 304, headers: shared })
  }
  const [body, encoding] = bodyFor(request.headers["accept-encoding"] ?? "", file)
  return HttpServerResponse.uint8Array(body, {
    contentType: file.contentType,
    headers: encoding === undefined ? shared : { ...shared, "content-encoding": encoding }
  })
}
