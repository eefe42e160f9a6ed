import { Redacted, Schema, SchemaGetter, SchemaTransformation } from "effect"
import { EnvironmentRef } from "../catalog/Environment.ts"
import { Body } from "../Body.ts"
import { PathRef } from "../Doc.ts"
import { Actor } from "../identity/Actor.ts"
import { PersonId, ProductId, SecretId } from "../Ids.ts"
import { atLeast, atMost, OneOf, Ref, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Generator } from "./Generator.ts"
import { changesProcesses } from "./ProcessNames.ts"
import { maxValueBytes } from "./ValueSize.ts"

/** The most pairs of product and environment that one call may write (docs/contract.md, Vault). */
export const maxPairs = 1_000

/** How many versions a page has (docs/contract.md, Vault). */
export const versionsPageSize = 100

/**
 * The name of a secret: printable, without a slash, and never trimmed, because it is part of paths. Case counts.
 */
export const SecretName = Schema.String.check(
  atLeast(1),
  atMost(255),
  Schema.isPattern(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/]*$/u, {
    message: "Expected printable characters without slashes",
    toJsonSchema: undocumented
  }),
  Schema.isPattern(/^(?!\s)[^]*(?<!\s)$/u, { message: "Expected no blank at either end", toJsonSchema: undocumented }),
  Schema.makeFilter<string>((name) => (name !== "." && name !== "..") || "Expected a name other than . and ..", {
    toJsonSchema: undocumented
  }),
  Schema.makeFilter<string>(
    (name) =>
      !changesProcesses(name) || "Expected a name other than of a variable that changes which code a process runs",
    { toJsonSchema: undocumented }
  )
).annotate({
  description:
    "The name of the secret: 1 to 255 printable characters without `/` and without a blank at either end, not `.` or `..`, and not that of a variable that changes which code a process runs, such as `NODE_OPTIONS`, `LD_PRELOAD` or `PATH`. Unique in the product; case counts.",
  examples: ["DATABASE_URL"]
})

/** The name of a secret in a path. PostgreSQL takes no NUL. A slash is in no name either, so such a name is not found. */
export const SecretRef = PathRef.annotate({
  description: "The name of the secret, percent-encoded.",
  examples: ["DATABASE_URL"]
}).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (name) => name.replaceAll("\u0000", "/"), encode: (name) => name })
  )
)

const utf8 = new TextEncoder()

/**
 * The value of a secret. It is kept byte for byte, and redacted wherever it is printed. The rules are those of the text: what is
 * wrong with a redacted value would not be told, not even to the client that sends it.
 */
export const SecretValue = Schema.String.check(
  Schema.isPattern(/^[^\p{Cs}]*$/u, { message: "Expected text without lone surrogates", toJsonSchema: undocumented }),
  Schema.makeFilter<string>(
    (value) =>
      value.length <= maxValueBytes / 3 ||
      utf8.encode(value).length <= maxValueBytes ||
      `Expected at most ${maxValueBytes} bytes of UTF-8`,
    { toJsonSchema: undocumented }
  )
)
  .annotate({
    description: "A value: up to 64 KiB of UTF-8, kept byte for byte.",
    examples: ["postgres://shop:example@db.example.com/shop"]
  })
  .pipe(
    Schema.decodeTo(Schema.Redacted(Schema.String), {
      decode: SchemaGetter.transform((text: string) => Redacted.make(text)),
      encode: SchemaGetter.transform((value: Redacted.Redacted) => Redacted.value(value))
    })
  )
export type SecretValue = typeof SecretValue.Type

/** Examples show what is sent, which is the text itself. */
const exampleValue = "postgres://shop:example@db.example.com/shop" as unknown as SecretValue

const NewValue = Schema.NullOr(SecretValue).annotate({
  description: "The new value. `null` clears the value; where nothing was ever set, it changes nothing."
})

/** A value in an answer; null where the caller may not read it. */
const ShownValue = Schema.NullOr(Schema.RedactedFromValue(Schema.String)).annotate({
  description: "The value; null if there is none, or if it is hidden."
})

