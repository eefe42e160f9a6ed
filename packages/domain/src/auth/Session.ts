import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor, Person } from "../identity/Actor.ts"
import { EmailVerifiedAt } from "../identity/Member.ts"
import { Role } from "../identity/Role.ts"
import { WorkspaceMembership } from "../identity/Workspace.ts"
import { InviteId, PersonId, SessionId, WorkspaceId } from "../Ids.ts"
import { atLeast, atMost, Email, OneOf, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** How long a printed link can be used, in milliseconds: 1 h. */
export const printedLinkMillis = 60 * 60 * 1000

export const SignInMethod = OneOf(["link", "mail", "passkey", "oidc", "github", "invite"]).annotate({
  identifier: "SignInMethod",
  description: "How a session began.",
  examples: ["link"]
})
export type SignInMethod = typeof SignInMethod.Type

const fields = {
  id: SessionId,
  method: SignInMethod,
  createdAt: Timestamp.annotate({ description: "When the person signed in." }),
  lastSeenAt: Timestamp.annotate({ description: "When the session last authenticated a request." }),
  expiresAt: Timestamp.annotate({
    description: "When the session ends if it is not used again, and at the latest 30 days after it began."
  })
}
const example = {
  id: SessionId.make("0197a1b2-0000-7000-8000-0000000000d1"),
  method: "link",
  createdAt: "2026-11-21T09:30:00.000Z",
  lastSeenAt: "2026-11-21T09:31:00.000Z",
  expiresAt: "2026-11-28T09:31:00.000Z"
} as const

/** The session of the request. */
export const CurrentSession = Schema.Struct({
  ...fields,
  sudoUntil: Schema.NullOr(Timestamp).annotate({
    description: "Until when the session may do what needs a fresh proof; null if it may not any more."
  })
}).annotate({
  identifier: "CurrentSession",
  description: "The session of the request.",
  examples: [{ ...example, sudoUntil: "2026-11-21T09:45:00.000Z" }]
})
export type CurrentSession = typeof CurrentSession.Type

const SignedInPerson = Schema.Struct({ ...Person.fields, emailVerifiedAt: EmailVerifiedAt }).annotate({
  identifier: "SignedInPerson",
  description: "The person who is signed in.",
  examples: [
    {
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com",
      emailVerifiedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})

/** An invite as whoever it is for sees it. */
const ReceivedInvite = Schema.Struct({
  id: InviteId,
  workspace: Schema.Struct({ id: WorkspaceId, slug: Schema.String, name: Schema.String }),
  role: Role,
  inviter: Actor,
  expiresAt: Timestamp
}).annotate({
  identifier: "ReceivedInvite",
  description: "An invite that is pending, as whoever it is for sees it.",
  examples: [
    {
      id: InviteId.make("0197a1b2-0000-7000-8000-0000000000c1"),
      workspace: { id: WorkspaceId.make("0197a1b2-0000-7000-8000-00000000000a"), slug: "main", name: "Main" },
      role: "member",
      inviter: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      expiresAt: "2026-11-28T09:30:00.000Z"
    }
  ]
})

export const WayIn = OneOf(["passkey", "identity", "mail"]).annotate({
  identifier: "WayIn",
  description:
    "By what a person can sign in: `passkey`, `identity` (an account at a provider that the server has), or `mail` to a proven address.",
  examples: ["passkey"]
})
export type WayIn = typeof WayIn.Type

/** Who is signed in, and where they may act (docs/contract.md, Sessions). */
export const SignedIn = Schema.Struct({
  session: CurrentSession,
  person: SignedInPerson,
  workspaces: Schema.Array(WorkspaceMembership).annotate({ description: "Where the person is active, by name." }),
  invites: Schema.Array(ReceivedInvite).annotate({
    description: "The pending invites to the person's address, newest first; none if the address is not proven."
  }),
  waysIn: Schema.optionalKey(
    Schema.Array(WayIn).annotate({
      description:
        "By what the person can sign in again without the operator of the server; empty if by nothing. Earlier servers do not say it."
    })
  )
}).annotate({ identifier: "SignedIn", description: "Who is signed in, and where they may act." })
export type SignedIn = typeof SignedIn.Type

/** One of the sessions of a person, as their list shows it. */
export const ListedSession = Schema.Struct({
  ...fields,
  device: Schema.String.annotate({ description: "The browser and system, as the browser names them." }),
  address: Schema.String.annotate({ description: "The network address from which the person signed in." }),
  current: Schema.Boolean.annotate({ description: "Whether it is the session of this request." })
}).annotate({
  identifier: "Session",
  description: "A session of a person who signed in with a browser.",
  examples: [{ ...example, device: "Firefox on Linux", address: "203.0.113.7", current: true }]
})
export type ListedSession = typeof ListedSession.Type

const proofFields = {
  token: Schema.optionalKey(
    Schema.String.check(atLeast(1), atMost(200)).annotate({
      description: "The token of a link (`ltk_...`), which stands behind `#` in it."
    })
  ),
  code: Schema.optionalKey(
    Schema.String.check(atLeast(1), atMost(200)).annotate({
      description: "The code of a mail: 8 characters. Case, blanks and hyphens do not matter."
    })
  )
}

/** The proof of a person: the token of a link, or the code of a mail. */
export const SignInProof = Body(proofFields)
  .check(
    Schema.makeFilter<{ readonly token?: string; readonly code?: string }>(
      ({ code, token }) => (code === undefined) !== (token === undefined) || "Expected either token or code",
      { toJsonSchema: undocumented }
    )
  )
  .annotate({
    identifier: "SignInProof",
    description: "Either the token of a link, or the code of a mail.",
    examples: [{ token: "ltk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk" }, { code: "7KQ4MW2X" }]
  })
export type SignInProof = typeof SignInProof.Type

/** Whom to mail a link and a code. */
export const AskForLink = Body({ email: Email }).annotate({
  identifier: "AskForLink",
  description: "The address to mail a link and a code to.",
  examples: [{ email: "ana@example.com" }]
})
export type AskForLink = typeof AskForLink.Type

/** What was asked for has begun, whatever comes of it. */
export const Asked = Schema.Struct({}).annotate({
  identifier: "Asked",
  description: "A mail was asked for. The answer does not say whether one is sent.",
  examples: [{}]
})

/** How people can sign in to this server. */
export const SignInMethods = Schema.Struct({
  available: Schema.Boolean.annotate({ description: "Whether people can sign in with a browser." }),
  reason: Schema.NullOr(OneOf(["insecure_base_url"])).annotate({
    description: "Why nobody can: `insecure_base_url` if `BASE_URL` is http and not this computer; null if people can."
  }),
  mail: Schema.Boolean.annotate({ description: "Whether the server mails links." }),
  passkeys: Schema.Boolean.annotate({ description: "Whether passkeys can be used." }),
  providers: Schema.Array(
    Schema.Struct({ id: Schema.String, name: Schema.String, url: Schema.String }).annotate({
      identifier: "SignInProvider",
      description: "A provider of single sign-on, and the path at which signing in with it begins.",
      examples: [{ id: "corp", name: "Corp", url: "/auth/v1/oidc/corp/start" }]
    })
  ).annotate({ description: "The providers of single sign-on." })
}).annotate({
  identifier: "SignInMethods",
  description: "How people can sign in to this server.",
  examples: [{ available: true, reason: null, mail: false, passkeys: false, providers: [] }]
})
export type SignInMethods = typeof SignInMethods.Type

/** How many sessions ended. */
export const RevokedSessions = Schema.Struct({
  revoked: Schema.Int.annotate({ description: "How many sessions ended." })
}).annotate({ identifier: "RevokedSessions", description: "How many sessions ended.", examples: [{ revoked: 2 }] })
export type RevokedSessions = typeof RevokedSessions.Type
