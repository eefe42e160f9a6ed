import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { htmlPage } from "../http/HtmlPage.ts"
import { notFoundPage } from "../http/NotFoundPage.ts"
import { fileAnswer } from "./FileAnswer.ts"
import { Site } from "./Site.ts"

/**
 * The website: `/`, `/w/...` and its files. Pages are asked for anew each time and have the strictest policy that lets them run
 * their own scripts; files have a hash in their name, and are kept for ever.
 */

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join("; ")

const pageHeaders = {
  "cache-control": "no-cache",
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const fileHeaders = (path: string) => ({
  "cache-control": path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "public, max-age=3600",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff"
})

const building = HttpServerResponse.setHeaders(
  htmlPage({
    title: "The website is being built",
    body: "<p>This takes some seconds after a start with changed sources. This page loads itself again.</p>",
    status: 503
  }),
  { refresh: "1", "retry-after": "1" }
)

const failed = htmlPage({
  title: "The website could not be built",
  body: `<p>The server's log says why. The API works all the same: <a href="/docs">its description</a>.</p>
<p><a href="/sign-in">Sign in, or go to your account</a></p>`,
  status: 503
})

const pathOf = (url: string): string => url.split("?", 1)[0]!

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { isServed, state } = yield* Site
    if (!isServed) return
    const page = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
      const now = state()
      if (now._tag !== "Ready") return now._tag === "Building" ? building : failed
      return fileAnswer(request, now.site.pageOf(pathOf(request.url)), pageHeaders)
    })
    const file = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
      const now = state()
      const path = pathOf(request.url)
      const found = now._tag === "Ready" ? now.site.files.get(path) : undefined
      return found === undefined ? notFoundPage : fileAnswer(request, found, fileHeaders(path))
    })
    yield* router.add("GET", "/", page)
    yield* router.add("GET", "/w/*", page)
    yield* router.add("GET", "/assets/*", file)
    yield* router.add("GET", "/icon.svg", file)
    yield* router.add("GET", "/inter.woff2", file)
  })
)
