import { HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { pageScript } from "./PageScript.ts"
import { pageStyle } from "./PageStyle.ts"

/** A page of the service that brings all it needs. */
interface Page {
  readonly title: string
  /** What stands in `<main>` below the title; of a page with a script, below what that says. */
  readonly body: string
  readonly script?: Script
  readonly status?: number
}

/** What a page does. */
interface Script {
  /** Over `pageScript`. */
  readonly source: string
  /** A script of others that comes first. */
  readonly library?: string
  /** The settings' address of the service. */
  readonly baseUrl: string
}

/** The theme that was chosen on the website (`app/theme.ts` of the website keeps it), before anything is drawn. */
const themeScript = `
try {
  const { theme } = JSON.parse(localStorage.getItem("delivery-looks") ?? "{}")
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme
} catch {}
`

/** The sign of the service, as on the website's icon. */
const mark = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M9 17l5 5 9-12" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`

const source = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

/** Where a script says what it is about (`text`), what has happened (`news`), and what is wrong (`problem`). */
const messages = `<p id="text" role="status" tabindex="-1"></p>
<noscript><p>This page needs JavaScript.</p></noscript>
<div id="messages">
<p id="news" role="status"></p>
<p id="problem" role="alert"></p>
<p id="trouble" hidden><button id="again" type="button">Try again</button> <small id="request-id"></small></p>
</div>
<p id="elsewhere" class="muted" hidden>The address of this service is <a id="home"></a>. Passkeys, accounts at providers and sessions that you have there do not work here.</p>`

/**
 * The page as an answer. It runs its own script alone, which only the service can be asked by; nobody can put it into a
 * frame, no cache keeps it, and no other site learns its address.
 */
export const htmlPage = ({ body, script, status = 200, title }: Page): HttpServerResponse.HttpServerResponse => {
  const scripts = script && `${script.library ?? ""}\n${pageScript}${script.source}`
  const policy = [
    "default-src 'none'",
    `script-src ${[themeScript, ...(scripts === undefined ? [] : [scripts])].map(source).join(" ")}`,
    `style-src ${source(pageStyle)}`,
    ...(scripts === undefined ? [] : ["connect-src 'self'"]),
    "font-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ]
  const origin = script && ` data-origin="${new URL(script.baseUrl).origin}"`
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<title>${title} · Workspace Delivery Service</title>
<script>${themeScript}</script>
<style>${pageStyle}</style>
</head>
<body>
<main${origin ?? ""}>
<header>${mark}Workspace Delivery Service</header>
<h1 id="title">${title}</h1>
${script === undefined ? "" : `${messages}\n`}${body}
</main>
${scripts === undefined ? "" : `<script>${scripts}</script>\n`}</body>
</html>
`
  return HttpServerResponse.text(page, {
    status,
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
