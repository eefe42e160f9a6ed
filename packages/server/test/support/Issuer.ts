import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { exportJWK, generateKeyPair } from "jose"
import { Provider } from "oidc-provider"
import { assert } from "vitest"
import type { Http } from "./Http.ts"
import { type Served, serve } from "./Served.ts"

/** A real issuer of OpenID Connect on the loopback address, and what tests need of a browser. */

export interface Account {
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
}

export interface Issuer extends Served {
  /** By subject. Whoever is not here is not known. */
  readonly accounts: Map<string, Account>
}

export const client = { id: "delivery", secret: "a secret, with a comma" }

/** What `OIDC_<NAME>` is for the issuer. */
export const settingOf = ({ url }: Served): string => `${url},${client.id},${client.secret}`

/** Whom the browser is at the issuer: the subject of an account, or how it refuses. */
const subjectHeader = "x-test-subject"

interface Options {
  /** The provider's id in the settings of the servers that use it. */
  readonly name: string
  /** How the client shows its secret. */
  readonly authentication?: "client_secret_basic" | "client_secret_post"
  /** Whether the ID token says the address, instead of the userinfo endpoint. */
  readonly isWhole?: boolean
}

/** The issuer `oidc-provider`, certified by the OpenID Foundation. Servers on any port may use it. */
export const startIssuer = async ({
  authentication = "client_secret_basic",
  isWhole = false,
  name
}: Options): Promise<Issuer> => {
  const accounts = new Map<string, Account>()
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "first" }
  const served = await serve((url) => {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          // Of native applications any port is allowed.
          application_type: "native",
          redirect_uris: ["127.0.0.1", "localhost"].map((host) => `http://${host}/auth/v1/oidc/${name}/callback`),
          token_endpoint_auth_method: authentication
        }
      ],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      conformIdTokenClaims: !isWhole,
      cookies: { keys: ["a key of tests"] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      jwks: { keys: [key] },
      clientAuthMethods: ["client_secret_basic", "client_secret_post"],
      pkce: { required: () => true },
      // In seconds. Where one is left to the default, it says so on the console.
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      findAccount: async (_, sub) => {
        const account = accounts.get(sub)
        return account && { accountId: sub, claims: () => ({ sub, ...account }) }
      },
      // Nobody is asked whether the service may know them.
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
        grant.addOIDCScope("openid email profile")
        await grant.save()
        return grant
      }
    })
    const answer = provider.callback()
    return (request, response) => {
      if (!request.url?.startsWith("/interaction/")) return answer(request, response)
      const subject = String(request.headers[subjectHeader])
      const result = accounts.has(subject) ? { login: { accountId: subject }, consent: {} } : { error: subject }
      provider.interactionFinished(request, response, result).catch((error: Error) => response.destroy(error))
    }
  })
  return { ...served, accounts }
}

/** A browser: it keeps the cookies of each address, and goes where it is sent. */
export class TestBrowser {
  readonly #cookies = new Map<string, Map<string, string>>()
  /** Whom it is at an issuer. */
  #subject: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(subject: string, headers: Readonly<Record<string, string>> = {}) {
    this.#subject = subject
    this.#headers = headers
  }

  /** From now on it is somebody else at an issuer, where it signs out first. */
  becomes(subject: string): void {
    this.#subject = subject
    // Those of the service have other names.
    for (const kept of this.#cookies.values()) {
      for (const name of kept.keys()) if (!name.startsWith("__Host-")) kept.delete(name)
    }
  }

  cookie(url: string, name: string): string | undefined {
    return this.#cookies.get(new URL(url).origin)?.get(name)
  }

  setCookie(url: string, name: string, value: string): void {
    const { origin } = new URL(url)
    const kept = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, kept.set(name, value))
  }

  /** One request, and its answer as it is. */
  async visit(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url)
    const kept = this.#cookies.get(origin) ?? new Map<string, string>()
    const answer = await fetch(url, {
      redirect: "manual",
      ...init,
      headers: {
        cookie: [...kept].map(([name, value]) => `${name}=${value}`).join("; "),
        [subjectHeader]: this.#subject,
        ...this.#headers,
        ...init.headers
      }
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (/; max-age=0(;|$)|; expires=Thu, 01 Jan 1970/i.test(line)) kept.delete(name!)
      else kept.set(name!, value!)
    }
    this.#cookies.set(origin, kept)
    return answer
  }

  /** Goes on while it is sent on, up to an address for which `isEnd` holds, which it does not visit. */
  async follow(url: string, isEnd: (url: string) => boolean): Promise<string> {
    for (let at = url, visits = 0; visits < 12; visits++) {
      if (isEnd(at)) return at
      const answer = await this.visit(at)
      const location = answer.headers.get("location")
      if (location === null) throw new Error(`${at} sent the browser nowhere: ${answer.status} ${await answer.text()}`)
      at = new URL(location, at).href
    }
    throw new Error(`The browser was sent in a circle: ${url}`)
  }
}

/** Adds a new account of the issuer, which is `corp` to the server, to the ways in of the person whose session it is. */
export const linkAccount = async ({ baseUrl, key }: Http, { accounts }: Issuer, subject: string): Promise<void> => {
  accounts.set(subject, {})
  const browser = new TestBrowser(subject, { "sec-fetch-site": "same-origin" })
  browser.setCookie(baseUrl, sessionCookie, key!)
  const start = `${baseUrl}/auth/v1/oidc/corp/start?purpose=link&returnTo=/linked`
  assert.strictEqual(
    await browser.follow(start, (url) => new URL(url).pathname === "/linked" || url.includes("#")),
    `${baseUrl}/linked`
  )
}
