import { Effect, Redacted, Schedule, type Scope } from "effect"
import { connect, type Socket } from "node:net"

/**
 * Makes the sockets to PostgreSQL at `url`. One on which nothing has come for `silentSeconds` is closed: it is idle, or
 * what was asked on it will not be answered, since the network or the server is gone without a word. The client makes
 * another, and what waited for the answer fails.
 */
export const makeSockets = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  silentSeconds: number
): Effect.fn.Return<() => Socket, never, Scope.Scope> {
  const address = addressOf(Redacted.value(url))
  const sockets = new Map<Socket, { bytesRead: number; silentFor: number }>()

  // Counted in rounds, so that a process that stood still blames nobody.
  yield* Effect.sync(() => {
    for (const [socket, seen] of sockets) {
      if (socket.bytesRead !== seen.bytesRead) sockets.set(socket, { bytesRead: socket.bytesRead, silentFor: 0 })
      else if (++seen.silentFor > silentSeconds) {
        socket.destroy(new Error(`Nothing came from PostgreSQL for ${silentSeconds} s.`))
      }
    }
  }).pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.forkScoped)

  return () => {
    const socket = connect(address)
    sockets.set(socket, { bytesRead: 0, silentFor: 0 })
    socket.once("close", () => sockets.delete(socket))
    return socket
  }
})

/** Where to connect, as the client reads it from the URL: a host that begins with a slash is a directory of sockets. */
const addressOf = (text: string) => {
  const url = new URL(text)
  const named = url.searchParams.get("host") ?? decodeURIComponent(url.hostname)
  const host = named === "" ? "localhost" : named.replace(/^\[(.*)\]$/, "$1")
  const port = Number(url.searchParams.get("port") ?? (url.port === "" ? 5432 : url.port))
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port, noDelay: true }
}
