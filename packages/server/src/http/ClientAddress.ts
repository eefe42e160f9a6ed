import { Context, Effect, Option, Result } from "effect"
import { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"

const parsed = (text: string): NetAddress.IpAddress | undefined => {
  const address = NetAddress.ipFromString(text.trim().replace(/^\[(.*)\]$/, "$1"))
  return Result.isSuccess(address) ? NetAddress.toCanonical(address.success) : undefined
}

/**
 * The request with the address of its client as `remoteAddress`: the socket's. Where that is a trusted proxy's, the last one
 * in `X-Forwarded-For` that is not (docs/operations.md, Settings). Clients write what they like to its left.
 */
export const withClientAddress = (
  trusted: ReadonlyArray<IpNetwork.IpNetwork>
): ((request: HttpServerRequest.HttpServerRequest) => HttpServerRequest.HttpServerRequest) => {
  if (trusted.length === 0) return (request) => request
  const isTrusted = (address: NetAddress.IpAddress) => trusted.some((network) => IpNetwork.contains(network, address))
  return (request) => {
    const forwarded = request.headers["x-forwarded-for"]
    const socket = parsed(Option.getOrElse(request.remoteAddress, () => ""))
    if (forwarded === undefined || socket === undefined || !isTrusted(socket)) return request
    let client = socket
    for (const hop of forwarded.split(",").toReversed()) {
      const address = parsed(hop)
      if (address === undefined) break
      client = address
      if (!isTrusted(address)) break
    }
    return request.modify({ remoteAddress: Option.some(NetAddress.formatIp(client)) })
  }
}

/** The address of the client whose request the fiber serves; null where it serves none. */
export const clientAddress: Effect.Effect<string | null> = Effect.withFiber((fiber) => {
  const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
  const address = request === undefined ? undefined : Option.getOrUndefined(request.remoteAddress)
  return Effect.succeed(address?.replace(/^::ffff:(?=\d+\.)/i, "") ?? null)
})

/** Whether an address is in one of the networks, which are in CIDR notation. */
export const isWithin = (networks: ReadonlyArray<string>, address: string): boolean => {
  const client = parsed(address)
  return client !== undefined && networks.some((text) => IpNetwork.contains(IpNetwork.fromStringUnsafe(text), client))
}
