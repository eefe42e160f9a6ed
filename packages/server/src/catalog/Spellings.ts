import { beginOf, spellingsAmong } from "@delivery/domain/catalog/WholeVersion"
import type { ProductId } from "@delivery/domain/Ids"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { deploymentReleases } from "./ReleaseRows.ts"

/** A version of a product in each way in which a deployment of the product had it. */
export interface Spelled {
  readonly productId: ProductId
  readonly version: string
  readonly spellings: ReadonlyArray<string>
}

/** Those of a product's versions that are written in several ways. */
export const spelledAmong = ({
  productId,
  versions
}: {
  readonly productId: ProductId
  readonly versions: ReadonlyArray<string>
}): ReadonlyArray<Spelled> => {
  const spellings = spellingsAmong(versions)
  return versions
    .map((version) => ({ productId, version, spellings: spellings(version) }))
    .filter(({ spellings }) => spellings.length > 1)
}

/** Each of the versions with those of the known ones that are the same commit, itself among them. */
export const spelledWith = (
  versions: ReadonlyArray<Pick<Spelled, "productId" | "version">>,
  known: ReadonlyArray<Pick<Spelled, "productId" | "version">>
): ReadonlyArray<Spelled> => {
  const spellings = new Map(
    [...Map.groupBy([...versions, ...known], beginningOf)].map(
      ([key, those]) => [key, spellingsAmong(those.map(({ version }) => version))] as const
    )
  )
  return versions.map((one) => ({ ...one, spellings: spellings.get(beginningOf(one))!(one.version) }))
}

const beginningOf = ({ productId, version }: Pick<Spelled, "productId" | "version">): string =>
  `${productId}/${beginOf(version)}`

export const spellingsInMemory = (database: MemoryDatabase, productId: ProductId) =>
  spellingsAmong(
    database
      .table(deploymentReleases)
      .filter((release) => release.productId === productId)
      .flatMap(({ version }) => version ?? [])
  )
