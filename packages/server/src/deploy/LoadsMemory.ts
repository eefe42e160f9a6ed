import { Effect, Layer } from "effect"
import { type DeploymentTokenRow, deploymentTokens } from "../access/ActorRows.ts"
import { deployments } from "../catalog/DeploymentsRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { isBlocked } from "../identity/BlocksRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { secrets, secretValues, secretVersions } from "../vault/VaultRepo.ts"
import { deploymentLoads, type FoundSecret, type KnownToken, LoadsRepo, tokenReads } from "./LoadsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  LoadsRepo,
  Effect.map(MemoryStorage, (memory) =>
    LoadsRepo.of({
      authenticate: (hash) => memory.read((database) => known(database, hash)),
      read: (hash, name) =>
        memory.read((database) => {
          const found = known(database, hash)
          return found && { ...found, secrets: secretsOf(database, found, name) }
        }),
      claimEntry: claimEntry(memory),
      eraseReads: (before) =>
        memory.write((database) =>
          Effect.sync(() => database.table(tokenReads).deleteWhere(({ beganAt }) => beganAt < before))
        ),
      load: load(memory),
      loaded: (id) => memory.read((database) => database.table(deploymentLoads).get(id))
    })
  )
)

const known = (database: MemoryDatabase, hash: string): KnownToken | undefined => {
  const token = database.table(deploymentTokens).find(({ tokenHash }) => tokenHash === hash)
  const deployment = token && database.table(deployments).get(token.deploymentId)
  if (token === undefined || deployment === undefined || !isWorking(database, token)) return undefined
  return {
    token,
    deployment,
    product: database.table(products).get(deployment.productId)!,
    environment: database.table(environments).get(deployment.environmentId)!
  }
}

const isWorking = (database: MemoryDatabase, { deploymentId, id, revokedAt, workspaceId }: DeploymentTokenRow) =>
  revokedAt === null &&
  database.table(deployments).get(deploymentId)?.deletedAt === null &&
  !isBlocked(database, workspaceId, id)

const secretsOf = (
  database: MemoryDatabase,
  { environment, product }: KnownToken,
  name: string | undefined
): ReadonlyArray<FoundSecret> => {
  if (product.archivedAt !== null || environment.archivedAt !== null) return []
  return database
    .table(secrets)
    .filter(
      (row) => row.productId === product.id && row.deletedAt === null && (name === undefined || row.name === name)
    )
    .flatMap((secret) => {
      const isPair = (row: { readonly secretId: string; readonly environmentId: string }) =>
        row.secretId === secret.id && row.environmentId === environment.id
      const current = database.table(secretValues).find(isPair)
      const version =
        current && database.table(secretVersions).find((row) => isPair(row) && row.version === current.version)
      if (version === undefined || version.sealed === null) return []
      const { environmentId, secretId, sealed, version: number } = version
      return [{ secretId, environmentId, name: secret.name, version: number, sealed }]
    })
}

const claimEntry =
  (memory: Memory): LoadsRepo["Service"]["claimEntry"] =>
  (read, after) =>
    memory.write((database) =>
      Effect.sync(() => {
        const reads = database.table(tokenReads)
        const key = `${read.tokenId}/${read.address}/${read.subjectId}`
        const last = reads.get(key)
        if (last !== undefined && last.fingerprint === read.fingerprint && last.beganAt > after) return last
        reads.set(key, read)
        return read
      })
    )

const load =
  (memory: Memory): LoadsRepo["Service"]["load"] =>
  (load, extent) =>
    memory.write((database) =>
      Effect.sync(() => {
        const loads = database.table(deploymentLoads)
        const before = loads.get(load.deploymentId)
        if (before === undefined) return loads.set(load.deploymentId, { ...load, whole: extent === "all" })
        const loadedAt = before.loadedAt > load.loadedAt ? before.loadedAt : load.loadedAt
        const versions = extent === "all" ? load.versions : { ...before.versions, ...load.versions }
        loads.set(load.deploymentId, { ...load, loadedAt, versions, whole: before.whole || extent === "all" })
      })
    )
