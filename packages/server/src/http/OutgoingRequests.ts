import { Context, Effect, Semaphore } from "effect"
import { Dns, NetAddress } from "effect/net"
import * as NodeDns from "@effect/platform-node/NodeDns"
import { type ClientRequest, request as plainRequest } from "node:http"
import { request as secureRequest } from "node:https"
import { connect as connectPlain, type NetConnectOpts, type Socket } from "node:net"
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls"
import { isPublicAddress } from "./PublicAddresses.ts"

/**
 * Requests to addresses that others name, such as clients and webhooks. A host is resolved once, and the connection goes
 * to an address that was checked: a name that resolves to another one a moment later leads nowhere else.
 */

export interface OutgoingNetwork {
  readonly lookup: (host: string) => Effect.Effect<ReadonlyArray<NetAddress.IpAddress>, Dns.DnsError>
  /** To an address, by TLS and without it. */
  readonly connect: (options: ConnectionOptions) => TLSSocket
  readonly connectPlain: (options: NetConnectOpts & { readonly port: number }) => Socket
}

/** How hosts are reached. Tests answer themselves. */
export const OutgoingNetwork = Context.Reference<OutgoingNetwork>("@delivery/server/http/OutgoingNetwork", {
  defaultValue: () => ({ lookup, connect, connectPlain })
})

/**
 * Look-ups by the operating system that may run at once. Each holds one of the four threads that Node has for files, too,
 * for as long as a name server says nothing.
 */
const systemLookups = Semaphore.makeUnsafe(2)

const layerDns = NodeDns.layer

const bySystem = (host: string) =>
  systemLookups
    .withPermits(1)(Effect.flatMap(Dns.Dns, (dns) => dns.lookup(host)))
    .pipe(Effect.provide(layerDns))

/** By name servers, with no thread held meanwhile. IPv4 first: not every machine reaches the other. */
const byNameServers = (host: string) =>
  Effect.gen(function* () {
    const dns = yield* NodeDns.make({ timeout: "2 seconds", tries: 1 })
    const none = () => Effect.succeed([])
    const [four, six] = yield* Effect.all(
      [Effect.catch(dns.resolve(host, "A"), none), Effect.catch(dns.resolve(host, "AAAA"), none)],
      { concurrency: 2 }
    )
    return [...four, ...six].map(({ address }): NetAddress.IpAddress => address)
  }).pipe(
    Effect.scoped,
    Effect.orElseSucceed((): ReadonlyArray<NetAddress.IpAddress> => [])
  )

/** The hosts file, which the operating system knows, has names that no name server has. */
const lookup = (host: string): Effect.Effect<ReadonlyArray<NetAddress.IpAddress>, Dns.DnsError> =>
  host.includes(".")
    ? Effect.flatMap(byNameServers(host), (found) => (found.length > 0 ? Effect.succeed(found) : bySystem(host)))
    : bySystem(host)

/** The host of a URL as it is looked up, and as a certificate names it. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1")

/** The address that a URL itself names, in whatever form; undefined where it names a host. */
const literalOf = (url: URL): NetAddress.IpAddress | undefined => {
  const found = NetAddress.ipFromString(hostOf(url))
  return found._tag === "Success" ? found.success : undefined
}

/** Whether a URL says by itself that it leads to no public address. */
export const isPrivateUrl = (url: URL): boolean => {
  const literal = literalOf(url)
  if (literal !== undefined) return !isPublicAddress(literal)
  return /(^|\.)localhost\.?$/i.test(url.hostname)
}

/**
 * An address of the URL's host. Unless others are allowed, all that it has must be public: a name of the public internet
 * has no private one.
 */
export const addressOf = (
  { lookup }: Pick<OutgoingNetwork, "lookup">,
  url: URL,
  { isPrivateAllowed = false } = {}
): Effect.Effect<string, "unknown_host" | "private_address"> =>
  Effect.gen(function* () {
    const literal = literalOf(url)
    const found =
      literal === undefined ? yield* Effect.mapError(lookup(hostOf(url)), () => "unknown_host" as const) : [literal]
    const [address] = found
    if (address === undefined) return yield* Effect.fail("unknown_host" as const)
    if (!isPrivateAllowed && !found.every(isPublicAddress)) return yield* Effect.fail("private_address" as const)
    return NetAddress.formatIp(address)
  })

/** A request that connects to the address, and to no other. Nothing is sent before its end. */
export const requestTo = (
  network: Pick<OutgoingNetwork, "connect" | "connectPlain">,
  url: URL,
  address: string,
  options: { readonly method: string; readonly headers: Readonly<Record<string, string | number>> }
): ClientRequest => {
  const isSecure = url.protocol === "https:"
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port)
  const request = isSecure ? secureRequest : plainRequest
  return request(url, {
    method: options.method,
    headers: { host: url.host, ...options.headers },
    // With an agent, Node would connect by itself, and look the host up again.
    createConnection: () =>
      isSecure
        ? network.connect({
            host: address,
            port,
            // A name alone can be asked for so. A certificate of an address is compared with the address.
            servername: literalOf(url) === undefined ? hostOf(url) : "",
            ALPNProtocols: ["http/1.1"]
          })
        : network.connectPlain({ host: address, port })
  })
}
