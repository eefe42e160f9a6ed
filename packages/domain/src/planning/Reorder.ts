import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Ref, undocumented } from "../Text.ts"

/** Exactly one of the two keys, though both are optional (docs/contract.md, Conventions). */
const isOnePlace = Schema.makeFilter<{ readonly before?: unknown; readonly after?: unknown }>(
  (place) => "before" in place !== "after" in place || "Expected either before or after",
  { toJsonSchema: undocumented }
)

/**
 * The body of a reorder. `what` says how the objects of the list are named, such as "slug". An object goes before or after
 * another one; `after: null` makes it the first.
 */
export const Place = (what: string, identifier: string, example: string) =>
  Body({
    before: Schema.optionalKey(Ref.annotate({ description: `The ${what} of the object to go before.` })),
    after: Schema.optionalKey(
      Schema.NullOr(Ref).annotate({ description: `The ${what} of the object to go after; null to go first.` })
    )
  })
    .check(isOnePlace)
    .annotate({
      identifier,
      description: "The new place: directly before or after another object. Send either `before` or `after`.",
      examples: [{ before: example }, { after: null }]
    })

/** The new place of an object in its list: directly before or after another one; `after: null` means first. */
export interface Place {
  readonly before?: string
  readonly after?: string | null
}
