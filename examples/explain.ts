// Says in one line what an example lacks, so that its own code shows only what it is about.
import { Unauthorized } from "@delivery/client"
import { HttpClientError } from "effect/http"

export const baseUrl = process.env["DELIVERY_URL"] || "http://localhost:4000"

/** The line for what whoever starts an example can mend; undefined for anything else. */
const explain = (error: unknown): string | undefined => {
  if (HttpClientError.isHttpClientError(error) && error.response === undefined) {
    return `No server answers at ${baseUrl}. Start one, or set DELIVERY_URL to the address of yours.`
  }
  if (error instanceof Unauthorized) {
    return `The server at ${baseUrl} does not know the key in DELIVERY_API_KEY. Set it to a key of that server.`
  }
  return undefined
}

/** Ends the example with the line, or as any program ends that fails. */
export const endWith = (error: unknown): never => {
  const line = explain(error)
  if (line === undefined) throw error
  console.error(line)
  process.exit(1)
}

/** The key that the environment has to give. */
export const requiredApiKey = (): string => {
  const apiKey = process.env["DELIVERY_API_KEY"]
  if (apiKey !== undefined && apiKey !== "") return apiKey
  console.error("DELIVERY_API_KEY is missing. Set it to the API key that the server printed at its first start.")
  process.exit(1)
}
