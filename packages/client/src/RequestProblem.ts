/** The parts of a request of a derived call. */
const parts = new Set(["params", "query", "headers", "payload", "responseMode"])

/** What is wrong with the argument of a call, in a sentence. */
export const requestProblem = (name: string, request: unknown): string | undefined => {
  if (request === undefined) return undefined
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return `${name} takes an object such as {params}, not ${request === null ? "null" : typeof request}.`
  }
  const unknown = Object.keys(request).find((part) => !parts.has(part))
  return unknown === undefined
    ? undefined
    : `${name} knows no "${unknown}". It takes params, query, headers and payload.`
}
