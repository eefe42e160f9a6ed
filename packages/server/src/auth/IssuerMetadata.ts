import type * as OpenId from "openid-client"
import { boundedFetch, failed, type IssuerLimits } from "./Issuers.ts"

/** What an issuer says about itself (OpenID Connect Discovery 1.0), for those who sign in by it and for tokens of CI. */

/** The library is loaded when an issuer is asked for the first time. */
const library = () => import("openid-client")

const isEndpoint = (text: unknown, isHttp: boolean): boolean => {
  if (typeof text !== "string" || !URL.canParse(text)) return false
  const { protocol } = new URL(text)
  return protocol === "https:" || (isHttp && protocol === "http:")
}

export const isSameUrl = (one: string, other: string): boolean =>
  URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href

interface Asked {
  readonly clientId: string
  /** What it must say. What is wrong is an error, so that nobody keeps it. */
  readonly endpoints: ReadonlyArray<"authorization_endpoint" | "jwks_uri" | "token_endpoint">
}

/** Its description, which must be its own. */
export const discoverIssuer = async (
  issuer: string,
  limits: IssuerLimits,
  { clientId, endpoints }: Asked
): Promise<OpenId.ServerMetadata> => {
  const client = await library()
  const server = new URL(issuer)
  const isHttp = server.protocol === "http:"
  const found = await client.discovery(server, clientId, undefined, client.None(), {
    [client.customFetch]: boundedFetch(limits) as OpenId.CustomFetch,
    execute: isHttp ? [client.allowInsecureRequests] : []
  })
  const metadata = found.serverMetadata()
  // One issuer for all tenants, as some offer it, would let any of them name its people as it likes.
  if (!isSameUrl(metadata.issuer, issuer)) throw failed("OTHER_ISSUER")
  if (!endpoints.every((name) => isEndpoint(metadata[name], isHttp))) throw failed("OTHER_ENDPOINT")
  return metadata
}
