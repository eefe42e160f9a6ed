import { DeliveryApi } from "@delivery/domain/Api"
import { RestOfPath } from "@delivery/domain/Endpoint"
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"

/**
 * Paths are case-sensitive, as the API description writes them. A longer path parameter is not found; paths of files
 * above 512 characters are refused by a rule with a message.
 */
export const routerConfig = { caseSensitive: true, maxParamLength: 16_384 }

/**
 * Whether the URL is that of the page of metrics, to the letter. The router takes `//metrics/` and `/%6detrics` for it as well,
 * and the rule of a proxy that keeps the public away from the one may not know the others.
 */
export const isMetricsUrl = (url: string): boolean => /^\/metrics(?:\?|$)/.test(url)

/** The paths whose last parameter takes the rest of the path, each up to that parameter. */
const restOfPath: Array<RegExp> = []
/** All paths. */
const paths = new Set<string>()
/** Of `restOfPath` those that are paths themselves, such as of a list, with the slash that the router leaves out. */
const lists: Array<RegExp> = []
HttpApi.reflect(DeliveryApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => void paths.add((endpoint as HttpApiEndpoint.Top).path)
})
HttpApi.reflect(DeliveryApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, mergedAnnotations }) => {
    if (!Context.get(mergedAnnotations, RestOfPath)) return
    const { path } = endpoint as HttpApiEndpoint.Top
    const before = `^${path.replaceAll(/:[^/]+(?=\/)/g, "[^/?]+").replace(/:[^/]+$/, "")}`
    restOfPath.push(new RegExp(before))
    if (paths.has(path.replace(/\/:[^/]+$/, ""))) lists.push(new RegExp(`${before}$`))
  }
})

/** The part of a URL before the parameter that takes the rest of the path; undefined where there is no such parameter. */
export const beforeRestOfPath = (url: string): string | undefined => {
  for (const path of restOfPath) {
    const found = path.exec(url)
    if (found !== null) return found[0]
  }
  return undefined
}

/**
 * The URL as the router should read it. The router would end the path at `;` or `#`, and so delete `a` when asked to
 * delete `a;b`. A file's path has slashes, and the router wants one segment: written as `%2F` they are decoded once, like
 * the rest. An empty path of a file becomes a slash, which is just as invalid and reaches its handler, unless it is that of a list.
 */
export const routed = (url: string): string => {
  const before = beforeRestOfPath(url)
  if (before === undefined && !/[;#]/.test(url)) return url
  const query = url.indexOf("?")
  const end = query === -1 ? url.length : query
  const path = url.slice(0, end).replaceAll(";", "%3B").replaceAll("#", "%23")
  if (lists.some((list) => list.test(path))) return path + url.slice(end)
  const start = before === undefined ? path.length : beforeRestOfPath(path)!.length
  const rest = before === undefined ? "" : path.slice(start).replaceAll("/", "%2F") || "%2F"
  return path.slice(0, start) + rest + url.slice(end)
}
