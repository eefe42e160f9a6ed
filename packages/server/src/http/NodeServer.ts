import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import type { Server } from "node:http"
import { Settings } from "../Config.ts"
import { DrainingServer } from "./DrainingServer.ts"
import * as BodyLimits from "./BodyLimits.ts"
import * as LeanContext from "./LeanContext.ts"
import { answerMalformedRequests, watchResponses } from "./MalformedRequests.ts"
import { ClientLimits, endSlowClients } from "./SlowClients.ts"
import { Stopping } from "./Stopping.ts"

/** What is done to Node's server before it listens: nothing, unless a test wants no socket (`testing/InMemoryConnections.ts`). */
export const BeforeListening = Context.Reference<(server: Server) => void>("@delivery/server/http/BeforeListening", {
  defaultValue: () => () => {}
})

/** Node's HTTP server on the socket that the settings name, with the limits of slow and malformed clients. */
const layerListening = Layer.unwrap(
  Effect.gen(function* () {
    const { host, port } = yield* Settings
    const limits = yield* ClientLimits
    const stopping = yield* Stopping
    const prepare = yield* BeforeListening
    const made = () => {
      const server = makeServer(limits, stopping.begin)
      prepare(server)
      return server
    }
    return NodeHttpServer.layerServer(made, {
      host,
      port,
      // Connections of a burst wait here; otherwise each client would have to try again.
      backlog: 4096,
      gracefulShutdownTimeout: "10 seconds"
    })
  })
)

const makeServer = (limits: (typeof ClientLimits)["Service"], onDrain: () => void): DrainingServer => {
  const options = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: limits.headersMillis,
    connectionsCheckingInterval: limits.headersMillis / 2,
    // A slow upload of 100 MiB may take longer than Node's 300 s.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    // EdgeHttp.ts answers requests without it.
    requireHostHeader: false
  }
  const server = new DrainingServer(options, limits, onDrain)
  const responses = watchResponses(server)
  answerMalformedRequests(server, responses)
  endSlowClients(server, responses, limits)
  return server
}

export const layer = Layer.mergeAll(
  Layer.provide(LeanContext.layer, layerListening),
  BodyLimits.layer,
  NodeHttpServer.layerHttpServices
)