const Version = Schema.Int.annotate({ description: "The version; 0 if nothing was ever set." })

const exampleActor = {
  kind: "user",
  id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
  name: "Ana Diaz",
  email: "ana@example.com"
} as const

const exampleProduct = { id: ProductId.make("0197a1b2-0000-7000-8000-0000000000d1"), slug: "shop", name: "Shop" }

/** The product of a secret. */
export const SecretProduct = Schema.Struct({ id: ProductId, slug: Schema.String, name: Schema.String }).annotate({
  identifier: "SecretProduct",
  description: "The product of a secret.",
  examples: [exampleProduct]
})
export type SecretProduct = typeof SecretProduct.Type

const environmentFields = {
  environment: EnvironmentRef,
  version: Version,
  hasValue: Schema.Boolean.annotate({
    description: "Whether the current version has a value. False if it was cleared or never set."
  }),
  deployed: Schema.Boolean.annotate({ description: "Whether the product is deployed in this environment now." }),
  updatedAt: Schema.NullOr(Timestamp).annotate({
    description: "When the current version was written; null at version 0."
  }),
  updatedBy: Schema.NullOr(Actor).annotate({ description: "Who wrote the current version; null at version 0." })
}

const exampleEnvironment = {
  environment: {
    id: EnvironmentRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000e1"),
    slug: "staging",
    name: "Staging",
    class: "non-production",
    emoji: "🧪",
    archived: false
  },
  version: 3,
  hasValue: true,
  deployed: true,
  updatedAt: "2026-11-21T09:30:00.000Z",
  updatedBy: exampleActor
} as const

const exampleRevealed = { ...exampleEnvironment, value: exampleValue, valueHidden: false }

/** A secret in one environment, without its value. */
export const SecretEnvironment = Schema.Struct(environmentFields).annotate({
  identifier: "SecretEnvironment",
  description: "A secret in one environment, without its value.",
  examples: [exampleEnvironment]
})
export type SecretEnvironment = typeof SecretEnvironment.Type

/** A secret in one environment, with its value if the caller may read it. */
export const RevealedEnvironment = Schema.Struct({
  ...environmentFields,
  value: ShownValue,
  valueHidden: Schema.Boolean.annotate({
    description:
      "Whether the value is hidden from you: in production, from viewers, where the deployment of the product was deleted, and where you did not ask for it. `value` is then null."
  })
}).annotate({
  identifier: "RevealedEnvironment",
  description: "A secret in one environment, with its value if you may read it.",
  examples: [exampleRevealed]
})
export type RevealedEnvironment = typeof RevealedEnvironment.Type

const secretFields = { id: SecretId, name: Schema.String, product: SecretProduct }
const exampleSecret = {
  id: SecretId.make("0197a1b2-0000-7000-8000-000000000501"),
  name: "DATABASE_URL",
  product: exampleProduct,
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T09:30:00.000Z"
}
const secretTimes = { createdAt: Timestamp, updatedAt: Timestamp }
const environmentsText =
  "The environments of the workspace, by name. Archived ones appear only if the secret has a version there."

/** A secret as lists show it, without values (docs/contract.md, Vault). */
export const Secret = Schema.Struct({
  ...secretFields,
  environments: Schema.Array(SecretEnvironment).annotate({ description: environmentsText }),
  ...secretTimes
}).annotate({
  identifier: "Secret",
  description: "A secret without its values.",
  examples: [{ ...exampleSecret, environments: [exampleEnvironment] }]
})
export type Secret = typeof Secret.Type

/** A secret with the values that the caller may read. */
export const RevealedSecret = Schema.Struct({
  ...secretFields,
  environments: Schema.Array(RevealedEnvironment).annotate({ description: environmentsText }),
  ...secretTimes
}).annotate({
  identifier: "RevealedSecret",
  description: "A secret with the values that you may read.",
  examples: [{ ...exampleSecret, environments: [exampleRevealed] }]
})
export type RevealedSecret = typeof RevealedSecret.Type

