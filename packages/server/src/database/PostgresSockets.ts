import { Effect, Redacted, Schedule, type Scope } from "effect"
import { connect, type Socket } from "node:net"

/**
 * Makes the sockets to PostgreSQL at `url`. A socket that has received nothing for `silentSeconds` is closed:
 * either it is idle, or its statements will not be answered, since the network or the server failed without closing it.
 * The client opens another socket, and what waited for the answer fails.
 */
export const makeSockets = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  silentSeconds: number
): Effect.fn.Return<() => Socket, never, Scope.Scope> {
  const address = addressOf(Redacted.value(url))
  const sockets = new Map<Socket, { bytesRead: number; silentFor: number }>()

  // Counted in rounds, so that time in which this process stood still does not count.
  yield* Effect.sync(() => {
    for (const [socket, seen] of sockets) {
      if (socket.bytesRead !== seen.bytesRead) sockets.set(socket, { bytesRead: socket.bytesRead, silentFor: 0 })
      else if (++seen.silentFor > silentSeconds) {
        socket.destroy(new Error(`PostgreSQL sent nothing for ${silentSeconds} s.`))
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
export const addressOf = (text: string) => {
  const url = new URL(text)
  const named = url.searchParams.get("host") ?? decodeURIComponent(url.hostname)
  const host = named === "" ? "localhost" : named.replace(/^\[(.*)\]$/, "$1")
  const port = Number(url.searchParams.get("port") ?? (url.port === "" ? 5432 : url.port))
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port, noDelay: true }
}
