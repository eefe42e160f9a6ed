import { Schema, SchemaTransformation } from "effect"
import { Repository } from "../catalog/Product.ts"
import { Body } from "../Body.ts"
import { Person } from "../identity/Actor.ts"
import { WorkspaceMembership } from "../identity/Workspace.ts"
import { AgentId, ComputerId, PersonId, WorkspaceId } from "../Ids.ts"
import { atLeast, firstCharacters, isId, OneOf, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** Milliseconds in which something must have been seen to be live (docs/contract.md, Agents). */
export const liveMillis = 60_000

/** Milliseconds after which a session leaves its computer (docs/contract.md, Agents). */
export const sessionMillis = 86_400_000

/** The sessions of one computer that are kept; a new one ends the one not seen for longest. */
export const maxSessions = 100

/** The characters of a computer's name that are kept. */
export const maxComputerName = 100

/** A coding-agent client. */
export const AgentClient = OneOf(["claude", "codex", "cursor"]).annotate({
  description: "The coding-agent client.",
  examples: ["claude"]
})
export type AgentClient = typeof AgentClient.Type

const exampleIds = {
  agent: AgentId.make("0197a1b2-0000-7000-8000-0000000000e1"),
  computer: ComputerId.make("0197a1b2-0000-7000-8000-0000000000e2"),
  person: { id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"), name: "Ana Diaz", email: "ana@example.com" }
}

const exampleSession = {
  id: "s-1f3a",
  repository: "acme/shop",
  branch: "main",
  lastSeenAt: "2026-11-21T09:30:00.000Z",
  live: true
}

const SessionId = Schema.String.annotate({ description: "Chosen by the client.", examples: ["s-1f3a"] })

/** A session's id where it may be made: chosen by the client. */
export const SessionName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,100}$/, { message: "Expected 1 to 100 letters, digits, _ or -" })
).annotate({ description: "The session's id, chosen by the client.", examples: ["s-1f3a"] })

/** Something an agent's client works on now (docs/contract.md, Agents). */
export const AgentSession = Schema.Struct({
  id: SessionId,
  repository: Schema.NullOr(Schema.String).annotate({ description: "On the code host, `owner/name`." }),
  branch: Schema.NullOr(Schema.String),
  lastSeenAt: Timestamp,
  live: Schema.Boolean.annotate({ description: "Whether it was reported in the last minute." })
}).annotate({
  identifier: "AgentSession",
  description: "Something an agent's client works on.",
  examples: [exampleSession]
})
export type AgentSession = typeof AgentSession.Type

/** A computer that an agent's client is signed in on (docs/contract.md, Agents). */
export const Computer = Schema.Struct({
  id: ComputerId,
  name: Schema.String,
  lastSeenAt: Timestamp,
  live: Schema.Boolean.annotate({ description: "Whether it was seen in the last minute, itself or by a session." }),
  sessions: Schema.Array(AgentSession).annotate({
    description: "Those seen in the last day, the most recently seen first."
  })
}).annotate({
  identifier: "Computer",
  description: "A computer that an agent's client is signed in on.",
  examples: [
    {
      id: exampleIds.computer,
      name: "ana-laptop",
      lastSeenAt: "2026-11-21T09:30:00.000Z",
      live: true,
      sessions: [exampleSession]
    }
  ]
})
export type Computer = typeof Computer.Type

/** A computer as other objects show it. */
export const ComputerRef = Schema.Struct({ id: ComputerId, name: Schema.String }).annotate({
  identifier: "ComputerRef",
  description: "A computer as other objects show it.",
  examples: [{ id: exampleIds.computer, name: "ana-laptop" }]
})
export type ComputerRef = typeof ComputerRef.Type

/** A registered agent as other objects show it. */
export const AgentRef = Schema.Struct({ id: AgentId, name: Schema.String, person: Person }).annotate({
  identifier: "AgentRef",
  description: "A registered agent as other objects show it.",
  examples: [{ id: exampleIds.agent, name: "Claude", person: exampleIds.person }]
})
export type AgentRef = typeof AgentRef.Type

/** One coding-agent client that works for one member of a workspace (docs/contract.md, Agents). */
export const RegisteredAgent = Schema.Struct({
  id: AgentId,
  name: Schema.String.annotate({ description: "The client's: Claude, Codex or Cursor." }),
  person: Person,
  computers: Schema.Array(Computer).annotate({ description: "The most recently seen first." }),
  serverUrl: Schema.Boolean.annotate({
    description:
      "Whether it has a sign-in made with the server URL instead of the plugin. The website makes those; they read messages with inbox tools only."
  }),
  live: Schema.Boolean.annotate({ description: "Whether any of its computers is." }),
  lastSeenAt: Schema.NullOr(Timestamp).annotate({ description: "Null when never." }),
  createdAt: Timestamp
}).annotate({
  identifier: "RegisteredAgent",
  description: "One coding-agent client that works for one member of a workspace.",
  examples: [
    {
      id: exampleIds.agent,
      name: "Claude",
      person: exampleIds.person,
      computers: [
        {
          id: exampleIds.computer,
          name: "ana-laptop",
          lastSeenAt: "2026-11-21T09:30:00.000Z",
          live: true,
          sessions: [exampleSession]
        }
      ],
      serverUrl: false,
      live: true,
      lastSeenAt: "2026-11-21T09:30:00.000Z",
      createdAt: "2026-11-20T08:00:00.000Z"
    }
  ]
})
export type RegisteredAgent = typeof RegisteredAgent.Type

