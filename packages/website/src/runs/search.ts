import { type Address, countAt, oneAt, withoutUndefined, textAt } from "../ui/address.ts"

/** What stands in the addresses of a run and of a test, beside their numbers. */

const views = ["failures", "tests", "retries", "details"] as const

export interface TestsSearch {
  readonly view?: (typeof views)[number]
  readonly status?: "failed" | "flaky" | "passed" | "skipped"
  readonly q?: string
}

const statuses = ["failed", "flaky", "passed", "skipped"] as const

export const readTestsSearch = (address: Address): TestsSearch =>
  withoutUndefined({
    view: oneAt(address, "view", views),
    status: oneAt(address, "status", statuses),
    q: textAt(address, "q")
  })

export interface TestSearch {
  /** The number of the attempt that is shown, or all side by side. */
  readonly attempt?: number | "all"
  /** The trace of the attempt takes the place of the page. */
  readonly open?: "trace"
}

export const readTestSearch = (address: Address): TestSearch =>
  withoutUndefined({
    attempt: oneAt(address, "attempt", ["all"]) ?? countAt(address, "attempt"),
    open: oneAt(address, "open", ["trace"])
  })

const caseStates = ["failing", "flaky", "slow", "muted", "passing"] as const

/** The tests of a product over many runs. */
export interface CasesSearch {
  readonly product?: string
  readonly environment?: string
  readonly state?: (typeof caseStates)[number]
  readonly q?: string
}

const target = (address: Address) => ({
  product: textAt(address, "product"),
  environment: textAt(address, "environment")
})

export const readCasesSearch = (address: Address): CasesSearch =>
  withoutUndefined({ ...target(address), state: oneAt(address, "state", caseStates), q: textAt(address, "q") })

/** A test of a product, in one environment or in all. */
export interface CaseSearch {
  readonly environment?: string
}

export const readCaseSearch = (address: Address): CaseSearch =>
  withoutUndefined({ environment: textAt(address, "environment") })

/** How many days back trends go: 30 where nothing is said. */
export const trendDays = [90, 365] as const

export interface TrendsSearch {
  readonly product?: string
  readonly environment?: string
  readonly days?: (typeof trendDays)[number]
  readonly view?: "table"
}

export const readTrendsSearch = (address: Address): TrendsSearch =>
  withoutUndefined({
    ...target(address),
    days: oneAt(address, "days", trendDays),
    view: oneAt(address, "view", ["table"])
  })

/** Two runs beside each other, by their numbers. */
export interface CompareSearch {
  readonly base?: number
  readonly run?: number
}

export const readCompareSearch = (address: Address): CompareSearch =>
  withoutUndefined({ base: countAt(address, "base"), run: countAt(address, "run") })
