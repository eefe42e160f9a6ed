import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from "jose"

/** For those who write a Fixture API: checks who may make and delete test data (docs/contract.md, Fixtures). */

/** What a fixture token allows: to make and delete test data under its scope, until it expires. */
export interface FixtureToken {
  readonly scope: string
  /** The workspace of the run. */
  readonly workspaceId: string
  /** The number of the run. */
  readonly run: number
  /** The number of the retry; null for the run itself. */
  readonly retry: number | null
  /** When the token expires. Nobody uses the data of the scope after that. */
  readonly expiresAt: Date
}

export interface VerifyFixtureTokenOptions {
  /** The public address of the service (its `BASE_URL`). */
  readonly issuer: string | URL
  /** The URL of this Fixture API, as the deployment or a run names it. Several, if it answers at several. */
  readonly audience: string | ReadonlyArray<string>
  /**
   * The id of the workspace whose runs may use this Fixture API, as `GET /v1/workspaces/{workspace}` answers it. Every
   * workspace of the service can name the URL of this Fixture API, and gets tokens for it.
   */
  readonly workspace: string
  /** Where the keys of the service are, if not at `/.well-known/jwks.json` of the issuer. */
  readonly jwksUrl?: string | URL | undefined
}

/** The token is missing, expired, or was not made by this service for this workspace and Fixture API: answer 401. The message says which. */
export class FixtureTokenError extends Error {
  override readonly name = "FixtureTokenError"
}

const keySets = new Map<string, JWTVerifyGetKey>()

/** The keys are fetched once, again after ten minutes, and when a token names an unknown key. */
const keysAt = (url: string): JWTVerifyGetKey => {
  const known = keySets.get(url)
  if (known !== undefined) return known
  const keys = createRemoteJWKSet(new URL(url))
  keySets.set(url, keys)
  return keys
}

const withoutSlash = (url: string | URL): string => url.toString().replace(/\/+$/, "")

/**
 * Verifies the token of a request and returns what it allows. Takes the `Authorization` header or the token alone. Only the
 * public keys are fetched from the service; it is never asked about a token.
 *
 * ```ts
 * const { scope } = await verifyFixtureToken(request.headers.authorization, { issuer, audience, workspace })
 * ```
 *
 * Rejects with `FixtureTokenError`, or with another error if the keys could not be fetched.
 */
export const verifyFixtureToken = async (
  token: string | null | undefined,
  options: VerifyFixtureTokenOptions
): Promise<FixtureToken> => {
  const jwt = token?.replace(/^Bearer +/i, "") ?? ""
  if (jwt === "") throw new FixtureTokenError("A fixture token is required.")
  const issuer = withoutSlash(options.issuer)
  const keys = keysAt((options.jwksUrl ?? `${issuer}/.well-known/jwks.json`).toString())
  const { audience } = options
  const { payload } = await jwtVerify(jwt, keys, {
    issuer,
    audience: typeof audience === "string" ? audience : [...audience],
    algorithms: ["EdDSA"],
    requiredClaims: ["exp", "sub", "scope"]
  }).catch((error: unknown) => {
    const isOfToken =
      error instanceof errors.JOSEError &&
      !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) &&
      error.code !== "ERR_JOSE_GENERIC"
    throw isOfToken
      ? new FixtureTokenError(`The fixture token is not valid: ${error.message}.`, { cause: error })
      : error
  })
  const [workspaceId, run, retry, ...rest] = (payload.sub ?? "").split("/")
  const { exp, scope } = payload
  if (
    workspaceId === undefined ||
    run === undefined ||
    rest.length > 0 ||
    typeof scope !== "string" ||
    exp === undefined
  )
    throw new FixtureTokenError("The fixture token is not valid: it belongs to no run.")
  if (workspaceId !== options.workspace)
    throw new FixtureTokenError("The fixture token is not valid: it belongs to another workspace.")
  return {
    scope,
    workspaceId,
    run: Number(run),
    retry: retry === undefined ? null : Number(retry),
    expiresAt: new Date(exp * 1000)
  }
}
