import { Cause, Effect, Layer, Option, Tracer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, type HttpClientResponse } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import { version } from "../Config.ts"
import { makeReports } from "./Background.ts"
import { exported } from "./ExportedSpans.ts"

/**
 * Spans of requests, services and statements, sent to a collector by OTLP over HTTP, with JSON. A collector that does
 * not take them never delays a request: spans are dropped, and the log warns of it now and then.
 *
 * @param url A collector's address; `/v1/traces` is added unless it ends so. A user and password become the header.
 */
export const layer = (url: string) => {
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
        // Docker kills a container 10 seconds after asking it to stop.
        shutdownTimeout: "2 seconds"
      })
    ),
    Layer.provide([layerSerialization, Layer.provide(layerClient, FetchHttpClient.layer)])
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

/** Leaves out statements outside requests and services: those of fibers that look for work, and of probes. */
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

/** The one place that all spans pass, outside of requests: only attributes known to be harmless leave the process. */
const layerSerialization = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (json) =>
    OtlpSerialization.OtlpSerialization.of({ ...json, traces: (data) => json.traces(exported(data)) })
  )
).pipe(Layer.provide(OtlpSerialization.layerJson))

/** Batches that are being sent at once; each holds up to 500 spans in memory. */
const maxExports = 4

const layerClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const { failed, succeeded } = yield* makeReports(
      "traces",
      "Cannot send spans to the collector at OTLP_URL; they are dropped."
    )
    const report = (reason: string) => failed(Cause.fail(reason))
    let running = 0
    return HttpClient.transform(client, (send) =>
      Effect.suspend(() => {
        // A defect makes the exporter stop its attempts and drop spans for a minute.
        if (running >= maxExports) {
          const reason = `The collector has not accepted ${running} batches yet.`
          return Effect.andThen(report(reason), Effect.die(new Error(reason)))
        }
        running++
        return send.pipe(
          Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.fail(new Cause.TimeoutError()) }),
          Effect.tap((response) =>
            isAccepted(response) ? succeeded : report(`The collector answered ${response.status}.`)
          ),
          Effect.tapError((error) => report(reasonOf(error))),
          Effect.ensuring(Effect.sync(() => void running--))
        )
      })
    ) as HttpClient.HttpClient
  })
)

const isAccepted = ({ status }: HttpClientResponse.HttpClientResponse): boolean => status >= 200 && status < 300

/** Without the request, which may carry a password. */
const reasonOf = (error: HttpClientError.HttpClientError | Cause.TimeoutError): string => {
  if (!HttpClientError.isHttpClientError(error)) return "The collector did not answer within 5 seconds."
  const { cause } = error.reason as { readonly cause?: unknown }
  const { cause: inner = cause } = (cause ?? {}) as { readonly cause?: unknown }
  return inner instanceof Error ? inner.message || inner.name : error.reason._tag
}
