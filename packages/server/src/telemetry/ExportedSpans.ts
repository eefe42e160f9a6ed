import type { OtlpTracer } from "effect/observability"

type TraceData = OtlpTracer.TraceData
type Span = TraceData["resourceSpans"][number]["scopeSpans"][number]["spans"][number]
type Attribute = Span["attributes"][number]

/**
 * The part of spans that leaves the process: routes, statuses, statements and times. Nothing that a caller chose does:
 * no path, query, header (except the request's id), parameter, address or message of an error. The text of a statement
 * has `$1` in place of its parameters.
 */
export const exported = (data: TraceData): TraceData => ({
  resourceSpans: data.resourceSpans.map((resource) => ({
    ...resource,
    scopeSpans: resource.scopeSpans.map((scope) => ({ ...scope, spans: scope.spans.map(exportedSpan) }))
  }))
})

const attributes = new Set([
  "http.request.method",
  "http.route",
  "http.response.status_code",
  "http.response.header.x-request-id",
  "db.system.name",
  "db.query.text",
  "db.client.connection.wait_time_ms",
  "effect.fiber.interrupted"
])

const exportedSpan = (span: Span): Span => {
  // A message may contain what the caller sent, or a parameter. The log has it, under the request's id.
  const events = span.events.map((event) => ({
    ...event,
    attributes: event.attributes.filter(({ key }) => key === "exception.type")
  }))
  const { message: _, ...status } = span.status
  const message = textOf(events.find(({ name }) => name === "exception")?.attributes[0])
  return {
    ...span,
    name: nameOf(span),
    attributes: span.attributes
      .filter(({ key }) => attributes.has(key))
      .map((attribute) => (attribute.key === "db.query.text" ? statement(attribute) : attribute)),
    events,
    status: message === "" ? status : { ...status, message }
  }
}

const textOf = (attribute: Attribute | undefined): string => attribute?.value.stringValue ?? ""

/** A request is named by its method and route; a statement by its first word. */
const nameOf = ({ attributes, name }: Span): string => {
  const text = (key: string) => textOf(attributes.find((attribute) => attribute.key === key))
  const [method, route, query] = [text("http.request.method"), text("http.route"), text("db.query.text")]
  if (query !== "") return /^\s*(\w+)/.exec(query)?.[1]?.toLowerCase() ?? name
  return method === "" ? name : route === "" ? method : `${method} ${route}`
}

/** Characters of a statement; those of bulk writes go on for long. */
const maxStatement = 2_000

const statement = ({ key, value }: Attribute): Attribute => ({
  key,
  value: { stringValue: (value.stringValue ?? "").replaceAll(/\s+/g, " ").trim().slice(0, maxStatement) }
})
