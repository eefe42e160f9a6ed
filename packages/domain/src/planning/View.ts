import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { PersonId, ViewId } from "../Ids.ts"
import { Name, OneOf, Ref } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Place } from "./Reorder.ts"
import { StatusCategory } from "./TicketStatus.ts"

/** How many values one filter may have. */
export const maxFilterValues = 100

/** How many values all filters of a view may have together. */
export const maxValuesOfView = 200

/** How many views a scope may have that others see, too, besides the first ones of a project. */
export const maxSharedViews = 100

/** How many personal views a person may have in a scope. */
export const maxPersonalViews = 100

const filterOf = <Value extends Schema.Top>(value: Value) =>
  Schema.Array(value).check(
    Schema.isMaxLength(maxFilterValues, { message: `Expected at most ${maxFilterValues} values` })
  )

/** The filters of a view. A ticket matches if it matches one value of each filter that has any (docs/contract.md, Views). */
const filters = {
  categories: filterOf(StatusCategory).annotate({ description: "Categories of status." }),
  statuses: filterOf(Name(40)).annotate({
    description:
      "Names of statuses, in any case. They follow a status that is renamed or deleted; if it belongs to a private team, for those who see the team."
  }),
  owners: filterOf(Ref).annotate({
    description: "Ids of members and agents. `me` is the member who asks; `none` means tickets without an owner."
  }),
  tags: filterOf(Ref).annotate({ description: "Ids of tags." }),
  teams: filterOf(Ref).annotate({ description: "Keys of teams." }),
  projects: filterOf(Ref).annotate({ description: "Slugs of projects." }),
  milestones: filterOf(Ref).annotate({
    description:
      "Milestones: the slug of the project, a slash and the number, such as `checkout/1`; `none` means tickets without a milestone."
  })
}

const exampleFilters = {
  categories: ["started"],
  statuses: [],
  owners: ["me"],
  tags: [],
  teams: [],
  projects: [],
  milestones: []
} as const

export const ViewFilters = Schema.Struct({
  categories: Schema.Array(StatusCategory),
  statuses: Schema.Array(Schema.String),
  owners: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  teams: Schema.Array(Schema.String),
  projects: Schema.Array(Schema.String),
  milestones: Schema.Array(Schema.String)
}).annotate({
  identifier: "ViewFilters",
  description:
    "Which tickets a view shows: those that match one value of each filter that has any. Tags, teams, projects and milestones that you cannot see are left out here, but restrict the view nevertheless. Names of statuses follow the teams that you see.",
  examples: [exampleFilters]
})
export type ViewFilters = typeof ViewFilters.Type

/** The filters as bodies send them. One that is left out does not restrict. */
const ViewFiltersInput = Body({
  categories: Schema.optionalKey(filters.categories),
  statuses: Schema.optionalKey(filters.statuses),
  owners: Schema.optionalKey(filters.owners),
  tags: Schema.optionalKey(filters.tags),
  teams: Schema.optionalKey(filters.teams),
  projects: Schema.optionalKey(filters.projects),
  milestones: Schema.optionalKey(filters.milestones)
})
  .annotate({
    identifier: "ViewFiltersInput",
    description: `Which tickets a view shows. A filter that is empty or left out does not restrict. All filters together have at most ${maxValuesOfView} values.`,
    examples: [{ categories: ["started"], owners: ["me"] }]
  })
  .check(
    Schema.makeFilter<Readonly<Record<string, ReadonlyArray<unknown>>>>(
      (filters) =>
        Object.values(filters).flat().length <= maxValuesOfView ||
        `Expected at most ${maxValuesOfView} values in all filters together`
    )
  )
export type ViewFiltersInput = typeof ViewFiltersInput.Type

/** The scope of a view. Everybody sees views of the workspace; others are seen by those who see their team or project. */
export const ViewScope = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("workspace") }).annotate({ title: "workspace" }),
  Schema.Struct({ kind: Schema.Literal("team"), key: Schema.String }).annotate({ title: "team" }),
  Schema.Struct({ kind: Schema.Literal("project"), key: Schema.String }).annotate({ title: "project" })
]).annotate({
  identifier: "ViewScope",
  description: "The scope of the view: the workspace, a team (by key) or a project (by slug).",
  examples: [{ kind: "project", key: "checkout" }]
})
export type ViewScope = typeof ViewScope.Type

export const ViewLayout = OneOf(["board", "list"]).annotate({
  identifier: "ViewLayout",
  description: "How the tickets are shown: as a board or as a list.",
  examples: ["board"]
})
export type ViewLayout = typeof ViewLayout.Type

