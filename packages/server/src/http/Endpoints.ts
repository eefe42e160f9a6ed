import { DeliveryApi } from "@delivery/domain/Api"
import { Probe, RequiredScope, RestOfPath, Streams } from "@delivery/domain/Endpoint"
import { NoStore } from "@delivery/domain/NoStore"
import { Context } from "effect"
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { routed, routerConfig } from "./Routing.ts"

/** What must be known of a request before it is routed: its endpoint's name, and what that says of itself (domain/Endpoint.ts). */
export interface Endpoint {
  /** `group.endpoint`, also of routes that are not part of the API description; `unmatched` where there is no route. */
  readonly name: string
  /** Answered at once, whatever the load and the rate limit. */
  readonly isProbe: boolean
  /** The body of the request is stored as it arrives. */
  readonly isStreamed: boolean
  /** Answers that a client may have compressed: those that are read, but no secrets, and no files, which are stored as they are. */
  readonly isCompressed: boolean
  /** Has the scope `admin`. */
  readonly isForAdmins: boolean
  /** The page of metrics is answered whatever the load, and counts for the rate limit. */
  readonly isMetrics: boolean
}

const plain = { isProbe: false, isStreamed: false, isMetrics: false, isCompressed: false, isForAdmins: false }

/** All routes that are not part of the API description: whatever the server answers has a name. */
const others: ReadonlyArray<readonly [method: "GET" | "POST" | "DELETE", path: FindMyWay.PathInput, Endpoint]> = [
  ["GET", "/authorize", { ...plain, name: "authorizations.page" }],
  ["GET", "/docs", { ...plain, name: "system.docs", isCompressed: true }],
  ["GET", "/invite", { ...plain, name: "invites.page" }],
  ["GET", "/invites/:token", { ...plain, name: "invites.page" }],
  ["GET", "/metrics", { ...plain, name: "system.metrics", isMetrics: true }],
  ["GET", "/openapi.json", { ...plain, name: "system.openapi", isCompressed: true }],
  ["GET", "/sign-in", { ...plain, name: "auth.page" }],
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
      isForAdmins: Context.get(mergedAnnotations, RequiredScope) === "admin",
      // The length of a compressed answer tells what it has in common with what the client chose.
      isCompressed: method === "GET" && !middlewares.has(NoStore) && !Context.get(mergedAnnotations, RestOfPath)
    })
  }
})
for (const [method, path, endpoint] of others) router.on(method, path, endpoint)

/** The endpoint of a request, by the same routes as the server's own. */
export const endpointOf = (method: string, url: string): Endpoint => {
  const path = routed(url)
  const found = router.find(method, path) ?? (method === "HEAD" ? router.find("GET", path) : undefined)
  return found?.handler ?? unmatched
}
