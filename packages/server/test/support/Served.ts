import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"

export interface Served {
  readonly url: string
  readonly close: () => Promise<void>
}

/** A server on a free port of the loopback address. */
export const serve = async (listener: (url: string) => Promise<RequestListener> | RequestListener): Promise<Served> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  server.on("request", await listener(url))
  return {
    url,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
