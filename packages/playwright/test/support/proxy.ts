import { once } from "node:events"
import { createServer, type IncomingMessage, request as send } from "node:http"
import { freePort } from "../../../client/test/support/server.ts"

/** What becomes of a request on its way: passed on, lost before the server, answered without anyone hearing it, or never answered. */
export type Fate = "pass" | "lose" | "loseAnswer" | "hang"

export interface Proxy {
  readonly url: string
  readonly close: () => void
}

/** An unreliable network in front of a real server. */
export const startProxy = async (target: string, fateOf: (request: IncomingMessage) => Fate): Promise<Proxy> => {
  const port = await freePort()
  const proxy = createServer((request, response) => {
    const fate = fateOf(request)
    if (fate === "hang") return void request.resume()
    if (fate === "lose") return void request.socket.destroy()
    const forwarded = send(
      new URL(request.url ?? "/", target),
      { method: request.method ?? "GET", headers: request.headers },
      (answer) => {
        if (fate === "loseAnswer") {
          answer.resume().once("end", () => request.socket.destroy())
          return
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      }
    )
    forwarded.once("error", () => request.socket.destroy())
    request.pipe(forwarded)
  }).listen(port, "127.0.0.1")
  await once(proxy, "listening")
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      proxy.close()
      proxy.closeAllConnections()
    }
  }
}
