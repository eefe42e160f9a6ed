import { HttpServerResponse } from "effect/http"
import { wantsPage } from "./Accept.ts"
import { htmlPage } from "./HtmlPage.ts"

/** What people read who open an address of the service that does not exist (docs/contract.md, Errors). */
export const notFoundPage = HttpServerResponse.setHeader(
  htmlPage({
    title: "Page not found",
    body: `<p>There is no page at this address. A link to it may be wrong, or the page is yet to come.</p>
<p><a href="/sign-in">Sign in, or go to your account</a></p>
<p><a href="/docs">Read the description of the API</a></p>`,
    status: 404
  }),
  "vary",
  "Accept"
)

/** Where programs ask, and are answered in the form of the API, whatever they accept. */
const forPrograms = /^\/+(?:v\d+|auth|agent|deploy|\.well-known|openapi\.json|metrics|health|ready)(?:\/|$)/i

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** Whether people read the answer to a path that does not exist, with a browser. */
export const isReadByPeople = ({ headers, method, url }: Asked): boolean => {
  if ((method !== "GET" && method !== "HEAD") || !wantsPage(headers["accept"])) return false
  const path = decoded(url)
  return path !== undefined && !forPrograms.test(path)
}

/** The path as the router reads it; undefined where it cannot be decoded, which the API says. */
const decoded = (url: string): string | undefined => {
  try {
    return decodeURIComponent(url.split("?", 1)[0]!)
  } catch {
    return undefined
  }
}