/** The secrets of a product. */
export const ProductSecrets = Schema.Struct({
  product: SecretProduct,
  environments: Schema.Array(
    Schema.Struct({
      ...EnvironmentRef.fields,
      deployed: Schema.Boolean.annotate({ description: "Whether the product is deployed in this environment now." })
    }).annotate({
      identifier: "DeployedEnvironment",
      description: "An environment, and whether the product is deployed there.",
      examples: [{ ...exampleEnvironment.environment, deployed: true }]
    })
  ).annotate({ description: "By name; archived ones only if a listed secret has a version there." }),
  secrets: Schema.Array(Secret).annotate({ description: "By name." })
}).annotate({ identifier: "ProductSecrets", description: "The secrets of a product, without values." })
export type ProductSecrets = typeof ProductSecrets.Type

/** The secrets of a workspace. */
export const VaultSecrets = Schema.Struct({
  environments: Schema.Array(EnvironmentRef).annotate({
    description: "By name; archived ones only if a listed secret has a version there."
  }),
  secrets: Schema.Array(Secret).annotate({ description: "By name, then product name." })
}).annotate({ identifier: "VaultSecrets", description: "The secrets of a workspace, without values." })
export type VaultSecrets = typeof VaultSecrets.Type

const requestId = Schema.optionalKey(
  Text(100)
    .check(atLeast(1))
    .annotate({
      description:
        "An id that you choose, to make the request safe to repeat. The same request with the same id, within 24 hours, gets the first response again and writes nothing.",
      examples: ["deploy-4711"]
    })
)

/** From environment (slug or id) to value. A key that names no environment is 404. */
const Values = Schema.Record(Schema.String, NewValue).annotate({
  description: "The new values, by slug or id of the environment. `null` clears a value.",
  examples: [{ staging: exampleValue }]
})

export const CreateSecret = Body({
  name: SecretName,
  values: Schema.optionalKey(Values),
  requestId
}).annotate({
  identifier: "CreateSecret",
  description: "The name of a new secret, and its first values.",
  examples: [{ name: "DATABASE_URL", values: { staging: exampleValue }, requestId: "deploy-4711" }]
})
export type CreateSecret = typeof CreateSecret.Type

export const UpdateSecret = Body({
  newName: Schema.optionalKey(SecretName),
  values: Schema.optionalKey(Values),
  restore: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { message: "Expected a whole number from 1" }))
    ).annotate({
      description:
        "Earlier versions, by slug or id of the environment. What each has becomes the next version: a value, or none. The value need not be read for that. A version that does not exist is 400.",
      examples: [{ staging: 2 }]
    })
  ),
  expectedVersions: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "Expected a whole number from 0" }))
    ).annotate({
      description:
        "The versions that you have seen, by slug or id of the environment. If one of them has changed since, nothing is written (409 `version_mismatch`).",
      examples: [{ staging: 3 }]
    })
  ),
  requestId
}).annotate({
  identifier: "UpdateSecret",
  description: "The new name and the new values of a secret.",
  examples: [{ values: { staging: exampleValue }, expectedVersions: { staging: 3 } }]
})
export type UpdateSecret = typeof UpdateSecret.Type

const refs = (noun: string, example: string) =>
  Schema.Array(Ref.annotate({ description: `The slug or id of a ${noun}.`, examples: [example] }))
    .check(Schema.isMinLength(1, { message: `Expected at least one ${noun}` }))
    .annotate({ description: `The ${noun}s, by slug or id. A repeated one counts once.` })

export const AssignSecret = Body({
  products: refs("product", "shop"),
  environments: refs("environment", "staging"),
  name: SecretName,
  value: NewValue,
  requestId
}).annotate({
  identifier: "AssignSecret",
  description: "One value, for the secret of this name in several products and environments.",
  examples: [{ products: ["shop", "search"], environments: ["staging"], name: "API_TOKEN", value: exampleValue }]
})
export type AssignSecret = typeof AssignSecret.Type

