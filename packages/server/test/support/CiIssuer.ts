import type { CreateTrustedPublisher } from "@delivery/domain/identity/TrustedPublisher"
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose"
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import { type Served, serve } from "./Served.ts"

/**
 * An issuer of tokens of CI on the loopback address, with an endpoint for its description and one for its keys. It does what a
 * certified provider (`CiProvider.ts`) never does: issue what is wrong, answer badly, and change its keys.
 */

/** What GitHub says of a job: `octo/shop`, the workflow `e2e.yml` on `main`. */
export const gitHubClaims = {
  repository: "octo/shop",
  repository_id: "710093112",
  repository_owner: "octo",
  repository_owner_id: "9919421",
  workflow_ref: "octo/shop/.github/workflows/e2e.yml@refs/heads/main",
  ref: "refs/heads/main",
  event_name: "push",
  sub: "repo:octo/shop:ref:refs/heads/main"
}

/** What GitLab says of one: the pipeline of `octo/shop` on `main`. */
export const gitLabClaims = {
  project_path: "octo/shop",
  project_id: "4711",
  namespace_path: "octo",
  namespace_id: "72",
  ci_config_ref_uri: "gitlab.example.com/octo/shop//.gitlab-ci.yml@refs/heads/main",
  ref: "main",
  ref_type: "branch",
  pipeline_source: "push",
  sub: "project_path:octo/shop:ref_type:branch:ref:main"
}

/** A publisher that these tokens of GitHub stand for. */
export const gitHubPublisher = (issuer: string): CreateTrustedPublisher => ({
  issuer,
  repositoryId: gitHubClaims.repository_id,
  ownerId: gitHubClaims.repository_owner_id,
  workflow: "e2e.yml",
  role: "member",
  scopes: ["read", "publish"]
})

export const gitLabPublisher = (issuer: string): CreateTrustedPublisher => ({
  ...gitHubPublisher(issuer),
  repositoryId: gitLabClaims.project_id,
  ownerId: gitLabClaims.namespace_id,
  workflow: ".gitlab-ci.yml"
})

/** Claims that a token has beside the right ones, or in their place; undefined for those that it has not. */
export type Claims = Readonly<Record<string, unknown>>

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>

const jwkOf = async ({ publicKey }: KeyPair, kid: string): Promise<JWK> => ({
  ...(await exportJWK(publicKey)),
  alg: "RS256",
  use: "sig",
  kid
})

export interface CiIssuer extends Served {
  /** Paths that were asked for. */
  readonly requests: Array<string>
  /** Changes what it answers; without an argument, it is right again. */
  readonly answers: (changes?: Answers) => void
  /** A token for the audience, by default right in all, for 5 minutes from a time. */
  readonly token: (audience: string, options?: TokenOptions) => Promise<string>
  /** The issuer signs by a new key from now on, and publishes that one alone. */
  readonly rotate: (kid: string) => Promise<void>
  readonly publicKey: () => Promise<JWK>
}

interface Answers {
  readonly discovery?: (response: ServerResponse, right: object) => void
  readonly keys?: (response: ServerResponse) => void
}

export interface TokenOptions {
  readonly claims?: Claims
  /** Milliseconds; by default the clock on the wall. */
  readonly now?: number
  readonly kid?: string
}

export const json = (response: ServerResponse, value: object, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
}

export const startCiIssuer = async (): Promise<CiIssuer> => {
  const requests: Array<string> = []
  let changed: Answers = {}
  let current = { kid: "first", pair: await generateKeyPair("RS256", { extractable: true }) }
  const served = await serve((url) => (request, response) => {
    requests.push(request.url ?? "")
    if (request.url === "/.well-known/openid-configuration") {
      const right = {
        issuer: url,
        jwks_uri: `${url}/jwks`,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"]
      }
      return changed.discovery === undefined ? json(response, right) : changed.discovery(response, right)
    }
    if (request.url !== "/jwks") return response.writeHead(404).end()
    if (changed.keys !== undefined) return changed.keys(response)
    jwkOf(current.pair, current.kid).then(
      (jwk) => json(response, { keys: [jwk] }),
      (error: Error) => response.destroy(error)
    )
  })
  return {
    ...served,
    requests,
    answers: (changes = {}) => {
      changed = changes
    },
    token: (audience, { claims = {}, kid = current.kid, now = Date.now() } = {}) => {
      const seconds = Math.floor(now / 1000)
      return new SignJWT({
        ...gitHubClaims,
        iss: served.url,
        aud: audience,
        jti: randomUUID(),
        iat: seconds,
        nbf: seconds,
        exp: seconds + 300,
        ...claims
      } as JWTPayload)
        .setProtectedHeader({ alg: "RS256", kid, typ: "JWT" })
        .sign(current.pair.privateKey)
    },
    rotate: async (kid) => {
      current = { kid, pair: await generateKeyPair("RS256", { extractable: true }) }
    },
    publicKey: () => jwkOf(current.pair, current.kid)
  }
}

/**
 * Where jobs of GitHub get their tokens, as GitHub has it: `ACTIONS_ID_TOKEN_REQUEST_URL` with `audience`, and a bearer token. It
 * answers by the claims that it is given.
 */
export const startGitHubTokens = async (issuer: CiIssuer, claims: Claims = {}) => {
  const requestToken = randomUUID()
  const audiences: Array<string | null> = []
  const served = await serve((url) => (request, response) => {
    const asked = new URL(request.url ?? "/", url)
    if (request.headers.authorization !== `Bearer ${requestToken}` || asked.searchParams.get("api-version") !== "2.0") {
      return json(response, { message: "Bad credentials" }, 401)
    }
    const audience = asked.searchParams.get("audience")
    audiences.push(audience)
    issuer.token(audience ?? "https://github.com/octo", { claims }).then(
      (value) => json(response, { count: value.length, value }),
      (error: Error) => response.destroy(error)
    )
  })
  return {
    ...served,
    /** The audiences that were asked for. */
    audiences,
    environment: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${served.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken
    }
  }
}
