import { Schema } from "effect"
import { Body } from "../Body.ts"
import { ApiKeyId } from "../Ids.ts"
import { VisibleName } from "../Text.ts"
import { Timestamp, TimestampInput } from "../Timestamp.ts"
import { KeyScopes, NewKeyScopes } from "../Scope.ts"

const fields = {
  id: ApiKeyId,
  name: Schema.String.annotate({ description: "The name that its owner gave it." }),
  tokenPrefix: Schema.String.annotate({ description: "The first 8 characters of the secret." }),
  lastFour: Schema.String.annotate({ description: "The last 4 characters of the secret." }),
  scopes: KeyScopes,
  expiresAt: Schema.NullOr(Timestamp).annotate({
    description: "When the key stops working; null if it does not expire."
  })
}
const exampleFields = {
  id: ApiKeyId.make("0197a1b2-0000-7000-8000-0000000000b1"),
  name: "laptop",
  tokenPrefix: "ctk_4fGh",
  lastFour: "9aZk",
  scopes: null,
  expiresAt: null
} as const

/** An API key as lists show it, without its secret (docs/contract.md, API keys). */
export const ApiKey = Schema.Struct({
  ...fields,
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp).annotate({
    description: "When the key last authenticated a request; null if never."
  }),
  expiresSoon: Schema.Boolean.annotate({ description: "Whether the key expires within 7 days." })
}).annotate({
  identifier: "ApiKey",
  description: "An API key without its secret.",
  examples: [{ ...exampleFields, createdAt: "2026-11-21T09:30:00.000Z", lastUsedAt: null, expiresSoon: false }]
})
export type ApiKey = typeof ApiKey.Type

/** A new key. Its secret is never shown again. */
export const NewApiKey = Schema.Struct({
  ...fields,
  secret: Schema.String.annotate({ description: "The full key. It is never shown again." })
}).annotate({
  identifier: "NewApiKey",
  description: "A new API key with its secret, which is never shown again.",
  examples: [{ ...exampleFields, secret: "ctk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk" }]
})
export type NewApiKey = typeof NewApiKey.Type

/** How many active keys a person may have. */
export const maxActiveApiKeys = 20

/** Within how many milliseconds a key expires soon: 7 days. */
export const expiresSoonMillis = 7 * 24 * 60 * 60 * 1000

/** How many years ahead a key may expire. */
export const maxExpiryYears = 2

/** What is optional of a new key, a person's or an account's. */
export const newKeyLimits = {
  scopes: Schema.optionalKey(NewKeyScopes),
  expiresAt: Schema.optionalKey(
    Schema.NullOr(TimestampInput).annotate({
      description:
        "When the key stops working, at most 2 years ahead. Omitted or null: never, or with the key that makes it."
    })
  )
}

export const CreateApiKey = Body({ name: VisibleName(80), ...newKeyLimits }).annotate({
  identifier: "CreateApiKey",
  description: "The name of a new API key, and its limits.",
  examples: [{ name: "laptop" }, { name: "dashboard", scopes: ["read"], expiresAt: "2027-02-19T09:30:00.000Z" }]
})
export type CreateApiKey = typeof CreateApiKey.Type

/** What a revocation spares. */
export const RevokeApiKey = Body({
  accountApiKeys: Schema.optionalKey(
    Schema.Literal("keep").annotate({
      message: "Expected keep",
      description:
        "`keep`: account API keys that were made with the key go on working, with what was made with them, and are no longer chained to what they were made with, unless that is also where the key of the request comes from."
    })
  )
}).annotate({
  identifier: "RevokeApiKey",
  description: "What the revocation spares. Without a body: nothing.",
  examples: [{ accountApiKeys: "keep" }]
})
export type RevokeApiKey = typeof RevokeApiKey.Type

/** The answer to a revocation. */
export const Revoked = Schema.Struct({ ok: Schema.Literal(true) }).annotate({
  identifier: "Revoked",
  description: "It is revoked.",
  examples: [{ ok: true }]
})
export type Revoked = typeof Revoked.Type
