import { Cache, Duration, Effect, Exit, Redacted } from "effect"
import type * as OpenId from "openid-client"
import type { ProviderSettings } from "../ProviderSettings.ts"
import { discoverIssuer, isSameUrl } from "./IssuerMetadata.ts"
import { asking, boundedFetch, failed, IssuerLimits } from "./Issuers.ts"
import { accountOf, answerUrl, nameOf, type Provider, type ProvenAccount, type Question } from "./Provider.ts"

/** Signing in by an issuer of OpenID Connect, as OpenID Connect Core 1.0 and RFC 9207 have it. */

type OidcSettings = Extract<ProviderSettings, { readonly kind: "oidc" }>

/** How long what an issuer publishes about itself is taken from memory. */
const discoveryMillis = 60 * 60 * 1000

/** Seconds since which somebody must have shown an issuer who they are: as long as a sign-in may take, and a bit. */
const proofSeconds = 11 * 60

/** The library is loaded when somebody signs in. */
const library = () => import("openid-client")

/** An issuer as it describes itself: once for each way in which the service may show its secret there, best first. */
type Discovered = ReadonlyArray<OpenId.Configuration>

export const make = Effect.fnUntraced(function* (settings: OidcSettings) {
  const limits = yield* IssuerLimits
  const discovered = yield* Cache.makeWith(() => asking(() => discover(settings, limits)), {
    capacity: 1,
    // A failure is not kept: the issuer may be back.
    timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.millis(discoveryMillis) : Duration.zero)
  })
  const issuer = Cache.get(discovered, settings.issuer)
  const provider: Provider = {
    id: settings.id,
    name: nameOf(settings.id),
    method: "oidc",
    isIssuer: (issuer) => isSameUrl(issuer, settings.issuer),
    page: (question, isProof) =>
      Effect.flatMap(issuer, ([configuration]) => asking(() => page(configuration!, question, isProof))),
    identify: (question, answer, isProof) =>
      Effect.flatMap(issuer, (configurations) =>
        asking(() => identify(configurations, settings.clientId, question, answer, isProof))
      )
  }
  return provider
})

const discover = async (
  { clientId, clientSecret, issuer }: OidcSettings,
  limits: IssuerLimits
): Promise<Discovered> => {
  const client = await library()
  const fetch = boundedFetch(limits)
  const metadata = await discoverIssuer(issuer, limits, {
    clientId,
    endpoints: ["authorization_endpoint", "jwks_uri", "token_endpoint"]
  })
  const secret = Redacted.value(clientSecret)
  const supported = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
  const methods = [
    ...(supported.includes("client_secret_basic") ? [client.ClientSecretBasic(secret)] : []),
    ...(supported.includes("client_secret_post") ? [client.ClientSecretPost(secret)] : [])
  ]
  return (methods.length === 0 ? [client.ClientSecretBasic(secret)] : methods).map((method) => {
    const configuration = new client.Configuration(metadata, clientId, undefined, method)
    configuration[client.customFetch] = fetch as OpenId.CustomFetch
    // Signatures are checked too, although the answer comes from the issuer itself.
    client.enableNonRepudiationChecks(configuration)
    if (issuer.startsWith("http:")) client.allowInsecureRequests(configuration)
    return configuration
  })
}

const page = async (configuration: OpenId.Configuration, question: Question, isProof: boolean): Promise<URL> => {
  const client = await library()
  return client.buildAuthorizationUrl(configuration, {
    redirect_uri: question.redirectUri,
    response_type: "code",
    scope: "openid email profile",
    state: question.state,
    nonce: question.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(question.verifier),
    code_challenge_method: "S256",
    ...(isProof ? { prompt: "login", max_age: "0" } : {})
  })
}

const identify = async (
  configurations: Discovered,
  clientId: string,
  question: Question,
  answer: URLSearchParams,
  isProof: boolean
): Promise<ProvenAccount> => {
  const client = await library()
  const { configuration, tokens } = await exchange(client, configurations, question, answer)
  const claims = tokens.claims()!
  // The library looks at it only where there are several audiences.
  if (claims.azp !== undefined && claims.azp !== clientId) throw failed("OTHER_PARTY")
  const { sub }: { readonly sub: unknown } = claims
  if (typeof sub !== "string" || !/^[^\p{Cc}\p{Cs}]{1,255}$/u.test(sub)) throw failed("OTHER_SUBJECT")
  if (isProof) checkProof(claims)
  const account = { issuer: claims.iss, subject: sub }
  const isComplete = claims["email"] !== undefined || configuration.serverMetadata().userinfo_endpoint === undefined
  const {
    email,
    email_verified: verified,
    name
  } = isComplete ? claims : await client.fetchUserInfo(configuration, tokens.access_token, sub)
  // Some issuers write it as text.
  const isVerified = verified === true || verified === "true"
  const { auth_time: authTime }: { readonly auth_time?: unknown } = claims
  // A time that is none is of long ago.
  const provedAt = authTime === undefined ? null : Math.max(0, Number(authTime) * 1000 || 0)
  return accountOf({ ...account, email, isVerified, name, provedAt })
}

/** An issuer that was asked by `max_age` says when it was. The person may have taken that out of its address. */
const checkProof = ({ auth_time: provedAt }: OpenId.IDToken) => {
  if (provedAt === undefined) throw failed("UNDATED_PROOF")
  if (provedAt < Date.now() / 1000 - proofSeconds) throw failed("OLD_PROOF")
}

/** Issuers that know the other way of showing the secret alone refuse without using the code up. */
const exchange = async (
  client: typeof OpenId,
  [configuration, ...others]: Discovered,
  question: Question,
  answer: URLSearchParams
): Promise<{
  readonly configuration: OpenId.Configuration
  readonly tokens: Awaited<ReturnType<typeof OpenId.authorizationCodeGrant>>
}> => {
  const checks = {
    expectedState: question.state,
    expectedNonce: question.nonce,
    pkceCodeVerifier: question.verifier,
    idTokenExpected: true
  }
  try {
    const tokens = await client.authorizationCodeGrant(configuration!, answerUrl(question, answer), checks)
    return { configuration: configuration!, tokens }
  } catch (error) {
    const { error: word, status } = error as { readonly error?: unknown; readonly status?: unknown }
    if (others.length === 0 || (status !== 401 && word !== "invalid_client")) throw error
    return exchange(client, others, question, answer)
  }
}
