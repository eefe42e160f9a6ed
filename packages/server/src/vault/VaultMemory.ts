import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { resolveActor } from "../access/Actors.ts"
import { auditEntries } from "../audit/AuditRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { storeEvent } from "../events/EventsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import type { Row } from "../storage/Table.ts"
import {
  actorRefOf,
  currentVersions,
  find,
  isNamed,
  pairStates,
  type StoredSecret,
  versionKey
} from "./FindSecretsMemory.ts"
import { lockedSecrets } from "./LockedSecrets.ts"
import {
  type Change,
  isReadable,
  type RequestKey,
  secrets,
  secretValues,
  secretVersions,
  VaultRepo,
  vaultRequests
} from "./VaultRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  VaultRepo,
  Effect.map(MemoryStorage, (memory) =>
    VaultRepo.of({
      find: find(memory),
      lockTargets: lockTargets(memory),
      lockNames: () => Effect.void,
      lock: lock(memory),
      insert: insert(memory),
      rename: rename(memory),
      write: write(memory),
      versions: versions(memory),
      encryptedValues: encryptedValues(memory),
      storedVersions: storedVersions(memory),
      holdsValues: holdsValues(memory),
      eraseValues: eraseValues(memory),
      claimRequest: claimRequest(memory),
      recordWritten: recordWritten(memory),
      erase: erase(memory)
    })
  )
)

const lockTargets =
  (memory: Memory): VaultRepo["Service"]["lockTargets"] =>
  (workspaceId, refs) =>
    memory.read((database) => {
      const namedProducts = database.table(products).filter(isNamed(workspaceId, refs.products))
      const namedEnvironments = database
        .table(environments)
        .filter(
          refs.environments === "all"
            ? (row) => row.workspaceId === workspaceId
            : isNamed(workspaceId, refs.environments)
        )
      const pairs = pairStates(
        database,
        (row) =>
          namedProducts.some(({ id }) => id === row.productId) &&
          namedEnvironments.some(({ id }) => id === row.environmentId)
      )
      const guarded = namedEnvironments.filter(({ approvals }) => approvals).map(({ id }) => id)
      return { products: namedProducts, environments: namedEnvironments, guarded, deployments: pairs }
    })

const lock =
  (memory: Memory): VaultRepo["Service"]["lock"] =>
  (workspaceId, productIds, name) =>
    memory.read((database) => {
      const found = database
        .table(secrets)
        .filter(
          (secret) =>
            secret.workspaceId === workspaceId &&
            productIds.includes(secret.productId) &&
            secret.name === name &&
            secret.deletedAt === null
        )
        .toSorted((a, b) => compare(a.id, b.id))
      return lockedSecrets(
        found,
        found.flatMap((secret) => currentVersions(database, secret))
      )
    })

const insert =
  (memory: Memory): VaultRepo["Service"]["insert"] =>
  (rows) =>
    memory.write((database) =>
      Effect.forEach(rows, (row) => setSecret(database, { ...row, deletedAt: null }), { discard: true })
    )

const rename =
  (memory: Memory): VaultRepo["Service"]["rename"] =>
  (id, name) =>
    memory.write((database) => setSecret(database, { ...database.table(secrets).get(id)!, name }))

/** Names are unique among the secrets of a product that are not deleted. */
const setSecret = (database: MemoryDatabase, secret: StoredSecret) => {
  const rows = database.table(secrets)
  const isTaken = (other: StoredSecret) =>
    other.deletedAt === null &&
    other.productId === secret.productId &&
    other.name === secret.name &&
    other.id !== secret.id
  return rows.find(isTaken) !== undefined
    ? Effect.fail(new UniqueViolation({ constraint: "secrets_name_key" }))
    : Effect.sync(() => rows.set(secret.id, secret))
}

const write = (memory: Memory) => (change: Change) =>
  memory.write((database) =>
    Effect.sync(() => {
      const { at } = change
      const { actor, workspace } = change.by
      for (const version of change.versions) {
        const { environmentId, secretId } = version
        database.table(secretVersions).set(versionKey(version), {
          ...version,
          workspaceId: workspace.id,
          source: change.source,
          actorKind: actor.kind,
          actorId: actor.id,
          createdAt: at
        })
        database
          .table(secretValues)
          .set(valueKey(version), { workspaceId: workspace.id, secretId, environmentId, version: version.version })
      }
      const rows = database.table(secrets)
      for (const { id, updatedAt } of change.updated) rows.set(id, { ...rows.get(id)!, updatedAt })
      if (change.deleted !== undefined) {
        rows.set(change.deleted, { ...rows.get(change.deleted)!, deletedAt: at })
      }
      for (const entry of change.audit) database.table(auditEntries).set(entry.id, entry)
      for (const event of change.events) storeEvent(database, event)
    })
  )

/** The key of a row of `secretValues`. */
const valueKey = ({ environmentId, secretId }: Pick<Row<typeof secretValues>, "secretId" | "environmentId">): string =>
  `${secretId} ${environmentId}`

