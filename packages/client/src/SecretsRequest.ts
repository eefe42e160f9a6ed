import { noAnswerReason } from "@delivery/domain/NoAnswer"

/** The one request behind all loaders of secrets: `GET /deploy/v1/secrets`, with the token of a deployment. Without Effect. */

/** The secrets of a deployment. */
export interface DeploymentSecrets {
  /** Slug of the product. */
  readonly product: string
  /** Slug of the environment. */
  readonly environment: string
  /** Another text whenever a name or a version has changed. */
  readonly revision: string
  readonly values: Readonly<Record<string, string>>
}

/** The same, as an answer that can be asked for again on the condition that it has changed. */
export interface SecretsAnswer extends DeploymentSecrets {
  readonly etag: string | undefined
}

/**
 * The secrets could not be loaded. The message says why, in a sentence that repeats no token and no value.
 *
 * `unavailable`: there was no answer of the service within the time limit, or only that it cannot answer now. `refused`: the
 * service has answered, and another try gets the same answer.
 */
export class SecretsError extends Error {
  override readonly name = "SecretsError"
  readonly _tag = "SecretsError"
  readonly reason: "refused" | "unavailable"
  /** Of the answer; absent where there was none. */
  readonly status: number | undefined

  constructor(reason: "refused" | "unavailable", message: string, status?: number) {
    super(message)
    this.reason = reason
    this.status = status
  }
}

export interface SecretsRequest {
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string
  readonly token: string
  /** Of the last answer. While it is current, the request is answered with undefined. */
  readonly etag?: string | undefined
  /** How long an answer may take, in milliseconds. Default: 10 seconds. */
  readonly timeoutMillis?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
}

const defaultTimeoutMillis = 10_000

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const hasText = <Key extends string>(value: unknown, key: Key): value is Readonly<Record<Key, string>> =>
  typeof value === "object" &&
  value !== null &&
  Object.hasOwn(value, key) &&
  typeof (value as Readonly<Record<string, unknown>>)[key] === "string"

const isValues = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string")

/** The secrets of a body; undefined for a body that is not of this service. */
const secretsOf = (body: unknown): DeploymentSecrets | undefined => {
  if (!hasText(body, "revision")) return undefined
  const { environment, product, values } = body as Readonly<Record<string, unknown>>
  if (!hasText(product, "slug") || !hasText(environment, "slug") || !isValues(values)) return undefined
  return { product: product.slug, environment: environment.slug, revision: body.revision, values }
}

/** Statuses of a service that cannot answer now. */
const isBusy = (status: number): boolean => status === 408 || status === 429 || status >= 500

const refusalOf = (address: string, status: number, body: unknown): SecretsError => {
  // What stands before the service has errors of its own: they say nothing of the token.
  if (!hasText(body, "_tag")) {
    return new SecretsError("unavailable", `${address} was answered ${status} by something else.`, status)
  }
  const said = hasText(body, "message") ? body.message : `The answer was ${status}.`
  if (isBusy(status)) return new SecretsError("unavailable", `${address} cannot answer now: ${said}`, status)
  return status === 401
    ? new SecretsError("refused", `${address} does not accept the deployment token. It may be revoked or expired.`, 401)
    : new SecretsError("refused", said, status)
}

/**
 * Loads the secrets of the deployment; undefined while the `ETag` is current.
 *
 * Rejects with `SecretsError`, or with the reason of `signal`.
 */
export const requestSecrets = async (request: SecretsRequest): Promise<SecretsAnswer | undefined> => {
  const { baseUrl, etag, fetch = globalThis.fetch, signal, timeoutMillis = defaultTimeoutMillis, token } = request
  const timeout = AbortSignal.timeout(timeoutMillis)
  const answer = await fetch(`${baseUrl}/deploy/v1/secrets`, {
    headers: {
      accept: "application/json",
      authorization: `Bearer ${token}`,
      ...(etag === undefined ? {} : { "if-none-match": etag })
    },
    credentials: "omit",
    // The token is for this address and for no other.
    redirect: "manual",
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout])
  })
    .then(async (response) => ({ response, text: await response.text() }))
    .catch((error: unknown) => {
      if (signal?.aborted === true) throw signal.reason
      const why = timeout.aborted ? `there was no answer within ${timeoutMillis / 1_000} s` : noAnswerReason(error)
      throw new SecretsError("unavailable", `${baseUrl} cannot be reached: ${why}.`)
    })
  const { response, text } = answer
  if (response.status === 304 && etag !== undefined) return undefined
  const body = parsed(text)
  if (response.status !== 200) throw refusalOf(baseUrl, response.status, body)
  const secrets = secretsOf(body)
  if (secrets === undefined) throw refusalOf(baseUrl, 200, undefined)
  return { ...secrets, etag: response.headers.get("etag") ?? undefined }
}
