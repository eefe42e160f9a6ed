import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"

/** Load that costs its maker little: the same bytes again and again, over sockets that it keeps. */

/** Sends a request as long as the time lasts, each connection the next when it has the answer; answers how many. */
export const load = async (
  baseUrl: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  { connections, seconds }: { readonly connections: number; readonly seconds: number }
): Promise<{ readonly requests: number; readonly perSecond: number }> => {
  const { hostname, port } = new URL(baseUrl)
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`
  )
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`)
  const started = performance.now()
  const until = started + seconds * 1000
  const counts = await Promise.all(
    Array.from({ length: connections }, () => one(connect(Number(port), hostname), bytes, until))
  )
  const requests = counts.reduce((sum, count) => sum + count, 0)
  return { requests, perSecond: (requests * 1000) / (performance.now() - started) }
}

const one = (socket: Socket, bytes: Buffer, until: number): Promise<number> =>
  new Promise((resolve, reject) => {
    let text = ""
    let count = 0
    socket.setNoDelay(true)
    socket.setEncoding("latin1")
    socket.on("connect", () => socket.write(bytes))
    socket.on("error", reject)
    socket.on("data", (chunk: string) => {
      text += chunk
      const end = text.indexOf("\r\n\r\n")
      if (end === -1) return
      const length = Number(/content-length: (\d+)/i.exec(text)![1])
      if (text.length < end + 4 + length) return
      if (!text.startsWith("HTTP/1.1 200 ")) return reject(new Error(text.slice(0, 300)))
      text = ""
      count++
      if (performance.now() < until) return socket.write(bytes)
      socket.destroy()
      resolve(count)
    })
  })

/** Seconds of CPU that the process has used (Linux). */
export const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}
