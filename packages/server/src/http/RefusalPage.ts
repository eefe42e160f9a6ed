import type { HttpServerRequest } from "effect/http"
import { HttpServerResponse } from "effect/http"
import { wantsPage } from "./Accept.ts"
import { escaped } from "./Escaped.ts"
import { htmlPage } from "./HtmlPage.ts"

/** Where browsers are sent, by links, providers and programs: people read what is answered there. */
const visited =
  /^\/+(?:sign-in|invite|authorize|cli|auth\/v1\/oidc\/[^/]+\/(?:start|callback)|agent\/oauth\/authorize)\/?$/

const titles: Readonly<Record<number, string>> = {
  401: "You are not signed in",
  403: "This is not allowed",
  404: "Page not found",
  429: "Too many requests",
  500: "Something went wrong"
}

/**
 * The answer as a page, where it is an error that somebody's browser shows instead of a page (docs/contract.md, Errors). Its
 * status and headers stay.
 */
export const readableByPeople = (
  { headers, method, url }: HttpServerRequest.HttpServerRequest,
  answer: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  if (answer.status < 400 || method !== "GET" || !wantsPage(headers["accept"])) return answer
  const { body } = answer
  if (body._tag !== "Uint8Array" || !visited.test(url.split("?", 1)[0]!)) return answer
  const text = body.contentType.startsWith("application/json") ? messageIn(body.body) : undefined
  if (text === undefined) return answer
  const page = htmlPage({
    title: titles[answer.status] ?? "That did not work",
    body: `<p>${escaped(text)}</p>
<p><a href="/sign-in">Sign in, or go to your account</a></p>`,
    status: answer.status
  })
  const { "content-length": _, "content-type": __, ...kept } = answer.headers
  return HttpServerResponse.setHeaders(page, { ...kept, ...page.headers, vary: "Accept" })
}

/** What an error says: one of the API, or one of OAuth. */
const messageIn = (body: Uint8Array): string | undefined => {
  try {
    const { error_description, message } = JSON.parse(Buffer.from(body).toString()) as Readonly<Record<string, unknown>>
    const text = message ?? error_description
    return typeof text === "string" ? text : undefined
  } catch {
    return undefined
  }
}
