import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"

export const main = join(import.meta.dirname, "../../../server/src/cli/main.ts")

/** From where on a port is looked for: below those that systems give to whoever asks for any, which others get by chance. */
let next = 10_000 + randomInt(20_000)

/** A port at which nothing listens. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = next++
    const server = createServer().listen(port, "127.0.0.1")
    const isFree = await once(server, "listening").then(
      () => true,
      () => false
    )
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

export interface RunningServer {
  readonly url: string
  /** The owner's key in the workspace `main`. */
  readonly apiKey: string
  readonly dataDir: string
  /** Ends the process and deletes its data. */
  readonly stop: () => Promise<void>
}

/** A real server in its own process: the embedded database in a directory of its own, on a free port unless told. */
export const startServer = async (
  environment: Readonly<Record<string, string>> = {},
  nodeFlags: ReadonlyArray<string> = []
): Promise<RunningServer> => {
  const port = environment["PORT"] ?? String(await freePort())
  const url = `http://localhost:${port}`
  const dataDir = await mkdtemp(join(tmpdir(), "delivery-server-"))
  const server = spawn(process.execPath, [...nodeFlags, main, "serve"], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      PORT: port,
      DATA_DIR: dataDir,
      LOG_LEVEL: "warn",
      ...environment
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  server.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  server.stderr.setEncoding("utf8").on("data", (text: string) => (output += text))
  const ended = once(server, "exit")

  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) server.kill("SIGTERM")
    await ended
    await rm(dataDir, { recursive: true, force: true })
  }

  for (const deadline = Date.now() + 110_000; ;) {
    const isReady = await fetch(`${url}/ready`).then(
      (answer) => answer.ok,
      () => false
    )
    const apiKey = /ctk_[0-9A-Za-z]{42}/.exec(output)?.[0]
    if (isReady && apiKey !== undefined) return { url, apiKey, dataDir, stop }
    if (server.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error(`The server did not start:\n${output}`)
    }
    await setTimeout(50)
  }
}