const exampleAssignment = {
  product: exampleProduct,
  environment: exampleEnvironment.environment,
  version: 1,
  hasValue: true,
  created: true
}

/** What an assignment has written. */
export const Assigned = Schema.Struct({
  name: Schema.String,
  assignments: Schema.Array(
    Schema.Struct({
      product: SecretProduct,
      environment: EnvironmentRef,
      version: Version,
      hasValue: Schema.Boolean,
      created: Schema.Boolean.annotate({ description: "Whether this call created the secret in this product." })
    }).annotate({
      identifier: "Assignment",
      description: "What was written for one product in one environment.",
      examples: [exampleAssignment]
    })
  ).annotate({ description: "One entry for each pair, by name of the product, then name of the environment." })
}).annotate({
  identifier: "Assigned",
  description: "What an assignment has written.",
  examples: [{ name: "API_TOKEN", assignments: [exampleAssignment] }]
})
export type Assigned = typeof Assigned.Type

export const GenerateSecret = Body({
  products: refs("product", "shop"),
  environments: refs("environment", "staging"),
  name: SecretName,
  generator: Generator,
  reveal: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Whether the response contains the values. Those of production environments are never in it.",
      default: false
    })
  ),
  requestId
}).annotate({
  identifier: "GenerateSecret",
  description: "How to make one value for each environment, and which products share it.",
  examples: [
    {
      products: ["shop", "search"],
      environments: ["staging"],
      name: "API_TOKEN",
      generator: { type: "token", bytes: 32, encoding: "base64url" }
    }
  ]
})
export type GenerateSecret = typeof GenerateSecret.Type

const exampleGeneration = {
  environment: exampleEnvironment.environment,
  value: null,
  publicKey: null,
  assignments: [{ product: exampleProduct, version: 4 }]
}

/** What a generation has written. */
export const Generated = Schema.Struct({
  name: Schema.String,
  generator: Generator,
  generations: Schema.Array(
    Schema.Struct({
      environment: EnvironmentRef,
      value: ShownValue.annotate({
        description: "The value, if `reveal` is true and the environment is not production; otherwise null."
      }),
      publicKey: Schema.NullOr(Schema.String).annotate({
        description: "The public key (SPKI PEM) for `ed25519`; otherwise null."
      }),
      assignments: Schema.Array(
        Schema.Struct({ product: SecretProduct, version: Version }).annotate({
          identifier: "GeneratedVersion",
          description: "The version that was written for a product.",
          examples: [
            {
              product: exampleProduct,
              version: 4
            }
          ]
        })
      ).annotate({ description: "One entry for each product, by name." })
    }).annotate({
      identifier: "Generation",
      description: "The value that was made for one environment.",
      examples: [exampleGeneration]
    })
  ).annotate({ description: "One entry for each environment, by name." })
}).annotate({
  identifier: "Generated",
  description: "What a generation has written.",
  examples: [
    {
      name: "API_TOKEN",
      generator: { type: "token", bytes: 32, encoding: "base64url" },
      generations: [exampleGeneration]
    }
  ]
})
export type Generated = typeof Generated.Type

/** How a version was written. */
export const VersionSource = OneOf(["edit", "assignment", "generation"]).annotate({
  identifier: "VersionSource",
  description:
    "How the version was written: by creating or updating the secret (`edit`), by an assignment, or by a generation.",
  examples: ["edit"]
})
export type VersionSource = typeof VersionSource.Type

/** A version of a secret in one environment, without its value. */
export const SecretVersion = Schema.Struct({
  version: Schema.Int,
  hasValue: Schema.Boolean.annotate({ description: "Whether the version has a value. False if it cleared the value." }),
  source: VersionSource,
  createdAt: Timestamp,
  createdBy: Actor
}).annotate({
  identifier: "SecretVersion",
  description: "A version of a secret in one environment, without its value.",
  examples: [
    { version: 3, hasValue: true, source: "edit", createdAt: "2026-11-21T09:30:00.000Z", createdBy: exampleActor }
  ]
})
export type SecretVersion = typeof SecretVersion.Type
