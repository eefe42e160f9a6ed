const views = ["tokens", "compare"] as const

/** What stands in the address of a deployment. */
export interface DeploymentSearch {
  readonly view?: (typeof views)[number]
  /** The slug of the environment that it is compared with. */
  readonly with?: string
}

export const readDeploymentSearch = (search: Readonly<Record<string, unknown>>): DeploymentSearch => {
  const view = views.find((one) => one === search["view"])
  const other = search["with"]
  return {
    ...(view === undefined ? {} : { view }),
    ...(view === "compare" && typeof other === "string" && other !== "" ? { with: other } : {})
  }
}
