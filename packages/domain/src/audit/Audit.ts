import { Schema } from "effect"
import { Change } from "../events/Event.ts"
import { Actor } from "../identity/Actor.ts"
import { AuditEntryId, PersonId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** The credential of who acted, never its token. */
export const AuditCredential = Schema.Struct({
  kind: OneOf([
    "apiKey",
    "accountApiKey",
    "session",
    "agent",
    "deploymentToken",
    "ciToken",
    "host",
    "report",
    "server"
  ]).annotate({
    description:
      "What kind of credential it is. `agent` is a sign-in of a coding agent, `ciToken` a token of a CI that was to be exchanged for a key. Three are none, and say that it was not the actor who did it: `host` (whoever runs the server, by a command on it), `report` (somebody who reported the token, without a key) and `server` (the server by itself, as when a key expires)."
  }),
  id: Schema.String.annotate({
    description:
      "The id of the key, session, sign-in or token; of a `ciToken`, its `jti`. Empty for `host`, `report` and `server`, and for a `ciToken` that has none."
  }),
  lastFour: Schema.String.annotate({
    description:
      "The last 4 characters of its token; for `report`, of the token that was reported. Empty for `ciToken`, `host` and `server`, and where the token is no longer known."
  })
}).annotate({
  identifier: "AuditCredential",
  description: "The credential that something was done with, never its token.",
  examples: [{ kind: "apiKey", id: "0197a1b2-0000-7000-8000-0000000000b1", lastFour: "9aZk" }]
})
export type AuditCredential = typeof AuditCredential.Type

export const AuditOutcome = OneOf(["allowed", "refused"])

/** Who did what in a workspace, and from where (docs/contract.md, Audit). Never a value or a token. */
export const AuditEntry = Schema.Struct({
  id: AuditEntryId,
  at: Timestamp,
  /** Named as they were at that time. */
  actor: Actor,
  credential: Schema.NullOr(AuditCredential).annotate({
    description:
      "What they did it with. Null if no credential was shown, as where signing in failed or a link to sign in was asked for: the actor is whose account it is, and anybody may have asked."
  }),
  address: Schema.NullOr(Schema.String).annotate({
    description:
      "The network address of the client. Null for what the server did by itself, or its operator by a command on it."
  }),
  action: Schema.String.annotate({
    description:
      "What happened, named as events are: `secret_read`, `key_created`, `member_updated`, `signed_in`. Where an operation was refused: the operation, by its id in the API description, such as `members.update`. The filter `action` lists all."
  }),
  subject: Schema.Struct({
    type: Schema.String.annotate({ description: "The type of the subject, such as `secret`, `key` or `member`." }),
    id: Schema.String.annotate({ description: "The id of the subject; of a refused operation, what its path names." }),
    label: Schema.String.annotate({ description: "The name of the subject at that time, for people." })
  }),
  environments: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({
      description: "Of a secret that was read or written: in which environments, by their slugs at that time."
    })
  ),
  versions: Schema.optionalKey(
    Schema.Array(Schema.Int).annotate({ description: "The versions that were read or written, one per environment." })
  ),
  secrets: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ name: Schema.String, version: Schema.Int }).annotate({
        identifier: "AuditedSecret",
        description: "A secret that was read, and which version of it.",
        examples: [{ name: "DATABASE_URL", version: 3 }]
      })
    ).annotate({ description: "Of a deployment that read all of its secrets: which, and which version of each." })
  ),
  count: Schema.optionalKey(
    Schema.Int.annotate({
      description:
        "How many equal requests of a deployment token within a minute the entry tells of, to within a second; absent if it is one. Time and request id are those of the first."
    })
  ),
  changes: Schema.optionalKey(
    Schema.Array(Change).annotate({
      description:
        "The fields that changed, such as the role of a member, and what else is to be known: the `role`, `scopes` (`all` if it has all) and `expiresAt` of a new key, the `method` of a sign-in, the `reason` for which an agent's sign-in ended."
    })
  ),
  outcome: AuditOutcome.annotate({
    description: "`refused`: it did not happen, since the credential did not allow it or the proof did not work."
  }),
  requestId: Schema.NullOr(Schema.String).annotate({
    description: "The id of the request, its header `x-request-id`. Null where there was no request."
  })
}).annotate({
  identifier: "AuditEntry",
  description: "Who did what in a workspace, and from where. Never has a secret value or a token.",
  examples: [
    {
      id: AuditEntryId.make("0197a1b2-0000-7000-8000-0000000000e1"),
      at: "2026-11-21T09:30:00.000Z",
      actor: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      credential: { kind: "apiKey", id: "0197a1b2-0000-7000-8000-0000000000b1", lastFour: "9aZk" },
      address: "203.0.113.7",
      action: "secret_read",
      subject: { type: "secret", id: "0197a1b2-0000-7000-8000-000000000051", label: "DATABASE_URL of Shop" },
      environments: ["ci", "staging"],
      versions: [3, 7],
      outcome: "allowed",
      requestId: "8c5f2b1e-7a5d-4b8e-9d55-0c6a3f1f2e10"
    }
  ]
})
export type AuditEntry = typeof AuditEntry.Type

/** A page of the audit. */
export const AuditPage = Schema.Struct({
  entries: Schema.Array(AuditEntry).annotate({ description: "The entries, newest first." }),
  nextCursor: Schema.NullOr(AuditEntryId).annotate({
    description: "Send it as `cursor`, with the same filters, to get the next page. Null on the last page."
  })
}).annotate({ identifier: "AuditPage", description: "A page of the audit, newest first." })
export type AuditPage = typeof AuditPage.Type

/** How many entries a page has. */
export const auditPageSize = 100
