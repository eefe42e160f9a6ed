import { Schema, SchemaTransformation } from "effect"
import { Repository } from "../catalog/Product.ts"
import { Body } from "../Body.ts"
import { Person } from "../identity/Actor.ts"
import { WorkspaceMembership } from "../identity/Workspace.ts"
import { AgentId, ComputerId, PersonId, WorkspaceId } from "../Ids.ts"
import { atLeast, firstCharacters, isId, OneOf, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** How recently something must have been seen to be live: milliseconds (docs/contract.md, Agents). */
export const liveMillis = 60_000

/** How long after its last report a session leaves its computer: milliseconds (docs/contract.md, Agents). */
export const sessionMillis = 86_400_000

/** How many sessions of a computer are kept. A new one beyond that ends the one that was not seen for longest. */
export const maxSessions = 100

/** How many characters of the name of a computer are kept. */
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

const SessionId = Schema.String.annotate({
  description: "The id of the session, chosen by the client.",
  examples: ["s-1f3a"]
})

/** The id of a session, where a call may create it. The client chooses it. */
export const SessionName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,100}$/, { message: "Expected 1 to 100 letters, digits, _ or -" })
).annotate({
  description: "The id of the session, chosen by the client: 1 to 100 letters, digits, `_` or `-`.",
  examples: ["s-1f3a"]
})

/** A session of an agent's client: a repository and branch that it works on (docs/contract.md, Agents). */
export const AgentSession = Schema.Struct({
  id: SessionId,
  repository: Schema.NullOr(Schema.String).annotate({
    description: "The repository that the session works on, as `owner/name`; null if unknown."
  }),
  branch: Schema.NullOr(Schema.String),
  lastSeenAt: Timestamp,
  live: Schema.Boolean.annotate({ description: "Whether the session was reported in the last minute." })
}).annotate({
  identifier: "AgentSession",
  description: "A session of the agent's client: a repository and branch that it works on.",
  examples: [exampleSession]
})
export type AgentSession = typeof AgentSession.Type

