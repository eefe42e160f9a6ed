import { Schema } from "effect"
import { PersonId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Actor } from "./Actor.ts"
import { Role } from "./Role.ts"
import { KeyScopes } from "../Scope.ts"

const Named = Schema.Struct({ slug: Schema.String, name: Schema.String })

/** A credential that may act in a workspace (docs/contract.md, Credentials). */
export const WorkspaceCredential = Schema.Struct({
  id: Schema.String,
  kind: OneOf(["apiKey", "accountApiKey", "session", "agent", "deploymentToken"]).annotate({
    description:
      "`apiKey`: a key of a member. `accountApiKey`: a key of the workspace. `session`: a browser of a member. `agent`: a sign-in of an agent. `deploymentToken`: a token of a deployment, which reads its secrets and sets its version, as a member may, and does nothing else."
  }),
  name: Schema.String.annotate({
    description: "The name of the key or token, the browser of the session, or the computer of the agent."
  }),
  owner: Actor,
  createdBy: Schema.NullOr(Actor).annotate({
    description: "Who made it; null if that is not known, or was the operator of the host."
  }),
  lastFour: Schema.NullOr(Schema.String).annotate({
    description: "The last 4 characters of the secret; null for agents, whose tokens change."
  }),
  scopes: KeyScopes,
  role: Role,
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was last used; null if never." }),
  expiresAt: Schema.NullOr(Timestamp).annotate({
    description:
      "When it ends; null if it does not end by itself. Of a session or an agent, which last longer when they are used: if it is not used until then."
  }),
  deployment: Schema.optionalKey(
    Schema.Struct({ product: Named, environment: Named }).annotate({
      description: "Only of a deployment token: the product and the environment whose secrets it reads."
    })
  ),
  makerEndedAt: Schema.optionalKey(
    Timestamp.annotate({
      description:
        "Only of a deployment token, which goes on then: when the API key ended that it was made with. Absent if that works, or if it was made in a session."
    })
  ),
  blocked: Schema.Boolean.annotate({
    description: "Whether the workspace does not let it in, since it, or what it was made with, is blocked."
  })
}).annotate({
  identifier: "WorkspaceCredential",
  description:
    "A credential that may act in the workspace: `owner` is who acts with it, and `role` what it may do there.",
  examples: [
    {
      id: "0197a1b2-0000-7000-8000-0000000000b1",
      kind: "apiKey",
      name: "laptop",
      owner: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      createdBy: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      lastFour: "9aZk",
      scopes: null,
      role: "owner",
      createdAt: "2026-11-21T09:30:00.000Z",
      lastUsedAt: "2026-11-21T10:00:00.000Z",
      expiresAt: null,
      blocked: false
    }
  ]
})
export type WorkspaceCredential = typeof WorkspaceCredential.Type
