import type { CommitOfPeriod } from "@delivery/domain/flow/DeliveryMetrics"
import { Effect, Layer } from "effect"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { deploymentReleases, type ReleaseRow, versionCommits } from "../catalog/ReleaseRows.ts"
import { spellingsInMemory } from "../catalog/Spellings.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { DeliveryMetricsRepo, type MetricsScope } from "./DeliveryMetricsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  DeliveryMetricsRepo,
  Effect.map(MemoryStorage, (memory) =>
    DeliveryMetricsRepo.of({ releases: releases(memory), commits: commits(memory) })
  )
)

/** The releases to production of the products, whenever they were. */
const inProduction = (database: MemoryDatabase, { productId, workspaceId }: MetricsScope) =>
  database
    .table(deploymentReleases)
    .filter(
      (release) =>
        release.workspaceId === workspaceId &&
        (productId === undefined || release.productId === productId) &&
        database.table(environments).get(release.environmentId)!.class === "production"
    )

/** Whether a version is that of a release, however it is written. */
const sameCommits = (database: MemoryDatabase, all: ReadonlyArray<ReleaseRow>) => {
  const products = new Set(all.map(({ productId }) => productId))
  const spellings = new Map([...products].map((id) => [id, spellingsInMemory(database, id)]))
  return ({ productId, version }: ReleaseRow, other: string | null): boolean =>
    version !== null && other !== null && spellings.get(productId)!(version).includes(other)
}

const releases = (memory: Memory) => (scope: MetricsScope) =>
  memory.read((database) => {
    const all = inProduction(database, scope)
    const isSame = sameCommits(database, all)
    const before = (release: ReleaseRow) =>
      all.find(({ deploymentId, number }) => deploymentId === release.deploymentId && number === release.number - 1)
        ?.version ?? null
    // What only writes the commit of the release before it in another way is no change.
    const isChange = (release: ReleaseRow) => release.version !== null && !isSame(release, before(release))
    const rollbackOf = (release: ReleaseRow) => {
      const history = all
        .filter(({ deploymentId }) => deploymentId === release.deploymentId)
        .toSorted((a, b) => a.number - b.number)
      const next = history.find((other) => other.number > release.number && isChange(other))
      const firstOf = (of: ReleaseRow) => history.findIndex(({ version }) => isSame(of, version))
      return next !== undefined && firstOf(next) < firstOf(release) ? { number: next.number, at: next.at } : null
    }
    return all
      .filter((release) => isChange(release) && release.at >= scope.from && release.at < scope.until)
      .map((release) => ({
        product: database.table(products).get(release.productId)!.slug,
        environment: database.table(environments).get(release.environmentId)!.slug,
        deployment: release.deploymentId,
        number: release.number,
        version: release.version!,
        at: release.at,
        rollback: rollbackOf(release)
      }))
  })

const commits = (memory: Memory) => (scope: MetricsScope) =>
  memory.read((database) => {
    const found = new Map<string, CommitOfPeriod>()
    const all = inProduction(database, scope)
    const isSame = sameCommits(database, all)
    for (const release of all) {
      const of = database
        .table(versionCommits)
        .filter(({ productId, version }) => productId === release.productId && isSame(release, version))
      for (const { at, sha } of of) {
        if (at === null) continue
        const key = `${release.productId} ${sha}`
        const known = found.get(key)
        found.set(key, {
          product: database.table(products).get(release.productId)!.slug,
          sha,
          at: known !== undefined && known.at < at ? known.at : at,
          releasedAt: known !== undefined && known.releasedAt < release.at ? known.releasedAt : release.at
        })
      }
    }
    return [...found.values()].filter(({ releasedAt }) => releasedAt >= scope.from && releasedAt < scope.until)
  })
