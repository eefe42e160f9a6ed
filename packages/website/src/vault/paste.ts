import type { Secret } from "@delivery/domain/vault/Secret"
import { client } from "../api/client.ts"
import { inTurn } from "./inTurn.ts"
import { writing } from "./queries.ts"
import { type Change, changeOf, isWritten, type Present, refusalOf } from "./change.ts"

/** What a paste would change, compared with what is there, and the writing of it. */

export interface Planned {
  readonly name: string
  readonly value: string
  readonly change: Change
  /** The version that it was compared with; undefined where the product has no secret of this name. */
  readonly version: number | undefined
}

interface Target {
  readonly slug: string
  readonly product: string
  readonly environment: string
}

const presentOf = async ({ environment, product, slug }: Target, name: string): Promise<Present | undefined> => {
  const secret = await client.vault.get({
    params: { slug, productSlug: product, name },
    query: { values: environment }
  })
  return secret.environments.find((one) => one.environment.slug === environment)
}

/** Compares with the values that may be read. It reads those that are in the paste, and no others. */
export const planPaste = (
  target: Target,
  values: ReadonlyMap<string, string>,
  secrets: ReadonlyArray<Secret>
): Promise<ReadonlyArray<Planned>> => {
  const known = new Map(secrets.filter((one) => one.product.slug === target.product).map((one) => [one.name, one]))
  return inTurn([...values], async ([name, value]): Promise<Planned> => {
    if (refusalOf(name) !== undefined) return { name, value, change: "refused", version: undefined }
    const isKnown = known.has(name)
    const present = isKnown ? await presentOf(target, name) : undefined
    return { name, value, change: changeOf(value, present), version: isKnown ? (present?.version ?? 0) : undefined }
  })
}

export interface Outcome {
  readonly name: string
  readonly error?: unknown
}

/** Writes what differs, each name by itself: what one is refused for does not hold the others back. */
export const writePaste = (
  { environment, product, slug }: Target,
  planned: ReadonlyArray<Planned>
): Promise<ReadonlyArray<Outcome>> =>
  inTurn(
    planned.filter(({ change }) => isWritten(change)),
    async ({ name, value, version }) => {
      const result =
        version === undefined
          ? await client.safe.vault.create({
              params: { slug, productSlug: product },
              query: writing,
              payload: { name, values: { [environment]: value } }
            })
          : await client.safe.vault.update({
              params: { slug, productSlug: product, name },
              query: writing,
              payload: { values: { [environment]: value }, expectedVersions: { [environment]: version } }
            })
      return result.ok ? { name } : { name, error: result.error }
    }
  )
