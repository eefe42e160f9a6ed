/** What stands in the address of a deployment. */
export interface DeploymentSearch {
  readonly view?: "tokens"
}

export const readDeploymentSearch = (search: Readonly<Record<string, unknown>>): DeploymentSearch =>
  search["view"] === "tokens" ? { view: "tokens" } : {}
