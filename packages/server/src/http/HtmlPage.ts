import { HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"

/** A page of the service that brings all it needs. */
interface Page {
  readonly title: string
  readonly style: string
  /** What stands in `<main>`. */
  readonly body: string
  readonly script: string
}

const source = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

/**
 * The page as an answer. It runs its own script alone, which only the service can be asked by; nobody can put it into a
 * frame, no cache keeps it, and no other site learns its address.
 */
export const htmlPage = ({ body, script, style, title }: Page): HttpServerResponse.HttpServerResponse => {
  const policy = [
    "default-src 'none'",
    `script-src ${source(script)}`,
    `style-src ${source(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ]
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
<script>${script}</script>
</body>
</html>
`
  return HttpServerResponse.text(page, {
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-security-policy": policy.join("; "),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY"
    }
  })
}
