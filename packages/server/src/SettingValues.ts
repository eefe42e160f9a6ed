import { Option, Redacted, Result, Schema } from "effect"
import { IpNetwork } from "effect/net"
import { realpathSync } from "node:fs"
import { dirname, resolve } from "node:path"

/** The values of settings, as environment variables have them. A reader answers undefined for what it does not accept. */

/** A key of the vault's keyring: its id and 32 bytes. */
export interface VaultKey {
  readonly id: string
  readonly bytes: Redacted.Redacted<Uint8Array>
}

/** The keys of a keyring. The first is active. */
export type VaultKeys = readonly [VaultKey, ...Array<VaultKey>]

/** Where in S3, or in a compatible service, files are stored. */
export interface S3Location {
  readonly bucket: string
  /** The prefix of the keys of all objects, without slashes around it; empty for the whole bucket. */
  readonly prefix: string
  /** Absent: that of AWS. */
  readonly endpoint: string | undefined
  /** Absent: that of the AWS environment. */
  readonly region: string | undefined
}

export interface RateLimit {
  readonly requests: number
  readonly seconds: number
}

export type Read<A> = (text: string) => A | undefined

export const integer =
  (minimum: number, maximum: number): Read<number> =>
  (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return number >= minimum && number <= maximum ? number : undefined
  }

/** From `least` to `most` of them, separated by commas, each at most `maximum`. */
export const integers =
  (least: number, most: number, maximum: number): Read<ReadonlyArray<number>> =>
  (text) => {
    const found = text.split(",").map(integer(0, maximum))
    const numbers = found.filter((one) => one !== undefined)
    return numbers.length === found.length && found.length >= least && found.length <= most ? numbers : undefined
  }

/** Days above 0, with decimals. */
export const days: Read<number> = (text) => {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return number > 0 && number <= 36_500 ? number : undefined
}

export const oneOf =
  <const A extends string>(...values: ReadonlyArray<A>): Read<A> =>
  (text) =>
    values.find((value) => value === text)

/** `URL` ignores blanks around and line breaks inside, which the text would keep. */
export const url =
  (...protocols: ReadonlyArray<string>): Read<string> =>
  (text) =>
    !/\s/.test(text) && URL.canParse(text) && protocols.includes(new URL(text).protocol)
      ? text.replace(/\/+$/, "")
      : undefined

export const text: Read<string> = (text) => text

export const decoded = (schema: Schema.ConstraintDecoder<string>): Read<string> => {
  const decode = Schema.decodeUnknownOption(schema)
  return (text) => Option.getOrUndefined(decode(text))
}

export const s3Location: Read<S3Location> = (text) => {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.!*'()-]+)*)\/?(?:\?(\S+))?$/.exec(text)
  if (match === null) return undefined
  const [, bucket, path, query] = match
  const prefix = path!.slice(1)
  const parameters = new URLSearchParams(query)
  const names = [...parameters.keys()]
  const endpoint = parameters.get("endpoint") ?? undefined
  const region = parameters.get("region") ?? undefined
  const isValid =
    !prefix.split("/").some((segment) => segment === "." || segment === "..") &&
    new Set(names).size === names.length &&
    names.every((name) => name === "endpoint" || name === "region") &&
    (endpoint === undefined || isEndpoint(endpoint)) &&
    (region === undefined || /^[a-z0-9-]{1,40}$/.test(region))
  return isValid ? { bucket: bucket!, prefix, endpoint, region } : undefined
}

