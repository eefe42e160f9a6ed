import { Cause, Effect, Layer, Option, Tracer } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  HttpMiddleware,
  type HttpClientResponse,
  type HttpServerRequest
} from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import { version } from "../Config.ts"
import { makeReports } from "./Background.ts"
import { exported } from "./ExportedSpans.ts"

/**
 * Spans of requests, services and statements, sent to a collector by OTLP over HTTP, with JSON. A collector that does
 * not take them never holds up a request: spans are dropped, and the log tells so once in a while.
 *
 * @param url A collector's address; `/v1/traces` is added unless it ends so. A user and password become the header.
 */
export const layerTraces = (url: string) => {
  const { address, headers } = collector(url)
  return layerSampling.pipe(
    Layer.provideMerge(
      OtlpTracer.layer({
        url: address,
        headers,
        resource: { serviceName: "delivery", serviceVersion: version, attributes: { "process.pid": process.pid } },
        exportInterval: "2 seconds",
        // Larger ones would hold the event loop while they are written as JSON.
        maxBatchSize: 500,
        // Docker kills a container 10 seconds after it told it to stop.
        shutdownTimeout: "2 seconds"
      })
    ),
    Layer.provide([layerSerialization, Layer.provide(layerClient, FetchHttpClient.layer)]),
    Layer.merge(Layer.succeed(HttpMiddleware.TracerDisabledWhen, isUntraced)),
    Layer.merge(Layer.succeed(HttpMiddleware.TracerHeaderFilter, (name, phase) => isRequestId(name, phase)))
  )
}

const collector = (url: string) => {
  const address = new URL(url)
  const { password, username } = address
  address.username = ""
  address.password = ""
  const path = address.pathname.replace(/\/+$/, "")
  address.pathname = path.endsWith("/v1/traces") ? path : `${path}/v1/traces`
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    address: address.href,
    headers: credentials === ":" ? {} : { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }
  }
}

/** What probes and scrapers ask for again and again. */
const isUntraced = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  /^\/(health|ready|metrics)\/?(\?|$)/.test(url)

/** The id of a request, which its log lines have too, is the one header that spans show. */
const isRequestId = (name: string, phase: string): boolean => name === "x-request-id" && phase === "response"

/** Statements of no request and no service are noise: those of fibers that look for work, and of probes. */
const layerSampling = Layer.effect(
  Tracer.Tracer,
  Effect.map(Tracer.Tracer, (tracer) =>
    Tracer.make({
      ...tracer,
      span: (options) =>
        tracer.span(
          Option.isNone(options.parent) && (options.kind === "client" || options.name === "sql.transaction")
            ? { ...options, sampled: false }
            : options
        )
    })
  )
)

/** At the one place that all spans pass, off the way of requests: only what is known to be harmless goes out. */
const layerSerialization = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (json) =>
    OtlpSerialization.OtlpSerialization.of({ ...json, traces: (data) => json.traces(exported(data)) })
  )
).pipe(Layer.provide(OtlpSerialization.layerJson))

/** Batches that are on their way at once; each holds up to 500 spans in memory. */
const maxExports = 4

const layerClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const { failed, succeeded } = yield* makeReports("traces", "Spans could not be sent to OTLP_URL and are dropped.")
    const report = (reason: string) => failed(Cause.fail(reason))
    let running = 0
    return HttpClient.transform(client, (send) =>
      Effect.suspend(() => {
        // The exporter takes a defect for what ends its attempts, and drops spans for a minute.
        if (running >= maxExports) {
          const reason = `The collector has yet to take ${running} batches.`
          return Effect.andThen(report(reason), Effect.die(new Error(reason)))
        }
        running++
        return send.pipe(
          Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.fail(new Cause.TimeoutError()) }),
          Effect.tap((response) => (isTaken(response) ? succeeded : report(`It answered ${response.status}.`))),
          Effect.tapError((error) => report(reasonOf(error))),
          Effect.ensuring(Effect.sync(() => void running--))
        )
      })
    ) as HttpClient.HttpClient
  })
)

const isTaken = ({ status }: HttpClientResponse.HttpClientResponse): boolean => status >= 200 && status < 300

/** Without the request, which may carry a password. */
const reasonOf = (error: HttpClientError.HttpClientError | Cause.TimeoutError): string => {
  if (!HttpClientError.isHttpClientError(error)) return "It did not answer in 5 seconds."
  const { cause } = error.reason as { readonly cause?: unknown }
  const { cause: inner = cause } = (cause ?? {}) as { readonly cause?: unknown }
  return inner instanceof Error ? inner.message || inner.name : error.reason._tag
}
