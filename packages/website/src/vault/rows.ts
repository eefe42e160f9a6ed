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