/** Whether it is an http(s) URL of an address and a path alone. */
export const isEndpoint = (text: string): boolean => {
  if (url("http:", "https:")(text) === undefined || /[?#]/.test(text)) return false
  const { password, username } = new URL(text)
  return `${password}${username}` === ""
}

/** Whether a host name of a URL is this computer's own, whoever looks it up. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/** The modes of the client that never go on without TLS. It checks the certificate in all of them. */
const tlsModes = new Set(["require", "verify-ca", "verify-full"])

/** Whether a URL of a database leads to another computer, and not by TLS. A host that begins with a slash is a directory of sockets. */
export const isPlainElsewhere = (text: string): boolean => {
  const { hostname, searchParams } = new URL(text)
  const hosts = searchParams.getAll("host")
  const isHere = (host: string) => host === "" || host === "::1" || host.startsWith("/") || isLoopback(host)
  if ((hosts.length > 0 ? hosts : [decodeURIComponent(hostname)]).every(isHere)) return false
  return !tlsModes.has(searchParams.getAll("sslmode").at(-1) ?? "")
}

/** Whether browsers take a host name of a URL for this computer's own. */
export const isThisComputer = (hostname: string): boolean => isLoopback(hostname) || hostname.endsWith(".localhost")

/** An http(s) URL of a host alone, without a slash at its end. */
export const origin: Read<string> = (text) =>
  isEndpoint(text) && /^\/+$/.test(new URL(text).pathname) && !text.includes(",") ? text.replace(/\/+$/, "") : undefined

export const rateLimit: Read<RateLimit> = (text) => {
  const [requests, seconds, ...rest] = text.split("/")
  const limit = { requests: integer(1, 1_000_000)(requests ?? ""), seconds: integer(1, 86_400)(seconds ?? "") }
  return limit.requests === undefined || limit.seconds === undefined || rest.length > 0
    ? undefined
    : { requests: limit.requests, seconds: limit.seconds }
}

export const vaultKeys: Read<VaultKeys> = (text) => {
  const keys: Array<VaultKey> = []
  for (const part of text.split(",")) {
    const match = /^\s*([A-Za-z0-9._-]{1,40}):([A-Za-z0-9+/]{43}=)\s*$/.exec(part)
    if (match === null || keys.some((key) => key.id === match[1])) return undefined
    keys.push({ id: match[1]!, bytes: Redacted.make(new Uint8Array(Buffer.from(match[2]!, "base64"))) })
  }
  const [first, ...rest] = keys
  return first === undefined ? undefined : [first, ...rest]
}

/** Undefined below /proc and /sys, where no file can be made: Node's recursive `mkdir` would try for ever. */
export const directory: Read<string> = (text) => {
  const path = existingPart(resolve(text))
  return /^\/(proc|sys)(\/|$)/.test(path) ? undefined : text
}

/** The real path of the part of a path that exists. */
const existingPart = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : existingPart(dirname(path))
  }
}

/** Origins as browsers send them, each written so: no path, no slash at the end. `*` and `null` are none. */
export const origins: Read<ReadonlyArray<string>> = (text) => {
  const all = text.split(",").map((origin) => origin.trim())
  return all.every((origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin)
    ? all
    : undefined
}

export const networks: Read<ReadonlyArray<IpNetwork.IpNetwork>> = (text) => {
  const found: Array<IpNetwork.IpNetwork> = []
  for (const part of text.split(",")) {
    const network = IpNetwork.fromString(part.trim())
    if (Result.isFailure(network)) return undefined
    found.push(network.success)
  }
  return found
}

/**
 * Issuers of tokens: https, or, where the service itself is on this computer, http on it. Each once, without slashes at
 * its end.
 */
export const issuers =
  (baseUrl: string): Read<ReadonlyArray<string>> =>
  (text) => {
    const isLocal = isLoopback(new URL(baseUrl).hostname)
    const all = text.split(",").map((issuer) => issuer.trim())
    const isIssuer = (issuer: string): boolean => {
      if (!/^https?:\/\/[!-~]+$/.test(issuer) || !isEndpoint(issuer)) return false
      const { hostname, protocol } = new URL(issuer)
      if (!/^([a-z0-9.-]+|\[[0-9a-f:.]+\])$/.test(hostname)) return false
      return protocol === "https:" || (isLocal && isLoopback(hostname))
    }
    return all.every(isIssuer) ? [...new Set(all.map((issuer) => issuer.replace(/\/+$/, "")))] : undefined
  }
