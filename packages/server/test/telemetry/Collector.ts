import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { assert } from "vitest"
import { eventually } from "../support/Http.ts"

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number
  readonly start: number
  readonly end: number
  /** 0: unset, 1: ok, 2: error. */
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: ReadonlyArray<{ readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }>
}

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface TraceData {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<KeyValue> }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Record<string, unknown>> }>
  }>
}

/** A collector of traces on the loopback address, which takes OTLP over HTTP with JSON. */
export interface Collector {
  readonly url: string
  /** Everything that was sent, as it came. */
  readonly text: () => string
  readonly requests: () => ReadonlyArray<{ readonly path: string; readonly headers: IncomingHttpHeaders }>
  readonly resource: () => Readonly<Record<string, unknown>>
  readonly spans: () => ReadonlyArray<Span>
  /** The spans of the request with this id, once its own has come: that of a request comes last. */
  readonly ofRequest: (requestId: string) => Promise<ReadonlyArray<Span>>
  /** Answers with this status from now on; 0 never answers. */
  readonly answer: (status: number) => void
  readonly close: () => Promise<void>
}

const record = (pairs: ReadonlyArray<KeyValue>): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))

export const startCollector = async (port = 0): Promise<Collector> => {
  const bodies: Array<string> = []
  const requests: Array<{ readonly path: string; readonly headers: IncomingHttpHeaders }> = []
  let status = 200
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      requests.push({ path: request.url ?? "", headers: request.headers })
      if (status === 0) return
      if (status === 200) bodies.push(Buffer.concat(chunks).toString())
      response.writeHead(status, { "content-type": "application/json" }).end("{}")
    })
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  const data = () => bodies.map((body) => JSON.parse(body) as TraceData)
  const spans = (): ReadonlyArray<Span> =>
    data().flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map((span) => ({
            ...(span as unknown as Span),
            start: Number(span["startTimeUnixNano"]),
            end: Number(span["endTimeUnixNano"]),
            attributes: record(span["attributes"] as ReadonlyArray<KeyValue>),
            events: (span["events"] as ReadonlyArray<{ name: string; attributes: ReadonlyArray<KeyValue> }>).map(
              (event) => ({ name: event.name, attributes: record(event.attributes) })
            )
          }))
        )
      )
    )
  const root = (requestId: string) =>
    spans().find((span) => span.attributes["http.response.header.x-request-id"] === requestId)
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    text: () => bodies.join("\n"),
    requests: () => requests,
    resource: () => record(data()[0]!.resourceSpans[0]!.resource.attributes),
    spans,
    ofRequest: async (requestId) => {
      await eventually(
        async () => spans().map(({ name }) => name),
        () => root(requestId) !== undefined
      )
      const { traceId } = root(requestId)!
      return spans().filter((span) => span.traceId === traceId)
    },
    answer: (next) => {
      status = next
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

/** The names from the outermost span to this one; fails where one is missing between them. */
export const chainOf = (spans: ReadonlyArray<Span>, span: Span): ReadonlyArray<string> => {
  if (span.kind === 2) return [span.name]
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  assert.isDefined(parent, `${span.name} has no parent`)
  return [...chainOf(spans, parent!), span.name]
}
