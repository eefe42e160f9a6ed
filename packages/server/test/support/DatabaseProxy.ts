import { once } from "node:events"
import { createServer, connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** A way to a PostgreSQL that tests can disturb. */
export interface DatabaseProxy {
  readonly url: string
  /** Milliseconds that each write of a client waits, one after the other on each connection; 0 for none. */
  readonly slowDown: (millis: number) => void
  /** Ends every connection in the middle of what it does, and lets no new one in until told. */
  readonly cut: () => void
  /** Passes nothing on any more, on connections that stay open, and on new ones. */
  readonly silence: () => void
  /** Lets new connections in and passes on what comes on them. Those that were silenced stay so. */
  readonly restore: () => void
  readonly stop: () => Promise<void>
}

export const startDatabaseProxy = async (target: string): Promise<DatabaseProxy> => {
  const { hostname, port } = new URL(target)
  const pairs = new Set<{ readonly sockets: ReadonlyArray<Socket>; isSilent: boolean }>()
  let delay = 0
  let mode: "open" | "cut" | "silent" = "open"

  const server = createServer((client) => {
    if (mode === "cut") return void client.destroy()
    const database = connect(Number(port), hostname)
    const pair = { sockets: [client, database], isSilent: mode === "silent" }
    pairs.add(pair)
    for (const socket of pair.sockets) {
      socket.setNoDelay(true)
      socket.on("error", () => {})
      socket.on("close", () => {
        pairs.delete(pair)
        // The other side of a silent one learns nothing.
        if (!pair.isSilent) for (const other of pair.sockets) other.destroy()
      })
    }
    const pass = async (before: Promise<void>, chunk: Buffer) => {
      // Signing in begins with a zero or a "p".
      const wait = chunk[0] === 0 || chunk[0] === 0x70 ? 0 : delay
      await before
      if (wait > 0) await sleep(wait)
      if (!pair.isSilent && database.writable) database.write(chunk)
    }
    let passed = Promise.resolve()
    client.on("data", (chunk: Buffer) => {
      passed = pass(passed, chunk)
    })
    database.on("data", (chunk: Buffer) => {
      if (!pair.isSilent) client.write(chunk)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  const endAll = () => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    slowDown: (millis) => {
      delay = millis
    },
    cut: () => {
      mode = "cut"
      endAll()
    },
    silence: () => {
      mode = "silent"
      for (const pair of pairs) pair.isSilent = true
    },
    restore: () => {
      mode = "open"
    },
    stop: async () => {
      endAll()
      server.close()
      await once(server, "close")
    }
  }
}
