import { type Forbidden, NotFound } from "@delivery/domain/Errors"
import { Effect, Layer, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../Config.ts"
import { wantsPage } from "../http/Accept.ts"
import { errorResponse } from "../http/ErrorResponse.ts"
import { escaped } from "../http/Escaped.ts"
import { FilesOrigin } from "../http/FilesOrigin.ts"
import { htmlPage } from "../http/HtmlPage.ts"
import { Site } from "../website/Site.ts"
import { traceViewerAnswer } from "../website/TraceViewer.ts"
import { download } from "../http/Downloads.ts"
import { filesPath, SignedUrls, traceViewerPath } from "./SignedUrls.ts"

/** What the origin of files answers: files by signed URLs, and Playwright's trace viewer for them (docs/contract.md, The origin of files). */

type Request = HttpServerRequest.HttpServerRequest

export const layer = Layer.effect(
  FilesOrigin,
  Effect.gen(function* () {
    const { baseUrl, filesOrigin } = yield* Settings
    const dependencies = { urls: yield* SignedUrls, site: yield* Site, baseUrl }
    return Option.match(filesOrigin, {
      onNone: () => FilesOrigin.of({ isAsked: () => false, answer: () => Effect.succeed(HttpServerResponse.empty()) }),
      onSome: (origin) => FilesOrigin.of({ isAsked: isOf(origin), answer: answer({ ...dependencies, origin }) })
    })
  })
)

interface Dependencies {
  readonly urls: SignedUrls["Service"]
  readonly site: Site["Service"]
  readonly baseUrl: string
  readonly origin: string
}

/** Whether a request is one to an origin: by its host, as a browser writes it, or with the port that it leaves out. */
const isOf = (origin: string): ((request: Request) => boolean) => {
  const { host, port, protocol } = new URL(origin)
  const hosts = new Set(port === "" ? [host, `${host}:${protocol === "https:" ? 443 : 80}`] : [host])
  return ({ headers }) => hosts.has(headers["host"]?.toLowerCase() ?? "")
}

const answer = (dependencies: Dependencies) => (request: Request) =>
  Effect.catchTag(found(dependencies, request), ["Forbidden", "NotFound"], (error) =>
    Effect.succeed(refused(dependencies, request, error))
  )

const found = (dependencies: Dependencies, request: Request) => {
  const { origin, urls } = dependencies
  const isHead = request.method === "HEAD"
  if ((request.method !== "GET" && !isHead) || !URL.canParse(request.url, origin)) return nothing
  const url = new URL(request.url, origin)
  if (url.origin !== origin) return nothing
  if (url.pathname.startsWith(traceViewerPath)) return viewer(dependencies, request, url)
  if (!url.pathname.startsWith(filesPath)) return nothing
  const { "if-none-match": ifNoneMatch, "if-range": ifRange, range } = request.headers
  const conditions = { range, "if-none-match": ifNoneMatch, "if-range": ifRange }
  return Effect.map(download(urls.open(url), conditions, isHead), withIsolation)
}

/** No page of another origin may have the file in it. */
const withIsolation = HttpServerResponse.setHeader("cross-origin-resource-policy", "same-origin")

/** The viewer is there for the traces of this server alone. */
const viewer = Effect.fnUntraced(function* ({ site, urls }: Dependencies, request: Request, url: URL) {
  const path = url.pathname.slice(traceViewerPath.length - 1)
  const name = path === "/" ? "/index.html" : path
  const files = site.traceViewer()
  if (files === undefined) return site.isServed ? notYet : yield* nothing
  const file = files.get(name)
  if (file === undefined) return yield* nothing
  if (name === "/index.html") yield* urls.open(new URL(url.searchParams.get("trace") ?? "", url))
  return traceViewerAnswer(request, name, file)
})

const nothing = Effect.fail(new NotFound({ message: "There is nothing at this address." }))

const notYet = HttpServerResponse.setHeaders(
  htmlPage({
    title: "The trace viewer is being built",
    body: "<p>This takes some seconds after the first start. This page loads itself again.</p>",
    status: 503
  }),
  { refresh: "1", "retry-after": "1" }
)

const refused = (
  { baseUrl }: Dependencies,
  { headers, method }: Request,
  error: Forbidden | NotFound
): HttpServerResponse.HttpServerResponse => {
  const status = error._tag === "Forbidden" ? 403 : 404
  if (method !== "GET" || !wantsPage(headers["accept"])) return errorResponse(error, status)
  return htmlPage({
    title: status === 403 ? "This link does not work" : "There is no such file",
    body: `<p>${escaped(error.message)}</p>\n<p><a href="${escaped(baseUrl)}">Go to the website</a></p>`,
    status
  })
}
