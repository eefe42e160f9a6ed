import { type Address, oneAt, withoutUndefined, textAt } from "../ui/address.ts"

const views = ["readiness", "tokens", "compare"] as const

/** What stands in the address of a deployment. */
export interface DeploymentSearch {
  readonly view?: (typeof views)[number]
  /** The slug of the environment that it is compared with. */
  readonly with?: string
  /** The version whose readiness is asked for. */
  readonly version?: string
}

export const readDeploymentSearch = (address: Address): DeploymentSearch => {
  const view = oneAt(address, "view", views)
  return withoutUndefined({
    view,
    with: view === "compare" ? textAt(address, "with") : undefined,
    version: view === "readiness" ? textAt(address, "version") : undefined
  })
}
