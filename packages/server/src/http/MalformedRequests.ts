import { InvalidInput } from "@delivery/domain/Errors"
import { type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { requestId } from "./RequestId.ts"

/** The statuses, other than 400, of what Node's parser refuses. */
const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431
}

/**
 * What is not HTTP, or ends before its declared length, reaches no handler, and Node alone would answer it without a
 * body. Answers it in the contract's form.
 */
export const answerMalformedRequests = (server: Server): void => {
  const responses = new WeakMap<Duplex, ServerResponse>()
  server.on("request", (request, response) => responses.set(request.socket, response))
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket)
    const isAnswering = response !== undefined && response.headersSent && !response.writableFinished
    if (!socket.writable || isAnswering) socket.destroy(error)
    else socket.end(answer(statuses[error.code ?? ""] ?? 400), () => socket.destroy())
  })
}

const message = "The request is malformed or incomplete."
const { _tag, issues } = new InvalidInput({ message, issues: [{ path: [], message }] })
const body = JSON.stringify({ _tag, message, issues })

const answer = (status: number): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n` +
  `x-request-id: ${requestId(undefined)}\r\nconnection: close\r\n\r\n${body}`
