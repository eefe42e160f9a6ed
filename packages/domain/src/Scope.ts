import { Schema } from "effect"
import { OneOf } from "./Text.ts"

export const scopeNames = ["read", "write", "publish", "vault", "admin"] as const

/** What an API key may be limited to (docs/contract.md, API keys). Every operation needs exactly one. */
export const Scope = OneOf(scopeNames).annotate({
  identifier: "Scope",
  description:
    "What an API key may be limited to. `vault` reads and writes secrets, `publish` publishes test runs, retries and their files, `admin` manages the workspace and makes keys, `read` reads the rest, and `write` changes it.",
  examples: ["read"]
})
export type Scope = typeof Scope.Type

/** The scopes of a key. Null: all of them. */
export type Scopes = ReadonlyArray<Scope> | null

/** The scopes of a key in answers. */
export const KeyScopes = Schema.NullOr(Schema.Array(Scope)).annotate({
  description: "The scopes of the key; null if it has all, also those that are added later."
})

/** The scopes of a new key: each counts once. */
export const NewKeyScopes = Schema.NullOr(
  Schema.Array(Scope).check(Schema.isMinLength(1, { message: "Expected at least one scope" }))
).annotate({ description: "What the key is limited to. Omitted or null: nothing, it has all scopes." })

/** Whether a credential with the scopes `by` has this one. */
export const hasScope = (by: Scopes | undefined, scope: Scope): boolean =>
  by === null || by === undefined || by.includes(scope)

/** Whether a credential with the scopes `by` has all of these. */
export const hasScopes = (by: Scopes | undefined, asked: Scopes): boolean =>
  by === null || by === undefined || (asked !== null && asked.every((scope) => by.includes(scope)))

/** The same scopes, each once, in their usual order. */
export const distinctScopes = (of: Scopes): Scopes => of && scopeNames.filter((scope) => of.includes(scope))
