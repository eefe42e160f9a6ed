import { Context, Effect, Layer } from "effect"
import { type IncomingMessage, request, type Server } from "node:http"
import type { ListenOptions } from "node:net"
import { type Duplex, duplexPair, Readable } from "node:stream"
import { BeforeListening } from "../http/NodeServer.ts"

/** Connections to a server that listens on no socket: each is a pair of streams, and all else is HTTP as ever. */
export class InMemoryConnections extends Context.Service<
  InMemoryConnections,
  {
    /**
     * As the platform's, for the one server that these connections lead to, whatever the host of the URL. Redirects are
     * answered as they are.
     */
    readonly fetch: typeof globalThis.fetch
  }
>()("@delivery/server/testing/InMemoryConnections") {
  /** Around a server, which then listens on no socket. */
  static readonly layer = Layer.effectContext(
    Effect.sync(() => {
      let server: Server | undefined
      const connect = (): Duplex => {
        if (server?.listening !== true) throw new TypeError("The server has not begun, or has ended.")
        return connectionTo(server)
      }
      const prepare = (made: Server) => {
        server = made
        listenNowhere(made)
      }
      return Context.make(InMemoryConnections, { fetch: fetchOver(connect) }).pipe(
        Context.add(BeforeListening, prepare)
      )
    })
  )
}

/** The port of a server that listens nowhere, for whoever writes it down. */
const address = { address: "127.0.0.1", family: "IPv4", port: 80 } as const

const listenNowhere = (server: Server): void => {
  const connections = new Set<Duplex>()
  let isListening = false
  server.on("connection", (connection: Duplex) => {
    connections.add(connection)
    connection.once("close", () => {
      connections.delete(connection)
      closeWhenDone()
    })
  })
  const closeWhenDone = () => {
    if (!isListening && connections.size === 0) server.emit("close")
  }
  Object.defineProperty(server, "listening", { get: () => isListening })
  Object.assign(server, {
    address: () => address,
    listen: (_options: ListenOptions, begun?: () => void) => {
      isListening = true
      if (begun !== undefined) server.once("listening", begun)
      queueMicrotask(() => server.emit("listening"))
      return server
    }
  })
  const close = server.close.bind(server)
  server.close = (callback) => {
    isListening = false
    if (callback !== undefined) server.once("close", () => callback())
    // Node's own close says that the server is not open, since it never was.
    close(() => {})
    for (const connection of connections) connection.end()
    queueMicrotask(closeWhenDone)
    return server
  }
}

/** What the server reads of a socket, of one that has none. */
const connectionTo = (server: Server): Duplex => {
  const [ours, theirs] = duplexPair()
  let bytesRead = 0
  theirs.on("data", ({ length }: Buffer) => (bytesRead += length))
  Object.defineProperty(theirs, "bytesRead", { get: () => bytesRead })
  Object.assign(theirs, { remoteAddress: address.address })
  ours.once("close", () => theirs.destroy())
  theirs.once("close", () => ours.destroy())
  server.emit("connection", theirs)
  return ours
}

/** Answers to these have no body, and `Response` takes none. */
const withoutBody = new Set([101, 204, 205, 304])

const fetchOver =
  (connect: () => Duplex): typeof globalThis.fetch =>
  async (input, init) => {
    const asked = new Request(input, init)
    const { host, pathname, search } = new URL(asked.url)
    const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer())
    const headers = {
      ...Object.fromEntries(asked.headers),
      host,
      ...(body === undefined ? {} : { "content-length": String(body.length) })
    }
    asked.signal.throwIfAborted()
    const { promise, reject, resolve } = Promise.withResolvers<IncomingMessage>()
    const sent = request(
      { method: asked.method, path: `${pathname}${search}`, headers, createConnection: connect },
      resolve
    )
    // The reason reaches whoever waits for the answer, or reads it.
    const abort = () => {
      reject(asked.signal.reason)
      answered?.destroy(asked.signal.reason)
      sent.destroy()
    }
    let answered: IncomingMessage | undefined
    asked.signal.addEventListener("abort", abort)
    sent.on("error", (cause) => reject(new TypeError("fetch failed", { cause })))
    sent.once("close", () => asked.signal.removeEventListener("abort", abort))
    sent.end(body)
    const answer = (answered = await promise)
    const { rawHeaders, statusCode: status = 500, statusMessage: statusText = "" } = answer
    const received = new Headers()
    for (let i = 0; i < rawHeaders.length; i += 2) received.append(rawHeaders[i]!, rawHeaders[i + 1]!)
    const content = withoutBody.has(status) || asked.method === "HEAD" ? null : webStream(answer)
    return new Response(content, { status, statusText, headers: received })
  }

const webStream = (answer: IncomingMessage) => Readable.toWeb(answer) as ReadableStream<Uint8Array>
