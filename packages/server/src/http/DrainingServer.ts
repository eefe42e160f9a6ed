import type { ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type PipelineLimits, PipelineServer } from "./Pipelines.ts"

/**
 * Milliseconds until kept-alive connections are ended. Their clients connect again at once. By then no process that shares
 * the port listens any longer, so a client is refused, which is safe to repeat, and not cut off.
 */
const stillOpen = 250

/** Milliseconds in which a kept-alive connection may send one more request, whose answer ends it. */
const lastRequest = 1_000

/**
 * Closes without losing a request of a client that keeps its connections alive. Node's own server closes the connections
 * that are idle at that instant, although a request may be on its way, and leaves the others open for more. This one goes
 * on answering on open connections for a moment, then sends `connection: close` with every answer, and then closes idle
 * connections, and those that never sent anything.
 */
export class DrainingServer extends PipelineServer {
  readonly #answering = new Set<ServerResponse>()
  readonly #sockets = new Set<Socket>()
  #state: "open" | "stopped" | "ending" | "closing" = "open"

  readonly #onEnding: () => void

  /** `onEnding` is called when answers begin to end their connections, so that calls that wait can answer. */
  constructor(options: ServerOptions, limits: PipelineLimits, onEnding: () => void) {
    super(options, limits)
    this.#onEnding = onEnding
    this.on("connection", (socket) => {
      this.#sockets.add(socket)
      socket.once("close", () => this.#sockets.delete(socket))
    })
    this.on("request", (_, response) => {
      this.#answering.add(response)
      if (this.#state === "ending" || this.#state === "closing") endConnection(response)
      response.once("close", () => {
        this.#answering.delete(response)
        // If its headers were sent before, the connection was kept alive.
        if (this.#state === "closing") setImmediate(() => super.closeIdleConnections())
      })
    })
  }

  override close(callback?: (error?: Error) => void): this {
    if (this.#state === "open") {
      this.#state = "stopped"
      setTimeout(() => {
        this.#state = "ending"
        for (const response of this.#answering) endConnection(response)
        this.#onEnding()
      }, stillOpen)
      setTimeout(() => {
        // Reads first what has arrived: both timers fire together where the process was kept from running.
        setImmediate(() => {
          this.#state = "closing"
          super.closeIdleConnections()
          // To Node a connection is busy until its first request has come.
          for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
        })
      }, stillOpen + lastRequest)
    }
    return super.close(callback)
  }

  override closeIdleConnections(): void {
    if (this.#state === "open" || this.#state === "closing") super.closeIdleConnections()
  }
}

const endConnection = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader("connection", "close")
}
