import type { Actor } from "@delivery/domain/identity/Actor"
import type { Role } from "@delivery/domain/identity/Role"
import type { Scope } from "@delivery/domain/Scope"
import type { TrustedPublisherId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { boolean, instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Workflows of CI that get keys of a workspace. A row is gone when it is trusted no more. */
export const trustedPublishers = table("trusted_publishers", {
  id: uuid<TrustedPublisherId>(),
  workspaceId: uuid<WorkspaceId>(),
  issuer: text(),
  repositoryId: text(),
  ownerId: text(),
  workflow: text(),
  ref: nullable(text()),
  environment: nullable(text()),
  allowPullRequests: boolean(),
  role: text<Exclude<Role, "owner">>(),
  /** Null: all. */
  scopes: nullable(json<ReadonlyArray<Scope>>()),
  createdByKind: text<ActorRef["kind"]>(),
  createdById: uuid<ActorRef["id"]>(),
  createdAt: instant(),
  /** When the key ends that it was made with. */
  expiresAt: nullable(instant()),
  lastUsedAt: nullable(instant()),
  /** The credential that it was made with, with which it ends. The keys that it gives have it as their maker. */
  makerId: nullable(uuid())
})

export type TrustedPublisherRow = Row<typeof trustedPublishers>

/** A publisher with the present name of who made it. */
export type PublisherWithActor = TrustedPublisherRow & { readonly createdBy: Actor }

/** Whose workflows they are. */
export type Repository = Pick<TrustedPublisherRow, "issuer" | "repositoryId" | "ownerId">

/** A trusted publisher in events. */
export const publisherSubject = ({ id, workflow }: Pick<TrustedPublisherRow, "id" | "workflow">) => ({
  type: "publisher",
  id,
  label: workflow,
  path: "settings/trusted-publishers"
})

/** Stores which workflows of CI a workspace trusts. */
export class TrustedPublishersRepo extends Context.Service<
  TrustedPublishersRepo,
  {
    readonly insert: (publisher: TrustedPublisherRow) => Effect.Effect<void>
    /** Newest first. */
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<PublisherWithActor>>
    /** Those of the repository, oldest first. */
    readonly ofRepository: (
      workspaceId: WorkspaceId,
      repository: Repository
    ) => Effect.Effect<ReadonlyArray<TrustedPublisherRow>>
    /** Notes that it is used. It stays until the transaction ends. Undefined where it is gone, or the key that made it. */
    readonly use: (id: TrustedPublisherId, now: Timestamp) => Effect.Effect<TrustedPublisherRow | undefined>
    /** Takes it away: of those who try at once, one gets it. */
    readonly delete: (id: TrustedPublisherId) => Effect.Effect<TrustedPublisherRow | undefined>
    /** Takes away what was made with these credentials. */
    readonly deleteMadeWith: (makers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<TrustedPublisherRow>>
  }
>()("@delivery/server/identity/TrustedPublishersRepo") {}
