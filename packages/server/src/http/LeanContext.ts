import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"

/** The keys of the server's services begin with it. Services of other packages are kept. */
const prefix = "@delivery/server/"

/**
 * Leaves the services of the server out of the context of a request. The context is copied several times while a request
 * is answered, and handlers get their services from their layers, not from the request.
 */
export const lean = <Services>(context: Context.Context<Services>): Context.Context<Services> =>
  Context.makeUnsafe(new Map(Array.from(context.mapUnsafe).filter(([key]) => !key.startsWith(prefix))))

/** The server; its requests begin without the services of the layers around it. */
export const layer: Layer.Layer<HttpServer.HttpServer, never, HttpServer.HttpServer> = Layer.effect(
  HttpServer.HttpServer,
  Effect.map(HttpServer.HttpServer, ({ address, serve }) =>
    HttpServer.make({
      address,
      serve: (answer, middleware) =>
        Effect.updateContext(middleware === undefined ? serve(answer) : serve(answer, middleware), lean)
    })
  )
)
