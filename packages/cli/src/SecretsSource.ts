import { requestSecrets, SecretsError } from "@delivery/client/deploy"
import { createClient } from "@delivery/client/web"
import { isNamed } from "@delivery/domain/Named"
import type { ProductSecrets } from "@delivery/domain/vault/Secret"
import { Failure } from "./Failure.ts"
import { oneLine } from "./Output.ts"

/** Where `delivery secrets run` gets values from. It loads little, since a product waits for it. */

export interface Loaded {
  readonly product: string
  readonly environment: string
  readonly values: Readonly<Record<string, string>>
  /** Differs whenever the values may differ. */
  readonly state: string | undefined
}

/** The values, or undefined while they are those of the state. Rejects with a `Failure`. */
export type Load = (state?: string, signal?: AbortSignal) => Promise<Loaded | undefined>

/** The secrets of the deployment whose token it is. */
export const byToken =
  (url: string, token: string): Load =>
  async (etag, signal) => {
    const answer = await requestSecrets({ baseUrl: url, token, etag, signal }).catch((error: unknown) => {
      if (!(error instanceof SecretsError)) throw error
      const message = oneLine(error.message)
      if (error.reason === "unavailable") throw Failure.unreachable(message)
      throw error.status === 401 ? Failure.notSignedIn(message) : new Failure({ message })
    })
    return answer === undefined ? undefined : { ...answer, state: answer.etag }
  }

export interface KeyedPair {
  readonly url: string
  readonly apiKey: string
  readonly workspace: string
  readonly product: string
  readonly environment: string
}

/** How long a call may take. The web client has no limit of its own. */
const timeoutMillis = 10_000
/** How many values are read at once. */
const concurrency = 8

/** The first secrets of an array are mapped first, and at most `concurrency` at once. */
const mapAtOnce = async <A, B>(values: ReadonlyArray<A>, f: (value: A) => Promise<B>): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  let next = 0
  const work = async () => {
    // oxlint-disable-next-line no-await-in-loop -- one of several that work at once
    for (let index = next++; index < values.length; index = next++) results[index] = await f(values[index]!)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return results
}

const versionsIn = ({ environments, secrets }: ProductSecrets, named: string): string | undefined => {
  const environment = environments.find((one) => isNamed(one, named))
  if (environment === undefined) return undefined
  return JSON.stringify(
    secrets.map(({ environments, id, name }) => [
      id,
      name,
      environments.find((one) => one.environment.id === environment.id)?.version ?? 0
    ])
  )
}

const hasValueIn = ({ environments }: ProductSecrets["secrets"][number], named: string): boolean =>
  environments.some(({ environment, hasValue }) => hasValue && isNamed(environment, named))

/** A key is for its address and for no other. */
const direct: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "manual" })

/** The client does not decode, and something else may answer at the address. */
const isAnswer = ({ environments, secrets }: Partial<ProductSecrets>): boolean =>
  Array.isArray(environments) && Array.isArray(secrets)

/** The secrets of an environment that is not production's, with a person's or an account's key. */
export const byKey = ({ apiKey, environment, product, url, workspace }: KeyedPair): Load => {
  const client = createClient({ baseUrl: url, apiKey, fetch: direct }).safe.vault
  const params = { slug: workspace, productSlug: product }
  return async (state, signal) => {
    const options = () => {
      const timeout = AbortSignal.timeout(timeoutMillis)
      return { signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) }
    }
    const listed = valueOf(url, await client.listOfProduct({ params }, options()).catch(timedOut(url)))
    if (!isAnswer(listed)) throw Failure.unreachable(`${url} is not a Delivery service of this version.`)
    const versions = versionsIn(listed, environment)
    if (versions === undefined) throw new Failure({ message: `There is no environment "${oneLine(environment)}".` })
    if (versions === state) return undefined
    const named = listed.secrets.filter((secret) => hasValueIn(secret, environment))
    const read = await mapAtOnce(named, async ({ name }) => {
      const secret = valueOf(url, await client.get({ params: { ...params, name } }, options()).catch(timedOut(url)))
      return [name, secret.environments.find((one) => isNamed(one.environment, environment))] as const
    })
    const hidden = read.filter(([, one]) => one?.valueHidden === true).map(([name]) => oneLine(name))
    if (hidden.length > 0) {
      throw new Failure({
        message: `Nothing is started: these values are hidden from you: ${hidden.join(", ")}. A product in production reads its own with the token of its deployment (DELIVERY_TOKEN).`
      })
    }
    const values = Object.fromEntries(read.map(([name, one]) => [name, one?.value]))
    const present = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string")
    return { product, environment, values: Object.fromEntries(present), state: versions }
  }
}

const timedOut = (url: string) => (error: unknown) => {
  if (error instanceof Error && error.name === "TimeoutError") {
    throw Failure.unreachable(`${url} cannot be reached: there was no answer within ${timeoutMillis / 1_000} s.`)
  }
  throw error
}

interface Told {
  readonly _tag: string
  readonly message?: string
}

/** Errors of the service that another try may not meet. */
const passing = new Set(["NoAnswer", "UnknownAnswer", "Unavailable", "TooManyRequests", "Internal"])

const valueOf = <A>(url: string, result: { ok: true; value: A } | { ok: false; error: Told }): A => {
  if (result.ok) return result.value
  const { _tag: tag, message = "The call failed." } = result.error
  if (passing.has(tag)) throw Failure.unreachable(`${url} cannot be reached: ${oneLine(message)}`)
  throw tag === "Unauthorized"
    ? Failure.notSignedIn(`${url} does not accept the API key. It may be revoked.`)
    : new Failure({ message: oneLine(message) })
}
