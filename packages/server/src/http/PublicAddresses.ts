import { IpNetwork, NetAddress } from "effect/net"

/** Which addresses belong to the public internet, by IANA's registries of special-purpose addresses. */

const networks = (...texts: ReadonlyArray<string>) => texts.map(IpNetwork.fromStringUnsafe)

const specialIpv4 = networks(
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared by carriers
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, where clouds answer about themselves
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4" // reserved, and broadcast
)

/** All else of IPv6 is special: loopback, link-local, unique local, multicast, IPv4-mapped, NAT64. */
const globalIpv6 = IpNetwork.fromStringUnsafe("2000::/3")

const specialIpv6 = networks(
  "2001::/23", // protocol assignments, Teredo and benchmarks among them
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: an IPv4 address inside
  "3fff::/20" // documentation
)

const isIn = (address: NetAddress.IpAddress) => (network: IpNetwork.IpNetwork) => IpNetwork.contains(network, address)

/** Whether a request to the address leaves for the public internet. */
export const isPublicAddress = (address: NetAddress.IpAddress): boolean =>
  NetAddress.isIpv4Address(address)
    ? !specialIpv4.some(isIn(address))
    : IpNetwork.contains(globalIpv6, address) && !specialIpv6.some(isIn(address))
