import { Context } from "effect"
import type { IncomingMessage, Server } from "node:http"
import type { Socket } from "node:net"
import { refuseSlowRequest, type Responses } from "./MalformedRequests.ts"
import { endpointOf } from "./Endpoints.ts"
import type { PipelineLimits, PipelineServer } from "./Pipelines.ts"

/** How long the server waits for a client, and how much it keeps for those that do not read. */
export interface ClientLimits extends PipelineLimits {
  /** Milliseconds in which the headers of a request must arrive. */
  readonly headersMillis: number
  /** Milliseconds in which at least `bodyBytes` of a body must arrive, again and again. */
  readonly bodyWindowMillis: number
  readonly bodyBytes: number
  /** Milliseconds in which a body must arrive, unless it is a file. */
  readonly bodyMillis: number
  /** Bytes of bodies that have begun to arrive, and are no files, for all clients together. */
  readonly arrivingBytes: number
  /** Milliseconds after which a client that reads nothing of its response is disconnected. */
  readonly unreadMillis: number
  /** Bytes of unread responses that are kept for all clients together. */
  readonly unreadBytes: number
}

/** The limits of a server (docs/operations.md). Tests shorten them. */
export const ClientLimits = Context.Reference<ClientLimits>("@delivery/server/http/ClientLimits", {
  defaultValue: () => ({
    headersMillis: 60_000,
    bodyWindowMillis: 20_000,
    bodyBytes: 64 * 1024,
    bodyMillis: 300_000,
    // Eight of the largest (runs/LargeBodies.ts), and as much for all others.
    arrivingBytes: 512 * 1024 * 1024,
    unreadMillis: 60_000,
    unreadBytes: 256 * 1024 * 1024,
    pipelined: 8,
    pipelinedMillis: 10_000
  })
})

/** A body that is arriving. */
interface Receiving {
  readonly request: IncomingMessage
  /** Milliseconds that are left until it must be complete. */
  left: number
  /** Milliseconds of the present window. */
  waited: number
  /** Whether the server keeps it until it is whole. */
  readonly isKept: boolean
  /** Bytes that the connection had received when the request began. */
  readonly first: number
  /** Bytes that it had received at the last look. */
  seen: number
  /** Milliseconds in which nothing of it has arrived. */
  idle: number
  /** Bytes that the connection had received when the window began. */
  bytes: number
}

/** Ends the requests of clients that send their body too slowly, and the connections of those that do not read. */
export const endSlowClients = (server: PipelineServer, responses: Responses, limits: ClientLimits): void => {
  const receiving = trackBodies(server, limits)
  const endUnread = trackUnread(server, limits)

  const interval = Math.min(1000, limits.bodyWindowMillis / 4)
  let checkedAt = performance.now()
  const check = () => {
    const now = performance.now()
    // Time in which the process was blocked does not count for the clients.
    const elapsed = Math.min(now - checkedAt, 2 * interval)
    checkedAt = now
    for (const body of receiving) {
      if (body.request.complete || body.request.destroyed) receiving.delete(body)
      else if (isTooSlow(body, elapsed, limits)) {
        receiving.delete(body)
        refuseSlowRequest(server, body.request.socket)
      }
    }
    for (const body of beyond(receiving, limits.arrivingBytes)) {
      receiving.delete(body)
      refuseSlowRequest(server, body.request.socket)
    }
    endUnread(now)
  }
  const timer = setInterval(check, interval).unref()
  server.once("close", () => clearInterval(timer))

  // Node's own timeout: nothing was read and nothing could be written for so long.
  server.timeout = limits.unreadMillis
  server.on("timeout", (socket) => {
    const response = responses.get(socket)
    const isWorking = response !== undefined && !response.writableEnded && socket.writableLength === 0
    if (isWorking) socket.setTimeout(limits.unreadMillis)
    else socket.destroy()
  })
}

