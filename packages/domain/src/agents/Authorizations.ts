import { Schema } from "effect"
import { Body } from "../Body.ts"
import { AuthorizationId, PersonId, WorkspaceId } from "../Ids.ts"
import { WorkspaceMembership } from "../identity/Workspace.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { AgentScope } from "./Agent.ts"

/** What a client asks of a person who signs it in by the server's URL (docs/contract.md, Sign-in by the server's URL). */

/** How long a person has to decide, in milliseconds. */
export const authorizationMillis = 10 * 60 * 1000

const exampleId = AuthorizationId.make("0197a1b2-0000-7000-8000-0000000000e6")

/** The client that asks. */
const AuthorizationClient = Schema.Struct({
  id: Schema.String.annotate({ description: "The URL of the client's document, or the id that it registered by." }),
  name: Schema.String.annotate({
    description:
      "The name that the client gives itself: at most 100 characters, those that cannot be seen as `\\u{202E}`. Nobody has checked it."
  }),
  kind: OneOf(["document", "registered"]).annotate({
    description: "Whether a document at the URL describes the client, or it registered itself."
  })
}).annotate({
  identifier: "AuthorizationClient",
  description: "The client that asks to act for you.",
  examples: [{ id: "https://claude.ai/oauth/claude-code-client-metadata", name: "Claude Code", kind: "document" }]
})

const place = {
  host: Schema.String.annotate({
    description:
      "The host of `redirectUri`, with its port; of an app's scheme, the scheme. Show it first: it gets the access."
  }),
  loopback: Schema.Boolean.annotate({
    description: "Whether the host is your own computer, where any program may be the one that asks."
  })
}

/** Who asks, as whoever has the id of the authorization is told before they sign in. */
export const AskingClient = Schema.Struct({ ...AuthorizationClient.fields, ...place }).annotate({
  identifier: "AskingClient",
  description: "The client that asks for access, and where the access goes.",
  examples: [
    {
      id: "https://claude.ai/oauth/claude-code-client-metadata",
      name: "Claude Code",
      kind: "document",
      host: "localhost:53682",
      loopback: true
    }
  ]
})
export type AskingClient = typeof AskingClient.Type

/** What a client asks for, until somebody has decided. */
export const Authorization = Schema.Struct({
  id: AuthorizationId,
  client: AuthorizationClient,
  redirectUri: Schema.String.annotate({ description: "Where you are sent when you have decided." }),
  ...place,
  scope: AgentScope.annotate({ description: "What the client asks for." }),
  workspaces: Schema.Array(WorkspaceMembership).annotate({
    description: "Where you are active, by name: the client gets access to one of them."
  }),
  expiresAt: Timestamp.annotate({ description: "Until when you can decide." })
}).annotate({
  identifier: "Authorization",
  description: "What a client asks of you.",
  examples: [
    {
      id: exampleId,
      client: { id: "https://claude.ai/oauth/claude-code-client-metadata", name: "Claude Code", kind: "document" },
      redirectUri: "http://localhost:53682/callback",
      host: "localhost:53682",
      loopback: true,
      scope: "read write",
      workspaces: [
        {
          id: WorkspaceId.make("0197a1b2-0000-7000-8000-00000000000a"),
          slug: "main",
          name: "Main",
          role: "member"
        }
      ],
      expiresAt: "2026-11-21T09:40:00.000Z"
    }
  ]
})
export type Authorization = typeof Authorization.Type

const Allow = Body({
  allow: Schema.Literal(true),
  workspace: Schema.String.annotate({ description: "The slug or id of the workspace that the client may act in." }),
  person: Schema.optionalKey(
    PersonId.annotate({
      description: "The id of the person to whom the request was shown. If somebody else is signed in now, it is 409."
    })
  ),
  scope: Schema.optionalKey(
    AgentScope.annotate({
      description: "What the client may do. It gets no more than it asked for, and no more than your role allows."
    })
  )
}).annotate({
  identifier: "AllowAuthorization",
  description: "Lets the client act for you in a workspace.",
  examples: [{ allow: true, workspace: "main", scope: "read write" }]
})

const Refuse = Body({ allow: Schema.Literal(false) }).annotate({
  identifier: "RefuseAuthorization",
  description: "Refuses the client.",
  examples: [{ allow: false }]
})

export const DecideAuthorization = Schema.Union([Allow, Refuse]).annotate({
  identifier: "DecideAuthorization",
  description: "Whether the client may act for you, and where.",
  message: "Expected an object",
  examples: [{ allow: true, workspace: "main" }]
})
export type DecideAuthorization = typeof DecideAuthorization.Type

/** Where the client learns what was decided. */
export const DecidedAuthorization = Schema.Struct({
  location: Schema.String.annotate({ description: "Where to send the browser. It carries the answer to the client." })
}).annotate({
  identifier: "DecidedAuthorization",
  description: "Where the client learns what you have decided.",
  examples: [
    {
      location:
        "http://localhost:53682/callback?error=access_denied&state=af0ifjsldkj&iss=https%3A%2F%2Fdelivery.example"
    }
  ]
})
export type DecidedAuthorization = typeof DecidedAuthorization.Type
