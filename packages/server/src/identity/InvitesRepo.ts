import type { Actor } from "@delivery/domain/identity/Actor"
import type { InviteDelivery, InviteStatus } from "@delivery/domain/identity/Invite"
import type { Role } from "@delivery/domain/identity/Role"
import type { InviteId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { memoryTable } from "../storage/MemoryStorage.ts"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** The table of invites. Its rows keep the inviter as an `ActorRef`, which is two columns. */
export const invites = table("invites", {
  id: uuid<InviteId>(),
  workspaceId: uuid<WorkspaceId>(),
  email: text(),
  role: text<Role>(),
  tokenHash: text(),
  /** Mailed tokens were shown to nobody else. */
  delivery: text<InviteDelivery>(),
  inviterKind: text<ActorRef["kind"]>(),
  inviterId: uuid(),
  createdAt: instant(),
  expiresAt: instant(),
  acceptedAt: nullable(instant()),
  revokedAt: nullable(instant()),
  /** The credential that it was made with, with which it ends while it is pending; null if none. */
  makerId: nullable(uuid())
})

export interface InviteRow extends Omit<Row<typeof invites>, "inviterKind" | "inviterId"> {
  readonly inviter: ActorRef
}

/** Invites in the memory storage, which keeps the inviter as services and `Actors` take it: as one value. */
export const invitesTable = memoryTable<InviteRow>("invites")

/** An invite with its inviter's present name. */
export interface InviteWithActor extends Omit<InviteRow, "inviter"> {
  readonly inviter: Actor
}

/** A pending invite as whoever it is for sees it. */
export interface ReceivedInvite extends Pick<InviteWithActor, "id" | "role" | "inviter" | "expiresAt"> {
  readonly workspace: { readonly id: WorkspaceId; readonly slug: string; readonly name: string }
}

export const inviteStatus = (
  invite: Pick<InviteRow, "acceptedAt" | "revokedAt" | "expiresAt">,
  now: Timestamp
): InviteStatus => {
  if (invite.acceptedAt !== null) return "accepted"
  if (invite.revokedAt !== null) return "revoked"
  return invite.expiresAt <= now ? "expired" : "pending"
}

/** An invite in events. */
export const inviteSubject = (invite: Pick<InviteRow, "id" | "email">) => ({
  type: "invite",
  id: invite.id,
  label: invite.email,
  path: "settings/members"
})

/** Stores invites. */
export class InvitesRepo extends Context.Service<
  InvitesRepo,
  {
    readonly insert: (invite: InviteRow) => Effect.Effect<void>
    /** Newest first. */
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<InviteWithActor>>
    /** Holds the invite's row until the transaction ends, so that it is used once. */
    readonly lock: (workspaceId: WorkspaceId, id: InviteId) => Effect.Effect<InviteWithActor | undefined>
    /** Undefined also where the workspace has blocked what it was made with. */
    readonly find: (id: InviteId) => Effect.Effect<InviteWithActor | undefined>
    /** The pending invites to an address, newest first, but those whose workspace has blocked what they were made with. */
    readonly pendingTo: (email: string, now: Timestamp) => Effect.Effect<ReadonlyArray<ReceivedInvite>>
    /** Undefined also where the workspace has blocked what it was made with. */
    readonly findByTokenHash: (tokenHash: string) => Effect.Effect<InviteWithActor | undefined>
    /** Whoever made it, and whether they are blocked or not. */
    readonly ofToken: (tokenHash: string) => Effect.Effect<InviteWithActor | undefined>
    /** Revokes the pending invites that were made with these credentials, and returns them. */
    readonly revokeMadeBy: (
      makers: ReadonlyArray<string>,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<Pick<InviteRow, "id" | "workspaceId" | "email">>>
    readonly end: (id: InviteId, as: "accepted" | "revoked", at: Timestamp) => Effect.Effect<void>
  }
>()("@delivery/server/identity/InvitesRepo") {}
