import { Schema } from "effect"
import { Body } from "../Body.ts"
import { DeploymentId } from "../Ids.ts"
import { atLeast, HttpUrl, isVisible, Ref, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Commits, haveVersion } from "./Commit.ts"
import { EnvironmentRef } from "./Environment.ts"
import { ProductRef } from "./Product.ts"

/** One product that runs in one environment (docs/contract.md, Deployments). */
export const Deployment = Schema.Struct({
  id: DeploymentId,
  product: ProductRef,
  environment: EnvironmentRef,
  baseUrl: Schema.NullOr(Schema.String).annotate({ description: "The URL at which the product answers." }),
  fixtureUrl: Schema.NullOr(Schema.String).annotate({
    description: "The URL of the deployment's Fixture API, which makes test data; null if it has none."
  }),
  version: Schema.NullOr(Schema.String).annotate({
    description: "The build that runs, such as a commit SHA; null if unknown."
  }),
  versionUpdatedAt: Timestamp.annotate({ description: "When `version` last changed." }),
  active: Schema.Boolean.annotate({ description: "False while the product or the environment is archived." }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "Deployment",
  description: "A product that runs in an environment: at which URL, with which Fixture API, and in which version.",
  examples: [
    {
      id: DeploymentId.make("0197a1b2-0000-7000-8000-0000000000f1"),
      product: {
        id: ProductRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000d1"),
        slug: "shop",
        name: "Shop",
        type: "website",
        archived: false
      },
      environment: {
        id: EnvironmentRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000e1"),
        slug: "staging",
        name: "Staging",
        class: "non-production",
        emoji: "🧪",
        archived: false
      },
      baseUrl: "https://staging.shop.example.com",
      fixtureUrl: null,
      version: "9fceb02",
      versionUpdatedAt: "2026-11-21T09:30:00.000Z",
      active: true,
      createdAt: "2026-11-21T09:30:00.000Z",
      updatedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Deployment = typeof Deployment.Type

const target = {
  baseUrl: Schema.optionalKey(
    Schema.NullOr(HttpUrl).annotate({
      description: "The URL at which the product answers. Websites and APIs must have one."
    })
  ),
  fixtureUrl: Schema.optionalKey(
    Schema.NullOr(HttpUrl).annotate({
      description: "The URL of the deployment's Fixture API, which makes test data; null if it has none."
    })
  ),
  version: Schema.optionalKey(
    Schema.NullOr(Text(200).check(atLeast(1))).annotate({ description: "The build that runs, such as a commit SHA." })
  )
}

const maxOverride = 2_000

const override = Text(maxOverride)
  .check(atLeast(1), isVisible)
  .annotate({
    description:
      "Why the version goes out although the readiness policy keeps it back, beside `version`. The release and the event tell it. The service does not check it, and asks nobody for it. Where the deployment runs the version already there is no release to tell it: another reason than the release has is 400.",
    examples: ["The payment is down: the fix cannot wait for the regression tests."]
  })

/** Without a version there is no release to tell it. */
const overridesVersion = Schema.makeFilter<{ readonly override?: string; readonly version?: string | null }>(
  ({ override, version }) =>
    override === undefined ||
    typeof version === "string" || { path: ["override"], issue: "Expected a version beside it" },
  { toJsonSchema: undocumented }
)

export const CreateDeployment = Body({
  product: Ref.annotate({ description: "The slug or id of the product." }),
  environment: Ref.annotate({ description: "The slug or id of the environment." }),
  ...target,
  commits: Schema.optionalKey(Commits),
  override: Schema.optionalKey(override)
})
  .check(haveVersion, overridesVersion)
  .annotate({
    identifier: "CreateDeployment",
    description: "Which product runs in which environment, and where.",
    examples: [
      { product: "shop", environment: "staging", baseUrl: "https://staging.shop.example.com", version: "9fceb02" }
    ]
  })
export type CreateDeployment = typeof CreateDeployment.Type

/** The longest that a change of a version waits for locked runs, in milliseconds. */
const longestWait = 30_000

/** What a change of a version does while locked runs are under way. */
export const whileLocked = {
  force: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Changes the version although locked runs are under way: their `deploymentChanged` becomes true.",
      default: false
    })
  ),
  waitMs: Schema.optionalKey(
    Schema.Int.check(
      Schema.makeFilter<number>(
        (millis) =>
          (millis >= 0 && millis <= longestWait) || `Expected a whole number of milliseconds from 0 to ${longestWait}`,
        { toJsonSchema: () => ({ minimum: 0, maximum: longestWait }) }
      )
    ).annotate({
      description: "How many milliseconds a change of the version waits for locked runs to end, at most.",
      default: 0
    })
  )
}

export const UpdateDeployment = Body({
  ...target,
  commits: Schema.optionalKey(Commits),
  override: Schema.optionalKey(override),
  ...whileLocked
})
  .check(haveVersion, overridesVersion)
  .annotate({
    identifier: "UpdateDeployment",
    description: "The fields to change.",
    examples: [{ version: "a1b2c3d" }]
  })
export type UpdateDeployment = typeof UpdateDeployment.Type
