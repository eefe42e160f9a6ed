import { isServiceUrl, serviceUrl } from "@delivery/domain/ServiceUrl"
import { type DeploymentSecrets, requestSecrets, type SecretsAnswer, SecretsError } from "./SecretsRequest.ts"

/** `loadSecrets`: a product loads its own secrets while it starts (docs/contract.md, Deployment tokens). */

export interface LoadSecretsOptions {
  /** Address of the service. Default: `DELIVERY_URL` of the environment. */
  readonly baseUrl?: string | URL | undefined
  /** Token of the deployment (`dtk_...`). Default: `DELIVERY_TOKEN`, or the content of the file that `DELIVERY_TOKEN_FILE` names. */
  readonly token?: string | undefined
  /** How often to ask for changes, in seconds, at least 1. Default: never. */
  readonly refreshSeconds?: number | undefined
  /** How long the service may take to answer, in seconds. Default: 10. */
  readonly timeoutSeconds?: number | undefined
  /** Default: the fetch of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface LoadSecretsCallbacks {
  /** Called after a refresh that has brought other values. */
  readonly onChange?: ((secrets: LoadedSecrets) => void) | undefined
  /** Called after a refresh that failed. The last values stay. Default: one warning of the process for failures in a row. */
  readonly onRefreshError?: ((error: SecretsError) => void) | undefined
  /** Aborts the first load, and ends the refreshing. */
  readonly signal?: AbortSignal | undefined
}

/** What loaders ask with. */
export interface SecretsSource {
  readonly baseUrl: string
  readonly token: string
  readonly timeoutMillis: number | undefined
  readonly refreshMillis: number | undefined
  readonly fetch: typeof globalThis.fetch | undefined
}

/** The parts of Node that this needs. A browser has no token of a deployment. */
interface NodeProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly emitWarning: (message: string, type: string) => void
}
const node = (): NodeProcess | undefined => (globalThis as { readonly process?: NodeProcess }).process

const variable = (name: string): string | undefined => node()?.env[name]?.trim() || undefined

const fileText = async (file: string): Promise<string> => {
  // Not a literal, so that bundlers of pages do not look for it.
  const fileSystem = "node:fs/promises"
  const { readFile } = (await import(fileSystem)) as {
    readonly readFile: (path: string, encoding: "utf8") => Promise<string>
  }
  return readFile(file, "utf8").catch(() => {
    throw new TypeError(`token: ${file}, which DELIVERY_TOKEN_FILE names, cannot be read.`)
  })
}

const givenToken = async (): Promise<string | undefined> => {
  const file = variable("DELIVERY_TOKEN_FILE")
  return variable("DELIVERY_TOKEN") ?? (file === undefined ? undefined : (await fileText(file)).trim())
}

const known = new Set([
  "baseUrl",
  "token",
  "refreshSeconds",
  "timeoutSeconds",
  "fetch",
  "onChange",
  "onRefreshError",
  "signal"
])

/** At most the longest time that timers of JavaScript can wait for, which is 24 days. */
const seconds = (name: string, value: number | undefined): number | undefined => {
  if (value === undefined || (value >= 1 && value <= 2_147_483)) return value
  throw new TypeError(`${name}: Expected a number of seconds from 1 to 2147483.`)
}

const millis = (name: string, value: number | undefined): number | undefined => {
  const checked = seconds(name, value)
  return checked === undefined ? undefined : checked * 1_000
}

/** Rejects with a `TypeError` that says what is missing or wrong. No message repeats a token. */
export const sourceOf = async (options: LoadSecretsOptions): Promise<SecretsSource> => {
  const unknown = Object.keys(options).find((name) => !known.has(name))
  if (unknown !== undefined) {
    throw new TypeError(`loadSecrets knows no option "${unknown}". It takes ${[...known].join(", ")}.`)
  }
  const baseUrl = options.baseUrl?.toString() ?? variable("DELIVERY_URL")
  if (baseUrl === undefined)
    throw new TypeError("baseUrl: Missing. Pass the address of the service, or set DELIVERY_URL.")
  if (!isServiceUrl(baseUrl)) throw new TypeError(`baseUrl: Expected ${serviceUrl}.`)
  const token = options.token?.trim() ?? (await givenToken())
  if (token === undefined) {
    throw new TypeError(
      "token: Missing. Pass the token of the deployment, or set DELIVERY_TOKEN or DELIVERY_TOKEN_FILE."
    )
  }
  if (!/^dtk_[0-9A-Za-z]+$/.test(token)) {
    throw new TypeError("token: Expected the token of a deployment, which begins with dtk_.")
  }
  return {
    baseUrl: baseUrl.replace(/\/+$/, ""),
    token,
    timeoutMillis: millis("timeoutSeconds", options.timeoutSeconds),
    refreshMillis: millis("refreshSeconds", options.refreshSeconds),
    fetch: options.fetch
  }
}

