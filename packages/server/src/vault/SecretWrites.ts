import type { EnvironmentId, ProductId, SecretId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, type Redacted } from "effect"
import type { Access } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import type { ValueCipher } from "./DataKeys.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import type {
  Audit,
  AuditEntry,
  Change,
  LockedSecret,
  NewVersion,
  ProductPart,
  SecretRow,
  Targets
} from "./VaultRepo.ts"

/** What every write of secrets does, within its transaction. */

/** A secret without versions, not yet stored. */
export const newSecret = ({ nextId }: VaultDependencies) =>
  Effect.fnUntraced(function* (by: Access, productId: ProductId, name: string, at: Timestamp) {
    const row: SecretRow = {
      id: yield* nextId<SecretId>(),
      workspaceId: by.workspace.id,
      productId,
      name,
      createdAt: at,
      updatedAt: at
    }
    return { ...row, versions: new Map<EnvironmentId, number>() } satisfies LockedSecret
  })

/** The next version of a pair with this value; undefined for null where nothing was ever set. */
export const nextVersion = (
  cipher: ValueCipher,
  secret: LockedSecret,
  environmentId: EnvironmentId,
  value: Redacted.Redacted | null
): NewVersion | undefined => {
  const current = secret.versions.get(environmentId) ?? 0
  if (value === null && current === 0) return undefined
  const place = { secretId: secret.id, environmentId, version: current + 1 }
  return { ...place, sealed: value === null ? null : cipher.encrypt(place, value) }
}

export const auditEntries = (product: ProductId, versions: ReadonlyArray<NewVersion>): ReadonlyArray<AuditEntry> =>
  versions.map(({ environmentId, version }) => ({ product, environment: environmentId, version }))

/** Versions of secrets of one name. */
export interface SecretsWrite {
  readonly source: Change["source"]
  readonly targets: Targets
  readonly secrets: ReadonlyArray<LockedSecret>
  /** Those of the secrets that the transaction made. */
  readonly created: ReadonlySet<SecretId>
  readonly versions: ReadonlyArray<NewVersion>
  readonly renamed?: { readonly from: string; readonly to: string }
}

/** Stores the versions, with the audit row and an event for each secret. */
export const storeWrite = (dependencies: VaultDependencies) => {
  const makeEvents = writeEvents(dependencies)
  return Effect.fnUntraced(function* (by: Access, audit: Audit, write: SecretsWrite) {
    const { created, renamed, secrets, source, versions } = write
    const events = yield* makeEvents(by, write)
    const changed = new Set(versions.map(({ secretId }) => secretId))
    const updated = yield* Effect.forEach(
      secrets.filter(({ id }) => !created.has(id) && (renamed !== undefined || changed.has(id))),
      (secret) => Effect.map(nextUpdate(secret), (updatedAt) => ({ id: secret.id, updatedAt }))
    )
    yield* dependencies.repo.write({ audit, source, versions, updated, events })
  })
}

/** The events of a write: versions by number, never values. */
const writeEvents = (dependencies: VaultDependencies) => {
  const makeEvent = secretEvent(dependencies)
  return Effect.fnUntraced(function* (by: Access, { created, renamed, secrets, targets, versions }: SecretsWrite) {
    const slugs = new Map(targets.environments.map(({ id, slug }) => [id, slug]))
    const products = new Map(targets.products.map((product) => [product.id, product]))
    const versionsOf = Map.groupBy(versions, ({ secretId }) => secretId)
    const events = yield* Effect.forEach(secrets, (secret) =>
      Effect.gen(function* () {
        const product = products.get(secret.productId)!
        const changes = (versionsOf.get(secret.id) ?? []).map(({ environmentId, version }) => ({
          field: `environments.${slugs.get(environmentId)}.version`,
          from: version === 1 ? null : String(version - 1),
          to: String(version)
        }))
        const isCreated = created.has(secret.id)
        return [
          ...(renamed === undefined
            ? []
            : [yield* makeEvent(by, "secret_renamed", product, secret, [{ field: "name", ...renamed }])]),
          ...(isCreated || changes.length > 0
            ? [yield* makeEvent(by, isCreated ? "secret_created" : "secret_changed", product, secret, changes)]
            : [])
        ]
      })
    )
    return events.flat()
  })
}

/** What changed, in an event. */
type Changes = ReadonlyArray<{ readonly field: string; readonly from: string | null; readonly to: string | null }>

export const secretEvent =
  ({ events }: VaultDependencies) =>
  (by: Access, kind: string, product: ProductPart, secret: SecretRow, changes: Changes) =>
    events.make(by, {
      kind,
      subject: {
        type: "secret",
        id: secret.id,
        label: `${secret.name} of ${product.name}`,
        path: `products/${product.slug}/secrets/${encodeURIComponent(secret.name)}`
      },
      changes
    })
