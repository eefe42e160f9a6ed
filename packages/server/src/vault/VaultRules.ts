import { Conflict, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { EnvironmentId, ProductId } from "@delivery/domain/Ids"
import { isId, isSlug } from "@delivery/domain/Text"
import { maxPairs } from "@delivery/domain/vault/Secret"
import { Effect } from "effect"
import type { EnvironmentPart, HeldSecret, PairState, ProductPart, Targets } from "./VaultRepo.ts"

/** What a change of secrets is refused for (contract, section 5). */

/** At most 1,000 pairs in one call. */
export const fewPairs = (field: string, products: number, environments: number): Effect.Effect<void, InvalidInput> =>
  products * environments <= maxPairs
    ? Effect.void
    : Effect.fail(InvalidInput.at(field, `At most ${maxPairs} pairs of product and environment`))

const refersTo = (ref: string) => (object: { readonly id: string; readonly slug: string }) =>
  object.id === ref || object.slug === ref

/** A key of a body that has the form of a slug or id may be repeated in an error; anything else may be a mistake. */
const missing = (field: string, ref: string): NotFound =>
  NotFound.reference(isId(ref) || isSlug(ref) ? `${field}.${ref}` : field)

/** The objects that refs of a list name, each once. */
export const allNamed = Effect.fnUntraced(function* <A extends ProductPart | EnvironmentPart>(
  objects: ReadonlyArray<A>,
  field: string,
  refs: ReadonlyArray<string>
) {
  const named = new Set<A>()
  for (const ref of refs) {
    const object = objects.find(refersTo(ref))
    if (object === undefined) return yield* missing(field, ref)
    named.add(object)
  }
  return [...named]
})

/** The environments that the keys of a body name, each with what stands beside its key. */
export const byRef = Effect.fnUntraced(function* <A>(
  environments: ReadonlyArray<EnvironmentPart>,
  field: string,
  entries: ReadonlyArray<readonly [string, A]>
) {
  const named = new Map<EnvironmentPart, A>()
  for (const [ref] of entries) {
    if (!environments.some(refersTo(ref))) return yield* missing(field, ref)
  }
  for (const [ref, value] of entries) {
    const environment = environments.find(refersTo(ref))!
    if (named.has(environment)) {
      return yield* InvalidInput.at(field, `${environment.slug} is named twice, by slug and by id`)
    }
    named.set(environment, value)
  }
  return named
})

export const pairsOf = (deployments: ReadonlyArray<PairState>) => {
  const pairs = new Map(deployments.map((pair) => [`${pair.productId} ${pair.environmentId}`, pair]))
  return (productId: ProductId, environmentId: EnvironmentId) => pairs.get(`${productId} ${environmentId}`)
}

/** Refuses archived products and environments, and pairs whose deployment was deleted (contract, section 5). */
export const writable = Effect.fnUntraced(function* (
  targets: Targets,
  products: ReadonlyArray<ProductPart>,
  environments: ReadonlyArray<EnvironmentPart>
) {
  for (const [noun, objects] of [
    ["product", products],
    ["environment", environments]
  ] as const) {
    if (objects.some(({ archivedAt }) => archivedAt !== null)) {
      return yield* new Conflict({ message: `The ${noun} is archived.`, reason: "archived" })
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
export const asExpected = (
  secret: HeldSecret,
  expected: ReadonlyMap<EnvironmentPart, number>
): Effect.Effect<void, Conflict> => {
  const current = Array.from(expected, ([{ id, slug }, version]) => ({
    slug,
    version,
    is: secret.versions.get(id) ?? 0
  })).filter(({ is, version }) => is !== version)
  return current.length === 0
    ? Effect.void
    : Effect.fail(
        new Conflict({
          message: `${current.map(({ is, slug }) => `${slug} is at version ${is}`).join(", ")}.`,
          reason: "version_mismatch",
          current: Object.fromEntries(current.map(({ is, slug }) => [slug, is]))
        })
      )
}

export const nameInUse = (name: string) =>
  new Conflict({ message: `The name "${name}" is already in use.`, reason: "name_in_use" })
