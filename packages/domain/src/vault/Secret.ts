import { Schema } from "effect"
import { EnvironmentRef } from "../catalog/Environment.ts"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { PersonId, ProductId, SecretId } from "../Ids.ts"
import { atLeast, atMost, OneOf, Ref, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Generator } from "./Generator.ts"

/** UTF-8 bytes of a value (docs/contract.md, Vault). */
export const maxValueBytes = 65_536

/** Pairs of product and environment that one call may write (docs/contract.md, Vault). */
export const maxPairs = 1_000

/** The length of a page of versions (docs/contract.md, Vault). */
export const versionsPageSize = 100

/**
 * A secret's name: printable, without a slash, never trimmed, so that it stands in a path as it is. Case counts.
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
  })
).annotate({
  description:
    "Printable characters without `/`, no blank at either end, not `.` or `..`. Unique in the product; case counts.",
  examples: ["DATABASE_URL"]
})

const utf8 = new TextEncoder()

/** A value: kept byte for byte, and shown by no log. */
export const SecretValue = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isPattern(/^[^\p{Cs}]*$/u, { message: "Expected text without lone surrogates", toJsonSchema: undocumented }),
    Schema.makeFilter<string>(
      (value) =>
        value.length <= maxValueBytes / 3 ||
        utf8.encode(value).length <= maxValueBytes ||
        `Expected at most ${maxValueBytes} bytes of UTF-8`,
      { toJsonSchema: undocumented }
    )
  ).annotate({
    description: "Up to 64 KiB of UTF-8, kept byte for byte.",
    examples: ["postgres://shop:example@db.example.com/shop"]
  })
)
export type SecretValue = typeof SecretValue.Type

/** Examples show what travels, which is the text itself. */
const exampleValue = "postgres://shop:example@db.example.com/shop" as unknown as SecretValue

const NewValue = Schema.NullOr(SecretValue).annotate({
  description: "The new value; null clears, and changes nothing where nothing was ever set."
})

/** A value in an answer, which reveals no more than the caller may read. */
const ShownValue = Schema.NullOr(Schema.RedactedFromValue(Schema.String)).annotate({
  description: "Null where there is none, and where it is hidden."
})

const Version = Schema.Int.annotate({ description: "0 where nothing was ever set." })

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
  hasValue: Schema.Boolean.annotate({ description: "Whether the current version has a value." }),
  deployed: Schema.Boolean.annotate({ description: "Whether the product is deployed there now." }),
  updatedAt: Schema.NullOr(Timestamp).annotate({ description: "The current version's instant; null at version 0." }),
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

/** Where a secret stands in one environment. */
export const SecretEnvironment = Schema.Struct(environmentFields).annotate({
  identifier: "SecretEnvironment",
  description: "Where a secret stands in one environment.",
  examples: [exampleEnvironment]
})
export type SecretEnvironment = typeof SecretEnvironment.Type

/** Where a secret stands in one environment, with its value where the caller may read it. */
export const RevealedEnvironment = Schema.Struct({
  ...environmentFields,
  value: ShownValue,
  valueHidden: Schema.Boolean.annotate({
    description:
      "True in production, for viewers, and where the product's deployment was deleted: then `value` says nothing."
  })
}).annotate({
  identifier: "RevealedEnvironment",
  description: "Where a secret stands in one environment, with its value where the caller may read it.",
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
const environmentsText = "By name; archived ones only where the secret has a version."

/** A secret as lists show it: without values (docs/contract.md, Vault). */
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
  description: "A secret with the values that the caller may read.",
  examples: [{ ...exampleSecret, environments: [exampleRevealed] }]
})
export type RevealedSecret = typeof RevealedSecret.Type

/** The secrets of a product. */
export const ProductSecrets = Schema.Struct({
  product: SecretProduct,
  environments: Schema.Array(
    Schema.Struct({
      ...EnvironmentRef.fields,
      deployed: Schema.Boolean.annotate({ description: "Whether the product is deployed there now." })
    }).annotate({
      identifier: "DeployedEnvironment",
      description: "An environment, and whether the product is deployed there.",
      examples: [{ ...exampleEnvironment.environment, deployed: true }]
    })
  ).annotate({ description: "By name; archived ones only where a secret listed has a version." }),
  secrets: Schema.Array(Secret).annotate({ description: "By name." })
}).annotate({ identifier: "ProductSecrets", description: "The secrets of a product, without values." })
export type ProductSecrets = typeof ProductSecrets.Type

/** The secrets of a workspace. */
export const VaultSecrets = Schema.Struct({
  environments: Schema.Array(EnvironmentRef).annotate({
    description: "By name; archived ones only where a secret listed has a version."
  }),
  secrets: Schema.Array(Secret).annotate({ description: "By name, then product name." })
}).annotate({ identifier: "VaultSecrets", description: "The secrets of a workspace, without values." })
export type VaultSecrets = typeof VaultSecrets.Type

const requestId = Schema.optionalKey(
  Text(100)
    .check(atLeast(1))
    .annotate({
      description:
        "Chosen by the client. The same request again within 24 hours, with this id, gets the first answer again and writes nothing.",
      examples: ["deploy-4711"]
    })
)

