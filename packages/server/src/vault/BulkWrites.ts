import type { EnvironmentId, ProductId, SecretId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, type Redacted } from "effect"
import type { Access } from "../access/Access.ts"
import type { ValueCipher } from "./ValueCipher.ts"
import { holdApprovals } from "./GuardedWrites.ts"
import { newSecret, nextVersion, storeWrite } from "./SecretWrites.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import type { EnvironmentPart, LockedSecret, NewVersion, ProductPart, Targets } from "./VaultRepo.ts"
import { checkWritable, resolveEnvironments, resolveProducts } from "./VaultRules.ts"

/** What assignments and generations have in common: one value for each environment, in all products. */

/** What a bulk request wrote to one pair, stored as JSON; version 0 for null where nothing was ever set. */
export interface WrittenPair {
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  readonly secretId: SecretId
  readonly version: number
  readonly hasValue: boolean
  readonly created: boolean
}

/** The products and environments that an answer names. */
export type BulkTargets = Pick<Targets, "products" | "environments">

interface BulkInput {
  readonly products: ReadonlyArray<string>
  readonly environments: ReadonlyArray<string>
  readonly name: string
}

/** Writes the value of each environment to all products. Makes the secrets that are missing. */
export const writeAll = (dependencies: VaultDependencies) => {
  const { repo } = dependencies
  const makeMissing = createMissing(dependencies)
  const store = storeWrite(dependencies)
  const hold = holdApprovals(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    cipher: ValueCipher,
    input: BulkInput,
    source: "assignment" | "generation",
    valueOf: (environment: EnvironmentPart) => Redacted.Redacted | null
  ) {
    const targets = yield* repo.lockTargets(by.workspace.id, input)
    const products = yield* resolveProducts(targets.products, input.products)
    const environments = yield* resolveEnvironments(targets.environments, input.environments)
    yield* checkWritable(targets, products, environments)
    yield* repo.lockNames(by.workspace.id, input.name)
    const productIds = products.map(({ id }) => id)
    const locked = yield* repo.lock(by.workspace.id, productIds, input.name)
    const created = yield* makeMissing(by, input.name, products, locked)
    const secrets = new Map([...locked, ...created].map((secret) => [secret.productId, secret]))
    const createdIds = new Set(created.map(({ id }) => id))
    const approvals = yield* hold(
      by,
      targets,
      environments.map(({ id }) => id)
    )
    const { versions, written } = nextVersions(cipher, products, environments, secrets, createdIds, valueOf)
    yield* store(by, {
      source,
      targets,
      secrets: [...secrets.values()],
      created: createdIds,
      versions,
      approvals
    })
    return { written, products, environments }
  })
}

/** Stores a secret of the name in each product that has none. */
const createMissing = (dependencies: VaultDependencies) => {
  const { repo } = dependencies
  const make = newSecret(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    name: string,
    products: ReadonlyArray<ProductPart>,
    locked: ReadonlyArray<LockedSecret>
  ) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const created = yield* Effect.forEach(
      products.filter(({ id }) => !locked.some(({ productId }) => productId === id)),
      ({ id }) => make(by, id, name, now)
    )
    // The name is locked, so no other transaction can have created one.
    if (created.length > 0) yield* Effect.catchTag(repo.insert(created), "UniqueViolation", Effect.die)
    return created
  })
}

/** The next version of each pair, and what is written to it. */
const nextVersions = (
  cipher: ValueCipher,
  products: ReadonlyArray<ProductPart>,
  environments: ReadonlyArray<EnvironmentPart>,
  secrets: ReadonlyMap<ProductId, LockedSecret>,
  created: ReadonlySet<SecretId>,
  valueOf: (environment: EnvironmentPart) => Redacted.Redacted | null
) => {
  const written: Array<WrittenPair> = []
  const versions: Array<NewVersion> = []
  for (const product of products) {
    const secret = secrets.get(product.id)!
    for (const environment of environments) {
      const value = valueOf(environment)
      const version = nextVersion(cipher, secret, environment.id, value)
      if (version !== undefined) versions.push(version)
      written.push({
        productId: product.id,
        environmentId: environment.id,
        secretId: secret.id,
        version: version?.version ?? 0,
        hasValue: value !== null,
        created: created.has(secret.id)
      })
    }
  }
  return { written, versions }
}

/** The products and environments that a request wrote to, for the replay of its answer. */
export const writtenTargets =
  ({ repo }: VaultDependencies) =>
  (by: Access, written: ReadonlyArray<WrittenPair>) =>
    repo.lockTargets(by.workspace.id, {
      products: [...new Set(written.map(({ productId }) => productId))],
      environments: [...new Set(written.map(({ environmentId }) => environmentId))]
    })

/** Pairs with their product and environment, by product name, then environment name. */
export const sortedPairs = (written: ReadonlyArray<WrittenPair>, { environments, products }: BulkTargets) => {
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
