import { Schema } from "effect"
import { DeploymentId } from "../Ids.ts"
import { compare } from "../Order.ts"
import { daysFrom, nearestRank } from "../runs/CaseFigures.ts"
import { Timestamp } from "../Timestamp.ts"

const releaseFields = {
  product: Schema.String.annotate({ description: "The slug of the product.", examples: ["shop"] }),
  environment: Schema.String.annotate({ description: "The slug of the environment.", examples: ["production"] }),
  deployment: DeploymentId.annotate({
    description:
      "The deployment. One that was deleted and made anew is another, whose releases servers of before counted from 1 again."
  }),
  number: Schema.Int.annotate({ description: "The number of the release in its deployment.", examples: [4] }),
  version: Schema.String.annotate({ examples: ["9fceb02"] }),
  at: Timestamp
}

const exampleRelease = {
  product: "shop",
  environment: "production",
  deployment: DeploymentId.make("0197a1b2-0000-7000-8000-000000000006"),
  number: 4,
  version: "9fceb02",
  at: "2026-11-21T09:30:00.000Z"
} as const

const MeasuredRelease = Schema.Struct(releaseFields).annotate({
  identifier: "MeasuredRelease",
  description: "A release in a production environment.",
  examples: [exampleRelease]
})
export type MeasuredRelease = typeof MeasuredRelease.Type

const Failure = Schema.Struct({
  ...releaseFields,
  restoredBy: Schema.Int.annotate({ description: "The number of the release that rolled back.", examples: [5] }),
  restoredAt: Timestamp,
  ms: Schema.Int.annotate({ description: "The milliseconds from the release to the one that rolled back." })
}).annotate({
  identifier: "FailedRelease",
  description:
    "A release after which the next one rolled back: to a version that the deployment had before it first had this one.",
  examples: [{ ...exampleRelease, restoredBy: 5, restoredAt: "2026-11-21T10:00:00.000Z", ms: 1_800_000 }]
})

const LeadCommit = Schema.Struct({
  sha: Schema.String,
  ms: Schema.Int.annotate({
    description: "The milliseconds from the commit to the first release of one of its versions; 0 where it is later."
  }),
  product: releaseFields.product,
  at: Timestamp.annotate({ description: "When the commit was made." })
}).annotate({
  identifier: "LeadCommit",
  description: "A commit that came to production.",
  examples: [
    {
      sha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
      ms: 1_080_000,
      product: "shop",
      at: "2026-11-21T09:12:00.000Z"
    }
  ]
})
export type LeadCommit = typeof LeadCommit.Type

const medianMs = Schema.NullOr(Schema.Int).annotate({
  description: "The median by nearest rank, in milliseconds: one of the values; null where there are none."
})

/** The four DORA measures, each with what it is made of (docs/contract.md, Delivery metrics). */
export const DeliveryMetrics = Schema.Struct({
  deploymentFrequency: Schema.Struct({
    perDay: Schema.Finite.annotate({ description: "Releases per day of the period." }),
    count: Schema.Int,
    releases: Schema.Array(MeasuredRelease).annotate({ description: "Oldest first." })
  }),
  leadTime: Schema.Struct({
    medianMs,
    commits: Schema.Array(LeadCommit).annotate({
      description:
        "The commits that first came to production in the period and whose time was told, by product and SHA."
    })
  }),
  changeFailureRate: Schema.Struct({
    rate: Schema.NullOr(Schema.Finite).annotate({
      description: "Which part of the releases failed, from 0 to 1; null where there are none."
    }),
    total: Schema.Int.annotate({ description: "How many releases there were: those of `deploymentFrequency`." }),
    failed: Schema.Array(MeasuredRelease).annotate({
      description: "The releases after which the next one rolled back, oldest first."
    })
  }),
  timeToRestore: Schema.Struct({
    medianMs,
    failures: Schema.Array(Failure).annotate({ description: "The failed releases, with what restored, oldest first." })
  })
}).annotate({
  identifier: "DeliveryMetrics",
  description: "The four DORA measures of a period, each with the objects behind it.",
  examples: [
    {
      deploymentFrequency: { perDay: 0.0333, count: 1, releases: [exampleRelease] },
      leadTime: {
        medianMs: 1_080_000,
        commits: [
          {
            sha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
            ms: 1_080_000,
            product: "shop",
            at: "2026-11-21T09:12:00.000Z"
          }
        ]
      },
      changeFailureRate: { rate: 1, total: 1, failed: [exampleRelease] },
      timeToRestore: {
        medianMs: 1_800_000,
        failures: [{ ...exampleRelease, restoredBy: 5, restoredAt: "2026-11-21T10:00:00.000Z", ms: 1_800_000 }]
      }
    }
  ]
})
export type DeliveryMetrics = typeof DeliveryMetrics.Type

/** A release of the period, and the next one of its deployment with a version where that rolled back. */
export interface ReleaseOfPeriod extends MeasuredRelease {
  readonly rollback: { readonly number: number; readonly at: Timestamp } | null
}

/** A commit, and the first release of a version that has it. */
export interface CommitOfPeriod extends Omit<LeadCommit, "ms"> {
  readonly releasedAt: Timestamp
}

const median = (values: ReadonlyArray<number>): number | null =>
  values.length === 0
    ? null
    : nearestRank(
        values.toSorted((a, b) => a - b),
        50
      )

const between = (from: Timestamp, to: Timestamp): number => Math.max(0, Date.parse(to) - Date.parse(from))

/** The measures of the days from `from` to `to`, both inclusive. The releases and commits are those of the period. */
export const deliveryMetrics = (
  { from, to }: { readonly from: string; readonly to: string },
  found: ReadonlyArray<ReleaseOfPeriod>,
  commits: ReadonlyArray<CommitOfPeriod>
): DeliveryMetrics => {
  const inOrder = found.toSorted(
    (a, b) =>
      compare(a.at, b.at) ||
      compare(a.product, b.product) ||
      compare(a.environment, b.environment) ||
      a.number - b.number ||
      compare(a.deployment, b.deployment)
  )
  const releases = inOrder.map(({ rollback: _, ...release }) => release)
  const failures = inOrder.flatMap(({ rollback, ...release }) =>
    rollback === null
      ? []
      : [{ ...release, restoredBy: rollback.number, restoredAt: rollback.at, ms: between(release.at, rollback.at) }]
  )
  const led = commits
    .map(({ at, product, releasedAt, sha }) => ({ sha, ms: between(at, releasedAt), product, at }))
    .toSorted((a, b) => compare(a.product, b.product) || compare(a.sha, b.sha))
  return {
    deploymentFrequency: {
      perDay: releases.length / daysFrom(from, to).length,
      count: releases.length,
      releases
    },
    leadTime: { medianMs: median(led.map(({ ms }) => ms)), commits: led },
    changeFailureRate: {
      rate: releases.length === 0 ? null : failures.length / releases.length,
      total: releases.length,
      failed: failures.map(({ ms: _, restoredAt: __, restoredBy: ___, ...release }) => release)
    },
    timeToRestore: { medianMs: median(failures.map(({ ms }) => ms)), failures }
  }
}
