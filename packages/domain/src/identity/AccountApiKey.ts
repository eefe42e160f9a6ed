import { Schema } from "effect"
import { Body } from "../Body.ts"
import { PersonId } from "../Ids.ts"
import { OneOf, VisibleName } from "../Text.ts"
import { Actor } from "./Actor.ts"
import { ApiKey, NewApiKey, newKeyLimits } from "./ApiKey.ts"

const role = OneOf(["viewer", "member", "admin"]).annotate({ description: "The role of the key in the workspace." })

/** An API key that belongs to a workspace and not to a person (docs/contract.md, API keys). */
export const AccountApiKey = Schema.Struct({
  ...ApiKey.fields,
  role,
  createdBy: Schema.NullOr(Actor).annotate({
    description: "Who made it; null if that is not known."
  })
}).annotate({
  identifier: "AccountApiKey",
  description: "An API key that belongs to one workspace and not to a person.",
  examples: [
    {
      id: ApiKey.fields.id.make("0197a1b2-0000-7000-8000-0000000000b2"),
      name: "ci",
      tokenPrefix: "ctk_Zk3L",
      lastFour: "0Pq7",
      createdAt: "2026-11-21T09:30:00.000Z",
      lastUsedAt: "2026-11-21T10:00:00.000Z",
      scopes: ["read", "publish"],
      expiresAt: null,
      expiresSoon: false,
      role: "member",
      createdBy: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      }
    }
  ]
})
export type AccountApiKey = typeof AccountApiKey.Type

/** A new account API key with its secret, which is never shown again. */
export const NewAccountApiKey = Schema.Struct({ ...NewApiKey.fields, role }).annotate({
  identifier: "NewAccountApiKey",
  description: "A new account API key with its secret, which is never shown again.",
  examples: [
    {
      id: ApiKey.fields.id.make("0197a1b2-0000-7000-8000-0000000000b2"),
      name: "ci",
      tokenPrefix: "ctk_Zk3L",
      lastFour: "0Pq7",
      scopes: ["read", "publish"],
      expiresAt: null,
      secret: "ctk_Zk3LTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H0Pq7",
      role: "member"
    }
  ]
})
export type NewAccountApiKey = typeof NewAccountApiKey.Type

/** How many account API keys of a workspace may work at once, those of trusted publishers not counted. */
export const maxAccountApiKeys = 1000

export const CreateAccountApiKey = Body({ name: VisibleName(80), role, ...newKeyLimits }).annotate({
  identifier: "CreateAccountApiKey",
  description: "The name and role of a new account API key, and its limits.",
  examples: [
    { name: "ci", role: "member" },
    { name: "ci", role: "member", scopes: ["read", "publish"] }
  ]
})
export type CreateAccountApiKey = typeof CreateAccountApiKey.Type
