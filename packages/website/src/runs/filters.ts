import { type Address, oneAt, withoutUndefined, textAt } from "../ui/address.ts"

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

/** Reads them from whatever stands there: what is none is left out. */
export const readRunFilters = (address: Address): RunFilters =>
  withoutUndefined({
    product: textAt(address, "product"),
    environment: textAt(address, "environment"),
    result: oneAt(address, "result", results),
    q: textAt(address, "q"),
    mine: String(address["mine"]) === "true" ? (true as const) : undefined
  })

/** The query of the API for them. */
export const queryOf = ({ mine, ...rest }: RunFilters) => ({
  ...rest,
  ...(mine === true ? { mine: "true" as const } : {})
})

export const isFiltered = (filters: RunFilters): boolean => Object.keys(filters).length > 0
