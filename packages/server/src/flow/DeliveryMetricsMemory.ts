import type { CommitOfPeriod } from "@delivery/domain/flow/DeliveryMetrics"
import { Effect, Layer } from "effect"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { deploymentReleases, type ReleaseRow, versionCommits } from "../catalog/ReleaseRows.ts"
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

const releases = (memory: Memory) => (scope: MetricsScope) =>
  memory.read((database) => {
    const all = inProduction(database, scope)
    const rollbackOf = ({ deploymentId, number, version }: ReleaseRow) => {
      const history = all
        .filter((release) => release.deploymentId === deploymentId && release.version !== null)
        .toSorted((a, b) => a.number - b.number)
      const next = history.find((release) => release.number > number)
      const firstOf = (of: string | null) => history.findIndex((release) => release.version === of)
      return next !== undefined && firstOf(next.version) < firstOf(version)
        ? { number: next.number, at: next.at }
        : null
    }
    return all
      .filter(({ at, version }) => version !== null && at >= scope.from && at < scope.until)
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
    for (const release of inProduction(database, scope)) {
      const of = database
        .table(versionCommits)
        .filter(({ productId, version }) => productId === release.productId && version === release.version)
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
