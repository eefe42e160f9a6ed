import { Schema } from "effect"
import { AgentId, ApiKeyId, DeploymentTokenId, PersonId } from "../Ids.ts"

/** A person, in the short form that other objects have. */
export const Person = Schema.Struct({
  id: PersonId,
  name: Schema.String,
  email: Schema.String
}).annotate({
  identifier: "Person",
  description: "A person, in the short form that other objects have.",
  examples: [
    {
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com"
    }
  ]
})
export type Person = typeof Person.Type

/**
 * Who did something (docs/contract.md, Conventions): a person, an agent, an account API key, a deployed product by its token,
 * or somebody who was removed.
 */
export const Actor = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("user"), id: PersonId, name: Schema.String, email: Schema.String }).annotate({
    title: "user"
  }),
  Schema.Struct({ kind: Schema.Literal("agent"), id: AgentId, name: Schema.String, person: Person }).annotate({
    title: "agent"
  }),
  Schema.Struct({ kind: Schema.Literal("apiKey"), id: ApiKeyId, name: Schema.String }).annotate({ title: "apiKey" }),
  Schema.Struct({ kind: Schema.Literal("deploymentToken"), id: DeploymentTokenId, name: Schema.String }).annotate({
    title: "deploymentToken"
  }),
  Schema.Struct({ kind: Schema.Literal("removed") }).annotate({ title: "removed" })
]).annotate({
  identifier: "Actor",
  description:
    "Who did something: a person, an agent that works for a person, an account API key, a deployed product by its deployment token, or somebody who was removed since.",
  examples: [
    {
      kind: "user",
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com"
    }
  ]
})
export type Actor = typeof Actor.Type
