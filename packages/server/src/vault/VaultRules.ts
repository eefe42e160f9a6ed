import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { EnvironmentId, ProductId } from "@delivery/domain/Ids"
import { isId, isSlug } from "@delivery/domain/Text"
import { maxPairs } from "@delivery/domain/vault/Secret"
import { Effect } from "effect"
import type { EnvironmentPart, LockedSecret, PairState, ProductPart, Targets } from "./VaultRepo.ts"

/** What a change of secrets is refused for (docs/contract.md, Vault). */

export type Refusal = InvalidInput | NotFound | Forbidden | Conflict

export const checkPairCount = (
  field: string,
  products: number,
  environments: number
): Effect.Effect<void, InvalidInput> =>
  products * environments <= maxPairs
    ? Effect.void
    : Effect.fail(InvalidInput.at(field, `One call writes at most ${maxPairs} pairs of product and environment.`))

const refersTo = (ref: string) => (object: { readonly id: string; readonly slug: string }) =>
  object.id === ref || object.slug === ref

/** A path is repeated in an error only if it has the form of a ref: anything else may be a secret in the wrong place. */
const isRepeatable = (ref: string): boolean => isId(ref) || isSlug(ref)

/** The product or environment that the path names does not exist. */
export const pathNotFound = (noun: "product" | "environment", ref: string): NotFound =>
  isRepeatable(ref) ? NotFound.of(noun, ref) : NotFound.of(noun)

/** The product or environment that a field of the body names does not exist. Bodies of the vault are never repeated. */
const fieldNotFound = (field: string, noun: "product" | "environment"): NotFound =>
  NotFound.reference(field, undefined, noun)

export const requireProduct = ({ products: [product] }: Pick<Targets, "products">, ref: string) =>
  product === undefined ? Effect.fail(pathNotFound("product", ref)) : Effect.succeed(product)

/** The products that a list of refs names, each once. */
export const resolveProducts = (products: ReadonlyArray<ProductPart>, refs: ReadonlyArray<string>) =>
  resolveAll(products, refs, () => fieldNotFound("products", "product"))

/** The environments that a list of refs names, each once. */
export const resolveEnvironments = (environments: ReadonlyArray<EnvironmentPart>, refs: ReadonlyArray<string>) =>
  resolveAll(environments, refs, () => fieldNotFound("environments", "environment"))

const resolveAll = Effect.fnUntraced(function* <A extends ProductPart | EnvironmentPart>(
  objects: ReadonlyArray<A>,
  refs: ReadonlyArray<string>,
  notFound: (ref: string) => NotFound
) {
  const resolved = new Set<A>()
  for (const ref of refs) {
    const object = objects.find(refersTo(ref))
    if (object === undefined) return yield* notFound(ref)
    resolved.add(object)
  }
  return [...resolved]
})

/** The environments that the keys of an object name, each with the value of its key. */
export const resolveKeys = Effect.fnUntraced(function* <A>(
  environments: ReadonlyArray<EnvironmentPart>,
  field: "values" | "restore" | "expectedVersions",
  entries: ReadonlyArray<readonly [string, A]>
) {
  const resolved = new Map<EnvironmentPart, A>()
  for (const [ref] of entries) {
    if (!environments.some(refersTo(ref))) return yield* fieldNotFound(field, "environment")
  }
  for (const [ref, value] of entries) {
    const environment = environments.find(refersTo(ref))!
    if (resolved.has(environment)) {
      return yield* InvalidInput.at(field, `The environment ${environment.slug} is named twice: by slug and by id.`)
    }
    resolved.set(environment, value)
  }
  return resolved
})

/** Looks a pair up among those that are or were deployed. */
export const pairsOf = (deployments: ReadonlyArray<PairState>) => {
  const pairs = new Map(deployments.map((pair) => [`${pair.productId} ${pair.environmentId}`, pair]))
  return (productId: ProductId, environmentId: EnvironmentId) => pairs.get(`${productId} ${environmentId}`)
}

/** Refuses archived products and environments, and pairs whose deployment was deleted. */
export const checkWritable = Effect.fnUntraced(function* (
  targets: Targets,
  products: ReadonlyArray<ProductPart>,
  environments: ReadonlyArray<EnvironmentPart>
) {
  for (const [noun, objects] of [
    ["product", products],
    ["environment", environments]
  ] as const) {
    if (objects.some(({ archivedAt }) => archivedAt !== null)) {
      return yield* Conflict.archived(noun)
    }
  }
  const pair = pairsOf(targets.deployments)
  for (const product of products) {
    for (const environment of environments) {
      if (pair(product.id, environment.id)?.deployed === false) {
        return yield* new Conflict({
          message: `${product.name} is no longer deployed in ${environment.name}.`,
          reason: "not_deployed"
        })
      }
    }
  }
})

/** Refuses where an environment is at another version than the caller has seen. */
export const checkExpectedVersions = (
  secret: LockedSecret,
  expected: ReadonlyMap<EnvironmentPart, number>
): Effect.Effect<void, Conflict> => {
  const different = Array.from(expected, ([{ id, slug }, version]) => ({
    slug,
    version,
    current: secret.versions.get(id) ?? 0
  })).filter(({ current, version }) => current !== version)
  return different.length === 0
    ? Effect.void
    : Effect.fail(
        new Conflict({
          message: `${different.map(({ current, slug }) => `${slug} is at version ${current}`).join(", ")}.`,
          reason: "version_mismatch",
          current: Object.fromEntries(different.map(({ current, slug }) => [slug, current]))
        })
      )
}
