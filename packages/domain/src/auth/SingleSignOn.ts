import { Schema } from "effect"
import { IdentityId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** What somebody goes to a provider for: to sign in, to add a way in, or to prove again who they are. */
export const SignInPurpose = OneOf(["sign-in", "link", "sudo"]).annotate({
  description:
    "`sign-in`, the default, begins a session; `link` adds the account to the ways in of a session's person; `sudo` proves again that the session is theirs.",
  examples: ["sign-in"]
})
export type SignInPurpose = typeof SignInPurpose.Type

/** How many accounts at providers one person signs in by, at most. */
export const maxIdentities = 10

/** Why a browser came back from a provider without what it went for (docs/contract.md, Single sign-on). */
export type SingleSignOnError =
  | "denied"
  | "failed"
  | "address_not_verified"
  | "no_account"
  | "other_account"
  | "other_person"
  | "too_many"
  | "unavailable"

/** An account at a provider by which a person signs in (docs/contract.md, Single sign-on). */
export const Identity = Schema.Struct({
  id: IdentityId,
  provider: Schema.String.annotate({ description: "The provider's id, as the list of ways to sign in has it." }),
  issuer: Schema.String.annotate({ description: "The issuer of the account." }),
  subject: Schema.String.annotate({ description: "The account, as its issuer names it." }),
  email: Schema.NullOr(Schema.String).annotate({
    description: "The address that the issuer named last; null if it named none. It need not be the person's."
  }),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.annotate({ description: "When it last proved who the person is." })
}).annotate({
  identifier: "Identity",
  description: "An account at a provider by which a person signs in.",
  examples: [
    {
      id: IdentityId.make("0197a1b2-0000-7000-8000-0000000000d7"),
      provider: "corp",
      issuer: "https://login.corp.example",
      subject: "00u1a2b3c4",
      email: "ana@example.com",
      createdAt: "2026-11-21T09:30:00.000Z",
      lastUsedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Identity = typeof Identity.Type

export const Identities = Schema.Struct({
  identities: Schema.Array(Identity)
}).annotate({ identifier: "Identities", description: "The accounts by which a person signs in, the oldest first." })
