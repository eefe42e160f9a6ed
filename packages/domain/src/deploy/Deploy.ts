import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Body } from "../Body.ts"
import { Commits } from "../catalog/Commit.ts"
import { whileLocked } from "../catalog/Deployment.ts"
import { EnvironmentRef } from "../catalog/Environment.ts"
import { ProductRef } from "../catalog/Product.ts"
import { atLeast, OneOf, Text } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** What a product is told of itself, by its deployment token (docs/contract.md, Deployment tokens). */

const product = {
  id: ProductRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000d1"),
  slug: "shop",
  name: "Shop",
  type: "website",
  archived: false
} as const

const environment = {
  id: EnvironmentRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000e2"),
  slug: "production",
  name: "Production",
  class: "production",
  emoji: null,
  archived: false
} as const

export const DeployMe = Schema.Struct({
  product: ProductRef,
  environment: EnvironmentRef,
  deployment: Schema.Struct({
    version: Schema.NullOr(Schema.String).annotate({ description: "The build that runs; null if unknown." }),
    baseUrl: Schema.NullOr(Schema.String).annotate({ description: "The URL at which the product answers." })
  }),
  token: Schema.Struct({
    name: Schema.String,
    expiresAt: Schema.NullOr(Timestamp).annotate({ description: "When the token stops working; null if it does not." })
  })
}).annotate({
  identifier: "DeployMe",
  description: "The deployment whose token it is, and the token.",
  examples: [
    {
      product,
      environment,
      deployment: { version: "9fceb02", baseUrl: "https://shop.example.com" },
      token: { name: "kubernetes", expiresAt: null }
    }
  ]
})
export type DeployMe = typeof DeployMe.Type

/** Examples show what is sent, which is the text itself. */
const exampleValue = "postgres://shop:example@db.example.com/shop"

export const LoadedSecrets = Schema.Struct({
  product: ProductRef,
  environment: EnvironmentRef,
  revision: Schema.String.annotate({
    description: "Another text whenever a name or a version has changed. It says nothing of the values."
  }),
  values: Schema.Record(Schema.String, Schema.RedactedFromValue(Schema.String)).annotate({
    description: "The current values by name. Secrets without a value are left out."
  })
}).annotate({
  identifier: "LoadedSecrets",
  description: "The secrets of the product in the environment.",
  examples: [
    {
      product,
      environment,
      revision: "q0Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H4fGhTz0sVq1J",
      values: { DATABASE_URL: exampleValue as never }
    }
  ]
})
export type LoadedSecrets = typeof LoadedSecrets.Type

/** The same as a file of environment variables. */
export const LoadedFile = Schema.RedactedFromValue(
  Schema.String.annotate({
    description: "With `format=env` or `format=docker`: one variable after the other, by name.",
    examples: [`DATABASE_URL='${exampleValue}'\n`]
  })
).pipe(HttpApiSchema.asText({ contentType: "text/plain; charset=utf-8" }))

export const LoadedSecret = Schema.Struct({
  name: Schema.String,
  version: Schema.Int.annotate({ description: "The current version." }),
  value: Schema.RedactedFromValue(Schema.String).annotate({ description: "The value of the current version." })
}).annotate({
  identifier: "LoadedSecret",
  description: "One secret of the product in the environment.",
  examples: [{ name: "DATABASE_URL", version: 3, value: exampleValue as never }]
})
export type LoadedSecret = typeof LoadedSecret.Type

export const LoadFormat = OneOf(["json", "env", "docker"])
export type LoadFormat = typeof LoadFormat.Type

export const SetVersion = Body({
  version: Text(200)
    .check(atLeast(1))
    .annotate({ description: "The build that runs from now on, such as a commit SHA." }),
  commits: Schema.optionalKey(Commits),
  ...whileLocked
}).annotate({
  identifier: "SetVersion",
  description: "The version that runs from now on.",
  examples: [{ version: "a1b2c3d", waitMs: 10_000 }]
})
export type SetVersion = typeof SetVersion.Type