/** A computer on which an agent's client is signed in (docs/contract.md, Agents). */
export const Computer = Schema.Struct({
  id: ComputerId,
  name: Schema.String,
  lastSeenAt: Timestamp,
  live: Schema.Boolean.annotate({
    description: "Whether the computer, or one of its sessions, was seen in the last minute."
  }),
  sessions: Schema.Array(AgentSession).annotate({
    description: "The sessions that were seen in the last day, the latest first."
  })
}).annotate({
  identifier: "Computer",
  description: "A computer on which the agent's client is signed in.",
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

/** A computer, in the short form that other objects have. */
export const ComputerRef = Schema.Struct({ id: ComputerId, name: Schema.String }).annotate({
  identifier: "ComputerRef",
  description: "A computer, in the short form that other objects have.",
  examples: [{ id: exampleIds.computer, name: "ana-laptop" }]
})
export type ComputerRef = typeof ComputerRef.Type

/** An agent, in the short form that other objects have. */
export const AgentRef = Schema.Struct({ id: AgentId, name: Schema.String, person: Person }).annotate({
  identifier: "AgentRef",
  description: "An agent, in the short form that other objects have.",
  examples: [{ id: exampleIds.agent, name: "Claude", person: exampleIds.person }]
})
export type AgentRef = typeof AgentRef.Type

/** One coding-agent client that works for one member of a workspace (docs/contract.md, Agents). */
export const RegisteredAgent = Schema.Struct({
  id: AgentId,
  name: Schema.String.annotate({
    description: "The name of the client: Claude, Codex or Cursor, or the name that another client gives itself."
  }),
  person: Person,
  computers: Schema.Array(Computer).annotate({ description: "The computers of the agent, the latest seen first." }),
  serverUrl: Schema.Boolean.annotate({
    description:
      "Whether the agent has a sign-in that was made with the server URL instead of the plugin. The website makes such sign-ins. They have no computer, and read messages with the inbox tools only."
  }),
  live: Schema.Boolean.annotate({ description: "Whether one of its computers is live." }),
  lastSeenAt: Schema.NullOr(Timestamp).annotate({ description: "When the agent was last seen; null if never." }),
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

/** The filter `person` of the list of agents. */
export const PersonFilter = Schema.String.check(
  Schema.makeFilter<string>((text) => text === "me" || isId(text) || "Expected a person's id or me", {
    toJsonSchema: undocumented
  })
).annotate({ description: "Only agents of this person: the id of a member, or `me`.", examples: ["me"] })

const truncateName = (name: string): string => firstCharacters(name.trim(), maxComputerName).trimEnd()

/** The name of a computer: trimmed, cut to its first 100 characters, and never empty. */
export const ComputerName = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, {
    message: "Expected text without control characters",
    toJsonSchema: () => ({ minLength: 1 })
  })
).pipe(
  Schema.decodeTo(
    Schema.String.check(atLeast(1)),
    SchemaTransformation.transform({ decode: truncateName, encode: truncateName })
  )
)

export const RegisterAgent = Body({
  client: AgentClient,
  computer: ComputerName.annotate({
    description: "The name of the computer, for people. Only its first 100 characters are kept."
  })
}).annotate({
  identifier: "RegisterAgent",
  description: "Which coding-agent client signs in, and on which computer.",
  examples: [{ client: "claude", computer: "ana-laptop" }]
})
export type RegisterAgent = typeof RegisterAgent.Type

/** What the access tokens of a sign-in allow. */
export const AgentScope = OneOf(["read write", "read"]).annotate({
  description: "What the access token allows: `read write`, or `read` for a viewer.",
  examples: ["read write"]
})
export type AgentScope = typeof AgentScope.Type

/** The tokens of a new sign-in, and of each refresh (RFC 6749, section 5.1). */
export const tokenFields = {
  access_token: Schema.String.annotate({
    description: "The access token (`atk_...`) for `/agent/v1` and `/agent/mcp`."
  }),
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int.annotate({ description: "How many seconds the access token works." }),
  refresh_token: Schema.String.annotate({
    description: "The refresh token (`rtk_...`) for `/agent/oauth/token`. It works once, within 30 days."
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

/** A new sign-in. Its tokens are never shown again. */
export const AgentSignIn = Schema.Struct({
  agent: AgentId,
  computer: ComputerRef,
  clientId: Schema.String.annotate({
    description: "The `client_id` to send to `/agent/oauth/token`. Each sign-in has its own."
  }),
  ...tokenFields
}).annotate({
  identifier: "AgentSignIn",
  description: "A new sign-in of an agent. Its tokens are never shown again.",
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
      "How many waiting messages were declined. Messages about tickets that you can no longer see are declined too, but not counted."
  })
}).annotate({
  identifier: "RevokedAgent",
  description: "The agent that was revoked.",
  examples: [{ revoked: true, agent: exampleIds.agent, declined: 2 }]
})
export type RevokedAgent = typeof RevokedAgent.Type

/** The agent behind an access token. */
export const AgentMe = Schema.Struct({
  agent: AgentRef,
  computer: Schema.NullOr(ComputerRef).annotate({
    description: "The computer on which the client is signed in; null for a sign-in that was made with the server URL."
  }),
  workspace: WorkspaceMembership,
  scope: AgentScope
}).annotate({
  identifier: "AgentMe",
  description: "The agent behind an access token, with the present role of its member, and what the token allows now.",
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
  description: "What the session works on. A field that is left out stays as it was.",
  examples: [{ repository: "acme/shop", branch: "main" }]
})
export type ReportSession = typeof ReportSession.Type

export const ReportedSession = Schema.Struct({
  session: AgentSession,
  waiting: Schema.Int.annotate({ description: "How many messages wait in the inbox of this computer." })
}).annotate({
  identifier: "ReportedSession",
  description: "The session, and how many messages wait for it.",
  examples: [{ session: exampleSession, waiting: 1 }]
})
export type ReportedSession = typeof ReportedSession.Type