/** Environment (slug or id) to value. Keys are looked up; what names no environment is not found. */
const Values = Schema.Record(Schema.String, NewValue).annotate({
  description: "Environment (slug or id) to the new value; null clears.",
  examples: [{ staging: exampleValue }]
})

export const CreateSecret = Body({
  name: SecretName,
  values: Schema.optionalKey(Values),
  requestId
}).annotate({
  identifier: "CreateSecret",
  description: "A new secret.",
  examples: [{ name: "DATABASE_URL", values: { staging: exampleValue }, requestId: "deploy-4711" }]
})
export type CreateSecret = typeof CreateSecret.Type

export const UpdateSecret = Body({
  newName: Schema.optionalKey(SecretName),
  values: Schema.optionalKey(Values),
  expectedVersions: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "Expected a whole number from 0" }))
    ).annotate({
      description: "Environment (slug or id) to the version that the caller has seen; one that differs is a conflict.",
      examples: [{ staging: 3 }]
    })
  ),
  requestId
}).annotate({
  identifier: "UpdateSecret",
  description: "What of a secret to change.",
  examples: [{ values: { staging: exampleValue }, expectedVersions: { staging: 3 } }]
})
export type UpdateSecret = typeof UpdateSecret.Type

const refs = (noun: string, example: string) =>
  Schema.Array(Ref.annotate({ description: `A ${noun}'s slug or id.`, examples: [example] }))
    .check(Schema.isMinLength(1, { message: `Expected at least one ${noun}` }))
    .annotate({ description: `${noun}s by slug or id; a repeated one counts once.` })

export const AssignSecret = Body({
  products: refs("product", "shop"),
  environments: refs("environment", "staging"),
  name: SecretName,
  value: NewValue,
  requestId
}).annotate({
  identifier: "AssignSecret",
  description: "One value for a secret of many products in many environments.",
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

/** What an assignment wrote. */
export const Assigned = Schema.Struct({
  name: Schema.String,
  assignments: Schema.Array(
    Schema.Struct({
      product: SecretProduct,
      environment: EnvironmentRef,
      version: Version,
      hasValue: Schema.Boolean,
      created: Schema.Boolean.annotate({ description: "Whether this call made the product's secret." })
    }).annotate({
      identifier: "Assignment",
      description: "What the assignment of one pair wrote.",
      examples: [exampleAssignment]
    })
  ).annotate({ description: "By product name, then environment name." })
}).annotate({
  identifier: "Assigned",
  description: "What an assignment wrote.",
  examples: [{ name: "API_TOKEN", assignments: [exampleAssignment] }]
})
export type Assigned = typeof Assigned.Type

export const GenerateSecret = Body({
  products: refs("product", "shop"),
  environments: refs("environment", "staging"),
  name: SecretName,
  generator: Generator,
  reveal: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether to answer the values; never those of production.", default: false })
  ),
  requestId
}).annotate({
  identifier: "GenerateSecret",
  description: "A fresh value for each environment, shared by its products.",
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

/** What a generation wrote. */
export const Generated = Schema.Struct({
  name: Schema.String,
  generator: Generator,
  generations: Schema.Array(
    Schema.Struct({
      environment: EnvironmentRef,
      value: ShownValue.annotate({ description: "With `reveal: true`, outside of production; else null." }),
      publicKey: Schema.NullOr(Schema.String).annotate({ description: "SPKI PEM, for `ed25519`; else null." }),
      assignments: Schema.Array(
        Schema.Struct({ product: SecretProduct, version: Version }).annotate({
          identifier: "GeneratedVersion",
          description: "The version that a product got.",
          examples: [
            {
              product: exampleProduct,
              version: 4
            }
          ]
        })
      ).annotate({ description: "By product name." })
    }).annotate({
      identifier: "Generation",
      description: "The value made for one environment.",
      examples: [exampleGeneration]
    })
  ).annotate({ description: "By environment name." })
}).annotate({
  identifier: "Generated",
  description: "What a generation wrote.",
  examples: [
    {
      name: "API_TOKEN",
      generator: { type: "token", bytes: 32, encoding: "base64url" },
      generations: [exampleGeneration]
    }
  ]
})
export type Generated = typeof Generated.Type

/** How a version came to be. */
export const VersionSource = OneOf(["edit", "assignment", "generation"]).annotate({
  identifier: "VersionSource",
  description: "How a version came to be.",
  examples: ["edit"]
})
export type VersionSource = typeof VersionSource.Type

/** A version of a secret in one environment; never its value. */
export const SecretVersion = Schema.Struct({
  version: Schema.Int,
  hasValue: Schema.Boolean.annotate({ description: "False for a version that cleared." }),
  source: VersionSource,
  createdAt: Timestamp,
  createdBy: Actor
}).annotate({
  identifier: "SecretVersion",
  description: "A version of a secret in one environment; never its value.",
  examples: [
    { version: 3, hasValue: true, source: "edit", createdAt: "2026-11-21T09:30:00.000Z", createdBy: exampleActor }
  ]
})
export type SecretVersion = typeof SecretVersion.Type