const versions =
  (memory: Memory): VaultRepo["Service"]["versions"] =>
  (workspaceId, path, { before, limit }) =>
    memory.read((database) => {
      const product = database.table(products).find(isNamed(workspaceId, [path.product]))
      const environment = database.table(environments).find(isNamed(workspaceId, [path.environment]))
      const secret = database
        .table(secrets)
        .find((row) => row.productId === product?.id && row.name === path.name && row.deletedAt === null)
      return {
        hasProduct: product !== undefined,
        hasSecret: secret !== undefined,
        hasEnvironment: environment !== undefined,
        versions: database
          .table(secretVersions)
          .filter((row) => row.secretId === secret?.id && row.environmentId === environment?.id && row.version < before)
          .toSorted((a, b) => b.version - a.version)
          .slice(0, limit)
          .map((row) => ({
            version: row.version,
            hasValue: row.sealed !== null,
            source: row.source,
            createdAt: row.createdAt,
            createdBy: resolveActor(database, actorRefOf(row))
          }))
      }
    })

const encryptedValues =
  (memory: Memory): VaultRepo["Service"]["encryptedValues"] =>
  (places) =>
    memory.read((database) =>
      places.flatMap((place) => {
        const secret = database.table(secrets).get(place.secretId)
        const version = database.table(secretVersions).get(versionKey(place))
        const environment = database.table(environments).get(place.environmentId)
        if (secret === undefined || secret.deletedAt !== null) return []
        if (version === undefined || environment === undefined) return []
        const [pair] = pairStates(
          database,
          (row) => row.productId === secret.productId && row.environmentId === place.environmentId
        )
        return isReadable(environment.class, pair?.deployed) ? [version] : []
      })
    )

const storedVersions =
  (memory: Memory): VaultRepo["Service"]["storedVersions"] =>
  (places) =>
    memory.read((database) => places.flatMap((place) => database.table(secretVersions).get(versionKey(place)) ?? []))

const holdsValues =
  (memory: Memory): VaultRepo["Service"]["holdsValues"] =>
  (environmentId) =>
    memory.read(
      (database) =>
        database
          .table(secretValues)
          .find(
            (row) =>
              row.environmentId === environmentId &&
              database.table(secrets).get(row.secretId)?.deletedAt === null &&
              database.table(secretVersions).get(versionKey(row))?.sealed !== null
          ) !== undefined
    )

const eraseValues =
  (memory: Memory): VaultRepo["Service"]["eraseValues"] =>
  (environmentId) =>
    memory.write((database) =>
      Effect.sync(() => {
        const versions = database.table(secretVersions)
        for (const row of versions.filter((one) => one.environmentId === environmentId && one.sealed !== null)) {
          versions.set(versionKey(row), { ...row, sealed: null })
        }
      })
    )

const claimRequest =
  (memory: Memory): VaultRepo["Service"]["claimRequest"] =>
  ({ actor, operation, requestId, workspaceId }, { at, expired, fingerprint }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const requests = database.table(vaultRequests)
        const request = {
          workspaceId,
          actorKind: actor.kind,
          actorId: actor.id,
          operation,
          requestId,
          fingerprint,
          written: null,
          createdAt: at
        }
        const first = requests.get(requestKey(request))
        if (first !== undefined && first.createdAt > expired) return first
        requests.set(requestKey(request), request)
        return undefined
      })
    )

const recordWritten = (memory: Memory) => (key: RequestKey, written: unknown) =>
  memory.write((database) =>
    Effect.sync(() => {
      const requests = database.table(vaultRequests)
      const name = requestKey({ ...key, actorKind: key.actor.kind, actorId: key.actor.id })
      requests.set(name, { ...requests.get(name)!, written })
    })
  )

type StoredRequest = Row<typeof vaultRequests>

/** The key of a row of `vaultRequests`. */
const requestKey = (
  row: Pick<StoredRequest, "workspaceId" | "actorKind" | "actorId" | "operation" | "requestId">
): string => `${row.workspaceId} ${row.actorKind} ${row.actorId} ${row.operation} ${row.requestId}`

const erase =
  (memory: Memory): VaultRepo["Service"]["erase"] =>
  (before, limit) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(secrets)
        const values = database.table(secretValues)
        const versions = database.table(secretVersions)
        const requests = database.table(vaultRequests)
        const gone = rows.filter(({ deletedAt }) => deletedAt !== null && deletedAt < before.deleted).slice(0, limit)
        for (const { id } of gone) {
          for (const row of values.filter(({ secretId }) => secretId === id)) values.delete(valueKey(row))
          for (const row of versions.filter(({ secretId }) => secretId === id)) versions.delete(versionKey(row))
          rows.delete(id)
        }
        const old = requests.filter(({ createdAt }) => createdAt < before.requests).slice(0, limit)
        for (const request of old) requests.delete(requestKey(request))
        return gone.length + old.length
      })
    )
