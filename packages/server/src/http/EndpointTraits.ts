import { DeliveryApi } from "@delivery/domain/Api"
import { Probe, RestOfPath, Streams } from "@delivery/domain/Endpoint"
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"

/**
 * What endpoints say about themselves (domain/Endpoint.ts), needed before the router has found the endpoint of a request: by
 * patterns that are made once, from the paths of the annotated endpoints.
 */

interface Matcher {
  readonly method: string
  readonly path: RegExp
}

const matchers = (
  isAnnotated: (annotations: Context.Context<never>) => boolean,
  end: string
): ReadonlyArray<Matcher> => {
  const found: Array<Matcher> = []
  HttpApi.reflect(DeliveryApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      if (!isAnnotated(mergedAnnotations)) return
      const { method, path } = endpoint as HttpApiEndpoint.Top
      found.push({
        method,
        path: new RegExp(`^${path.replaceAll(/:[^/]+(?=\/)/g, "[^/?]+").replace(/:[^/]+$/, "")}${end}`)
      })
    }
  })
  return found
}

const streams = matchers((annotations) => Context.get(annotations, Streams), "")
const probes = matchers((annotations) => Context.get(annotations, Probe), "$")
const restOfPath = matchers((annotations) => Context.get(annotations, RestOfPath), "")

/** Whether the body of the request is stored as it arrives. */
export const isStreamed = ({
  method,
  url = ""
}: {
  readonly method?: string | undefined
  readonly url?: string | undefined
}): boolean => streams.some((matcher) => matcher.method === method && matcher.path.test(url))

/** Whether the request is a probe's. */
export const isProbe = ({ url }: { readonly url: string }): boolean => probes.some(({ path }) => path.test(url))

/** The part of a URL before the parameter that takes the rest of the path; undefined where there is no such parameter. */
export const beforeRestOfPath = (url: string): string | undefined => {
  for (const { path } of restOfPath) {
    const found = path.exec(url)
    if (found !== null) return found[0]
  }
  return undefined
}
