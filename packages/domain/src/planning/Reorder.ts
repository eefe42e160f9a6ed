import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Ref, undocumented } from "../Text.ts"

/** Exactly one of the two, though the keys are optional (docs/contract.md, Conventions). */
const isOnePlace = Schema.makeFilter<{ readonly before?: unknown; readonly after?: unknown }>(
  (place) => "before" in place !== "after" in place || "Expected either before or after",
  { toJsonSchema: undocumented }
)

/**
 * The body of a reorder in a list whose objects bodies name by `what`, such as "slug": before one of them, or after one
 * of them; after null goes first.
 */
export const Place = (what: string, identifier: string, example: string) =>
  Body({
    before: Schema.optionalKey(Ref.annotate({ description: `The ${what} of the one that it goes before.` })),
    after: Schema.optionalKey(
      Schema.NullOr(Ref).annotate({ description: `The ${what} of the one that it goes after; null goes first.` })
    )
  })
    .check(isOnePlace)
    .annotate({
      identifier,
      description: "Where in the order it goes: `before` one or `after` one; send one of the two.",
      examples: [{ before: example }, { after: null }]
    })

/** Where an object of an ordered list goes: directly before or after another, or, after null, first. */
export interface Place {
  readonly before?: string
  readonly after?: string | null
}
