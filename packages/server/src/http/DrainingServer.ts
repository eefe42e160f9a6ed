import { Server, type ServerOptions, type ServerResponse } from "node:http"

/**
 * Milliseconds until kept connections are ended. Who loses one comes back at once: by then no process that shares the
 * port listens any longer, and a client is refused, which is safe to repeat, and not cut off.
 */
const stillOpen = 250

/** Milliseconds that a kept connection has for one more request, whose answer ends it. */
const lastRequest = 200

/**
 * Closes without losing a request of a client that keeps its connections. Node's own closes what is idle at that
 * instant, where the next request may be on its way, and leaves the others open for more. This one goes on answering
 * on open connections for a moment, then tells clients in every answer not to use the connection again, and then closes
 * what is idle.
 */
export class DrainingServer extends Server {
  readonly #answering = new Set<ServerResponse>()
  #state: "open" | "stopped" | "ending" | "closing" = "open"

  readonly #onEnding: () => void

  /** `onEnding` is told when answers begin to end their connections: what waits for something else answers then. */
  constructor(options: ServerOptions, onEnding: () => void) {
    super(options)
    this.#onEnding = onEnding
    this.on("request", (_, response) => {
      this.#answering.add(response)
      if (this.#state === "ending" || this.#state === "closing") endConnection(response)
      response.once("close", () => {
        this.#answering.delete(response)
        // One whose head was sent before may have kept its connection.
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
        this.#state = "closing"
        super.closeIdleConnections()
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
