import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"
import type { VaultSearch } from "./search.ts"

/** The matrix of names and environments. Pure. */

/** What a cell says: a value, a cleared one, a missing one where others have it, or nothing. */
export type CellState = "set" | "cleared" | "missing" | "none"

/** Missing is what a product that is deployed there has elsewhere. */
export const cellState = (cell: SecretEnvironment, secret: Secret): CellState => {
  if (cell.hasValue) return "set"
  if (cell.deployed && secret.environments.some((one) => one.hasValue)) return "missing"
  return cell.version > 0 ? "cleared" : "none"
}

export const isMissingSomewhere = (secret: Secret): boolean =>
  secret.environments.some((cell) => cellState(cell, secret) === "missing")

/** The environments of a product: where it runs, and where its secrets were ever written; all where there is none. */
export const environmentsOf = <One extends { readonly id: string }>(
  environments: ReadonlyArray<One>,
  secrets: ReadonlyArray<Secret>,
  product: string | undefined
): ReadonlyArray<One> => {
  const shown = environments.filter(({ id }) =>
    secrets.some(
      (secret) =>
        secret.product.slug === product &&
        secret.environments.some((one) => one.environment.id === id && (one.deployed || one.version > 0))
    )
  )
  return shown.length === 0 ? environments : shown
}

export const shownSecrets = (
  secrets: ReadonlyArray<Secret>,
  { only, product, q = "" }: VaultSearch
): ReadonlyArray<Secret> => {
  const words = q.toLowerCase().split(/\s+/)
  return secrets.filter(
    (secret) =>
      (product === undefined || secret.product.slug === product) &&
      (only === undefined || isMissingSomewhere(secret)) &&
      words.every((word) => secret.name.toLowerCase().includes(word))
  )
}
