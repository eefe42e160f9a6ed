import type { Role } from "@delivery/domain/identity/Role"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect, Layer } from "effect"

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

/** What identity mails. Who signs people in supplies it, where the settings name a mail server. */
export class Mail extends Context.Service<
  Mail,
  {
    /** Hands a mail over once what it tells is stored; a failure is reported, and fails nothing. Undefined: no mail server. */
    readonly sendInvite: ((mail: InviteMail) => Effect.Effect<void>) | undefined
  }
>()("@delivery/server/identity/Mail") {
  static readonly layerNotSet = Layer.succeed(Mail, { sendInvite: undefined })
}
