import { InvalidInput } from "@delivery/domain/Errors"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { requestId } from "./RequestId.ts"

/** A request that ends before a handler could end it: how it is answered, by the code of its error. */
const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request came too slowly."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The extensions of a chunk are too large."],
  HPE_HEADER_OVERFLOW: [431, "The headers are too large."]
}
const malformed = [400, "The request is malformed or incomplete."] as const

/** How long a client has to read its refusal before the connection ends, in milliseconds. */
const graceMillis = 500

/** The response that each connection is at, also to a request that waits for its body to be asked for. */
export type Responses = WeakMap<Duplex, ServerResponse>

export const watchResponses = (server: Server): Responses => {
  const responses: Responses = new WeakMap()
  const note = (request: IncomingMessage, response: ServerResponse) => responses.set(request.socket, response)
  server.on("request", note)
  server.on("checkContinue", note)
  return responses
}

/**
 * What is not HTTP, or ends before its declared length, reaches no handler, and Node alone would answer it without a
 * body. Answers it in the contract's form.
 */
export const answerMalformedRequests = (server: Server, responses: Responses): void => {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket)
    const isAnswering = response !== undefined && response.headersSent && !response.writableFinished
    if (!socket.writable || isAnswering) return void socket.destroy(error)
    socket.end(answer(...(refusals[error.code ?? ""] ?? malformed)))
    // What the client still sends would reset the connection, and the answer with it.
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), graceMillis)
    socket.once("close", () => clearTimeout(timer))
  })
  server.on("checkExpectation", (_, response) => {
    const body = bodyOf("The server does what it can, and knows no expectation but 100-continue.")
    response.writeHead(417, { ...headersOf(body), connection: "close" }).end(body)
  })
  // Nothing is a proxy here; Node alone would hang up.
  server.on("connect", (_, socket) => socket.end(answer(...malformed)))
}

/** Ends the request that the socket brings as one that came too slowly. */
export const refuseSlowRequest = (server: Server, socket: Duplex): void => {
  const error = Object.assign(new Error("The request came too slowly."), { code: "ERR_HTTP_REQUEST_TIMEOUT" })
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
