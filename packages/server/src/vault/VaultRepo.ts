import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { EnvironmentId, ProductId, SecretId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { VersionSource } from "@delivery/domain/vault/Secret"
import { Context, type Effect } from "effect"
import type { Access, ActorRef } from "../access/Access.ts"
import type { AuditOrigin } from "../audit/Audit.ts"
import type { AuditRow } from "../audit/AuditRepo.ts"
import type { EnvironmentRow } from "../catalog/EnvironmentsRepo.ts"
import type { ProductRow } from "../catalog/ProductsRepo.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { UniqueViolation } from "../storage/Sql.ts"
import { bytes, instant, integer, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** The secrets of products. A deleted one stays for 30 days. */
export const secrets = table("secrets", {
  id: uuid<SecretId>(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  name: text(),
  createdAt: instant(),
  updatedAt: instant(),
  deletedAt: nullable(instant())
})

/** The current version of a secret in each environment. Where nothing was ever set there is no row. */
export const secretValues = table("secret_values", {
  workspaceId: uuid<WorkspaceId>(),
  secretId: uuid<SecretId>(),
  environmentId: uuid<EnvironmentId>(),
  version: integer()
})

/** Every version of every secret. */
export const secretVersions = table("secret_versions", {
  workspaceId: uuid<WorkspaceId>(),
  secretId: uuid<SecretId>(),
  environmentId: uuid<EnvironmentId>(),
  version: integer(),
  source: text<VersionSource>(),
  /** The encrypted value; null where the version cleared it. */
  sealed: nullable(bytes()),
  actorKind: text<ActorRef["kind"]>(),
  actorId: uuid<ActorRef["id"]>(),
  createdAt: instant()
})

/** The requests with a `requestId`, and what they wrote: versions, never values. */
export const vaultRequests = table("vault_requests", {
  workspaceId: uuid<WorkspaceId>(),
  actorKind: text<ActorRef["kind"]>(),
  actorId: uuid<ActorRef["id"]>(),
  operation: text<RequestKey["operation"]>(),
  requestId: text(),
  fingerprint: text(),
  /** Null until the request has succeeded. */
  written: nullable(json<unknown>()),
  createdAt: instant()
})

/** What versions before the audit of workspaces recorded. It is written no longer. */
export const vaultAudit = table("vault_audit", {
  id: uuid(),
  workspaceId: uuid<WorkspaceId>(),
  action: text(),
  actorKind: text<ActorRef["kind"]>(),
  actorId: uuid<ActorRef["id"]>(),
  name: text(),
  newName: nullable(text()),
  entries: json<unknown>(),
  requestId: text(),
  createdAt: instant()
})

/** A secret that exists, or existed when its request was answered. */
export type SecretRow = Omit<Row<typeof secrets>, "deletedAt">

/** A secret that the transaction has locked, with its current version in each environment where it has one. */
export interface LockedSecret extends SecretRow {
  readonly versions: ReadonlyMap<EnvironmentId, number>
}

export type ProductPart = Pick<ProductRow, "id" | "slug" | "name" | "archivedAt">
export type EnvironmentPart = Pick<EnvironmentRow, "id" | "slug" | "name" | "class" | "emoji" | "archivedAt">

/** A pair that is deployed, or was and is no longer: its values are detached. Pairs never deployed are not listed. */
export interface PairState {
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  readonly deployed: boolean
}

/** The products and environments that a call names, and which of their pairs are or were deployed. */
export interface Targets {
  readonly products: ReadonlyArray<ProductPart>
  readonly environments: ReadonlyArray<EnvironmentPart>
  readonly deployments: ReadonlyArray<PairState>
}

/** The same, locked: what is written there needs an approval, or needs none, until the transaction ends. */
export interface LockedTargets extends Targets {
  /** The environments in which writes need the approval of a second person. */
  readonly guarded: ReadonlyArray<EnvironmentId>
}

/** Where a version belongs. */
export interface VersionPlace {
  readonly secretId: SecretId
  readonly environmentId: EnvironmentId
  readonly version: number
}

/** A version that was found. */
export interface FoundVersion extends VersionPlace {
  readonly hasValue: boolean
  readonly at: Timestamp
  readonly by: Actor
  /** The encrypted value: only with `read`, and only where `isReadable`. */
  readonly sealed: Uint8Array | null
}

/** Secrets, and all that an answer says of them. */
export interface FoundSecrets extends Targets {
  readonly secrets: ReadonlyArray<SecretRow>
  readonly versions: ReadonlyArray<FoundVersion>
}

/**
 * Which secrets to find: by product (slug or id) and name, or one as an earlier answer had it. With `valuesOf`, environments by
 * slug or id, only their values.
 */
export type Selection =
  | {
      readonly product?: string | undefined
      readonly name?: string | undefined
      readonly valuesOf?: ReadonlyArray<string> | undefined
    }
  | { readonly secretId: SecretId; readonly versions: ReadonlyArray<AnsweredVersion> }

/** A version of a secret in an answer. Stored with requests, so its properties keep their names. */
export interface AnsweredVersion {
  readonly environmentId: EnvironmentId
  readonly version: number
  /** Whether the answer had the value. */
  readonly shown: boolean
}

/** A version with its encrypted value; null clears. */
export interface NewVersion extends VersionPlace {
  readonly sealed: Uint8Array | null
}

/** What changes, by whom, with its events and entries of the audit. */
export interface Change {
  readonly by: Access
  readonly at: Timestamp
  readonly audit: ReadonlyArray<AuditRow>
  readonly source: VersionSource
  readonly versions: ReadonlyArray<NewVersion>
  /** The new `updatedAt` of secrets. */
  readonly updated: ReadonlyArray<Pick<SecretRow, "id" | "updatedAt">>
  readonly deleted?: SecretId
  readonly events: ReadonlyArray<StoredEvent>
}

/** Identifies a request: its id counts per workspace, caller and operation. */
export interface RequestKey {
  readonly workspaceId: WorkspaceId
  readonly actor: ActorRef
  readonly operation: "create" | "update" | "assign" | "generate"
  readonly requestId: string
}

/** A page of versions, and what of its path exists. */
export interface VersionPage {
  readonly hasProduct: boolean
  readonly hasSecret: boolean
  readonly hasEnvironment: boolean
  readonly versions: ReadonlyArray<{
    readonly version: number
    readonly hasValue: boolean
    readonly source: VersionSource
    readonly createdAt: Timestamp
    readonly createdBy: Actor
  }>
}

/**
 * Whether the value of a pair may be read at all: never in production, and not while it is detached from a deleted
 * deployment (docs/contract.md, Vault). The SQL statements check the same, so that other values do not even leave the
 * database.
 */
export const isReadable = (environmentClass: EnvironmentClass, deployed: boolean | undefined): boolean =>
  environmentClass !== "production" && deployed !== false

/**
 * Stores secrets, their versions, and the requests that wrote them, with the audit of both.
 *
 * A writing transaction takes locks in this order, and no other: the request's row (`claimRequest`), products and
 * environments by id, shared (`lockTargets`), names in order (`lockNames`: whoever makes or renames secrets), secrets by
 * id (`lock`), approvals by id, shared (`WriteApprovals`). Rows of values and versions need no locks of their own: whoever writes them has locked the secret.
 */
export class VaultRepo extends Context.Service<
  VaultRepo,
  {
    /**
     * Finds secrets in one look-up. With `read`, also the values of one secret where they are readable, and stores the
     * entry of the audit if there is a value.
     */
    readonly find: (workspaceId: WorkspaceId, selection: Selection, read?: AuditOrigin) => Effect.Effect<FoundSecrets>
    /** The products and environments that refs (slug or id) name, or all environments, locked until the transaction ends. */
    readonly lockTargets: (
      workspaceId: WorkspaceId,
      refs: { readonly products: ReadonlyArray<string>; readonly environments: ReadonlyArray<string> | "all" }
    ) => Effect.Effect<LockedTargets>
    /** Locks names of the workspace until the transaction ends, for whoever makes secrets of a name, or renames. */
    readonly lockNames: (workspaceId: WorkspaceId, ...names: ReadonlyArray<string>) => Effect.Effect<void>
    /** Locks the products' secrets of the name until the transaction ends; by id. */
    readonly lock: (
      workspaceId: WorkspaceId,
      productIds: ReadonlyArray<ProductId>,
      name: string
    ) => Effect.Effect<ReadonlyArray<LockedSecret>>
    readonly insert: (secrets: ReadonlyArray<SecretRow>) => Effect.Effect<void, UniqueViolation>
    readonly rename: (id: SecretId, name: string) => Effect.Effect<void, UniqueViolation>
    /** Stores versions, each the next of its pair, and what goes with them. The secrets are locked. */
    readonly write: (change: Change) => Effect.Effect<void>
    /** Newest first, below `before`; the product and environment by slug or id. */
    readonly versions: (
      workspaceId: WorkspaceId,
      path: { readonly product: string; readonly name: string; readonly environment: string },
      page: { readonly before: number; readonly limit: number }
    ) => Effect.Effect<VersionPage>
    /** Encrypted values of versions whose pairs are readable now and whose secrets are not deleted. */
    readonly encryptedValues: (places: ReadonlyArray<VersionPlace>) => Effect.Effect<ReadonlyArray<NewVersion>>
    /** Versions as they are stored, whether or not their values may be read. Their secrets are locked. */
    readonly storedVersions: (places: ReadonlyArray<VersionPlace>) => Effect.Effect<ReadonlyArray<NewVersion>>
    /** Whether a current version in the environment has a value. */
    readonly holdsValues: (environmentId: EnvironmentId) => Effect.Effect<boolean>
    /** Erases the values of all versions in the environment; the versions stay, as ones that cleared. */
    readonly eraseValues: (environmentId: EnvironmentId) => Effect.Effect<void>
    /**
     * Claims a request for this transaction: undefined where it is the first, else what the first was and wrote. Waits
     * while another transaction has it claimed. A claim older than `expired` counts for nothing.
     */
    readonly claimRequest: (
      key: RequestKey,
      claim: { readonly fingerprint: string; readonly at: Timestamp; readonly expired: Timestamp }
    ) => Effect.Effect<{ readonly fingerprint: string; readonly written: unknown } | undefined>
    /** Stores what the claimed request wrote: versions, never values. */
    readonly recordWritten: (key: RequestKey, written: unknown) => Effect.Effect<void>
    /** Erases some secrets deleted before an instant, with their versions, and some requests; how many of either. */
    readonly erase: (
      before: { readonly deleted: Timestamp; readonly requests: Timestamp },
      limit: number
    ) => Effect.Effect<number>
  }
>()("@delivery/server/vault/VaultRepo") {}
