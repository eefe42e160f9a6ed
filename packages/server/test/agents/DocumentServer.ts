import { Effect, Layer } from "effect"
import { NetAddress } from "effect/net"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { connect as connectPlain } from "node:net"
import { connect } from "node:tls"
import { OutgoingNetwork } from "../../src/http/OutgoingRequests.ts"

/** A part of the public internet on this computer: names, their addresses, and one server that answers for all of them. */

/** Of `client.example` and the names below it, for a hundred years, signed by itself. It protects nothing. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBuDCCAV2gAwIBAgIUUuwQxqMgTm9LkbFLxkdTJceWU3EwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOY2xpZW50LmV4YW1wbGUwIBcNMjYxMTIzMDM1NDE4WhgPMjEy
NjEwMzAwMzU0MThaMBkxFzAVBgNVBAMMDmNsaWVudC5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEbtjDS5GZx+jLibTAdbXUYPBny9ZDOpxaqgZNgYYd
B6DtF8BgpH7oLAkOfwAWsz/X5teJY2tauIX1+ysgmz6yZaOBgDB+MB0GA1UdDgQW
BBRroITXq5lE//Rw6jJ6tv8+zWf/JzAfBgNVHSMEGDAWgBRroITXq5lE//Rw6jJ6
tv8+zWf/JzAPBgNVHRMBAf8EBTADAQH/MCsGA1UdEQQkMCKCDmNsaWVudC5leGFt
cGxlghAqLmNsaWVudC5leGFtcGxlMAoGCCqGSM49BAMCA0kAMEYCIQDvYkwo3bjT
vY/pWNXGWQBYnQ5r5cPGulkX8T5hoy6j2wIhAOxATaq8H025dMcgqAF6ph5uXpXJ
56aF8iqJx+4pEJ9r
-----END CERTIFICATE-----
`
const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOSDSiHcTKiGgu/jj
PvwYdikblGp9eGXr3GQwbuhZMDOhRANCAARu2MNLkZnH6MuJtMB1tdRg8GfL1kM6
nFqqBk2Bhh0HoO0XwGCkfugsCQ5/ABazP9fm14lja1q4hfX7KyCbPrJl
-----END PRIVATE KEY-----
`

/** An address of the public internet. */
export const publicAddress = "93.184.216.34"

export interface Internet {
  /** What each look-up of a host gives, one after the other; the last one again. */
  readonly names: Map<string, ReadonlyArray<ReadonlyArray<string>>>
  /** How requests to a path are answered. */
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>
  /** The hosts that were looked up, the addresses that were connected to, and the requests that arrived. */
  readonly lookups: Array<string>
  readonly connections: Array<string>
  readonly requests: Array<string>
}

/** Begins such a part, for servers that the layer is provided to. */
export const startInternet = async () => {
  const internet: Internet = {
    names: new Map([["client.example", [[publicAddress]]]]),
    answers: new Map(),
    lookups: [],
    connections: [],
    requests: []
  }
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    internet.requests.push(`${request.headers.host}${request.url}`)
    const answer = internet.answers.get(request.url!)
    if (answer === undefined) response.writeHead(404).end()
    else answer(request, response)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  const layer = Layer.succeed(OutgoingNetwork, {
    lookup: (host) =>
      Effect.sync(() => {
        internet.lookups.push(host)
        const answers = internet.names.get(host) ?? []
        const asked = internet.lookups.filter((one) => one === host).length
        return (answers[asked - 1] ?? answers.at(-1) ?? []).map(NetAddress.ipFromStringUnsafe)
      }),
    connect: (options) => {
      internet.connections.push(`${options.host}:${options.port}`)
      return connect({ ...options, host: "127.0.0.1", port, ca: certificate })
    },
    connectPlain
  })
  return {
    internet,
    layer,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
