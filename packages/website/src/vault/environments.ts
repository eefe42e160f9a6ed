import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"

/** Two environments of a product beside each other, by name. Values are compared, and never kept. Pure. */

/** `unknown`: both have a value, and one of them may not be read, or neither was read yet. */
export type Difference = "left" | "right" | "same" | "other" | "unknown" | "neither"

export interface ComparedSecret {
  readonly secret: Secret
  readonly left: SecretEnvironment | undefined
  readonly right: SecretEnvironment | undefined
}

export const compareEnvironments = (
  secrets: ReadonlyArray<Secret>,
  product: string,
  left: string,
  right: string
): ReadonlyArray<ComparedSecret> =>
  secrets
    .filter((secret) => secret.product.slug === product)
    .map((secret) => {
      const cellOf = (environment: string) => secret.environments.find((one) => one.environment.slug === environment)
      return { secret, left: cellOf(left), right: cellOf(right) }
    })

/** What is known without values, with `isSame` where both were read. */
export const differenceOf = ({ left, right }: ComparedSecret, isSame: boolean | undefined): Difference => {
  const [hasLeft, hasRight] = [left?.hasValue === true, right?.hasValue === true]
  if (!hasLeft && !hasRight) return "neither"
  if (hasLeft !== hasRight) return hasLeft ? "left" : "right"
  return isSame === undefined ? "unknown" : isSame ? "same" : "other"
}

/** A secret with the values that may be read. */
interface Read {
  readonly environments: ReadonlyArray<{
    readonly environment: { readonly slug: string }
    readonly value: string | null
  }>
}

/** Whether both values are the same; undefined where one of them may not be read. */
export const isSameValue = ({ environments }: Read, left: string, right: string): boolean | undefined => {
  const valueOf = (slug: string) => environments.find(({ environment }) => environment.slug === slug)?.value ?? null
  const [a, b] = [valueOf(left), valueOf(right)]
  return a === null || b === null ? undefined : a === b
}

export const differs = (difference: Difference): boolean =>
  difference === "left" || difference === "right" || difference === "other"
