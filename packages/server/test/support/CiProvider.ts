import { exportJWK, generateKeyPair } from "jose"
import { Provider } from "oidc-provider"
import { gitHubClaims } from "./CiIssuer.ts"
import { type Served, serve } from "./Served.ts"

/**
 * The issuer `oidc-provider`, certified by the OpenID Foundation, and how to get a token of it. Its access tokens (RFC 9068) carry
 * claims of one's own, so it issues what GitHub does.
 */
export const startCiProvider = async (): Promise<
  Served & { readonly token: (audience: string) => Promise<string> }
> => {
  const pair = await generateKeyPair("RS256", { extractable: true })
  const client = { id: "ci", secret: "a secret of tests" }
  const { sub: _, ...claims } = gitHubClaims
  const served = await serve(async (url) =>
    new Provider(url, {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          grant_types: ["client_credentials"],
          redirect_uris: [],
          response_types: []
        }
      ],
      cookies: { keys: ["a key of tests"] },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_, resource) => ({
            scope: "",
            audience: resource,
            accessTokenFormat: "jwt",
            accessTokenTTL: 300,
            jwt: { sign: { alg: "RS256" } }
          })
        }
      },
      extraTokenClaims: () => claims,
      jwks: { keys: [{ ...(await exportJWK(pair.privateKey)), alg: "RS256", use: "sig", kid: "first" }] },
      ttl: { ClientCredentials: 300 }
    }).callback()
  )
  return {
    ...served,
    token: async (audience) => {
      const answer = await fetch(`${served.url}/token`, {
        method: "POST",
        headers: {
          authorization: `Basic ${Buffer.from(`${client.id}:${encodeURIComponent(client.secret)}`).toString("base64")}`
        },
        body: new URLSearchParams({ grant_type: "client_credentials", resource: audience })
      })
      if (!answer.ok) throw new Error(`The issuer gave no token: ${await answer.text()}`)
      return ((await answer.json()) as { access_token: string }).access_token
    }
  }
}
