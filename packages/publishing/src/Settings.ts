import {
  type CleanupReport,
  type Coverage,
  type FixtureAccess,
  type Git,
  hasCiToken,
  lackingPermission
} from "@delivery/client"
import { isServiceUrl, serviceUrl } from "@delivery/domain/ServiceUrl"

/** Deletes the test data that a run made on the deployment, under its scope. */
export type Cleanup = (fixture: FixtureAccess) => Promise<CleanupReport>

/** Options of the reporter. An option that is left out is read from the environment variable beside it. */
export interface DeliveryReporterOptions {
  /** The address of the service. `DELIVERY_URL` */
  readonly url?: string | undefined
  /** An API key (`ctk_...`). `DELIVERY_API_KEY`. Without one, jobs of GitHub and GitLab exchange their ID token for keys. */
  readonly apiKey?: string | undefined
  /** Slug or id, by default `main`. `DELIVERY_WORKSPACE` */
  readonly workspace?: string | undefined
  /** Slug or id. `DELIVERY_PRODUCT` */
  readonly product?: string | undefined
  /** Slug or id. `DELIVERY_ENVIRONMENT` */
  readonly environment?: string | undefined
  /** The URL that the tests run against. `DELIVERY_BASE_URL`, or `use.baseURL`, or that of the deployment. */
  readonly baseUrl?: string | undefined
  /** The Fixture API to use in place of that of the deployment. */
  readonly fixtureUrl?: string | undefined
  /** The coverage that was selected. `DELIVERY_COVERAGE` */
  readonly coverage?: Coverage | undefined
  /** The folders that were selected; none means all. */
  readonly folders?: ReadonlyArray<string> | undefined
  /** The cases that were selected; none means all. */
  readonly caseIds?: ReadonlyArray<string> | undefined
  /** Replaces what git and the variables of the CI say. */
  readonly git?: Partial<Git> | undefined
  /** Called before a run with a fixture scope finishes: a function, or a module with a function as its default export. */
  readonly cleanup?: Cleanup | string | undefined
  /** Whether a run fails if it cannot be published. `DELIVERY_REQUIRED`: 1, true, yes or on; 0, false, no or off. Default: no. */
  readonly required?: boolean | undefined
}

/** Complete options. */
export interface Settings {
  readonly url: string
  /** Undefined where the job exchanges its ID token for keys. */
  readonly apiKey: string | undefined
  readonly workspace: string
  readonly product: string
  readonly environment: string
  readonly baseUrl: string | undefined
  readonly fixtureUrl: string | undefined
  readonly coverage: Coverage | null
}

type Environment = Readonly<Record<string, string | undefined>>

export const coverages: ReadonlyArray<Coverage> = ["critical", "acceptance", "regression", "exhaustive"]

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

/** Settings that nothing can be published with. */
export interface WrongSettings {
  /** One line that names all that is missing or wrong. */
  readonly problem: string
  /** Without what is wrong: enough to keep results with. Undefined where something is missing. */
  readonly rest: Settings | undefined
}

/** The settings, or what is wrong with them. */
export const readSettings = (options: DeliveryReporterOptions, environment: Environment): Settings | WrongSettings => {
  const missing: Array<string> = []
  const problems: Array<string> = []
  const optional = (option: "url" | "apiKey" | "workspace" | "product" | "environment" | "baseUrl", name: string) =>
    (options[option] ?? environment[name] ?? "").trim() || undefined
  const required = (option: Parameters<typeof optional>[0], name: string): string => {
    const value = optional(option, name)
    if (value === undefined) missing.push(`${option} (or ${name})`)
    return value ?? ""
  }
  const httpUrl = (option: string, value: string | undefined): string | undefined => {
    if (value === undefined || isHttpUrl(value)) return value
    problems.push(`${option} is not an http(s) URL`)
    return undefined
  }
  const coverage = options.coverage ?? ((environment["DELIVERY_COVERAGE"] ?? "").trim() || null)
  const known = coverages.find((one) => one === coverage)

  const settings: Settings = {
    url: required("url", "DELIVERY_URL"),
    apiKey: (hasCiToken(environment) ? optional : required)("apiKey", "DELIVERY_API_KEY"),
    // As on the command line.
    workspace: optional("workspace", "DELIVERY_WORKSPACE") ?? "main",
    product: required("product", "DELIVERY_PRODUCT"),
    environment: required("environment", "DELIVERY_ENVIRONMENT"),
    baseUrl: httpUrl("baseUrl", optional("baseUrl", "DELIVERY_BASE_URL")),
    fixtureUrl: httpUrl("fixtureUrl", options.fixtureUrl),
    coverage: known ?? null
  }
  if (settings.url !== "" && !isServiceUrl(settings.url)) problems.unshift(`url is not ${serviceUrl}`)
  if (coverage !== null && known === undefined) problems.push(`coverage is not one of ${coverages.join(", ")}`)
  if (missing.length > 0) problems.unshift(`settings are missing: ${missing.join(", ")}`)
  if (settings.apiKey === "") problems.push(...permissionOf(environment))
  if (problems.length === 0) return settings
  return { problem: problems.join("; "), rest: missing.length === 0 ? settings : undefined }
}

/** What a job of a CI lacks that is to exchange its ID token for a key. */
const permissionOf = (environment: Environment): ReadonlyArray<string> => {
  const lacking = lackingPermission(environment)
  return lacking === undefined ? [] : [`without a key, ${lacking}`]
}

const answers: Readonly<Record<string, boolean>> = {
  "1": true,
  true: true,
  yes: true,
  on: true,
  "0": false,
  false: false,
  no: false,
  off: false
}

/** Whether a run fails if it cannot be published. Throws where `DELIVERY_REQUIRED` is no answer. */
export const isRequired = (options: DeliveryReporterOptions, environment: Environment): boolean => {
  if (options.required !== undefined) return options.required
  const given = (environment["DELIVERY_REQUIRED"] ?? "").trim()
  if (given === "") return false
  const answer = Object.hasOwn(answers, given.toLowerCase()) ? answers[given.toLowerCase()] : undefined
  if (answer !== undefined) return answer
  throw new TypeError(`Delivery: DELIVERY_REQUIRED is "${given}". Expected one of ${Object.keys(answers).join(", ")}.`)
}
