import type { PersonId } from "@delivery/domain/Ids"
import { isIP } from "node:net"
import { keepsCookies } from "../http/OwnPages.ts"

/** What passkeys belong to: the host of the service, and the one origin at which they are used. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

export const relyingParty = (baseUrl: string): RelyingParty => {
  const { hostname, origin } = new URL(baseUrl)
  return { id: hostname, origin }
}

/** Whether browsers use passkeys at this address: not at an IP address, which is no host to them. */
export const offersPasskeys = (baseUrl: string): boolean =>
  keepsCookies(baseUrl) && isIP(relyingParty(baseUrl).id.replaceAll(/[[\]]/g, "")) === 0

/** The id by which devices know a person: 16 bytes, in base64url. */
export const userHandle = (personId: PersonId): string =>
  Buffer.from(personId.replaceAll("-", ""), "hex").toString("base64url")