const ViewVisibility = OneOf(["shared", "personal"]).annotate({
  identifier: "ViewVisibility",
  description:
    "Who sees the view. `shared`: everybody who sees its scope. `personal`: only the person who made it, with their agents.",
  examples: ["personal"]
})
export type ViewVisibility = typeof ViewVisibility.Type

const ViewGroup = OneOf(["status", "owner", "project", "milestone"]).annotate({
  identifier: "ViewGroup",
  description: "What the tickets are grouped by.",
  examples: ["milestone"]
})
export type ViewGroup = typeof ViewGroup.Type

const ViewSort = OneOf(["updated", "created"]).annotate({
  identifier: "ViewSort",
  description: "The order of the tickets in their groups: the last one changed or made first.",
  examples: ["updated"]
})
export type ViewSort = typeof ViewSort.Type

/** The order of a view; null is that of the tickets themselves. */
const sortOrOwn = Schema.NullOr(ViewSort).annotate({
  description: "The order of the tickets in their groups; `null` is the order that people gave them."
})

/** Filters whose values may be hidden from whoever sees the view. */
const HidingFilter = OneOf(["tags", "teams", "projects", "milestones"]).annotate({
  identifier: "HidingFilter",
  description: "A filter that can have values that you cannot see.",
  examples: ["teams"]
})
export type HidingFilter = typeof HidingFilter.Type

/** A saved way to look at tickets (docs/contract.md, Views). */
export const View = Schema.Struct({
  id: ViewId,
  name: Schema.String,
  scope: ViewScope,
  visibility: ViewVisibility,
  filters: ViewFilters,
  hiddenFilters: Schema.Array(HidingFilter).annotate({
    description:
      "Which filters have values that you cannot see, besides those in `filters`. They restrict what you see, too, and stay when you change the view."
  }),
  layout: ViewLayout,
  group: ViewGroup,
  sort: sortOrOwn,
  isDefault: Schema.Boolean.annotate({
    description: "Whether this is one of the first views of a project, which cannot be deleted."
  }),
  position: Schema.Int.annotate({
    description: "The place of the view among those of its scope that you see, from 0."
  }),
  createdBy: Actor,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "View",
  description: "A saved way to look at tickets: filters, a layout, a grouping and an order.",
  examples: [
    {
      id: ViewId.make("0197a1b2-0000-7000-8000-000000000f21"),
      name: "My work",
      scope: { kind: "project", key: "checkout" },
      visibility: "personal",
      filters: exampleFilters,
      hiddenFilters: [],
      layout: "board",
      group: "status",
      sort: null,
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
  key: Schema.optionalKey(
    Ref.annotate({ description: "The key of the team or the slug of the project. Views of the workspace have none." })
  )
})
  .annotate({
    identifier: "ViewScopeInput",
    description: "The scope of the view: the workspace, a team (by key) or a project (by slug).",
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
  visibility: Schema.optionalKey(ViewVisibility),
  filters: Schema.optionalKey(ViewFiltersInput),
  layout: Schema.optionalKey(ViewLayout),
  group: Schema.optionalKey(ViewGroup),
  sort: Schema.optionalKey(sortOrOwn)
}).annotate({
  identifier: "CreateView",
  description:
    "The fields of a new view. By default it is shared, and a list without filters, grouped by status, in the order of the tickets.",
  examples: [
    {
      name: "My work",
      scope: { kind: "project", key: "checkout" },
      filters: { categories: ["started"], owners: ["me"] },
      layout: "board"
    }
  ]
})
export type CreateView = typeof CreateView.Type

export const UpdateView = Body({
  name: Schema.optionalKey(Name(100)),
  visibility: Schema.optionalKey(ViewVisibility),
  filters: Schema.optionalKey(ViewFiltersInput),
  layout: Schema.optionalKey(ViewLayout),
  group: Schema.optionalKey(ViewGroup),
  sort: Schema.optionalKey(sortOrOwn)
}).annotate({
  identifier: "UpdateView",
  description: "The fields to change. `filters` replaces all filters, except values that you cannot see.",
  examples: [{ layout: "list", filters: { owners: ["me"] } }]
})
export type UpdateView = typeof UpdateView.Type

export const ReorderView = Place("id", "ReorderView", "0197a1b2-0000-7000-8000-000000000f22")
export type ReorderView = typeof ReorderView.Type

/** The views that every project starts with, in order. */
export const defaultViews: ReadonlyArray<{
  readonly name: string
  readonly categories: ReadonlyArray<StatusCategory>
}> = [
  { name: "All", categories: [] },
  { name: "Active", categories: ["unstarted", "started"] },
  { name: "Backlog", categories: ["backlog"] },
  { name: "Done", categories: ["completed"] }
]