/** `person` of the list of agents. */
export const PersonFilter = Schema.String.check(
  Schema.makeFilter<string>((text) => text === "me" || isId(text) || "Expected a person's id or me", {
    toJsonSchema: undocumented
  })
).annotate({ description: "Only this person's agents, by id, or `me`.", examples: ["me"] })

const kept = (name: string): string => firstCharacters(name.trim(), maxComputerName).trimEnd()

/** A computer's name: trimmed, then only its first 100 characters are kept; never empty. */
export const ComputerName = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, {
    message: "Expected text without control characters",
    toJsonSchema: () => ({ minLength: 1 })
  })
).pipe(Schema.decodeTo(Schema.String.check(atLeast(1)), SchemaTransformation.transform({ decode: kept, encode: kept })))

export const RegisterAgent = Body({
  client: AgentClient,
  computer: ComputerName.annotate({
    description: "The computer's name for people; only the first 100 characters are kept."
  })
}).annotate({
  identifier: "RegisterAgent",
  description: "A sign-in of a coding-agent client on a computer.",
  examples: [{ client: "claude", computer: "ana-laptop" }]
})
export type RegisterAgent = typeof RegisterAgent.Type

/** What the tokens of a sign-in may do. */
export const AgentScope = OneOf(["read write", "read"]).annotate({
  description: "`read write`; `read` for a viewer.",
  examples: ["read write"]
})
export type AgentScope = typeof AgentScope.Type

/** What a sign-in gets for its client, and again at each refresh (RFC 6749, section 5.1). */
export const tokenFields = {
  access_token: Schema.String.annotate({ description: "Starts with `atk_`: for `/agent/v1` and `/agent/mcp`." }),
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int.annotate({ description: "Seconds until the access token expires." }),
  refresh_token: Schema.String.annotate({
    description: "Starts with `rtk_`: works once, within 30 days, at `/agent/oauth/token`."
  }),
  scope: AgentScope
}

export const exampleTokens = {
  access_token: "atk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H2u8t3D",
  token_type: "Bearer",
  expires_in: 3600,
  refresh_token: "rtk_9Wc5Bn8Yd3Pa6Ue0H4fGhTz0sVq1Jm7Rk2Lx0c1Q9z",
  scope: "read write"
} as const

/** A new sign-in; its tokens are shown this once. */
export const AgentSignIn = Schema.Struct({
  agent: AgentId,
  computer: ComputerRef,
  clientId: Schema.String.annotate({ description: "The `client_id` of this sign-in at `/agent/oauth/token`." }),
  ...tokenFields
}).annotate({
  identifier: "AgentSignIn",
  description: "A new sign-in of an agent; its tokens are shown this once.",
  examples: [
    {
      agent: exampleIds.agent,
      computer: { id: exampleIds.computer, name: "ana-laptop" },
      clientId: "0197a1b2-0000-7000-8000-0000000000e3",
      ...exampleTokens
    }
  ]
})
export type AgentSignIn = typeof AgentSignIn.Type

export const RevokedAgent = Schema.Struct({
  revoked: Schema.Literal(true),
  agent: AgentId,
  declined: Schema.Int.annotate({
    description:
      "How many messages waited in its inbox and are declined; those about tickets that you no longer see are declined too, and do not count."
  })
}).annotate({
  identifier: "RevokedAgent",
  description: "The agent is revoked.",
  examples: [{ revoked: true, agent: exampleIds.agent, declined: 2 }]
})
export type RevokedAgent = typeof RevokedAgent.Type

/** Whom an access token stands for. */
export const AgentMe = Schema.Struct({
  agent: AgentRef,
  computer: Schema.NullOr(ComputerRef).annotate({
    description: "Where the client is signed in; null for a sign-in made with the server URL."
  }),
  workspace: WorkspaceMembership,
  scope: AgentScope
}).annotate({
  identifier: "AgentMe",
  description: "Whom an access token stands for, with its member's present role, and what it may do now.",
  examples: [
    {
      agent: { id: exampleIds.agent, name: "Claude", person: exampleIds.person },
      computer: { id: exampleIds.computer, name: "ana-laptop" },
      workspace: {
        id: WorkspaceId.make("0197a1b2-0000-7000-8000-00000000000a"),
        slug: "main",
        name: "Main",
        role: "member"
      },
      scope: "read write"
    }
  ]
})
export type AgentMe = typeof AgentMe.Type

export const ReportSession = Body({
  repository: Schema.optionalKey(Schema.NullOr(Repository)),
  branch: Schema.optionalKey(Schema.NullOr(Text(500).check(atLeast(1))))
}).annotate({
  identifier: "ReportSession",
  description: "What a session works on. What is left out stays as it was.",
  examples: [{ repository: "acme/shop", branch: "main" }]
})
export type ReportSession = typeof ReportSession.Type

export const ReportedSession = Schema.Struct({
  session: AgentSession,
  waiting: Schema.Int.annotate({ description: "How many messages wait in the inbox for this computer." })
}).annotate({
  identifier: "ReportedSession",
  description: "The session, and how much waits for it.",
  examples: [{ session: exampleSession, waiting: 1 }]
})
export type ReportedSession = typeof ReportedSession.Type
