import { Schema } from "effect"
import { Body } from "../Body.ts"
import { InviteId, PersonId, WorkspaceId } from "../Ids.ts"
import { atLeast, atMost, Email, Name, OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Actor, Person } from "./Actor.ts"
import { NewApiKey } from "./ApiKey.ts"
import { Role } from "./Role.ts"
import { WorkspaceMembership } from "./Workspace.ts"

/** How long an invite can be accepted, in milliseconds: 7 days. */
export const inviteLifetimeMillis = 7 * 24 * 60 * 60 * 1000

export const InviteStatus = OneOf(["pending", "accepted", "revoked", "expired"]).annotate({
  identifier: "InviteStatus",
  description: "Only a pending invite can be accepted.",
  examples: ["pending"]
})
export type InviteStatus = typeof InviteStatus.Type

const fields = {
  id: InviteId,
  email: Schema.String.annotate({ description: "The email address that is invited." }),
  role: Role,
  status: InviteStatus,
  inviter: Actor,
  createdAt: Timestamp,
  expiresAt: Timestamp.annotate({
    description: "7 days after `createdAt`, or the end of the key that it was made with if that is earlier."
  }),
  acceptedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was accepted; null if it was not." })
}
const example = {
  id: InviteId.make("0197a1b2-0000-7000-8000-0000000000c1"),
  email: "sam@example.com",
  role: "member",
  status: "pending",
  inviter: {
    kind: "user",
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  createdAt: "2026-11-21T09:30:00.000Z",
  expiresAt: "2026-11-28T09:30:00.000Z",
  acceptedAt: null
} as const

/** An invitation of an email address to a workspace (docs/contract.md, Invites). */
export const Invite = Schema.Struct(fields).annotate({
  identifier: "Invite",
  description: "An invitation of an email address to a workspace.",
  examples: [example]
})
export type Invite = typeof Invite.Type

/** A new invite; with its token, which is never shown again, unless that was mailed. */
export const NewInvite = Schema.Struct({
  ...fields,
  token: Schema.optionalKey(
    Schema.String.annotate({
      description: "The secret of the invite (`itk_...`), unless it was mailed. It is never shown again."
    })
  ),
  url: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "The page on which the invite is accepted, unless it was mailed. The token stands behind `#`, so that no proxy and no log has it."
    })
  )
}).annotate({
  identifier: "NewInvite",
  description: "A new invite. Unless it was mailed, with its token, which is never shown again.",
  examples: [
    {
      ...example,
      token: "itk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk",
      url: "http://localhost:4000/invite#itk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk"
    }
  ]
})
export type NewInvite = typeof NewInvite.Type

/** How the token of an invite gets to whom it invites. */
export const InviteDelivery = OneOf(["mail", "link"]).annotate({
  identifier: "InviteDelivery",
  description:
    "`mail`: the service mails the token to the address, and shows it to nobody, so that accepting proves the address. `link`: the answer has the token and a link, to be passed on.",
  examples: ["link"]
})
export type InviteDelivery = typeof InviteDelivery.Type

export const CreateInvite = Body({
  email: Email,
  role: Role,
  deliver: Schema.optionalKey(InviteDelivery).annotate({
    description: "How the token gets to them. If absent, `mail` where the server sends mail, else `link`."
  })
}).annotate({
  identifier: "CreateInvite",
  description: "Whom to invite, which role they get, and how they get the invite.",
  examples: [{ email: "sam@example.com", role: "member" }]
})
export type CreateInvite = typeof CreateInvite.Type

export const AcceptInvite = Body({
  token: Schema.String.check(atLeast(1), atMost(200)).annotate({
    description: "The secret of the invite (`itk_...`)."
  }),
  name: Schema.optionalKey(
    Name(100).pipe(
      Schema.annotateEncoded({
        description:
          "The name of the new person: required without a credential, and ignored if you accept with one of your own."
      })
    )
  )
}).annotate({
  identifier: "AcceptInvite",
  description: "The token of an invite, and the name of the person who accepts it.",
  examples: [{ token: "itk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk", name: "Sam Lee" }]
})
export type AcceptInvite = typeof AcceptInvite.Type

export const InviteToken = Body({ token: AcceptInvite.fields.token }).annotate({
  identifier: "InviteToken",
  description: "The token of an invite.",
  examples: [{ token: "itk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk" }]
})
export type InviteToken = typeof InviteToken.Type

/** What a pending invite is for, as whoever has its token sees it. */
export const InvitePreview = Schema.Struct({
  email: fields.email,
  role: Role,
  workspace: Schema.Struct({ id: WorkspaceId, slug: Schema.String, name: Schema.String }),
  inviter: Actor,
  expiresAt: Timestamp,
  signInRequired: Schema.Boolean.annotate({
    description: "Whether it takes the credential of a person, who has proven the address."
  })
}).annotate({
  identifier: "InvitePreview",
  description: "What a pending invite is for.",
  examples: [
    {
      email: example.email,
      role: example.role,
      workspace: { id: WorkspaceId.make("0197a1b2-0000-7000-8000-00000000000a"), slug: "main", name: "Main" },
      inviter: example.inviter,
      expiresAt: example.expiresAt,
      signInRequired: false
    }
  ]
})
export type InvitePreview = typeof InvitePreview.Type

/** The answer to accepting an invite: a new person gets their first API key, who has a credential none. */
export const AcceptedInvite = Schema.Struct({
  person: Person,
  workspace: WorkspaceMembership,
  apiKey: Schema.NullOr(NewApiKey).annotate({
    description: "The first API key of a new person; null if you accepted with a credential of your own."
  })
}).annotate({
  identifier: "AcceptedInvite",
  description: "Who joined which workspace. A new person gets their first API key; others join with the keys they have."
})
export type AcceptedInvite = typeof AcceptedInvite.Type
