import { type IncomingMessage, Server, type ServerOptions, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { refusePipeline } from "./MalformedRequests.ts"

/** How many requests of one connection may wait for their answers, and what happens to a connection with more. */
export interface PipelineLimits {
  /** Requests of one connection that are not answered yet: no browser sends a second one, and hardly any proxy. */
  readonly pipelined: number
  /** Milliseconds in which the answers before a refused request are sent, before the connection ends. */
  readonly pipelinedMillis: number
}

/** Requests behind a refused one that are passed over, before the connection ends at once. */
const maxPassedOver = 1_000

/** The requests of a connection. */
interface Pipeline {
  /** Answers that are not sent yet, in the order of their requests. Node gives the socket to the first of them. */
  readonly unanswered: Set<ServerResponse>
  /** Requests that came after the refused one. */
  passedOver: number
  isRefused: boolean
}

/**
 * Bounds the requests of a connection that are not answered yet (docs/contract.md, Conventions). Node takes any number of
 * them and keeps each answer until those before it are sent. Here one too many is refused, and its answer is the last.
 */
export class PipelineServer extends Server {
  readonly #pipelines = new WeakMap<Socket, Pipeline>()
  readonly #limits: PipelineLimits

  constructor(options: ServerOptions, limits: PipelineLimits) {
    super(options)
    this.#limits = limits
    this.on("connection", (socket) => {
      const unanswered = new Set<ServerResponse>()
      this.#pipelines.set(socket, { unanswered, passedOver: 0, isRefused: false })
      socket.once("close", () => unanswered.forEach(endUnsent))
    })
  }

  /** Requests that are refused reach no listener. */
  override emit(event: string, ...args: Array<unknown>): boolean {
    const isRequest = event === "request" || event === "checkContinue" || event === "checkExpectation"
    return (isRequest && !this.#admits(...(args as [IncomingMessage, ServerResponse]))) || super.emit(event, ...args)
  }

  /** Bytes of answers that are kept until the connection has sent those before them. */
  keptBehind(socket: Socket): number {
    const unanswered = this.#pipelines.get(socket)?.unanswered
    if (unanswered === undefined || unanswered.size < 2) return 0
    let bytes = 0
    for (const response of unanswered) if (response.socket === null) bytes += response.writableLength
    return bytes
  }

  #admits({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const pipeline = this.#pipelines.get(socket)
    // A request that waits for `100 Continue` is told of twice.
    if (pipeline === undefined || pipeline.unanswered.has(response)) return true
    if (pipeline.isRefused) {
      if (++pipeline.passedOver > maxPassedOver) socket.destroy()
      return false
    }
    const { unanswered } = pipeline
    if (unanswered.size < this.#limits.pipelined) {
      unanswered.add(response)
      response.once("close", () => unanswered.delete(response))
      return true
    }
    pipeline.isRefused = true
    refusePipeline(response, this.#limits.pipelined)
    const timer = setTimeout(() => socket.destroy(), this.#limits.pipelinedMillis)
    socket.once("close", () => clearTimeout(timer))
    return false
  }
}

/** Older versions of Node tell only the answer that has the socket of its end. The others would be made for nobody. */
const endUnsent = (response: ServerResponse): void => {
  if (response.socket !== null) return
  response.destroy()
  response.emit("close")
}
