import { createClient } from "@delivery/client"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { apiKey, open } from "./Bench.ts"
import { memory, resetPeak, start } from "./Processes.ts"
import { startOfRun, startRun } from "./Run.ts"

/**
 * Three times as many starts of a run each second as the server can answer, for `BENCH_SECONDS` (60): what it does with
 * them, how long they take, what it costs in memory, and how soon it is well afterwards. They come at their times,
 * whatever became of those before, over 4,000 connections that are open before. A client beside them asks for a
 * product ten times a second. Run it with `pnpm bench:overload`.
 */
const seconds = Number(process.env["BENCH_SECONDS"] ?? 60)
const factor = 3
const connections = 4_000

const bench = await open()
const server = await start("packages/server/src/cli/main.ts", ["serve"], {
  ...bench.settings,
  LOG_LEVEL: "warn",
  LOG_FORMAT: "json"
})
const { hostname, port } = new URL(server.baseUrl)

const requestOf = (method: string, path: string, body = "") =>
  Buffer.from(
    `${method} /v1/workspaces/main/${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
      `authorization: Bearer ${apiKey}\r\n` +
      (body === "" ? "" : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`) +
      `\r\n${body}`
  )

const startRequest = requestOf("POST", "test-runs", JSON.stringify(startOfRun))
const readProduct = requestOf("GET", "products/shop")

/** A connection that has one request at a time. */
class Connection {
  readonly #socket: Socket
  #text = ""
  #answered: ((status: number) => void) | undefined

  constructor() {
    this.#socket = connect(Number(port), hostname)
    this.#socket.setNoDelay(true)
    this.#socket.setEncoding("latin1")
    this.#socket.on("error", () => this.#answer(0))
    this.#socket.on("close", () => this.#answer(0))
    this.#socket.on("data", (chunk: string) => {
      this.#text += chunk
      const end = this.#text.indexOf("\r\n\r\n")
      if (end === -1) return
      const length = Number(/content-length: (\d+)/i.exec(this.#text)![1])
      if (this.#text.length < end + 4 + length) return
      const status = Number(this.#text.slice(9, 12))
      this.#text = ""
      this.#answer(status)
    })
  }

  #answer(status: number): void {
    const answered = this.#answered
    this.#answered = undefined
    answered?.(status)
  }

  async open(): Promise<this> {
    await once(this.#socket, "connect")
    return this
  }

  /** The status; 0 where the connection ended. */
  send(bytes: Buffer): Promise<number> {
    return new Promise((resolve) => {
      this.#answered = resolve
      this.#socket.write(bytes)
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

const percentile = (values: ReadonlyArray<number>, share: number): string => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted.length === 0 ? "-" : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(0)
}

const shown = (millis: ReadonlyArray<number>): string =>
  `p50 ${percentile(millis, 0.5)} ms, p99 ${percentile(millis, 0.99)} ms, longest ${percentile(millis, 1)} ms`

/** As many as are answered, each connection the next when it has the answer. */
const saturate = async (clients: number, forSeconds: number): Promise<number> => {
  const until = performance.now() + forSeconds * 1_000
  let count = 0
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const connection = new Connection()
      while (performance.now() < until) {
        await connection.send(startRequest)
        count++
      }
      connection.close()
    })
  )
  return count / forSeconds
}

/** What became of requests of one status. */
interface Outcome {
  readonly millis: Array<number>
}

/** Requests at their times. Answers what became of them, and how many found no connection. */
const overload = async (perSecond: number, forSeconds: number) => {
  const outcomes = new Map<number, Outcome>()
  const all: Array<Connection> = []
  while (all.length < connections) {
    all.push(...(await Promise.all(Array.from({ length: 100 }, () => new Connection().open()))))
  }
  const idle = [...all]
  let missed = 0
  const one = async (connection: Connection) => {
    const began = performance.now()
    const status = await connection.send(startRequest)
    const outcome = outcomes.get(status) ?? { millis: [] }
    outcomes.set(status, outcome)
    outcome.millis.push(performance.now() - began)
    if (status !== 0) idle.push(connection)
  }
  const began = performance.now()
  let sent = 0
  const running: Array<Promise<void>> = []
  for (let now = began; now < began + forSeconds * 1_000; now = performance.now()) {
    for (; sent < ((now - began) * perSecond) / 1_000; sent++) {
      const connection = idle.pop()
      if (connection === undefined) missed++
      else running.push(one(connection))
    }
    await sleep(2)
  }
  const ended = performance.now()
  return {
    outcomes,
    sent,
    missed,
    began,
    ended,
    close: async () => {
      await Promise.all(running)
      for (const connection of all) connection.close()
    }
  }
}

/** Asks for a product ten times a second until it is told to stop. */
const probe = () => {
  const answers: Array<{ readonly at: number; readonly status: number; readonly millis: number }> = []
  const connection = new Connection()
  let isOver = false
  const done = (async () => {
    while (!isOver) {
      const at = performance.now()
      const status = await connection.send(readProduct)
      answers.push({ at, status, millis: performance.now() - at })
      await sleep(100)
    }
    connection.close()
  })()
  return {
    answers,
    stop: async () => {
      isOver = true
      await done
    }
  }
}

try {
  await startRun(createClient({ baseUrl: server.baseUrl, apiKey }))
  await saturate(64, 3)
  const saturation = await saturate(64, 8)
  const before = memory(server.pid).now
  const probing = probe()
  await sleep(2_000)
  const calm = probing.answers.map(({ millis }) => millis)
  resetPeak(server.pid)
  const { began, close, ended, missed, outcomes, sent } = await overload(factor * saturation, seconds)
  await close()
  await sleep(10_000)
  await probing.stop()

  console.log(
    `${saturation.toFixed(0)} starts of a run a second over 64 connections; ${factor} times as many for ${seconds} s:`
  )
  console.log(`  ${sent} came, ${missed} of them found all of ${connections} connections in use`)
  for (const [status, { millis }] of [...outcomes].toSorted(([a], [b]) => a - b)) {
    const rate = millis.length / seconds
    console.log(`  ${status}: ${millis.length} (${rate.toFixed(0)} a second), ${shown(millis)}`)
  }
  const during = probing.answers.filter(({ at }) => at >= began && at < ended)
  const after = probing.answers.filter(({ at }) => at >= ended)
  const limit = 5 * Number(percentile(calm, 0.99))
  const lastSlow = after.findLast(({ millis, status }) => status !== 200 || millis > Math.max(50, limit))
  console.log(`  a product before: ${shown(calm)}`)
  console.log(
    `  meanwhile: ${shown(during.map(({ millis }) => millis))}, ${during.filter(({ status }) => status === 429).length} of ${during.length} refused`
  )
  console.log(
    `  well again ${lastSlow === undefined ? "at once" : `${(lastSlow.at + lastSlow.millis - ended).toFixed(0)} ms`} after the last one came`
  )
  const { now, peak } = memory(server.pid)
  console.log(
    `  memory ${before.toFixed(0)} MiB before, ${peak.toFixed(0)} MiB at most, ${now.toFixed(0)} MiB 10 s afterwards`
  )
} finally {
  await server.end()
  await bench.close()
}