export const request = (source: SecretsSource, etag?: string, signal?: AbortSignal) =>
  requestSecrets({ ...source, etag, signal })

/** Whether both have the same names and values. */
export const isSame = (one: DeploymentSecrets, other: DeploymentSecrets): boolean => {
  const names = Object.keys(one.values)
  return (
    names.length === Object.keys(other.values).length &&
    names.every((name) => Object.hasOwn(other.values, name) && one.values[name] === other.values[name])
  )
}

/** The secrets of a deployment, as they were when they were loaded last. Neither JSON nor Node's `console.log` has the values. */
export interface LoadedSecrets extends Disposable {
  /** Slug of the product. */
  readonly product: string
  /** Slug of the environment. */
  readonly environment: string
  /** Another text whenever a name or a version has changed. */
  readonly revision: string
  /** The current value; undefined for a name without one. */
  readonly get: (name: string) => string | undefined
  /** The current value. Throws a sentence for a name without one. */
  readonly require: (name: string) => string
  /** All current values, as a copy. */
  readonly values: () => Record<string, string>
  /** Loads the secrets again now. Answers whether a name or a value has changed; rejects with `SecretsError`, and the last values stay. */
  readonly refresh: () => Promise<boolean>
  /** Ends the refreshing. The last values stay. */
  readonly close: () => void
}

class Secrets implements LoadedSecrets {
  readonly #source: SecretsSource
  readonly #callbacks: LoadSecretsCallbacks
  readonly #closing = new AbortController()
  #current: SecretsAnswer
  #isFailing = false

  constructor(source: SecretsSource, current: SecretsAnswer, callbacks: LoadSecretsCallbacks) {
    this.#source = source
    this.#current = current
    this.#callbacks = callbacks
    const { signal } = callbacks
    if (signal?.aborted === true) return (this.close(), this)
    signal?.addEventListener("abort", () => this.close(), { once: true, signal: this.#closing.signal })
    this.#wait()
  }

  get product(): string {
    return this.#current.product
  }
  get environment(): string {
    return this.#current.environment
  }
  get revision(): string {
    return this.#current.revision
  }

  readonly get = (name: string): string | undefined =>
    Object.hasOwn(this.#current.values, name) ? this.#current.values[name] : undefined

  readonly require = (name: string): string => {
    const value = this.get(name)
    if (value !== undefined) return value
    throw new Error(`The secret ${name} has no value for ${this.product} in ${this.environment}.`)
  }

  readonly values = (): Record<string, string> => ({ ...this.#current.values })

  readonly refresh = async (): Promise<boolean> => {
    const before = this.#current
    const answer = await request(this.#source, before.etag, this.#closing.signal)
    if (answer === undefined) return false
    this.#current = answer
    return !isSame(before, answer)
  }

  readonly close = (): void => this.#closing.abort(new Error("The refreshing of secrets has ended."));

  [Symbol.dispose](): void {
    this.close()
  }

  /** The time between refreshes is counted from the end of one: a slow service is not asked more often. */
  #wait(): void {
    const { refreshMillis } = this.#source
    if (refreshMillis === undefined || this.#closing.signal.aborted) return
    const timer = setTimeout(() => void this.#tick(), refreshMillis)
    // Does not keep a process alive that has nothing else to do. Browsers have a number here.
    ;(timer as { readonly unref?: () => void }).unref?.()
    this.#closing.signal.addEventListener("abort", () => clearTimeout(timer), { once: true })
  }

  async #tick(): Promise<void> {
    try {
      const hasChanged = await this.refresh()
      this.#isFailing = false
      if (hasChanged) this.#callbacks.onChange?.(this)
    } catch (error) {
      if (this.#closing.signal.aborted) return
      if (!(error instanceof SecretsError)) throw error
      this.#tell(error)
    } finally {
      this.#wait()
    }
  }

  #tell(error: SecretsError): void {
    const { onRefreshError } = this.#callbacks
    if (onRefreshError !== undefined) onRefreshError(error)
    else if (!this.#isFailing) node()?.emitWarning(`The last secrets stay: ${error.message}`, "DeliveryWarning")
    this.#isFailing = true
  }
}

/**
 * Loads the secrets of the deployment whose token it has.
 *
 * ```ts
 * const secrets = await loadSecrets({ refreshSeconds: 60 })
 * connect(secrets.require("DATABASE_URL"))
 * ```
 *
 * Rejects with `SecretsError` if they could not be loaded, and with `TypeError` if an option is missing or wrong. A refresh that
 * fails leaves the last values.
 */
export const loadSecrets = async (options: LoadSecretsOptions & LoadSecretsCallbacks = {}): Promise<LoadedSecrets> => {
  const source = await sourceOf(options)
  const answer = await request(source, undefined, options.signal)
  if (answer === undefined) throw new SecretsError("unavailable", `${source.baseUrl} answered without the secrets.`)
  return new Secrets(source, answer, options)
}
