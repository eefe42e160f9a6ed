import { Effect, Redacted, Schema } from "effect"
import type * as OpenId from "openid-client"
import type { ProviderSettings } from "../ProviderSettings.ts"
import { asking, boundedFetch, IssuerError, IssuerLimits } from "./Issuers.ts"
import { accountOf, answerUrl, type Provider } from "./Provider.ts"

/**
 * Signing in by GitHub, which speaks OAuth 2.0 and says by its REST API who somebody is: a number, which stays theirs when
 * they change their name, and the address that they chose as primary and GitHub has verified.
 */

type GitHubSettings = Extract<ProviderSettings, { readonly kind: "github" }>

const User = Schema.Struct({
  id: Schema.Int,
  login: Schema.String,
  name: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const Emails = Schema.Array(Schema.Struct({ email: Schema.String, primary: Schema.Boolean, verified: Schema.Boolean }))

/** The library is loaded when somebody signs in. */
const library = () => import("openid-client")

export const make = Effect.fnUntraced(function* (settings: GitHubSettings) {
  const limits = yield* IssuerLimits
  const fetch = boundedFetch(limits)
  const configuration = asking(() => configure(settings, fetch))
  const provider: Provider = {
    id: settings.id,
    name: "GitHub",
    method: "github",
    isIssuer: (issuer) => issuer === settings.url,
    page: ({ redirectUri, state, verifier }) =>
      Effect.flatMap(configuration, (configuration) =>
        asking(async () => {
          const client = await library()
          return client.buildAuthorizationUrl(configuration, {
            redirect_uri: redirectUri,
            scope: "user:email",
            state,
            code_challenge: await client.calculatePKCECodeChallenge(verifier),
            code_challenge_method: "S256"
          })
        })
      ),
    identify: (question, answer) =>
      Effect.flatMap(configuration, (configuration) =>
        asking(async () => {
          const client = await library()
          const { access_token: token } = await client.authorizationCodeGrant(
            configuration,
            answerUrl(question, answer),
            { expectedState: question.state, pkceCodeVerifier: question.verifier }
          )
          const read = reader(settings.url, fetch, token)
          const user = await read("/user", User)
          const primary = (await read("/user/emails?per_page=100", Emails)).find((address) => address.primary)
          return accountOf({
            issuer: settings.url,
            subject: String(user.id),
            email: primary?.email,
            isVerified: primary?.verified === true,
            name: user.name ?? user.login,
            // It does not say.
            provedAt: null
          })
        })
      )
  }
  return provider
})

const configure = async (
  { clientId, clientSecret, url }: GitHubSettings,
  fetch: ReturnType<typeof boundedFetch>
): Promise<OpenId.Configuration> => {
  const client = await library()
  const oauth = `${url}/login/oauth`
  const configuration = new client.Configuration(
    // The issuer by which GitHub names itself where it does (RFC 9207).
    { issuer: oauth, authorization_endpoint: `${oauth}/authorize`, token_endpoint: `${oauth}/access_token` },
    clientId,
    undefined,
    client.ClientSecretPost(Redacted.value(clientSecret))
  )
  configuration[client.customFetch] = fetch as OpenId.CustomFetch
  if (url.startsWith("http:")) client.allowInsecureRequests(configuration)
  return configuration
}

/** The REST API of github.com, of a company's part of it (`corp.ghe.com`), and of a server of its own. */
const apiOf = (url: string): string => {
  const { host } = new URL(url)
  return host === "github.com" || host.endsWith(".ghe.com") ? `https://api.${host}` : `${url}/api/v3`
}

const reader = (url: string, fetch: ReturnType<typeof boundedFetch>, token: string) => {
  const api = apiOf(url)
  const headers = {
    accept: "application/vnd.github+json",
    authorization: `Bearer ${token}`,
    "user-agent": "delivery",
    "x-github-api-version": "2022-11-28"
  }
  return async <A>(path: string, schema: Schema.Codec<A, unknown>): Promise<A> => {
    const answer = await fetch(`${api}${path}`, { method: "GET", headers })
    if (answer.status !== 200) throw new IssuerError({ reason: "failed", code: `HTTP_${answer.status}` })
    const decoded = Schema.decodeUnknownOption(schema)(await answer.json().catch(() => undefined))
    if (decoded._tag === "None") throw new IssuerError({ reason: "failed", code: "OTHER_FORM" })
    return decoded.value
  }
}
