import { Schema } from "effect"
import { IpNetwork } from "effect/net"
import { Exact } from "../Body.ts"
import { DeploymentTokenId, PersonId } from "../Ids.ts"
import { VisibleName } from "../Text.ts"
import { Timestamp, TimestampInput } from "../Timestamp.ts"

/** How many tokens of a deployment may be live at once, those that were rotated not counted. */
export const maxLiveTokens = 5

/** How many networks a token may be limited to. */
export const maxAllowedAddresses = 50

/** How long a rotated token goes on working, in seconds: unless the request says otherwise, and at most. */
export const tokenOverlap = { default: 86_400, max: 604_800 } as const

const AllowedAddresses = Schema.NullOr(Schema.Array(Schema.String.annotate({ examples: ["203.0.113.0/24"] }))).annotate(
  {
    description: "The networks, in CIDR notation, from which alone the token may be used; null: from everywhere."
  }
)

/** Who made a token, and whether they are an active member of the workspace. */
const TokenMaker = Schema.Struct({
  kind: Schema.Literal("user"),
  id: PersonId,
  name: Schema.String,
  email: Schema.String,
  active: Schema.Boolean.annotate({
    description: "Whether they are an active member of the workspace. Their tokens go on working if they are not."
  })
})

const exampleMaker = {
  kind: "user",
  id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
  name: "Ana Diaz",
  email: "ana@example.com",
  active: true
} as const

const fields = {
  id: DeploymentTokenId,
  name: Schema.String.annotate({ description: "The name that its maker gave it." }),
  tokenPrefix: Schema.String.annotate({ description: "The first 8 characters of the token." }),
  lastFour: Schema.String.annotate({ description: "The last 4 characters of the token." }),
  createdBy: TokenMaker,
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was last used; null if never." }),
  lastUsedFrom: Schema.NullOr(Schema.String).annotate({
    description: "The network address from which it was last used; null if it never was."
  }),
  expiresAt: Schema.NullOr(Timestamp).annotate({
    description:
      "When it stops working; null if it does not expire. Of a rotated one: when the overlap ends, or before."
  }),
  allowedAddresses: AllowedAddresses,
  replacedBy: Schema.NullOr(DeploymentTokenId).annotate({
    description: "The token that was made of it by rotation; null if it was not rotated."
  }),
  makerEndedAt: Schema.NullOr(Timestamp).annotate({
    description: "When the API key ended that it was made with; null if that works, or if it was made in a session."
  })
}

const exampleToken = {
  id: DeploymentTokenId.make("0197a1b2-0000-7000-8000-0000000000c1"),
  name: "kubernetes",
  tokenPrefix: "dtk_7hJk",
  lastFour: "4kQz",
  createdBy: exampleMaker,
  createdAt: "2026-11-21T09:30:00.000Z",
  lastUsedAt: "2026-11-21T10:00:00.000Z",
  lastUsedFrom: "203.0.113.7",
  expiresAt: null,
  allowedAddresses: ["203.0.113.0/24"],
  replacedBy: null,
  makerEndedAt: null
}

/** A token of a deployment as lists show it (docs/contract.md, Deployment tokens). */
export const DeploymentToken = Schema.Struct(fields).annotate({
  identifier: "DeploymentToken",
  description: "A token with which one product reads its secrets in one environment, without the token itself.",
  examples: [exampleToken]
})
export type DeploymentToken = typeof DeploymentToken.Type

/** A new token, which is never shown again. */
export const NewDeploymentToken = Schema.Struct({
  ...fields,
  token: Schema.String.annotate({ description: "The token (`dtk_...`). It is never shown again." })
}).annotate({
  identifier: "NewDeploymentToken",
  description: "A new token of a deployment. The token itself is never shown again.",
  examples: [
    {
      ...exampleToken,
      lastUsedAt: null,
      lastUsedFrom: null,
      token: "dtk_7hJkTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9a4kQz"
    }
  ]
})
export type NewDeploymentToken = typeof NewDeploymentToken.Type

const NewAllowedAddresses = Schema.NullOr(
  Schema.Array(
    Schema.String.check(
      Schema.makeFilter<string>(
        (text) =>
          IpNetwork.fromString(text)._tag === "Success" ||
          "Expected a network in CIDR notation, such as 203.0.113.0/24",
        { toJsonSchema: () => ({ maxLength: 50 }) }
      )
    )
  ).check(
    Schema.isMinLength(1, { message: "Expected at least one network" }),
    Schema.isMaxLength(maxAllowedAddresses, { message: `Expected at most ${maxAllowedAddresses} networks` })
  )
).annotate({
  description:
    "The networks, in CIDR notation, from which alone the token may be used, such as `203.0.113.0/24` or `2001:db8::/32`; of one address, `203.0.113.7/32`. Omitted or null: from everywhere."
})

export const CreateDeploymentToken = Exact({
  name: VisibleName(80),
  expiresAt: Schema.optionalKey(
    Schema.NullOr(TimestampInput).annotate({
      description: "When the token stops working, at most 2 years ahead. Omitted or null: never."
    })
  ),
  allowedAddresses: Schema.optionalKey(NewAllowedAddresses)
}).annotate({
  identifier: "CreateDeploymentToken",
  description: "The name of a new token, and its limits.",
  examples: [{ name: "kubernetes" }, { name: "kubernetes", allowedAddresses: ["203.0.113.0/24"] }]
})
export type CreateDeploymentToken = typeof CreateDeploymentToken.Type

export const RotateDeploymentToken = Exact({
  overlapSeconds: Schema.optionalKey(
    Schema.Int.check(
      Schema.makeFilter<number>(
        (seconds) =>
          (seconds >= 0 && seconds <= tokenOverlap.max) ||
          `Expected a whole number of seconds from 0 to ${tokenOverlap.max}`,
        { toJsonSchema: () => ({ minimum: 0, maximum: tokenOverlap.max }) }
      )
    ).annotate({
      description: "How many seconds the old token goes on working. 0: it ends at once.",
      default: tokenOverlap.default
    })
  )
}).annotate({
  identifier: "RotateDeploymentToken",
  description: "How long the old token goes on working.",
  examples: [{ overlapSeconds: 3_600 }]
})
export type RotateDeploymentToken = typeof RotateDeploymentToken.Type
