import { Schema } from "effect"
import { Timestamp } from "../Timestamp.ts"

const name = Schema.String.annotate({ description: "The name of the secret.", examples: ["STRIPE_API_KEY"] })

const ChangedSecret = Schema.Struct({
  name,
  loaded: Schema.NullOr(Schema.Int).annotate({
    description: "The version that the product loaded last; null where it has loaded none.",
    examples: [3]
  }),
  version: Schema.Int.annotate({
    description: "The version now; 0 where the secret was deleted.",
    examples: [4]
  })
}).annotate({
  identifier: "ChangedSecret",
  description: "A secret whose version is another than the one that the product has.",
  examples: [{ name: "STRIPE_API_KEY", loaded: 3, version: 4 }]
})
export type ChangedSecret = typeof ChangedSecret.Type

const MissingSecret = Schema.Struct({
  name,
  beside: Schema.String.annotate({
    description: "The slug of the environment in which the secret has a value.",
    examples: ["staging"]
  })
}).annotate({
  identifier: "MissingSecret",
  description: "A secret that has a value in the other environment, and none in this one.",
  examples: [{ name: "STRIPE_WEBHOOK_SECRET", beside: "staging" }]
})
export type MissingSecret = typeof MissingSecret.Type

/** How the secrets of a deployment differ from what it has loaded, and from another environment (docs/contract.md, Readiness). */
export const Drift = Schema.Struct({
  loadedAt: Schema.NullOr(Timestamp).annotate({
    description:
      "When the product last loaded secrets with a deployment token, to within a minute; null if it never did."
  }),
  changed: Schema.Array(ChangedSecret).annotate({ description: "By name. Empty if the product never loaded secrets." }),
  missing: Schema.Array(MissingSecret).annotate({ description: "By name. Empty without another environment." })
}).annotate({
  identifier: "Drift",
  description:
    "The names of the secrets that changed since the product loaded them, and of those that are missing beside another environment. Never a value.",
  examples: [
    {
      loadedAt: "2026-11-21T09:30:00.000Z",
      changed: [{ name: "STRIPE_API_KEY", loaded: 3, version: 4 }],
      missing: [{ name: "STRIPE_WEBHOOK_SECRET", beside: "staging" }]
    }
  ]
})
export type Drift = typeof Drift.Type