/** The bodies that are arriving. */
const trackBodies = (server: Server, limits: ClientLimits): Set<Receiving> => {
  const receiving = new Set<Receiving>()
  const track = (request: IncomingMessage) => {
    const { socket } = request
    if (!hasBody(request)) return
    const isKept = !endpointOf(request.method!, request.url!).isStreamed
    const left = isKept ? limits.bodyMillis : Number.POSITIVE_INFINITY
    const { bytesRead } = socket
    const body: Receiving = {
      request,
      left,
      waited: 0,
      bytes: bytesRead,
      isKept,
      first: bytesRead,
      seen: bytesRead,
      idle: 0
    }
    receiving.add(body)
    request.once("close", () => receiving.delete(body))
  }
  server.on("request", track)
  server.on("checkContinue", track)
  return receiving
}

const isTooSlow = (body: Receiving, elapsed: number, limits: ClientLimits): boolean => {
  const { bytesRead } = body.request.socket
  body.left -= elapsed
  body.waited += elapsed
  body.idle = bytesRead === body.seen ? body.idle + elapsed : 0
  body.seen = bytesRead
  // Otherwise the server is slow, not the client.
  const isAwaited = body.request.readableLength === 0 && isRead(body.request)
  const isMoving = bytesRead - body.bytes >= limits.bodyBytes
  if (isAwaited && !isMoving) return body.left <= 0 || body.waited >= limits.bodyWindowMillis
  body.waited = 0
  body.bytes = bytesRead
  return body.left <= 0
}

/** The bodies without which those that arrive are no more than `most` bytes: first those that have stood still for longest. */
const beyond = (receiving: Iterable<Receiving>, most: number): ReadonlyArray<Receiving> => {
  const kept = [...receiving].filter(({ isKept }) => isKept)
  let total = kept.reduce((sum, { first, seen }) => sum + seen - first, 0)
  if (total <= most) return []
  const ended: Array<Receiving> = []
  for (const body of kept.toSorted((a, b) => b.idle - a.idle)) {
    if (total <= most) break
    total -= body.seen - body.first
    ended.push(body)
  }
  return ended
}

/**
 * Watches what connections have not read. The answer, called now and then, ends connections while more than `unreadBytes` is
 * kept for all: first those that keep most behind an answer that goes on, then those that have read nothing for longest.
 */
const trackUnread = (server: PipelineServer, limits: ClientLimits): ((now: number) => void) => {
  const sockets = new Set<Socket>()
  const unread = new Map<Socket, Unread>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => {
      sockets.delete(socket)
      unread.delete(socket)
    })
  })
  return (now) => {
    let total = 0
    for (const socket of sockets) {
      const behind = server.keptBehind(socket)
      const bytes = socket.writableLength + behind
      if (bytes === 0) {
        unread.delete(socket)
        continue
      }
      total += bytes
      const taken = socket.bytesWritten - unsent(socket)
      const known = unread.get(socket)
      unread.set(socket, { taken, since: known?.taken === taken ? known.since : now, bytes, behind })
    }
    if (total <= limits.unreadBytes) return
    for (const [socket, { bytes }] of [...unread].toSorted(
      ([, a], [, b]) => b.behind - a.behind || a.since - b.since
    )) {
      total -= bytes
      socket.destroy()
      if (total <= limits.unreadBytes) return
    }
  }
}

interface Unread {
  /** Bytes of the connection's responses that the operating system has accepted. */
  readonly taken: number
  readonly since: number
  /** Bytes that are kept for the connection. */
  readonly bytes: number
  /** Those of answers that wait for the one before them. */
  readonly behind: number
}

/** Bytes that are written and not yet sent: Node counts a chunk until all of it is sent. */
const unsent = (socket: Socket): number =>
  (socket as { readonly _handle?: { readonly writeQueueSize?: number } })._handle?.writeQueueSize ??
  socket.writableLength

/** Whether someone reads the body, or has read it. */
const isRead = (request: IncomingMessage): boolean =>
  request.readableFlowing === true || request.listenerCount("readable") > 0

/** Whether the request has a body, also an empty one that comes in chunks. */
export const hasBody = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"
