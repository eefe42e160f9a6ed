import { Redacted } from "effect"
import { isServiceUrl, serviceUrl } from "@delivery/domain/ServiceUrl"

/** Where the service is, and who calls it. */
export interface ClientOptions {
  /** The address of the service, such as `https://delivery.example.com`. Anything but an http(s) URL is a defect. */
  readonly baseUrl: string | URL
  /**
   * An API key (`ctk_...`) of a person or of a workspace. With `null`, all is refused but what needs none, such as an invite that makes
   * a new person.
   */
  readonly apiKey: string | Redacted.Redacted | null
  /** The token of a deployment (`dtk_...`), for the calls of `deploy`. A product that reads its own secrets has no key: `apiKey` is null. */
  readonly deploymentToken?: string | Redacted.Redacted | undefined
}

/** What is wrong with the options of a client, in a sentence. No message repeats a key. */
export const optionsProblem = (
  options: unknown,
  known: ReadonlyArray<string> = ["baseUrl", "apiKey", "deploymentToken"]
): string | undefined => {
  if (typeof options !== "object" || options === null) {
    return `A client takes an object such as {baseUrl, apiKey}, not ${options === null ? "null" : typeof options}.`
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) return `A client knows no option "${unknown}". It takes ${known.join(", ")}.`
  const { apiKey, baseUrl, deploymentToken, fetch } = options as Readonly<Record<string, unknown>>
  const address = baseUrl instanceof URL ? baseUrl.toString() : baseUrl
  if (typeof address !== "string" || !isServiceUrl(address)) {
    return `baseUrl: Expected ${serviceUrl}, not ${typeof address === "string" ? `"${address}"` : typeof address}`
  }
  if (apiKey === undefined || apiKey === "") {
    return "apiKey: Missing. Pass an API key (ctk_...), or null for calls that need none."
  }
  if (apiKey !== null && typeof apiKey !== "string" && !Redacted.isRedacted(apiKey)) {
    return `apiKey: Expected an API key as text, not ${typeof apiKey}.`
  }
  if (deploymentToken !== undefined && typeof deploymentToken !== "string" && !Redacted.isRedacted(deploymentToken)) {
    return `deploymentToken: Expected a token as text, not ${typeof deploymentToken}.`
  }
  if (fetch !== undefined && typeof fetch !== "function") return `fetch: Expected a function, not ${typeof fetch}.`
  return undefined
}
