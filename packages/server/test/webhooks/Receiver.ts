import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { Webhook } from "standardwebhooks"
import { eventually } from "../support/Http.ts"

/** A real server that webhooks send to, which answers as it is told. */

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Receiver {
  readonly url: string
  /** What has arrived, in its order. */
  readonly received: ReadonlyArray<Received>
  /** Answers every request from now on. Without it: 204. */
  readonly answer: (how: (response: ServerResponse, number: number) => void) => void
  /** Waits until so many requests have arrived. */
  readonly count: (count: number) => Promise<ReadonlyArray<Received>>
  readonly stop: () => void
}

export const startReceiver = async (port = 0): Promise<Receiver> => {
  const received: Array<Received> = []
  const deliver = (response: ServerResponse) => void response.writeHead(204).end()
  let how: (response: ServerResponse, number: number) => void = deliver
  const server = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    request.on("end", () => {
      received.push({ path: request.url!, headers: request.headers, text })
      how(response, received.length)
    })
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  const address = server.address() as { readonly port: number }
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    received,
    answer: (next) => {
      how = next
    },
    count: (count) =>
      eventually(
        async () => received,
        ({ length }) => length >= count
      ),
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end()

/** What was sent, by the package of Standard Webhooks. It throws where the secret did not sign it. */
export const verified = (
  secret: string,
  { headers, text }: Received
): { readonly type: string; readonly data: unknown } =>
  new Webhook(secret).verify(text, headers as Record<string, string>) as { type: string; data: unknown }

/** Whether the secret signed it. */
export const isSignedBy = (secret: string, request: Received): boolean => {
  try {
    verified(secret, request)
    return true
  } catch {
    return false
  }
}
