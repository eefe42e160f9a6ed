/** How much a client wants answers of a type that it names in `Accept`; 0 where it does not name it. */
const wanted = (accept: string, type: string): number => {
  for (const part of accept.toLowerCase().split(",")) {
    const [name, ...parameters] = part.split(";").map((text) => text.trim())
    if (name !== type) continue
    const quality = parameters.find((parameter) => parameter.startsWith("q="))
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0
  }
  return 0
}

const prefers =
  (type: string) =>
  (accept = ""): boolean =>
    wanted(accept, type) > wanted(accept, "application/json")

/** Whether a client asks for lines of JSON rather than for a page. */
export const wantsLines = prefers("application/x-ndjson")

/** Whether a client asks for a page to be read by people, as browsers do, rather than for JSON. */
export const wantsPage = prefers("text/html")
