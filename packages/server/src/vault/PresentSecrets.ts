import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import { byName } from "@delivery/domain/Order"
import type { Secret, SecretEnvironment, SecretProduct } from "@delivery/domain/vault/Secret"
import type { EnvironmentPart, FoundSecrets, FoundVersion, PairState, ProductPart, SecretRow } from "./VaultRepo.ts"
import { pairsOf } from "./VaultRules.ts"

/** Secrets as the API answers them, without values (docs/contract.md, Vault). */

export const presentProduct = ({ id, name, slug }: ProductPart): SecretProduct => ({ id, slug, name })

export const presentEnvironment = ({
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

/** Looks up what was found of a secret in an environment. */
export interface SecretLookup {
  readonly version: (secret: SecretRow, environment: EnvironmentPart) => FoundVersion | undefined
  readonly pair: (secret: SecretRow, environment: EnvironmentPart) => PairState | undefined
}

export const lookupIn = (found: FoundSecrets): SecretLookup => {
  const versions = new Map(found.versions.map((version) => [`${version.secretId} ${version.environmentId}`, version]))
  const pair = pairsOf(found.deployments)
  return {
    version: (secret, { id }) => versions.get(`${secret.id} ${id}`),
    pair: (secret, { id }) => pair(secret.productId, id)
  }
}

export const presentSecretEnvironment = (
  lookup: SecretLookup,
  secret: SecretRow,
  environment: EnvironmentPart
): SecretEnvironment => {
  const version = lookup.version(secret, environment)
  return {
    environment: presentEnvironment(environment),
    version: version?.version ?? 0,
    hasValue: version?.hasValue ?? false,
    deployed: lookup.pair(secret, environment)?.deployed ?? false,
    updatedAt: version?.at ?? null,
    updatedBy: version?.by ?? null
  }
}

/** Secrets without values, by name, then product name. */
export const presentSecrets = (found: FoundSecrets): ReadonlyArray<Secret> => {
  const products = new Map(found.products.map((product) => [product.id, product]))
  const environments = found.environments.toSorted(byName)
  const lookup = lookupIn(found)
  return found.secrets
    .map((secret) => ({
      id: secret.id,
      name: secret.name,
      product: presentProduct(products.get(secret.productId)!),
      environments: environments.map((environment) => presentSecretEnvironment(lookup, secret, environment)),
      createdAt: secret.createdAt,
      updatedAt: secret.updatedAt
    }))
    .toSorted((a, b) => byName({ name: a.name, id: "" }, { name: b.name, id: "" }) || byName(a.product, b.product))
}
