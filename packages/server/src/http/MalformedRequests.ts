import { InvalidInput } from "@delivery/domain/Errors"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { requestId } from "./RequestId.ts"

/** Answers to requests that end before a handler could answer them, by the code of their error. */
const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request arrived too slowly."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The extensions of a chunk are too large."],
  HPE_HEADER_OVERFLOW: [431, "The headers are too large."]
}
const malformed = [400, "The request is malformed or incomplete."] as const

/** How long a client has to read its refusal before the connection ends, in milliseconds. */
const graceMillis = 500

/** The current response of each connection, also to a request that waits for `100 Continue`. */
export type Responses = WeakMap<Duplex, ServerResponse>

export const watchResponses = (server: Server): Responses => {
  const responses: Responses = new WeakMap()
  const track = (request: IncomingMessage, response: ServerResponse) => responses.set(request.socket, response)
  server.on("request", track)
  server.on("checkContinue", track)
  return responses
}

/**
 * Answers requests that are not HTTP, or that end before their declared length, in the contract's form. They reach no
 * handler, and Node alone would answer without a body.
 */
export const answerMalformedRequests = (server: Server, responses: Responses): void => {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket)
    const isAnswering = response !== undefined && response.headersSent && !response.writableFinished
    if (!socket.writable || isAnswering) return void socket.destroy(error)
    socket.end(answer(...(refusals[error.code ?? ""] ?? malformed)))
    // Unread data of the client would reset the connection, and the answer would be lost.
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), graceMillis)
    socket.once("close", () => clearTimeout(timer))
  })
  server.on("checkExpectation", (_, response) => {
    const body = bodyOf("The only supported expectation is 100-continue.")
    response.writeHead(417, { ...headersOf(body), connection: "close" }).end(body)
  })
  // The server is no proxy; Node alone would close the connection.
  server.on("connect", (_, socket) => socket.end(answer(...malformed)))
}

/** Refuses one request too many of a connection. The answer waits until those before it are sent, and ends the connection. */
export const refusePipeline = (response: ServerResponse, most: number): void => {
  const body = bodyOf(`More than ${most} requests of this connection wait for their answers.`)
  response.writeHead(400, { ...headersOf(body), connection: "close" }).end(body)
}

/** Ends the request on this socket because it arrives too slowly. */
export const refuseSlowRequest = (server: Server, socket: Duplex): void => {
  const error = Object.assign(new Error("The request arrived too slowly."), { code: "ERR_HTTP_REQUEST_TIMEOUT" })
  server.emit("clientError", error, socket)
}

const bodyOf = (message: string): string => {
  const { _tag, issues } = new InvalidInput({ message, issues: [{ path: [], message }] })
  return JSON.stringify({ _tag, message, issues })
}

const headersOf = (body: string) => ({
  "content-type": "application/json",
  "content-length": String(body.length),
  "x-request-id": requestId(undefined)
})

const answer = (status: number, message: string): string => {
  const body = bodyOf(message)
  const headers = Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join("")}connection: close\r\n\r\n${body}`
}
