import { beforeRestOfPath } from "./EndpointTraits.ts"

/**
 * Paths are case-sensitive, as the API description writes them. A longer path parameter is not found; paths of files
 * above 512 characters are refused by a rule with a message.
 */
export const routerConfig = { caseSensitive: true, maxParamLength: 16_384 }

/**
 * The URL as the router should read it. The router would end the path at `;` or `#`, and so delete `a` when asked to
 * delete `a;b`. A file's path has slashes, and the router wants one segment: written as `%2F` they are decoded once, like
 * the rest. An empty path of a file becomes a slash, which is just as invalid and reaches its handler.
 */
export const routed = (url: string): string => {
  const before = beforeRestOfPath(url)
  if (before === undefined && !/[;#]/.test(url)) return url
  const query = url.indexOf("?")
  const end = query === -1 ? url.length : query
  const path = url.slice(0, end).replaceAll(";", "%3B").replaceAll("#", "%23")
  const start = before === undefined ? path.length : beforeRestOfPath(path)!.length
  const rest = before === undefined ? "" : path.slice(start).replaceAll("/", "%2F") || "%2F"
  return path.slice(0, start) + rest + url.slice(end)
}
