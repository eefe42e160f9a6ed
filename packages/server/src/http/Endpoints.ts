import { DeliveryApi } from "@delivery/domain/Api"
import { AnswersFile, Probe, RequiredScope, Streams } from "@delivery/domain/Endpoint"
import { NoStore } from "@delivery/domain/NoStore"
import { LargeBody } from "@delivery/domain/runs/LargeBody"
import { Context } from "effect"
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import { isMetricsUrl, routed, routerConfig } from "./Routing.ts"

/** What must be known of a request before it is routed: its endpoint's name, and what that says of itself (domain/Endpoint.ts). */
export interface Endpoint {
  /** `group.endpoint`, also of routes that are not part of the API description; `unmatched` where there is no route. */
  readonly name: string
  /** Answered at once, whatever the load and the rate limit. */
  readonly isProbe: boolean
  /** The body of the request is stored as it arrives, or the answer goes on for as long as its client reads. */
  readonly isStreamed: boolean
  /** Needs no credential, whether it takes one or not: anybody may call it. */
  readonly isPublic: boolean
  /** The body may be larger than others: the handler reads it once it knows that the caller may send it. */
  readonly isLarge: boolean
  /** Answers that a client may have compressed: those that are read, but no secrets, and no files, which are stored as they are. */
  readonly isCompressed: boolean
  /** The answer is always the same, and compressed once. */
  readonly isConstant: boolean
  /** Has the scope `admin`. */
  readonly isForAdmins: boolean
  /** The page of metrics is answered whatever the load, and counts for the rate limit. */
  readonly isMetrics: boolean
}

const plain = {
  isProbe: false,
  isStreamed: false,
  isPublic: false,
  isLarge: false,
  isMetrics: false,
  isCompressed: false,
  isConstant: false,
  isForAdmins: false
}

/** All routes that are not part of the API description: whatever the server answers has a name. */
const others: ReadonlyArray<readonly [method: "GET" | "POST" | "DELETE", path: FindMyWay.PathInput, Endpoint]> = [
  ["GET", "/", { ...plain, name: "auth.page" }],
  ["GET", "/authorize", { ...plain, name: "authorizations.page" }],
  ["GET", "/cli", { ...plain, name: "logins.page" }],
  ["GET", "/docs", { ...plain, name: "system.docs", isCompressed: true, isConstant: true }],
  ["GET", "/invite", { ...plain, name: "invites.page" }],
  ["GET", "/invites/:token", { ...plain, name: "invites.page" }],
  ["GET", "/metrics", { ...plain, name: "system.metrics", isMetrics: true }],
  ["GET", "/openapi.json", { ...plain, name: "system.openapi", isCompressed: true, isConstant: true }],
  ["GET", "/sign-in", { ...plain, name: "auth.page" }],
  ["GET", "/w/*", { ...plain, name: "website.page" }],
  ["GET", "/assets/*", { ...plain, name: "website.file" }],
  ["GET", "/icon.svg", { ...plain, name: "website.file" }],
  ["GET", "/inter.woff2", { ...plain, name: "website.file" }],
  ["GET", "/files/*", { ...plain, name: "filesOrigin.file" }],
  ["GET", "/trace-viewer/*", { ...plain, name: "filesOrigin.traceViewer" }],
  ["POST", "/agent/mcp", { ...plain, name: "agents.mcp" }],
  ["GET", "/agent/mcp", { ...plain, name: "agents.mcp" }],
  ["DELETE", "/agent/mcp", { ...plain, name: "agents.mcp" }]
]

const unmatched: Endpoint = { ...plain, name: "unmatched" }

const router = FindMyWay.make<Endpoint>(routerConfig)
HttpApi.reflect(DeliveryApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
    const { identifier, method, middlewares, path } = endpoint as HttpApiEndpoint.Top
    router.on(method, path as FindMyWay.PathInput, {
      ...plain,
      name: `${group.identifier}.${identifier}`,
      isProbe: Context.get(mergedAnnotations, Probe),
      isStreamed: Context.get(mergedAnnotations, Streams),
      isPublic: !Array.from(middlewares).some((key) =>
        HttpApiMiddleware.isSecurity(key as HttpApiMiddleware.AnyService)
      ),
      isLarge: middlewares.has(LargeBody),
      isForAdmins: Context.get(mergedAnnotations, RequiredScope) === "admin",
      // The length of a compressed answer tells what it has in common with what the client chose.
      isCompressed: method === "GET" && !middlewares.has(NoStore) && !Context.get(mergedAnnotations, AnswersFile)
    })
  }
})
for (const [method, path, endpoint] of others) router.on(method, path, endpoint)

/** What was found lately: the same paths come again and again. Bounded, since anybody can send any. */
const found = new Map<string, Map<string, Endpoint>>()
const maxFound = 1_000
const maxFoundLength = 200

/** The endpoint of a request, by the same routes as the server's own. */
export const endpointOf = (method: string, url: string): Endpoint => {
  const query = url.indexOf("?")
  const path = query === -1 ? url : url.slice(0, query)
  const ofMethod = found.get(method)
  const known = ofMethod?.get(path)
  if (known !== undefined) return known
  const endpoint = find(method, path)
  if (endpoint === unmatched || path.length > maxFoundLength) return endpoint
  if (ofMethod === undefined || ofMethod.size === maxFound) found.set(method, new Map([[path, endpoint]]))
  else ofMethod.set(path, endpoint)
  return endpoint
}

const find = (method: string, url: string): Endpoint => {
  const path = routed(url)
  const route = router.find(method, path) ?? (method === "HEAD" ? router.find("GET", path) : undefined)
  const endpoint = route?.handler ?? unmatched
  return endpoint.isMetrics && !isMetricsUrl(url) ? unmatched : endpoint
}
