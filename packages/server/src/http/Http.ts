import { DeliveryApi } from "@delivery/domain/Api"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccessLog } from "./AccessLog.ts"
import * as ApiMiddleware from "./ApiMiddleware.ts"
import * as ChangeTurns from "./ChangeTurns.ts"
import * as DocsPage from "./DocsPage.ts"
import * as EdgeHttp from "./EdgeHttp.ts"
import { ListTurns } from "./ListTurns.ts"
import * as NodeServer from "./NodeServer.ts"
import { RateLimits } from "./RateLimits.ts"
import { RequestQueue } from "./RequestQueue.ts"
import { RequestTimes } from "./RequestTimes.ts"
import { routerConfig } from "./Routing.ts"
import { Starting } from "./Starting.ts"
import { Stopping } from "./Stopping.ts"
import * as TelemetryHttp from "./TelemetryHttp.ts"

/** The HTTP server: its socket, what surrounds every request, and the limits of requests. */

/** What services and routes share: the start and the end of the server, and the limits of requests. */
export const layer = ListTurns.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Starting.layer, Stopping.layer, RequestQueue.layer)),
  Layer.provideMerge(RequestTimes.layer)
)

/** The storage as callers use it, who take turns. */
export const layerTurns = ChangeTurns.layer

/** The API over the handlers of the rooms, its description and its documentation. */
export const layerApi = Layer.mergeAll(
  EdgeHttp.layer,
  HttpApiBuilder.layer(DeliveryApi, { openapiPath: "/openapi.json" }),
  DocsPage.layer
).pipe(Layer.provide([AccessLog.layer, RateLimits.layer]))

/**
 * Answers requests by the routes, on the socket that the settings name. Provides the middleware that endpoints name, except
 * authentication.
 */
export const serve = <A, E, R>(routes: Layer.Layer<A, E, R>) =>
  routes.pipe(
    Layer.provide(ApiMiddleware.layer),
    // Built before all other routes, so that it measures all answers.
    Layer.provideMerge(TelemetryHttp.layerHttp),
    (all) => HttpRouter.serve(all, { disableLogger: true, disableListenLog: true, routerConfig }),
    Layer.provide(NodeServer.layer)
  )

/** The metrics and traces that the settings ask for, around the whole server. */
export const layerTelemetry = TelemetryHttp.layer

/** From here on, requests are answered. */
export const layerStarted = Layer.effectDiscard(Effect.flatMap(Starting, ({ end }) => end))
