import { Schema } from "effect"

const Kinds = Schema.Array(
  Schema.Struct({
    kind: Schema.String.annotate({
      description: "As the reasons of readiness have it. Releases keep kinds that the service no longer gives.",
      examples: ["run_failed"]
    }),
    count: Schema.Int.annotate({
      description: "How many reasons of the kind there were; tickets that not everybody sees count as one.",
      examples: [1]
    })
  })
)

/** What readiness said of a version that went out (docs/contract.md, Releases): no name of what only some may see. */
export const ReleaseReadiness = Schema.Struct({
  ready: Schema.Boolean.annotate({ description: "Whether nothing kept the version back." }),
  reasons: Kinds.annotate({ description: "The kinds of the reasons that kept it back, in their order." }),
  warnings: Kinds.annotate({ description: "The kinds of the reasons that warned only, in their order." }),
  requires: Schema.Array(Schema.String).annotate({
    description:
      "The coverages of which the policy asked for a run. Where it is empty no run was asked for, and `ready` rests on none.",
    examples: [["critical"]]
  }),
  runs: Schema.Array(Schema.Int).annotate({
    description: "The numbers of the runs that decided, in the order of the coverages, also where they failed.",
    examples: [[12]]
  })
}).annotate({
  identifier: "ReleaseReadiness",
  description: "What readiness said of a version when it went out.",
  examples: [
    {
      ready: false,
      reasons: [{ kind: "run_failed", count: 1 }],
      warnings: [{ kind: "drift", count: 2 }],
      requires: ["critical"],
      runs: [12]
    }
  ]
})
export type ReleaseReadiness = typeof ReleaseReadiness.Type
