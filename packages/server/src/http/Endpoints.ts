import { DeliveryApi } from "@delivery/domain/Api"
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { routed, routerConfig } from "./Routing.ts"

/** Routes that are not part of the API description. */
const others: Readonly<Record<string, string>> = {
  "/docs": "system.docs",
  "/metrics": "system.metrics",
  "/openapi.json": "system.openapi"
}

/** Finds the endpoint of a request, as `group.endpoint`; `unmatched` where there is none. */
export const makeEndpoints = (): ((method: string, url: string) => string) => {
  const router = FindMyWay.make<string>(routerConfig)
  HttpApi.reflect(DeliveryApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { identifier, method, path } = endpoint as HttpApiEndpoint.Top
      router.on(method, path as FindMyWay.PathInput, `${group.identifier}.${identifier}`)
    }
  })
  for (const [path, name] of Object.entries(others)) router.on("GET", path as FindMyWay.PathInput, name)
  return (method, url) => {
    const path = routed(url)
    const found = router.find(method, path) ?? (method === "HEAD" ? router.find("GET", path) : undefined)
    return found?.handler ?? "unmatched"
  }
}
