import { HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { pageScript } from "./PageScript.ts"
import { pageStyle } from "./PageStyle.ts"

/** A page of the service that brings all it needs. */
interface Page {
  readonly title: string
  /** What stands in `<main>` below what is said (`text`) and what is wrong (`problem`). */
  readonly body: string
  /** What the page does, over `pageScript`. */
  readonly script: string
  /** A script of others that comes first. */
  readonly library?: string
  /** The address of the service, where the page needs it. */
  readonly origin?: string
}

const source = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

/**
 * The page as an answer. It runs its own script alone, which only the service can be asked by; nobody can put it into a
 * frame, no cache keeps it, and no other site learns its address.
 */
export const htmlPage = ({
  body,
  library = "",
  origin = "",
  script,
  title
}: Page): HttpServerResponse.HttpServerResponse => {
  const scripts = `${library}\n${pageScript}${script}`
  const policy = [
    "default-src 'none'",
    `script-src ${source(scripts)}`,
    `style-src ${source(pageStyle)}`,
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
<title>${title} · Workspace Delivery Service</title>
<style>${pageStyle}</style>
</head>
<body>
<main data-origin="${origin}">
<header>Workspace Delivery Service</header>
<h1 id="title">${title}</h1>
<p id="text" role="status" tabindex="-1"></p>
<noscript><p>This page needs JavaScript.</p></noscript>
<p id="problem" role="alert"></p>
${body}
</main>
<script>${scripts}</script>
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
