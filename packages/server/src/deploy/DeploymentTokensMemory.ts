import type { DeploymentId, DeploymentTokenId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { apiKeys, type DeploymentTokenRow, deploymentTokens, isLive, persons } from "../access/ActorRows.ts"
import { deployments } from "../catalog/DeploymentsRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { DeploymentTokensRepo, tokenNetworks, type TokenWithMaker, type TokenWithPair } from "./DeploymentTokensRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  DeploymentTokensRepo,
  Effect.map(MemoryStorage, (memory) =>
    DeploymentTokensRepo.of({
      insert: (token) =>
        memory.write((database) => Effect.sync(() => database.table(deploymentTokens).set(token.id, token))),
      holdDeployment: (id) => memory.read((database) => isDeployed(database, id)),
      hold: (token, deployment, now) =>
        memory.read((database) => {
          const row = database.table(deploymentTokens).get(token)
          return row !== undefined && isDeployed(database, deployment) && isLive(row, now)
        }),
      ofDeployment: (id, now) => withMakers(memory, ({ deploymentId }) => deploymentId === id, now),
      ofWorkspace: (id, now) => withMakers(memory, ({ workspaceId }) => workspaceId === id, now),
      lock: (deployment, id) =>
        memory.read((database) =>
          database.table(deploymentTokens).find((row) => row.deploymentId === deployment && row.id === id)
        ),
      replace: replace(memory),
      revoke: (id, revokedAt) => memory.write((database) => Effect.sync(() => change(database, id, { revokedAt }))),
      revokeAll: (id, at) => end(memory, (row) => row.deploymentId === id && isLive(row, at), at),
      revokeByToken: (hash, at) =>
        Effect.map(
          end(memory, (row) => row.tokenHash === hash && isLive(row, at), at),
          (ended) => ended[0]
        ),
      endExpired: (by, limit) =>
        end(memory, (row) => row.revokedAt === null && row.expiresAt !== null && row.expiresAt <= by, undefined, limit),
      madeBy: (makers, now) =>
        memory.read((database) =>
          database
            .table(deploymentTokens)
            .filter(
              (row) =>
                row.makerId !== null &&
                makers.includes(row.makerId) &&
                isLive(row, now) &&
                isDeployed(database, row.deploymentId)
            )
            .map((row) => withPair(database, row))
        ),
      touch: touch(memory),
      cameFrom: cameFrom(memory)
    })
  )
)

const isDeployed = (database: MemoryDatabase, id: DeploymentId): boolean =>
  database.table(deployments).get(id)?.deletedAt === null

const change = (database: MemoryDatabase, id: DeploymentTokenId, fields: Partial<DeploymentTokenRow>): void => {
  const rows = database.table(deploymentTokens)
  const row = rows.get(id)
  if (row !== undefined) rows.set(id, { ...row, ...fields })
}

const withMakers = (
  memory: Memory,
  isOf: (row: DeploymentTokenRow) => boolean,
  now: Timestamp
): Effect.Effect<ReadonlyArray<TokenWithMaker>> =>
  memory.read((database) =>
    database
      .table(deploymentTokens)
      .filter((row) => isOf(row) && isLive(row, now) && isDeployed(database, row.deploymentId))
      .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
      .map((row) => {
        const { email, id, name } = database.table(persons).get(row.createdById)!
        const active = database.table(members).get(memberKey(row.workspaceId, id))?.active ?? false
        const key = database.table(apiKeys).get(row.makerId ?? "")
        const expired = key !== undefined && key.expiresAt !== null && key.expiresAt <= now ? key.expiresAt : null
        const { environment, product } = withPair(database, row)
        const makerEndedAt = key?.revokedAt ?? expired
        return { ...row, product, environment, maker: { id, name, email, active }, makerEndedAt }
      })
  )

const withPair = (database: MemoryDatabase, row: DeploymentTokenRow): TokenWithPair => {
  const { environmentId, productId } = database.table(deployments).get(row.deploymentId)!
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    name: row.name,
    expiresAt: row.expiresAt,
    product: database.table(products).get(productId)!,
    environment: database.table(environments).get(environmentId)!
  }
}

/** Revokes tokens; without a time, at the end of theirs. */
const end = (memory: Memory, isEnding: (row: DeploymentTokenRow) => boolean, at?: Timestamp, limit?: number) =>
  memory.write((database) =>
    Effect.sync((): ReadonlyArray<TokenWithPair> => {
      const ending = database.table(deploymentTokens).filter(isEnding).slice(0, limit)
      for (const { expiresAt, id } of ending) change(database, id, { revokedAt: at ?? expiresAt })
      return ending.map((row) => withPair(database, row))
    })
  )

const replace =
  (memory: Memory): DeploymentTokensRepo["Service"]["replace"] =>
  ({ expiresAt, id }, replacedBy, until) =>
    memory.write((database) =>
      Effect.sync(() => {
        change(database, id, { replacedBy, expiresAt: expiresAt !== null && expiresAt < until ? expiresAt : until })
        const networks = database.table(tokenNetworks)
        for (const row of networks.filter(({ tokenId }) => tokenId === id)) {
          networks.set(`${replacedBy}/${row.network}`, { ...row, tokenId: replacedBy })
        }
      })
    )

const touch =
  (memory: Memory): DeploymentTokensRepo["Service"]["touch"] =>
  (uses) =>
    memory.write((database) =>
      Effect.sync(() => {
        for (const [id, { at, from }] of uses) {
          const last = database.table(deploymentTokens).get(id)?.lastUsedAt
          if (last == null || last < at) change(database, id, { lastUsedAt: at, lastUsedFrom: from })
        }
      })
    )

const cameFrom =
  (memory: Memory): DeploymentTokensRepo["Service"]["cameFrom"] =>
  (row) =>
    memory.write((database) =>
      Effect.sync(() => {
        const networks = database.table(tokenNetworks)
        const key = `${row.tokenId}/${row.network}`
        if (networks.get(key) !== undefined) return "known"
        const isFirst = networks.find(({ tokenId }) => tokenId === row.tokenId) === undefined
        networks.set(key, row)
        return isFirst ? "first" : "other"
      })
    )
