/** The filters of the list of runs, as they stand in the address. */

const results = ["passed", "failed", "flaky"] as const
type Result = (typeof results)[number]

export interface RunFilters {
  readonly product?: string
  readonly environment?: string
  readonly result?: Result
  /** Part of the branch or subject, or the start of the commit. */
  readonly q?: string
  readonly mine?: true
}

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === "number" ? String(value) : value
  return typeof text === "string" && text.trim() !== "" ? text.slice(0, 500) : undefined
}

/** Reads them from whatever stands there: what is none is left out. */
export const readRunFilters = (search: Readonly<Record<string, unknown>>): RunFilters => {
  const [product, environment, q] = [textOf(search["product"]), textOf(search["environment"]), textOf(search["q"])]
  const result = results.find((one) => one === search["result"])
  return {
    ...(product === undefined ? {} : { product }),
    ...(environment === undefined ? {} : { environment }),
    ...(result === undefined ? {} : { result }),
    ...(q === undefined ? {} : { q }),
    ...(search["mine"] === true || search["mine"] === "true" ? { mine: true as const } : {})
  }
}

/** The query of the API for them. */
export const queryOf = ({ mine, ...rest }: RunFilters) => ({
  ...rest,
  ...(mine === true ? { mine: "true" as const } : {})
})

export const isFiltered = (filters: RunFilters): boolean => Object.keys(filters).length > 0
