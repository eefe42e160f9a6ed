/** What stands in the addresses of a run and of a test, beside their numbers. */

const views = ["failures", "tests", "retries", "details"] as const

export interface TestsSearch {
  readonly view?: (typeof views)[number]
  readonly status?: "failed" | "flaky" | "passed" | "skipped"
  readonly q?: string
}

const statuses = ["failed", "flaky", "passed", "skipped"] as const

export const readTestsSearch = (search: Readonly<Record<string, unknown>>): TestsSearch => {
  const view = views.find((one) => one === search["view"])
  const status = statuses.find((one) => one === search["status"])
  const q = typeof search["q"] === "number" ? String(search["q"]) : search["q"]
  return {
    ...(view === undefined ? {} : { view }),
    ...(status === undefined ? {} : { status }),
    ...(typeof q === "string" && q !== "" ? { q } : {})
  }
}

export interface TestSearch {
  /** The number of the attempt that is shown. */
  readonly attempt?: number
  /** The trace of the attempt takes the place of the page. */
  readonly open?: "trace"
}

export const readTestSearch = (search: Readonly<Record<string, unknown>>): TestSearch => {
  const attempt = Number(search["attempt"])
  return {
    ...(Number.isInteger(attempt) && attempt > 0 ? { attempt } : {}),
    ...(search["open"] === "trace" ? { open: "trace" as const } : {})
  }
}

const caseStates = ["failing", "flaky", "slow"] as const

/** The tests of a product over many runs. */
export interface CasesSearch {
  readonly product?: string
  readonly environment?: string
  readonly state?: (typeof caseStates)[number]
  readonly q?: string
}

const textAt = (search: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = typeof search[name] === "number" ? String(search[name]) : search[name]
  return typeof value === "string" && value !== "" ? value.slice(0, 500) : undefined
}

const target = (search: Readonly<Record<string, unknown>>) => {
  const [product, environment] = [textAt(search, "product"), textAt(search, "environment")]
  return { ...(product === undefined ? {} : { product }), ...(environment === undefined ? {} : { environment }) }
}

export const readCasesSearch = (search: Readonly<Record<string, unknown>>): CasesSearch => {
  const state = caseStates.find((one) => one === search["state"])
  const q = textAt(search, "q")
  return { ...target(search), ...(state === undefined ? {} : { state }), ...(q === undefined ? {} : { q }) }
}

/** A test of a product, in one environment or in all. */
export interface CaseSearch {
  readonly environment?: string
}

export const readCaseSearch = (search: Readonly<Record<string, unknown>>): CaseSearch => {
  const environment = textAt(search, "environment")
  return environment === undefined ? {} : { environment }
}

/** How many days back trends go: 30 where nothing is said. */
export const trendDays = [90, 365] as const

export interface TrendsSearch {
  readonly product?: string
  readonly environment?: string
  readonly days?: (typeof trendDays)[number]
  readonly view?: "table"
}

export const readTrendsSearch = (search: Readonly<Record<string, unknown>>): TrendsSearch => {
  const days = trendDays.find((one) => one === Number(search["days"]))
  return {
    ...target(search),
    ...(days === undefined ? {} : { days }),
    ...(search["view"] === "table" ? { view: "table" as const } : {})
  }
}

/** Two runs beside each other, by their numbers. */
export interface CompareSearch {
  readonly base?: number
  readonly run?: number
}

export const readCompareSearch = (search: Readonly<Record<string, unknown>>): CompareSearch => {
  const numberAt = (name: string) => {
    const number = Number(search[name])
    return Number.isInteger(number) && number > 0 ? number : undefined
  }
  const [base, run] = [numberAt("base"), numberAt("run")]
  return { ...(base === undefined ? {} : { base }), ...(run === undefined ? {} : { run }) }
}
