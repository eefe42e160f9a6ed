import type { Change as EventChange } from "@delivery/domain/events/Event"
import type { EventKind } from "@delivery/domain/events/EventKinds"
import type { EnvironmentId, ProductId, SecretId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, type Redacted } from "effect"
import type { Access } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import type { ValueCipher } from "./ValueCipher.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import { secretLabel, writeAudit } from "./VaultAudit.ts"
import type { Change, LockedSecret, NewVersion, ProductPart, SecretRow, Targets } from "./VaultRepo.ts"

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

/** Versions of secrets of one name. */
export interface SecretsWrite {
  readonly source: Change["source"]
  readonly targets: Targets
  readonly secrets: ReadonlyArray<LockedSecret>
  /** Those of the secrets that the transaction made. */
  readonly created: ReadonlySet<SecretId>
  readonly versions: ReadonlyArray<NewVersion>
  /** The approvals with which it is made. */
  readonly approvals: ReadonlyArray<EventChange>
  readonly renamed?: { readonly from: string; readonly to: string }
}

/** Stores the versions, with an event and an entry of the audit for each secret. */
export const storeWrite = (dependencies: VaultDependencies) => {
  const makeEvents = writeEvents(dependencies)
  const makeAudit = writeAudit(dependencies)
  return Effect.fnUntraced(function* (by: Access, write: SecretsWrite) {
    const { approvals, created, renamed, secrets, source, targets, versions } = write
    const events = yield* makeEvents(by, write)
    const audit = yield* makeAudit(by, events, versions, targets.environments, approvals)
    const changed = new Set(versions.map(({ secretId }) => secretId))
    const updated = yield* Effect.forEach(
      secrets.filter(({ id }) => !created.has(id) && (renamed !== undefined || changed.has(id))),
      (secret) => Effect.map(nextUpdate(secret), (updatedAt) => ({ id: secret.id, updatedAt }))
    )
    const at = timestamp(yield* Clock.currentTimeMillis)
    yield* dependencies.repo.write({ by, at, audit, source, versions, updated, events })
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

export const secretEvent =
  ({ events }: VaultDependencies) =>
  (by: Access, kind: EventKind, product: ProductPart, secret: SecretRow, changes: ReadonlyArray<EventChange>) =>
    events.make(by, {
      kind,
      subject: {
        type: "secret",
        id: secret.id,
        label: secretLabel(secret.name, product),
        path: `products/${product.slug}/secrets/${encodeURIComponent(secret.name)}`
      },
      changes
    })
