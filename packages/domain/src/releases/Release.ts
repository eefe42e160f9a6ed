import { Schema } from "effect"
import { AgentMessage, exampleMessage, messagesPageSize, MessageTicket } from "../agents/Message.ts"
import { EnvironmentRef } from "../catalog/Environment.ts"
import { ProductRef } from "../catalog/Product.ts"
import { ReleaseReadiness } from "../catalog/ReleaseReadiness.ts"
import { Actor } from "../identity/Actor.ts"
import { DeploymentId, PersonId } from "../Ids.ts"
import { TestRunSummary } from "../runs/TestRun.ts"
import { Timestamp } from "../Timestamp.ts"

/** How many releases a page has. */
export const releasesPageSize = 100

/** How many commits of each version the history of a deployment has. */
export const maxListedCommits = 500

/** How many commits of a version are answered with it. */
export const maxVersionCommits = 2_000

/** How many commits and how many releases a trace has. */
export const maxTraced = 500

/** How many characters of a commit's subject an answer has that names those of many versions. */
export const maxListedSubject = 200

const commitFields = {
  sha: Schema.String.annotate({ description: "The SHA as it was sent, in lower case." }),
  subject: Schema.String,
  author: Schema.optionalKey(Schema.String).annotate({ description: "Absent where nobody told it." }),
  at: Schema.optionalKey(Timestamp).annotate({ description: "When the commit was made; absent where nobody told it." }),
  tickets: Schema.Array(Schema.String).annotate({
    description: "The identifiers of the tickets that the subject names and that you see."
  })
}

const exampleCommit = {
  sha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  subject: "ENG-12: pay by card",
  author: "Ana Diaz",
  at: "2026-11-21T09:12:00.000Z",
  tickets: ["ENG-12"]
} as const

/** A commit of a version, with the tickets that it names (docs/contract.md, Releases). */
export const ReleasedCommit = Schema.Struct(commitFields).annotate({
  identifier: "ReleasedCommit",
  description: "A commit of a version, with the tickets that its subject names.",
  examples: [exampleCommit]
})
export type ReleasedCommit = typeof ReleasedCommit.Type

const Passes = Schema.Struct({ passed: Schema.Int, failed: Schema.Int }).annotate({
  identifier: "ReleaseRuns",
  description:
    "How many finished runs began on the release and tested its deployment's address, by result; one whose failed tests passed only in a retry on another release or address, or with uncommitted changes, counts as failed.",
  examples: [{ passed: 2, failed: 0 }]
})

const ReleaseDeployment = Schema.Struct({
  id: DeploymentId,
  deletedAt: Schema.NullOr(Timestamp).annotate({
    description: "When it was deleted; null for the one that there is."
  })
}).annotate({
  identifier: "ReleaseDeployment",
  description:
    "The deployment that had the release. Where it was deleted, the product was deployed there anew later, or is not deployed there.",
  examples: [{ id: DeploymentId.make("0197a1b2-0000-7000-8000-000000000006"), deletedAt: null }]
})

/** A change of a deployment's version (docs/contract.md, Releases). */
export const Release = Schema.Struct({
  number: Schema.Int.annotate({
    description:
      "The number of the release, from 1. Where a deployment is deleted and made anew the numbers go on; servers of before began with 1 again."
  }),
  version: Schema.NullOr(Schema.String).annotate({ description: "The version; null where it was cleared." }),
  previous: Schema.NullOr(Schema.String).annotate({
    description: "The version before in the same deployment; null where there was none, or none was known."
  }),
  deployment: ReleaseDeployment,
  at: Timestamp,
  by: Actor,
  commits: Schema.Array(ReleasedCommit).annotate({
    description: `The first ${maxListedCommits} commits of the version, in the order in which they were sent, with the first ${maxListedSubject} characters of their subjects.`
  }),
  runs: Passes,
  rolledBackTo: Schema.NullOr(Schema.Int).annotate({
    description:
      "The newest earlier release of this version in the same deployment, where one commit is one version however it is written; null where the version was new there, and where the release before has the same commit."
  }),
  override: Schema.NullOr(Schema.String).annotate({
    description:
      "Why it went out although the readiness policy kept it back, as whoever recorded it says; null where nobody said so, which does not mean that the policy let it go: `readiness` says that."
  }),
  readiness: Schema.NullOr(ReleaseReadiness).annotate({
    description:
      "What readiness said just before the version was recorded, by the policy of then. Null where the deployment had no policy, where the version was cleared, where it could not be told within 2 seconds, and for releases of before the service kept it."
  })
}).annotate({
  identifier: "Release",
  description: "A change of the version of a deployment.",
  examples: [
    {
      number: 4,
      version: "9fceb02",
      previous: "1d2e3f4",
      deployment: { id: DeploymentId.make("0197a1b2-0000-7000-8000-000000000006"), deletedAt: null },
      at: "2026-11-21T09:30:00.000Z",
      by: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      commits: [exampleCommit],
      runs: { passed: 2, failed: 0 },
      rolledBackTo: null,
      override: null,
      readiness: { ready: true, reasons: [], warnings: [], requires: ["critical"], runs: [12] }
    }
  ]
})
export type Release = typeof Release.Type

