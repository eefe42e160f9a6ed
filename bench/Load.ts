import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"

/** Load that costs its maker little: bytes that are made before, over sockets that it keeps. */

export interface Answer {
  readonly status: number
  readonly text: () => string
}

/** The requests of one connection: the next, after the answer to the last one; undefined when there is none left. */
export type Requests = (last: Answer | undefined) => Buffer | undefined

/** A request as bytes. */
export const request = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string
): Buffer => {
  const lines = Object.entries({
    host: "127.0.0.1",
    ...headers,
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) })
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`)
}

export interface Loaded {
  readonly requests: number
  readonly perSecond: number
  /** Milliseconds that 99 of 100 requests took at most. */
  readonly p99: number
}

/**
 * Sends requests as long as the time lasts, each connection the next when it has the answer. Any success will do where
 * one is expected.
 */
export const load = async (
  baseUrl: string,
  requests: (connection: number) => Requests,
  {
    connections,
    seconds,
    status = 200
  }: { readonly connections: number; readonly seconds: number; readonly status?: number }
): Promise<Loaded> => {
  const { hostname, port } = new URL(baseUrl)
  const started = performance.now()
  const until = started + seconds * 1000
  const latencies: Array<number> = []
  await Promise.all(
    Array.from({ length: connections }, (_, connection) =>
      one(connect(Number(port), hostname), requests(connection), until, status, latencies)
    )
  )
  const took = performance.now() - started
  latencies.sort((a, b) => a - b)
  return {
    requests: latencies.length,
    perSecond: (latencies.length * 1000) / took,
    p99: latencies[Math.floor(latencies.length * 0.99)]!
  }
}

const one = (
  socket: Socket,
  requests: Requests,
  until: number,
  expected: number,
  latencies: Array<number>
): Promise<void> =>
  new Promise((resolve, reject) => {
    let chunks: Array<Buffer> = []
    let received = 0
    let head = ""
    let total = Infinity
    let sent = 0
    const send = (last?: Answer) => {
      const bytes = performance.now() < until ? requests(last) : undefined
      if (bytes === undefined) {
        socket.destroy()
        return resolve()
      }
      sent = performance.now()
      socket.write(bytes)
    }
    socket.setNoDelay(true)
    socket.on("connect", () => send())
    socket.on("error", reject)
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      received += chunk.length
      if (head === "") {
        const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks)
        const end = bytes.indexOf("\r\n\r\n")
        if (end === -1) return
        head = bytes.toString("latin1", 0, end)
        // An answer without a body (204) says no length.
        total = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      }
      if (received < total) return
      latencies.push(performance.now() - sent)
      const [status, all, from] = [Number(head.slice(9, 12)), chunks, head.length + 4]
      if (expected < 300 ? status >= 300 : status !== expected) {
        return reject(new Error(`Expected ${expected}: ${Buffer.concat(all).toString().slice(0, 500)}`))
      }
      chunks = []
      received = 0
      head = ""
      send({ status, text: () => Buffer.concat(all).toString("utf8", from) })
    })
  })

/** Seconds of CPU that the process has used (Linux). */
export const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}
