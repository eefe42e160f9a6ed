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
  readonly commit?: string
  readonly mine?: true
  /** Those alone that tell how a deployment fares. */
  readonly latest?: true
}

/** Reads them from whatever stands there: what is none is left out. */
export const readRunFilters = (address: Address): RunFilters =>
  withoutUndefined({
    product: textAt(address, "product"),
    environment: textAt(address, "environment"),
    result: oneAt(address, "result", results),
    q: textAt(address, "q"),
    commit: textAt(address, "commit"),
    mine: oneAt(address, "mine", [true]),
    latest: oneAt(address, "latest", [true])
  })

/** The query of the API for them. */
export const queryOf = ({ latest, mine, ...rest }: RunFilters) => ({
  ...rest,
  ...(mine === true ? { mine: "true" as const } : {}),
  ...(latest === true ? { latest: "true" as const } : {})
})

export const isFiltered = (filters: RunFilters): boolean => Object.keys(filters).length > 0
