import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { fileAnswer } from "./FileAnswer.ts"
import type { SiteFile } from "./SiteFiles.ts"

/**
 * Playwright's trace viewer, on the origin of files alone. It shows pages of others in frames, which its service worker
 * answers with a policy of their own: of those, only the viewer's script runs.
 */

/** The scripts that stand in a page. */
const inlineScripts = (page: Uint8Array): ReadonlyArray<string> =>
  Array.from(
    Buffer.from(page)
      .toString()
      .matchAll(/<script>([^]*?)<\/script>/g),
    ([, source = ""]) => source
  )

/** What the viewer needs, and of other origins nothing. Its editor and its frames have styles of their own. */
const policyOf = ({ contentType, plain }: SiteFile): string => {
  const scripts = contentType.startsWith("text/html") ? inlineScripts(plain) : []
  return [
    "default-src 'none'",
    ["script-src 'self'", ...scripts.map((source) => `'sha256-${hash("sha256", source, "base64")}'`)].join(" "),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob: data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "frame-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

/** Files with a hash in their name. */
const isConstant = (path: string): boolean => /[.-][\w-]{8}\.(?:js|css|ttf)$/.test(path)

/** A file of the viewer as the answer to a request. `path` is that of the file in the viewer. */
export const traceViewerAnswer = (
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  file: SiteFile
): HttpServerResponse.HttpServerResponse =>
  fileAnswer(request, file, {
    "cache-control": isConstant(path) ? "public, max-age=31536000, immutable" : "no-cache",
    "content-security-policy": policyOf(file),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff"
  })
