import type { Role } from "@delivery/domain/identity/Role"
import type { WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/** An invite as it is mailed. */
export interface InviteMail {
  readonly to: string
  readonly workspace: string
  readonly inviter: string
  readonly role: Role
  /** With the token of the invite. */
  readonly url: string
  readonly expiresAt: Timestamp
}

/** Too many invites were mailed in the last hour, or are to be sent. */
export interface TooManyInvites {
  readonly _tag: "Throttled"
  readonly message: string
  /** In seconds. */
  readonly retryAfter: number
}

/** What identity mails. Who signs people in supplies it, where the settings name a mail server. */
export class Mail extends Context.Service<
  Mail,
  {
    /** Hands a mail over once what it tells is stored; a failure is reported, and fails nothing. Undefined: no mail server. */
    readonly sendInvite: ((mail: InviteMail) => Effect.Effect<void>) | undefined
    /** Counts an invite of the workspace that is to be mailed to the address: whoever invites may type anybody's. */
    readonly admitInvite: (workspaceId: WorkspaceId, to: string, by: ActorRef) => Effect.Effect<void, TooManyInvites>
  }
>()("@delivery/server/identity/Mail") {}
