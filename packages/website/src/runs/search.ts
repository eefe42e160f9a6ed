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
}

export const readTestSearch = (search: Readonly<Record<string, unknown>>): TestSearch => {
  const attempt = Number(search["attempt"])
  return Number.isInteger(attempt) && attempt > 0 ? { attempt } : {}
}
