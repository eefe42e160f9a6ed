import { Schema } from "effect"
import { Body, Exact } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { PersonId, SavedFilterId } from "../Ids.ts"
import { Name, OneOf, Ref } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { caseFilters, runFilters } from "./ListFilters.ts"

/** How many saved filters a list of a workspace may have that everybody sees. */
export const maxSharedFilters = 100

/** How many saved filters of a list a person may have alone. */
export const maxPersonalFilters = 100

const Screen = OneOf(["runs", "tests"])

export const SavedFilterScreen = Screen.annotate({
  identifier: "SavedFilterScreen",
  description: "What is filtered: the list of runs, or that of the tests (cases) of a product.",
  examples: ["runs"]
})
export type SavedFilterScreen = typeof SavedFilterScreen.Type

/** The same as a filter. */
export const ScreenFilter = Screen.annotate({ description: "Only filters of this list." })

/** The filters that each list has. */
export const filtersOfScreen: Readonly<Record<SavedFilterScreen, ReadonlyArray<keyof SavedFilterQuery>>> = {
  runs: Object.keys(runFilters) as ReadonlyArray<keyof typeof runFilters>,
  tests: Object.keys(caseFilters) as ReadonlyArray<keyof typeof caseFilters>
}

const fields = {
  ...runFilters,
  state: caseFilters.state,
  environment: Schema.optionalKey(
    Ref.annotate({ description: "Only of runs in this environment.", examples: ["staging"] })
  ),
  q: Schema.optionalKey(
    runFilters.q.schema.annotate({ description: "Only what matches this text.", examples: ["basket"] })
  )
}

const exampleQuery = { result: "failed", environment: "staging", mine: "true" } as const

export const SavedFilterQuery = Schema.Struct(fields).annotate({
  identifier: "SavedFilterQuery",
  description:
    "What the list is filtered by: send it as the query of the list. Products and environments are named by slug, and follow one that gets another slug.",
  examples: [exampleQuery]
})
export type SavedFilterQuery = typeof SavedFilterQuery.Type

/** A misspelt filter would filter nothing, so that all others are refused. */
const SavedFilterQueryInput = Exact(fields).annotate({
  identifier: "SavedFilterQueryInput",
  description:
    "What the list is filtered by: parameters of its query, but for those of pages. Of runs `product`, `environment`, `result`, `q`, `commit`, `mine` and `latest`; of tests `state`, `environment` and `q`. Any other is 400.",
  examples: [exampleQuery]
})

const SavedFilterVisibility = OneOf(["shared", "personal"]).annotate({
  identifier: "SavedFilterVisibility",
  description:
    "Who sees the saved filter. `shared`: everybody in the workspace. `personal`: only the person who made it, with their agents.",
  examples: ["personal"]
})
export type SavedFilterVisibility = typeof SavedFilterVisibility.Type

/** A saved way to filter the runs, or the tests of a product (docs/contract.md, Saved filters). */
export const SavedFilter = Schema.Struct({
  id: SavedFilterId,
  screen: SavedFilterScreen,
  name: Schema.String,
  visibility: SavedFilterVisibility,
  product: Schema.NullOr(Schema.String).annotate({
    description: "The slug of the product whose tests are filtered; `null` for runs, whose `query` may name one."
  }),
  query: SavedFilterQuery,
  createdBy: Actor,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "SavedFilter",
  description: "Filters of the list of runs, or of that of the tests of a product, under a name.",
  examples: [
    {
      id: SavedFilterId.make("0197a1b2-0000-7000-8000-000000000f31"),
      screen: "runs",
      name: "My failures in staging",
      visibility: "shared",
      product: null,
      query: exampleQuery,
      createdBy: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      createdAt: "2026-11-21T09:30:00.000Z",
      updatedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type SavedFilter = typeof SavedFilter.Type

const product = Ref.annotate({
  description:
    "The product whose tests are filtered, by slug or id. Filters of runs have none: theirs stands in `query`.",
  examples: ["shop"]
})

export const CreateSavedFilter = Body({
  screen: SavedFilterScreen,
  name: Name(100),
  visibility: Schema.optionalKey(SavedFilterVisibility),
  product: Schema.optionalKey(Schema.NullOr(product)),
  query: SavedFilterQueryInput
}).annotate({
  identifier: "CreateSavedFilter",
  description: "The fields of a new saved filter. By default it is shared.",
  examples: [
    { screen: "tests", name: "Flaky in staging", product: "shop", query: { state: "flaky", environment: "staging" } }
  ]
})
export type CreateSavedFilter = typeof CreateSavedFilter.Type

export const UpdateSavedFilter = Body({
  name: Schema.optionalKey(Name(100)),
  visibility: Schema.optionalKey(SavedFilterVisibility),
  product: Schema.optionalKey(product),
  query: Schema.optionalKey(SavedFilterQueryInput)
}).annotate({
  identifier: "UpdateSavedFilter",
  description: "The fields to change. `query` replaces all filters.",
  examples: [{ name: "Failures in staging", query: { result: "failed", environment: "staging" } }]
})
export type UpdateSavedFilter = typeof UpdateSavedFilter.Type
