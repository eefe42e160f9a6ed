import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Secret } from "@delivery/domain/vault/Secret"
import { environmentOrder } from "./environmentOrder.ts"

/** What runs where, as a table of products and environments. Pure. */

export interface Column {
  readonly slug: string
  readonly name: string
  readonly class: string
  readonly emoji: string | null
  readonly approvals?: boolean
}

export interface MatrixRow {
  readonly product: Deployment["product"]
  readonly cells: ReadonlyArray<Deployment | undefined>
}

const bySlug = <A extends { readonly slug: string }>(...lists: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<A> => [
  ...new Map(lists.flat().map((one) => [one.slug, one])).values()
]

/** Environments with production last; products by name. */
export const matrixOf = (
  deployments: ReadonlyArray<Deployment>,
  products: ReadonlyArray<Deployment["product"]> = [],
  environments: ReadonlyArray<Column> = []
): { readonly columns: ReadonlyArray<Column>; readonly rows: ReadonlyArray<MatrixRow> } => {
  // Read whole, they say what the short form of a deployment does not.
  const columns = bySlug<Column>(
    deployments.map(({ environment }) => environment),
    environments
  ).toSorted(environmentOrder)
  const rows = bySlug(
    products,
    deployments.map(({ product }) => product)
  )
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map((product) => ({
      product,
      cells: columns.map(({ slug }) =>
        deployments.find((one) => one.product.slug === product.slug && one.environment.slug === slug)
      )
    }))
  return { columns, rows }
}

/** The names of secrets that a product has in another environment, but not in this one. */
export const missingSecrets = (
  secrets: ReadonlyArray<Secret>,
  product: string,
  environment: string
): ReadonlyArray<string> =>
  secrets
    .filter(
      (secret) =>
        secret.product.slug === product &&
        secret.environments.some((one) => one.hasValue && one.deployed) &&
        !secret.environments.some((one) => one.environment.slug === environment && one.hasValue)
    )
    .map(({ name }) => name)

/** The newest run that tested what the deployment runs now: one of another version says nothing about this one. */
export const lastRun = (
  runs: ReadonlyArray<TestRunSummary>,
  { environment, product, version }: Deployment
): TestRunSummary | undefined =>
  runs.find(
    (run) =>
      run.product.slug === product.slug &&
      run.environment.slug === environment.slug &&
      run.deploymentVersion === version &&
      !run.deploymentChanged
  )
