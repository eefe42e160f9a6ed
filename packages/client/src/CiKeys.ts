import { noAnswerReason } from "@delivery/domain/NoAnswer"

/** Keys for jobs of a CI, which exchange the ID token of the job instead of storing a key (docs/contract.md, Trusted publishers). */

type Environment = Readonly<Record<string, string | undefined>>

export interface CiKeyOptions {
  /** The address of the service, which must be its `BASE_URL`: tokens are asked for and accepted for it alone. */
  readonly baseUrl: string | URL
  /** Slug or id. */
  readonly workspace: string
  /** Default: `process.env`. */
  readonly environment?: Environment | undefined
  /** Default: the fetch of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** A key that the token of a job was exchanged for. It works until `expiresAt`. */
export interface CiKey {
  readonly apiKey: string
  readonly expiresAt: string
  readonly role: string
  readonly scopes: ReadonlyArray<string> | null
}

/** The service did not take the token, or the CI gave none. `status` and `reason` are those of the service's answer. */
export class CiKeyError extends Error {
  override readonly name = "CiKeyError"
  readonly status: number | undefined
  readonly reason: string | undefined
  constructor(message: string, { cause, reason, status }: { cause?: unknown; reason?: string; status?: number } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.status = status
    this.reason = reason
  }
}

/** Browsers have none. */
const ofProcess = (): Environment =>
  (globalThis as { readonly process?: { readonly env: Environment } }).process?.env ?? {}

/** Milliseconds that one answer may take. */
const timeoutMillis = 10_000

/** Milliseconds before the end of a key at which another is asked for. */
const marginMillis = 60_000

/** The ID tokens of a job of GitLab: each can be exchanged once, so a long job has several. */
const gitLabTokens = (environment: Environment): ReadonlyArray<string> =>
  ["", ...Array.from({ length: 8 }, (_, index) => `_${index + 2}`)].flatMap((suffix) => {
    const token = (environment[`DELIVERY_ID_TOKEN${suffix}`] ?? "").trim()
    return token === "" ? [] : [token]
  })

const gitHub = (environment: Environment) => {
  const url = environment["ACTIONS_ID_TOKEN_REQUEST_URL"] ?? ""
  const token = environment["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] ?? ""
  return url === "" || token === "" ? undefined : { url, token }
}

/**
 * Whether a job can get a key: GitHub Actions gave it `ACTIONS_ID_TOKEN_REQUEST_URL` and `..._TOKEN` (with the permission
 * `id-token: write`), or GitLab an ID token in `DELIVERY_ID_TOKEN` (by `id_tokens`).
 */
export const hasCiToken = (environment: Environment = ofProcess()): boolean =>
  gitHub(environment) !== undefined || gitLabTokens(environment).length > 0

/** What a job of GitHub Actions or GitLab must be given before it can get a key; undefined where it has that, and outside of both. */
export const lackingPermission = (environment: Environment = ofProcess()): string | undefined => {
  if (hasCiToken(environment)) return undefined
  if (environment["GITHUB_ACTIONS"] === "true") return "the job needs the permission `id-token: write`"
  return environment["GITLAB_CI"] === "true" ? "the job needs `id_tokens` with DELIVERY_ID_TOKEN" : undefined
}

/** Two spellings of one address are one audience. */
const plainUrl = (url: string | URL): string => String(url).trim().replace(/\/+$/, "")

const unanswered = (what: string) => (cause: unknown) =>
  Promise.reject(new CiKeyError(`${what}: ${noAnswerReason(cause)}.`, { cause }))

const gitHubToken = async (
  { token, url }: NonNullable<ReturnType<typeof gitHub>>,
  audience: string,
  fetch: typeof globalThis.fetch
): Promise<string> => {
  const address = new URL(url)
  address.searchParams.set("audience", audience)
  // The token of the request is for this address alone.
  const answer = await fetch(address, {
    headers: { authorization: `Bearer ${token}`, accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMillis)
  }).catch(unanswered("GitHub did not answer with an ID token"))
  const body = answer.ok ? ((await answer.json().catch(() => ({}))) as { readonly value?: unknown }) : {}
  if (typeof body.value === "string" && body.value !== "") return body.value
  throw new CiKeyError(`GitHub gave the job no ID token (${answer.status}).`)
}

const exchange = async (
  { baseUrl, workspace }: CiKeyOptions,
  token: string,
  fetch: typeof globalThis.fetch
): Promise<CiKey> => {
  const answer = await fetch(`${plainUrl(baseUrl)}/v1/token-exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workspace, token }),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMillis)
  }).catch(unanswered(`${plainUrl(baseUrl)} did not answer to the token exchange`))
  const body = (await answer.json().catch(() => ({}))) as Partial<CiKey> & {
    readonly message?: string
    readonly reason?: string
  }
  if (answer.ok && typeof body.apiKey === "string") return body as CiKey
  throw new CiKeyError(body.message ?? `The token exchange failed (${answer.status}).`, {
    status: answer.status,
    ...(body.reason === undefined ? {} : { reason: body.reason })
  })
}

/** A key for the job that this process runs in. Fails with a `CiKeyError`. */
export const exchangeCiToken = async (options: CiKeyOptions): Promise<CiKey> => {
  const { environment = ofProcess(), fetch = globalThis.fetch } = options
  const ofGitHub = gitHub(environment)
  if (ofGitHub !== undefined) {
    return exchange(options, await gitHubToken(ofGitHub, plainUrl(options.baseUrl), fetch), fetch)
  }
  return exchangeFirst(options, gitLabTokens(environment), fetch)
}

/** Of several tokens, the first that was not exchanged already. */
const exchangeFirst = async (
  options: CiKeyOptions,
  [token, ...others]: ReadonlyArray<string>,
  fetch: typeof globalThis.fetch
): Promise<CiKey> => {
  if (token === undefined) {
    throw new CiKeyError("The job has no ID token: neither GitHub Actions nor GitLab gave it one.")
  }
  try {
    return await exchange(options, token, fetch)
  } catch (error) {
    const isUsed = error instanceof CiKeyError && error.reason === "token_used"
    if (!isUsed || others.length === 0) throw error
  }
  return exchangeFirst(options, others, fetch)
}

/** A refusal is the answer to the call, which nobody repeats. Whatever else went wrong may pass. */
const refusalOf = (error: unknown): Response => {
  if (!(error instanceof CiKeyError) || error.status !== 401 || error.reason === "issuer_unavailable") throw error
  const { message, reason, status } = error
  return Response.json({ _tag: "Unauthorized", message, reason }, { status })
}

/**
 * A `fetch` for `createClient({ baseUrl, apiKey: null, fetch })`, which sends a key of the job with requests to the service,
 * and gets another before it ends. It asks for none before the first request.
 */
export const ciFetch = (options: CiKeyOptions): typeof globalThis.fetch => {
  const { origin } = new URL(options.baseUrl)
  const send = options.fetch ?? globalThis.fetch
  let current: Promise<CiKey> | undefined
  const isOver = ({ expiresAt }: CiKey) => Date.parse(expiresAt) - marginMillis <= Date.now()
  const keyNow = async (): Promise<CiKey> => {
    const known = current
    if (known !== undefined) {
      const key = await known
      // Of those who find it over, one asks for another.
      if (!isOver(key)) return key
      if (current !== known) return keyNow()
    }
    const asked = exchangeCiToken(options)
    current = asked
    asked.catch(() => {
      if (current === asked) current = undefined
    })
    return asked
  }
  return async (input, init) => {
    const request = new Request(input, init)
    if (new URL(request.url).origin !== origin) return send(request)
    const key = await keyNow().catch(refusalOf)
    if (key instanceof Response) return key
    request.headers.set("authorization", `Bearer ${key.apiKey}`)
    return send(request)
  }
}
