import { Effect } from "effect"
import type { WorkspaceId } from "@delivery/domain/Ids"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import type { AuditOrigin } from "../audit/Audit.ts"
import { auditEntries, type AuditRow } from "../audit/AuditRepo.ts"
import { type DeploymentRow, deployments } from "../catalog/DeploymentsRepo.ts"
import { type EnvironmentRow, environments } from "../catalog/EnvironmentsRepo.ts"
import { type ProductRow, products } from "../catalog/ProductsRepo.ts"
import type { MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import type { Row } from "../storage/Table.ts"
import { secretLabel } from "./VaultAudit.ts"
import {
  type AnsweredVersion,
  type FoundVersion,
  isReadable,
  type PairState,
  secrets,
  secretValues,
  secretVersions,
  type Selection,
  type VaultRepo,
  type VersionPlace
} from "./VaultRepo.ts"

type Memory = MemoryStorage["Service"]

export type StoredSecret = Row<typeof secrets>
export type StoredVersion = Row<typeof secretVersions>

/** The key of a row of `secretVersions`. */
export const versionKey = ({ environmentId, secretId, version }: VersionPlace): string =>
  `${secretId} ${environmentId} ${version}`

/** Whether an object of the workspace is one that the refs (slug or id) name. */
export const isNamed =
  (workspaceId: WorkspaceId, refs: ReadonlyArray<string>) =>
  (row: { readonly workspaceId: WorkspaceId; readonly id: string; readonly slug: string }): boolean =>
    row.workspaceId === workspaceId && (refs.includes(row.id) || refs.includes(row.slug))

export const actorRefOf = ({ actorId, actorKind }: Pick<StoredVersion, "actorId" | "actorKind">): ActorRef =>
  ({ kind: actorKind, id: actorId }) as ActorRef

export const currentVersions = (database: MemoryDatabase, { id }: Pick<StoredSecret, "id">) =>
  database.table(secretValues).filter((row) => row.secretId === id)

/** The pairs of some deployments. */
export const pairStates = (
  database: MemoryDatabase,
  isChosen: (row: DeploymentRow) => boolean
): ReadonlyArray<PairState> => {
  const pairs = new Map<string, PairState>()
  for (const { deletedAt, environmentId, productId } of database.table(deployments).filter(isChosen)) {
    const key = `${productId} ${environmentId}`
    const deployed = deletedAt === null || (pairs.get(key)?.deployed ?? false)
    pairs.set(key, { productId, environmentId, deployed })
  }
  return Array.from(pairs.values())
}

export const find =
  (memory: Memory): VaultRepo["Service"]["find"] =>
  (workspaceId, selection, read) =>
    memory.write((database) =>
      Effect.sync(() => {
        const named = namedProducts(database, workspaceId, selection)
        const found = selectedSecrets(database, workspaceId, selection, named)
        const isProductNamed = "product" in selection && selection.product !== undefined
        const ofFound = named.filter(({ id }) => isProductNamed || found.some(({ productId }) => productId === id))
        const pairs = pairStates(
          database,
          (row) => row.workspaceId === workspaceId && ofFound.some(({ id }) => id === row.productId)
        )
        const versions = found.flatMap((secret) =>
          selectedVersions(database, secret, selection).flatMap((version) =>
            foundVersion(database, secret, version, pairs, read !== undefined)
          )
        )
        if (read !== undefined) {
          const readVersions = versions.filter(({ sealed }) => sealed !== null)
          if (readVersions.length > 0) {
            const secret = database.table(secrets).get(readVersions[0]!.secretId)!
            database.table(auditEntries).set(read.id, readEntry(database, read, secret, readVersions))
          }
        }
        const selected = selectedEnvironments(database, workspaceId, selection, versions)
        return { products: ofFound, environments: selected, deployments: pairs, secrets: found, versions }
      })
    )

/** The entry of the audit about values of a secret that are read. */
const readEntry = (
  database: MemoryDatabase,
  read: AuditOrigin,
  secret: StoredSecret,
  versions: ReadonlyArray<VersionPlace>
): AuditRow => ({
  ...read,
  action: "secret_read",
  outcome: "allowed",
  subjectType: "secret",
  subjectId: secret.id,
  subjectLabel: secretLabel(secret.name, database.table(products).get(secret.productId)!),
  environments: versions.map(({ environmentId }) => database.table(environments).get(environmentId)!.slug),
  versions: versions.map(({ version }) => version),
  changes: null,
  secrets: null,
  count: 1
})

/** The products of the workspace whose secrets the selection may choose. */
const namedProducts = (
  database: MemoryDatabase,
  workspaceId: WorkspaceId,
  selection: Selection
): ReadonlyArray<ProductRow> =>
  database
    .table(products)
    .filter(
      "product" in selection && selection.product !== undefined
        ? isNamed(workspaceId, [selection.product])
        : (product) => product.workspaceId === workspaceId
    )

const selectedSecrets = (
  database: MemoryDatabase,
  workspaceId: WorkspaceId,
  selection: Selection,
  named: ReadonlyArray<ProductRow>
): ReadonlyArray<StoredSecret> =>
  database
    .table(secrets)
    .filter((secret) =>
      "secretId" in selection
        ? secret.id === selection.secretId && secret.workspaceId === workspaceId
        : secret.workspaceId === workspaceId &&
          secret.deletedAt === null &&
          named.some((product) => product.id === secret.productId) &&
          (selection.name === undefined || secret.name === selection.name)
    )

/** The versions of a secret that the selection asks for: those of an earlier answer, or the current ones. */
const selectedVersions = (
  database: MemoryDatabase,
  secret: StoredSecret,
  selection: Selection
): ReadonlyArray<AnsweredVersion> =>
  "secretId" in selection
    ? selection.versions
    : currentVersions(database, secret).map((row) => ({ ...row, shown: isAsked(database, row, selection.valuesOf) }))

const isAsked = (
  database: MemoryDatabase,
  { environmentId }: Pick<VersionPlace, "environmentId">,
  refs: ReadonlyArray<string> | undefined
): boolean =>
  refs === undefined ||
  refs.includes(environmentId) ||
  refs.includes(database.table(environments).get(environmentId)!.slug)

/** None where the version is not stored. */
const foundVersion = (
  database: MemoryDatabase,
  secret: StoredSecret,
  { environmentId, shown, version }: AnsweredVersion,
  pairs: ReadonlyArray<PairState>,
  isReading: boolean
): ReadonlyArray<FoundVersion> => {
  const place = { secretId: secret.id, environmentId, version }
  const stored = database.table(secretVersions).get(versionKey(place))
  if (stored === undefined) return []
  const environment = database.table(environments).get(environmentId)!
  const pair = pairs.find((pair) => pair.productId === secret.productId && pair.environmentId === environmentId)
  const hasValueRead = isReading && shown && secret.deletedAt === null && isReadable(environment.class, pair?.deployed)
  return [
    {
      ...place,
      hasValue: stored.sealed !== null,
      at: stored.createdAt,
      by: resolveActor(database, actorRefOf(stored)),
      sealed: hasValueRead ? stored.sealed : null
    }
  ]
}

/** Those of the earlier answer; else those that are not archived, and those with a version. */
const selectedEnvironments = (
  database: MemoryDatabase,
  workspaceId: WorkspaceId,
  selection: Selection,
  versions: ReadonlyArray<FoundVersion>
): ReadonlyArray<EnvironmentRow> => {
  const isSelected = ({ archivedAt, id }: EnvironmentRow) =>
    "secretId" in selection
      ? selection.versions.some(({ environmentId }) => environmentId === id)
      : archivedAt === null || versions.some(({ environmentId }) => environmentId === id)
  return database
    .table(environments)
    .filter((environment) => environment.workspaceId === workspaceId && isSelected(environment))
}
