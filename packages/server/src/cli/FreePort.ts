import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"

/** Below what systems give to those who ask for any port, which Linux does from 32,768 on and others from 49,152 on. */
const first = 10_000
const count = 20_000

let next = randomInt(count)

/**
 * A port of the loopback address at which nothing listens. It is still free a moment later: no other connection gets it by
 * chance, and this process gets it once.
 */
export const freePort = async (): Promise<number> => {
  const port = first + (next++ % count)
  return (await isFree(port)) ? port : freePort()
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    await once(server.listen(port, "127.0.0.1"), "listening")
  } catch {
    return false
  }
  await once(server.close(), "close")
  return true
}
