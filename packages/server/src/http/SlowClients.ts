import { Context } from "effect"
import type { IncomingMessage, Server } from "node:http"
import type { Socket } from "node:net"
import { refuseSlowRequest, type Responses } from "./MalformedRequests.ts"
import { isStreamed } from "./EndpointTraits.ts"

/** How long the server waits for a client, and how much it keeps for those that do not read. */
export interface ClientLimits {
  /** Milliseconds until the headers of a request are there. */
  readonly headersMillis: number
  /** In each such time, in milliseconds, a body brings `bodyBytes`, or ends. */
  readonly bodyWindowMillis: number
  readonly bodyBytes: number
  /** Milliseconds until a body that is no file is there. */
  readonly bodyMillis: number
  /** Milliseconds in which a client reads nothing of its response. */
  readonly unreadMillis: number
  /** What is kept of responses that are not read, of all clients, in bytes. */
  readonly unreadBytes: number
}

/** The limits of a server (docs/operations.md). Tests shorten them. */
export const ClientLimits = Context.Reference<ClientLimits>("@delivery/server/http/ClientLimits", {
  defaultValue: () => ({
    headersMillis: 60_000,
    bodyWindowMillis: 20_000,
    bodyBytes: 64 * 1024,
    bodyMillis: 300_000,
    unreadMillis: 60_000,
    unreadBytes: 256 * 1024 * 1024
  })
})

/** A body that is on its way. */
interface Receiving {
  readonly request: IncomingMessage
  /** Milliseconds that are left until it has to be there. */
  left: number
  /** Milliseconds of the present window. */
  waited: number
  /** What the connection had brought when the window began. */
  bytes: number
}

/** Ends the requests of clients that send their body too slowly, and the connections of those that do not read. */
export const endSlowClients = (server: Server, responses: Responses, limits: ClientLimits): void => {
  const sockets = new Set<Socket>()
  const receiving = new Set<Receiving>()
  const unread = new Map<Socket, Unread>()

  const note = (request: IncomingMessage) => {
    const { socket } = request
    if (!hasBody(request)) return
    const left = isStreamed(request) ? Number.POSITIVE_INFINITY : limits.bodyMillis
    const body: Receiving = { request, left, waited: 0, bytes: socket.bytesRead }
    receiving.add(body)
    request.once("close", () => receiving.delete(body))
  }
  server.on("request", note)
  server.on("checkContinue", note)
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => {
      sockets.delete(socket)
      unread.delete(socket)
    })
  })

  const isTooSlow = (body: Receiving, elapsed: number): boolean => {
    const { bytesRead } = body.request.socket
    body.left -= elapsed
    body.waited += elapsed
    // Otherwise it is the server that does not take it.
    const isAwaited = body.request.readableLength === 0 && isRead(body.request)
    const isMoving = bytesRead - body.bytes >= limits.bodyBytes
    if (isAwaited && !isMoving) return body.left <= 0 || body.waited >= limits.bodyWindowMillis
    body.waited = 0
    body.bytes = bytesRead
    return body.left <= 0
  }

  const endUnread = (now: number) => {
    let total = 0
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        unread.delete(socket)
        continue
      }
      total += socket.writableLength
      const taken = socket.bytesWritten - unsent(socket)
      if (unread.get(socket)?.taken !== taken) unread.set(socket, { taken, since: now })
    }
    if (total <= limits.unreadBytes) return
    for (const [socket] of [...unread].toSorted(([, a], [, b]) => a.since - b.since)) {
      total -= socket.writableLength
      socket.destroy()
      if (total <= limits.unreadBytes) return
    }
  }

  const interval = Math.min(1000, limits.bodyWindowMillis / 4)
  let lookedAt = performance.now()
  const look = () => {
    const now = performance.now()
    // No client is to blame for a process that stood still.
    const elapsed = Math.min(now - lookedAt, 2 * interval)
    lookedAt = now
    for (const body of receiving) {
      if (body.request.complete || body.request.destroyed) receiving.delete(body)
      else if (isTooSlow(body, elapsed)) {
        receiving.delete(body)
        refuseSlowRequest(server, body.request.socket)
      }
    }
    endUnread(now)
  }
  const timer = setInterval(look, interval).unref()
  server.once("close", () => clearInterval(timer))

  // Node's own watch: nothing was read and nothing could be written for so long.
  server.timeout = limits.unreadMillis
  server.on("timeout", (socket) => {
    const response = responses.get(socket)
    const isWorking = response !== undefined && !response.writableEnded && socket.writableLength === 0
    if (isWorking) socket.setTimeout(limits.unreadMillis)
    else socket.destroy()
  })
}

interface Unread {
  /** What the operating system had taken of the connection's responses, in bytes. */
  readonly taken: number
  readonly since: number
}

/** What is still here of what was written, in bytes: Node counts a chunk until the last of it is gone. */
const unsent = (socket: Socket): number =>
  (socket as { readonly _handle?: { readonly writeQueueSize?: number } })._handle?.writeQueueSize ??
  socket.writableLength

/** Whether someone reads the body, or has done with it. */
const isRead = (request: IncomingMessage): boolean =>
  request.readableFlowing === true || request.listenerCount("readable") > 0

/** Whether the request has a body, also an empty one that comes in chunks. */
export const hasBody = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"