export const ReleasePage = Schema.Struct({ releases: Schema.Array(Release) }).annotate({
  identifier: "Releases",
  description: "Releases of a product in an environment, newest first."
})
export type ReleasePage = typeof ReleasePage.Type

const until = Schema.NullOr(Timestamp).annotate({
  description: "When the next release or the end of the deployment came; null while the release is live."
})

const EnvironmentReleases = Schema.Struct({
  environment: EnvironmentRef,
  releases: Schema.Array(Schema.Struct({ number: Schema.Int, from: Timestamp, until })).annotate({
    description: "When the version was live there, oldest first."
  })
}).annotate({
  identifier: "EnvironmentReleases",
  description: "When a version was live in an environment.",
  examples: [
    {
      environment: {
        id: EnvironmentRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000e1"),
        slug: "staging",
        name: "Staging",
        class: "non-production",
        emoji: "🧪",
        archived: false
      },
      releases: [{ number: 4, from: "2026-11-21T09:30:00.000Z", until: null }]
    }
  ]
})

/** A version of a product: where it runs and ran (docs/contract.md, Releases). */
export const ProductVersion = Schema.Struct({
  product: ProductRef,
  version: Schema.String.annotate({ description: "The version, as it was asked for.", examples: ["9fceb02"] }),
  commits: Schema.Array(ReleasedCommit).annotate({
    description: `The first ${maxVersionCommits.toLocaleString("en-US")} commits, in the order in which they were sent.`
  }),
  environments: Schema.Array(EnvironmentReleases).annotate({ description: "By name of the environment." }),
  runs: Schema.Array(TestRunSummary).annotate({ description: "The runs that tested it, newest first, at most 100." }),
  tickets: Schema.Array(MessageTicket).annotate({
    description: "The tickets that its commits name and that you see, by identifier."
  })
}).annotate({
  identifier: "ProductVersion",
  description: "A version of a product: what it contains, where it runs and ran, and the runs that tested it."
})
export type ProductVersion = typeof ProductVersion.Type

const ProductPart = Schema.Struct({ id: ProductRef.fields.id, slug: Schema.String, name: Schema.String })
const EnvironmentPart = Schema.Struct({
  id: EnvironmentRef.fields.id,
  slug: Schema.String,
  name: Schema.String,
  class: EnvironmentRef.fields.class
})

const TracedCommit = Schema.Struct({ ...commitFields, product: ProductPart, version: Schema.String }).annotate({
  identifier: "TracedCommit",
  description: "A commit that names the ticket, with the version that contains it."
})

const TracedRelease = Schema.Struct({
  product: ProductPart,
  environment: EnvironmentPart,
  number: Schema.Int,
  version: Schema.String,
  at: Timestamp,
  until
}).annotate({
  identifier: "TracedRelease",
  description: "A release of a version whose commits name the ticket."
})

/** What became of a ticket (docs/contract.md, Releases). */
export const TicketTrace = Schema.Struct({
  ticket: MessageTicket,
  commits: Schema.Array(TracedCommit).annotate({
    description: `The newest ${maxTraced}, in the order in which they were sent, with the first ${maxListedSubject} characters of their subjects.`
  }),
  releases: Schema.Array(TracedRelease).annotate({ description: `The newest ${maxTraced}, oldest first.` }),
  runs: Schema.Array(TestRunSummary).annotate({
    description: "The runs that tested one of the versions, newest first, at most 100."
  }),
  messages: Schema.Array(AgentMessage).annotate({
    description: `The newest ${messagesPageSize} messages to agents about the ticket that you may see, newest first.`
  }),
  text: Schema.String.annotate({
    description: "All of it as one sentence for people. Its wording may change.",
    examples: ["In Staging since 2026-11-21, tested by run 12, not in Production."]
  })
}).annotate({
  identifier: "TicketTrace",
  description:
    "What became of a ticket: its commits, where they run, the runs that tested them, and messages to agents.",
  examples: [
    {
      ticket: exampleMessage.ticket,
      commits: [
        {
          ...exampleCommit,
          product: {
            id: ProductRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000d1"),
            slug: "shop",
            name: "Shop"
          },
          version: "9fceb02"
        }
      ],
      releases: [],
      runs: [],
      messages: [exampleMessage],
      text: "In Staging since 2026-11-21, tested by run 12, not in Production."
    }
  ]
})
export type TicketTrace = typeof TicketTrace.Type
