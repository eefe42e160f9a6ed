import type { DeploymentId, ProductId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { storeEvent } from "../events/EventsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { type DeploymentRow, deployments, DeploymentsRepo } from "./DeploymentsRepo.ts"
import { environments } from "./EnvironmentsRepo.ts"
import { products } from "./ProductsRepo.ts"
import { commitMentions, deploymentReleases, type NewRelease, versionCommits } from "./ReleaseRows.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  DeploymentsRepo,
  Effect.map(MemoryStorage, (memory) =>
    DeploymentsRepo.of({
      insert: insert(memory),
      update: update(memory),
      delete: remove(memory),
      ended: ended(memory),
      lastRelease: lastRelease(memory),
      target: target(memory),
      list: list(memory),
      overrideOf: ({ id, release }) =>
        memory.read((database) => database.table(deploymentReleases).get(`${id}/${release}`)?.overrideReason ?? null),
      someWithoutBaseUrl: someWithoutBaseUrl(memory)
    })
  )
)

const insert = (memory: Memory) => (deployment: DeploymentRow, release?: NewRelease) =>
  memory.write((database) => {
    const rows = database.table(deployments)
    const isSamePair = (other: DeploymentRow) =>
      other.deletedAt === null &&
      other.productId === deployment.productId &&
      other.environmentId === deployment.environmentId
    return rows.find(isSamePair) !== undefined
      ? Effect.fail(new UniqueViolation({ constraint: "deployments_pair_key" }))
      : Effect.sync(() => {
          rows.set(deployment.id, deployment)
          if (release !== undefined) addRelease(database, release)
        })
  })

const update =
  (memory: Memory): DeploymentsRepo["Service"]["update"] =>
  ({ after, before, event, isFree = false, release }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(deployments)
        const row = rows.get(before.id)
        if (row === undefined || row.deletedAt !== null || row.updatedAt !== before.updatedAt) return false
        if (isFree && row.locks !== before.locks) return false
        rows.set(row.id, { ...row, ...after, locks: row.locks })
        if (release !== undefined) addRelease(database, release)
        storeEvent(database, event)
        return true
      })
    )

const addRelease = (database: MemoryDatabase, { commits, ...release }: NewRelease): void => {
  database.table(deploymentReleases).set(`${release.deploymentId}/${release.number}`, release)
  const { productId, version, workspaceId } = release
  if (version === null) return
  const known = new Set(
    database
      .table(versionCommits)
      .filter((commit) => commit.productId === productId && commit.version === version)
      .map(({ sha }) => sha)
  )
  for (const { mentions, ...commit } of commits) {
    if (known.has(commit.sha)) continue
    database.table(versionCommits).set(commit.id, { ...commit, workspaceId, productId, version })
    for (const { number, teamKey } of mentions) {
      const row = { workspaceId, commitId: commit.id, teamKey, number }
      database.table(commitMentions).set(`${commit.id}/${teamKey}-${number}`, row)
    }
  }
}

const remove = (memory: Memory) => (id: DeploymentId, at: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(deployments)
      const row = rows.get(id)
      if (row === undefined || row.deletedAt !== null) return false
      rows.set(id, { ...row, deletedAt: at })
      return true
    })
  )

const ended = (memory: Memory) => (id: DeploymentId) =>
  memory.read((database) => {
    const releases = database.table(deploymentReleases).filter(({ deploymentId }) => deploymentId === id)
    return {
      version: database.table(deployments).get(id)!.version,
      releases: releases.length,
      notReady: releases.filter(({ readiness }) => readiness?.ready === false).length
    }
  })

const lastRelease =
  (memory: Memory): DeploymentsRepo["Service"]["lastRelease"] =>
  ({ environmentId, productId }) =>
    memory.read((database) =>
      database
        .table(deploymentReleases)
        .filter((release) => release.productId === productId && release.environmentId === environmentId)
        .reduce((last, { number }) => Math.max(last, number), 0)
    )

const target =
  (memory: Memory): DeploymentsRepo["Service"]["target"] =>
  (workspaceId, productRef, environmentRef) =>
    memory.read((database) => {
      const isNamed =
        (ref: string) =>
        (row: { readonly workspaceId: string; readonly id: string; readonly slug: string }): boolean =>
          row.workspaceId === workspaceId && (row.id === ref || row.slug === ref)
      const product = database.table(products).find(isNamed(productRef))
      const environment = database.table(environments).find(isNamed(environmentRef))
      const deployment = database
        .table(deployments)
        .find((row) => row.deletedAt === null && row.productId === product?.id && row.environmentId === environment?.id)
      return { product, environment, deployment }
    })

const list =
  (memory: Memory): DeploymentsRepo["Service"]["list"] =>
  (workspaceId, { environmentId, productId }) =>
    memory.read((database) =>
      database
        .table(deployments)
        .filter(
          (row) =>
            row.workspaceId === workspaceId &&
            row.deletedAt === null &&
            (productId === undefined || row.productId === productId) &&
            (environmentId === undefined || row.environmentId === environmentId)
        )
        .map((deployment) => ({
          product: database.table(products).get(deployment.productId)!,
          environment: database.table(environments).get(deployment.environmentId)!,
          deployment
        }))
    )

const someWithoutBaseUrl = (memory: Memory) => (productId: ProductId) =>
  memory.read(
    (database) =>
      database
        .table(deployments)
        .find((row) => row.deletedAt === null && row.productId === productId && row.baseUrl === null) !== undefined
  )
