import { isServiceUrl, serviceUrl } from "@delivery/domain/ServiceUrl"

export interface WebClientOptions {
  /** The address of the service, such as `https://delivery.example.com`. Default: the origin of the page. */
  readonly baseUrl?: string | URL | undefined
  /** An API key (`ctk_...`). With one, no cookies are sent. Without one, the cookie of the page's own origin speaks. */
  readonly apiKey?: string | undefined
  /** Default: the fetch of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

const known = ["baseUrl", "apiKey", "fetch"]

/** The address without a slash at its end. Throws what is wrong with the options, in a sentence that repeats no key. */
export const checked = (options: WebClientOptions): string => {
  if (typeof options !== "object" || options === null)
    throw new TypeError("A client takes an object such as {baseUrl}.")
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new TypeError(`A client knows no option "${unknown}". It takes ${known.join(", ")}.`)
  }
  const { apiKey, baseUrl = globalThis.location?.origin, fetch } = options
  const address = String(baseUrl)
  if (!isServiceUrl(address)) throw new TypeError(`baseUrl: Expected ${serviceUrl}, not "${address}".`)
  if (apiKey !== undefined && (typeof apiKey !== "string" || apiKey === "")) {
    throw new TypeError("apiKey: Expected an API key as text. Leave it out where the cookie of the page speaks.")
  }
  if (fetch !== undefined && typeof fetch !== "function") throw new TypeError("fetch: Expected a function.")
  return address.replace(/\/+$/, "")
}
