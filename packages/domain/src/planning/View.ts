import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { PersonId, ViewId } from "../Ids.ts"
import { Name, OneOf, Ref } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Place } from "./Reorder.ts"
import { StatusCategory } from "./TicketStatus.ts"

/** Most values of one filter. */
export const maxFilterValues = 100

const filterOf = <Value extends Schema.Top>(value: Value) =>
  Schema.Array(value).check(
    Schema.isMaxLength(maxFilterValues, { message: `Expected at most ${maxFilterValues} values` })
  )

/** Which tickets a view shows: those that match one value of each filter that has any (docs/contract.md, Views). */
const filters = {
  categories: filterOf(StatusCategory).annotate({ description: "Categories of statuses." }),
  statuses: filterOf(Name(40)).annotate({
    description:
      "Names of statuses, in any case. They follow a status that is renamed or deleted: one of a private team for those who see the team."
  }),
  owners: filterOf(Ref).annotate({
    description: "Ids of members and agents; `me`: the member who asks; `none`: tickets without an owner."
  }),
  tags: filterOf(Ref).annotate({ description: "Ids of tags." }),
  teams: filterOf(Ref).annotate({ description: "Keys of teams." }),
  projects: filterOf(Ref).annotate({ description: "Slugs of projects." })
}

const exampleFilters = {
  categories: ["started"],
  statuses: [],
  owners: ["me"],
  tags: [],
  teams: [],
  projects: []
} as const

export const ViewFilters = Schema.Struct({
  categories: Schema.Array(StatusCategory),
  statuses: Schema.Array(Schema.String),
  owners: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  teams: Schema.Array(Schema.String),
  projects: Schema.Array(Schema.String)
}).annotate({
  identifier: "ViewFilters",
  description:
    "Which tickets a view shows: those that match one value of each filter that has any. Tags, teams and projects that you do not see are not among the values, and restrict all the same. Names of statuses follow the teams that you see.",
  examples: [exampleFilters]
})
export type ViewFilters = typeof ViewFilters.Type

/** Filters as bodies send them: one that is left out does not restrict. */
const ViewFiltersInput = Body({
  categories: Schema.optionalKey(filters.categories),
  statuses: Schema.optionalKey(filters.statuses),
  owners: Schema.optionalKey(filters.owners),
  tags: Schema.optionalKey(filters.tags),
  teams: Schema.optionalKey(filters.teams),
  projects: Schema.optionalKey(filters.projects)
}).annotate({
  identifier: "ViewFiltersInput",
  description: "Which tickets a view shows; a filter that is empty or left out does not restrict.",
  examples: [{ categories: ["started"], owners: ["me"] }]
})
export type ViewFiltersInput = typeof ViewFiltersInput.Type

/** Whose view it is: everyone sees those of the workspace; others go with their team or project. */
export const ViewScope = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("workspace") }).annotate({ title: "workspace" }),
  Schema.Struct({ kind: Schema.Literal("team"), key: Schema.String }).annotate({ title: "team" }),
  Schema.Struct({ kind: Schema.Literal("project"), key: Schema.String }).annotate({ title: "project" })
]).annotate({
  identifier: "ViewScope",
  description: "Whose view it is: the workspace's, a team's by its key, or a project's by its slug.",
  examples: [{ kind: "project", key: "checkout" }]
})
export type ViewScope = typeof ViewScope.Type

export const ViewLayout = OneOf(["board", "list"]).annotate({
  identifier: "ViewLayout",
  description: "How the tickets are laid out.",
  examples: ["board"]
})
export type ViewLayout = typeof ViewLayout.Type

/** A saved way to look at tickets (docs/contract.md, Views). */
export const View = Schema.Struct({
  id: ViewId,
  name: Schema.String,
  scope: ViewScope,
  filters: ViewFilters,
  layout: ViewLayout,
  isDefault: Schema.Boolean.annotate({ description: "One of a project's first views, which cannot be deleted." }),
  position: Schema.Int.annotate({ description: "Orders the views of a scope, from 0." }),
  createdBy: Actor,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "View",
  description: "A saved way to look at tickets.",
  examples: [
    {
      id: ViewId.make("0197a1b2-0000-7000-8000-000000000f21"),
      name: "In my hands",
      scope: { kind: "project", key: "checkout" },
      filters: exampleFilters,
      layout: "board",
      isDefault: false,
      position: 4,
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
export type View = typeof View.Type

/** The scope of a new view. */
const ViewScopeInput = Body({
  kind: OneOf(["workspace", "team", "project"]),
  key: Schema.optionalKey(Ref.annotate({ description: "A team's key or a project's slug." }))
})
  .annotate({
    identifier: "ViewScopeInput",
    description: "Whose view it is: the workspace's, a team's by its key, or a project's by its slug.",
    examples: [{ kind: "project", key: "checkout" }]
  })
  .check(
    Schema.makeFilter<{ readonly kind: string; readonly key?: string }>((scope) =>
      scope.kind === "workspace" || scope.key !== undefined
        ? true
        : { path: ["key"], issue: `Expected the key of the ${scope.kind}` }
    )
  )

export const CreateView = Body({
  name: Name(100),
  scope: ViewScopeInput,
  filters: Schema.optionalKey(ViewFiltersInput),
  layout: Schema.optionalKey(ViewLayout)
}).annotate({
  identifier: "CreateView",
  description: "A new view; without filters, and a list, unless it says otherwise.",
  examples: [
    {
      name: "In my hands",
      scope: { kind: "project", key: "checkout" },
      filters: { categories: ["started"], owners: ["me"] },
      layout: "board"
    }
  ]
})
export type CreateView = typeof CreateView.Type

export const UpdateView = Body({
  name: Schema.optionalKey(Name(100)),
  filters: Schema.optionalKey(ViewFiltersInput),
  layout: Schema.optionalKey(ViewLayout)
}).annotate({
  identifier: "UpdateView",
  description: "The fields of a view to change. `filters` replaces all of them, except values that you do not see.",
  examples: [{ layout: "list", filters: { owners: ["me"] } }]
})
export type UpdateView = typeof UpdateView.Type

export const ReorderView = Place("id", "ReorderView", "0197a1b2-0000-7000-8000-000000000f22")
export type ReorderView = typeof ReorderView.Type

/** The views that every project begins with, in order. */
export const defaultViews: ReadonlyArray<{
  readonly name: string
  readonly categories: ReadonlyArray<StatusCategory>
}> = [
  { name: "All", categories: [] },
  { name: "Active", categories: ["unstarted", "started"] },
  { name: "Backlog", categories: ["backlog"] },
  { name: "Done", categories: ["completed"] }
]
