import { Schema } from "effect"
import { Body } from "../Body.ts"
import { EnvironmentId } from "../Ids.ts"
import { Name, OneOf, Slug } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

export const EnvironmentClass = OneOf(["production", "non-production"]).annotate({
  identifier: "EnvironmentClass",
  description: "Whether the environment is production. Secret values of production environments can never be read.",
  examples: ["non-production"]
})
export type EnvironmentClass = typeof EnvironmentClass.Type

const emojiDescription = "An emoji that is shown beside the name."

/** An environment, in the short form that other objects have. */
export const EnvironmentRef = Schema.Struct({
  id: EnvironmentId,
  slug: Schema.String,
  name: Schema.String,
  class: EnvironmentClass,
  emoji: Schema.NullOr(Schema.String).annotate({ description: emojiDescription }),
  archived: Schema.Boolean
}).annotate({
  identifier: "EnvironmentRef",
  description: "An environment, in the short form that other objects have.",
  examples: [
    {
      id: EnvironmentId.make("0197a1b2-0000-7000-8000-0000000000e1"),
      slug: "staging",
      name: "Staging",
      class: "non-production",
      emoji: "🧪",
      archived: false
    }
  ]
})
export type EnvironmentRef = typeof EnvironmentRef.Type

const Approvals = Schema.Boolean.annotate({
  description:
    "Whether writes of secret values here, and changes of the class, need the approval of a second person, who is an admin or owner."
})

/** A place where products run, such as staging (docs/contract.md, Catalog). */
export const Environment = Schema.Struct({
  id: EnvironmentId,
  slug: Schema.String,
  name: Schema.String,
  class: EnvironmentClass,
  emoji: Schema.NullOr(Schema.String).annotate({ description: emojiDescription }),
  approvals: Approvals,
  archived: Schema.Boolean,
  archivedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was archived; null if it is not." }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "Environment",
  description: "A place where products run, such as staging or production.",
  examples: [
    {
      id: EnvironmentId.make("0197a1b2-0000-7000-8000-0000000000e1"),
      slug: "staging",
      name: "Staging",
      class: "non-production",
      emoji: "🧪",
      approvals: false,
      archived: false,
      archivedAt: null,
      createdAt: "2026-11-21T09:30:00.000Z",
      updatedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Environment = typeof Environment.Type

const emoji = Schema.optionalKey(Schema.NullOr(Name(16)).annotate({ description: emojiDescription }))

export const CreateEnvironment = Body({
  slug: Slug,
  name: Name(100),
  class: EnvironmentClass,
  emoji,
  approvals: Schema.optionalKey(Approvals)
}).annotate({
  identifier: "CreateEnvironment",
  description: "The fields of a new environment.",
  examples: [
    { slug: "staging", name: "Staging", class: "non-production", emoji: "🧪" },
    { slug: "production", name: "Production", class: "production", approvals: true }
  ]
})
export type CreateEnvironment = typeof CreateEnvironment.Type

export const UpdateEnvironment = Body({
  slug: Schema.optionalKey(Slug),
  name: Schema.optionalKey(Name(100)),
  class: Schema.optionalKey(EnvironmentClass),
  emoji,
  approvals: Schema.optionalKey(Approvals)
}).annotate({
  identifier: "UpdateEnvironment",
  description: "The fields to change.",
  examples: [{ name: "Staging EU", emoji: null }]
})
export type UpdateEnvironment = typeof UpdateEnvironment.Type
