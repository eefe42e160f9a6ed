import { Deferred, Effect } from "effect"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Failure } from "./Failure.ts"

/** Where the browser brings the answer of a person to this computer (RFC 8252, section 7.3). */

/** What was decided: undefined where it was refused. */
export interface LoginAnswer {
  readonly code: string | undefined
}

const host = "127.0.0.1"

const page = (text: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Delivery</title>
</head>
<body><p>${text}</p></body>
</html>
`

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  connection: "close",
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const answerWith = (response: ServerResponse, status: number, text: string, sent = () => {}): void => {
  response.writeHead(status, headers).end(page(text), sent)
}

/** The answer in the address of a request, if it is that to the login of the id. */
const answerIn = (path: string, id: string | undefined): LoginAnswer | undefined => {
  const query = new URLSearchParams(path.slice(path.indexOf("?") + 1))
  const code = query.get("code") ?? undefined
  const isAnswer = code !== undefined || query.get("error") === "access_denied"
  return isAnswer && id !== undefined && query.get("state") === id ? { code } : undefined
}

const listening = Effect.callback<Server, Failure>((resume) => {
  const server = createServer()
  const failed = () => resume(Effect.fail(new Failure({ message: `No port of ${host} can be listened on.` })))
  server.once("error", failed).listen(0, host, () => resume(Effect.succeed(server)))
})

const close = (server: Server) =>
  Effect.sync(() => {
    server.close()
    server.closeAllConnections()
  })

/** Listens at a port that is free, until the scope ends. Whatever is no answer to the login is 404, and waited on further. */
export const makeLoginListener = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(listening, close)
  const origin = `${host}:${(server.address() as AddressInfo).port}`
  const answered = yield* Deferred.make<LoginAnswer>()
  let id: string | undefined
  server.on("request", ({ headers, method, url = "/" }, response) => {
    // A name that leads to this computer is somebody else's.
    const answer = method === "GET" && headers.host === origin ? answerIn(url, id) : undefined
    if (answer === undefined) return answerWith(response, 404, "There is nothing here.")
    const text = answer.code === undefined ? "You have refused the sign-in." : "The sign-in goes on in your terminal."
    answerWith(response, 200, `${text} You can close this page.`, () =>
      Deferred.doneUnsafe(answered, Effect.succeed(answer))
    )
  })
  return {
    redirectUri: `http://${origin}/`,
    /** Waits for the answer to this login. */
    answerTo: (login: string) =>
      Effect.suspend(() => {
        id = login
        return Deferred.await(answered)
      })
  }
})
