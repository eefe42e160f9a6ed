import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import type { EnvironmentId, ProductId, SecretId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import type { Secret, SecretEnvironment, SecretProduct } from "@delivery/domain/vault/Secret"
import type { EnvironmentPart, Facts, ProductPart, SecretRow, StandingVersion, Targets } from "./VaultRepo.ts"
import { pairsOf } from "./VaultRules.ts"

/** How what is stored of secrets is shown (contract, section 5). */

/** What a bulk request wrote to one pair; version 0 for null where nothing was ever set. */
export interface WrittenPair {
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  readonly secretId: SecretId
  readonly version: number
  readonly hasValue: boolean
  readonly created: boolean
}

/** The products and environments that an answer names. */
export type CatalogParts = Pick<Targets, "products" | "environments">
export const productRef = ({ id, name, slug }: ProductPart): SecretProduct => ({ id, slug, name })

export const environmentRef = ({
  archivedAt,
  emoji,
  id,
  name,
  slug,
  ...environment
}: EnvironmentPart): EnvironmentRef => ({
  id,
  slug,
  name,
  class: environment.class,
  emoji,
  archived: archivedAt !== null
})

/** How the facts show a secret in an environment. */
export const shownIn = (facts: Facts) => {
  const versions = new Map(facts.versions.map((version) => [`${version.secretId} ${version.environmentId}`, version]))
  const pair = pairsOf(facts.deployments)
  const shown = {
    version: (secret: SecretRow, { id }: EnvironmentPart): StandingVersion | undefined =>
      versions.get(`${secret.id} ${id}`),
    pair: (secret: SecretRow, { id }: EnvironmentPart) => pair(secret.productId, id),
    environment: (secret: SecretRow, environment: EnvironmentPart): SecretEnvironment => {
      const version = shown.version(secret, environment)
      return {
        environment: environmentRef(environment),
        version: version?.version ?? 0,
        hasValue: version?.hasValue ?? false,
        deployed: shown.pair(secret, environment)?.deployed ?? false,
        updatedAt: version?.at ?? null,
        updatedBy: version?.by ?? null
      }
    }
  }
  return shown
}

/** Secrets without values, by name, then product name. */
export const secretsOf = (facts: Facts): ReadonlyArray<Secret> => {
  const products = new Map(facts.products.map((product) => [product.id, product]))
  const environments = facts.environments.toSorted(byName)
  const shown = shownIn(facts)
  return facts.secrets
    .map((secret) => ({
      id: secret.id,
      name: secret.name,
      product: productRef(products.get(secret.productId)!),
      environments: environments.map((environment) => shown.environment(secret, environment)),
      createdAt: secret.createdAt,
      updatedAt: secret.updatedAt
    }))
    .toSorted((a, b) => byName({ name: a.name, id: "" }, { name: b.name, id: "" }) || byName(a.product, b.product))
}

/** Pairs with what they name, by product name, then environment name. */
export const sortedPairs = (written: ReadonlyArray<WrittenPair>, { environments, products }: CatalogParts) => {
  const product = new Map(products.map((part) => [part.id, part]))
  const environment = new Map(environments.map((part) => [part.id, part]))
  return written
    .map((pair) => ({
      pair,
      product: product.get(pair.productId)!,
      environment: environment.get(pair.environmentId)!
    }))
    .toSorted((a, b) => byName(a.product, b.product) || byName(a.environment, b.environment))
}
