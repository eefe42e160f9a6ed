import { Schema } from "effect"

/** What readiness said of a version that went out (docs/contract.md, Releases): no name of what only some may see. */
export const ReleaseReadiness = Schema.Struct({
  ready: Schema.Boolean.annotate({ description: "Whether nothing kept the version back." }),
  reasons: Schema.Array(
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
  ).annotate({ description: "The kinds of the reasons that kept it back, in their order." })
}).annotate({
  identifier: "ReleaseReadiness",
  description: "What readiness said of a version when it went out.",
  examples: [{ ready: false, reasons: [{ kind: "run_failed", count: 1 }] }]
})
export type ReleaseReadiness = typeof ReleaseReadiness.Type
