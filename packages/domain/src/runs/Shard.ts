import { Schema } from "effect"
import { Body } from "../Body.ts"
import { undocumented } from "../Text.ts"

/** The most shards that one run may have. */
export const maxShards = 500

const Index = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxShards }))
const Total = Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: maxShards }))

const isOneOfThem = Schema.makeFilter<{ readonly index: number; readonly total: number }>(
  ({ index, total }) => index <= total || { path: ["index"], issue: `Expected a number up to ${total}, the total` },
  { toJsonSchema: undocumented }
)

/** One of the parts of a suite that publish one run together (docs/contract.md, Shards). */
export const Shard = Body({
  index: Index.annotate({ description: "Which of the shards it is, from 1." }),
  total: Total.annotate({ description: "How many shards the build has." })
})
  .check(isOneOfThem)
  .annotate({
    identifier: "Shard",
    description: "One of the parts of a suite that publish one run together.",
    examples: [{ index: 1, total: 3 }]
  })
export type Shard = typeof Shard.Type

/** The shards of a run, in answers (docs/contract.md, Shards). */
export const ShardCounts = Schema.Struct({
  total: Schema.Int.annotate({ description: "How many shards the build has." }),
  started: Schema.Int.annotate({ description: "How many of them have started." }),
  finished: Schema.Int.annotate({ description: "How many of them have finished." })
}).annotate({
  identifier: "ShardCounts",
  description: "How far the shards of a run are.",
  examples: [{ total: 3, started: 3, finished: 2 }]
})
export type ShardCounts = typeof ShardCounts.Type
