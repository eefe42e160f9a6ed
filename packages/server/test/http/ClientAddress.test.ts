import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { IpNetwork } from "effect/net"
import { withClientAddress } from "../../src/http/ClientAddress.ts"

const trusted = ["10.0.0.0/8", "fd00::/8"].map((network) => IpNetwork.fromStringUnsafe(network))

const addressOf = (socket: string, forwarded: string | undefined, networks = trusted) => {
  const headers = new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded })
  const request = HttpServerRequest.fromWeb(new Request("http://localhost/", { headers }))
  const from = request.modify({ remoteAddress: Option.some(socket) })
  return Option.getOrUndefined(withClientAddress(networks)(from).remoteAddress)
}

describe("the address of a client", () => {
  it("is the socket's unless that is a trusted proxy's", () => {
    assert.strictEqual(addressOf("203.0.113.7", "198.51.100.1"), "203.0.113.7")
    assert.strictEqual(addressOf("10.0.0.1", "198.51.100.1", []), "10.0.0.1")
    assert.strictEqual(addressOf("10.0.0.1", undefined), "10.0.0.1")
  })

  it("is read from the right, so that a client cannot choose it", () => {
    assert.strictEqual(addressOf("10.0.0.1", "198.51.100.1"), "198.51.100.1")
    assert.strictEqual(addressOf("10.0.0.1", "192.0.2.9, 198.51.100.1, 10.9.9.9"), "198.51.100.1")
    assert.strictEqual(addressOf("::ffff:10.0.0.1", "192.0.2.9,198.51.100.1"), "198.51.100.1")
    assert.strictEqual(addressOf("fd00::1", "[2001:db8::1]"), "2001:db8::1")
  })

  it("is that of the last proxy where what stands left of it is no address", () => {
    assert.strictEqual(addressOf("10.0.0.1", "unknown"), "10.0.0.1")
    assert.strictEqual(addressOf("10.0.0.1", "203.0.113.7, x, 10.0.0.2"), "10.0.0.2")
    assert.strictEqual(addressOf("10.0.0.1", ""), "10.0.0.1")
  })
})
