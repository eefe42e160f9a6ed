import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Person } from "../identity/Actor.ts"
import { MilestoneId, PersonId, ProductId, ProjectId, TeamId } from "../Ids.ts"
import { Name, OneOf, Ref, Slug, Text } from "../Text.ts"
import { CalendarDate, Timestamp } from "../Timestamp.ts"
import { Place } from "./Reorder.ts"
import { TeamRef } from "./Team.ts"

export const ProjectStatus = OneOf(["planned", "active", "paused", "completed", "canceled"]).annotate({
  identifier: "ProjectStatus",
  description: "Where the project stands. Set by hand; each may follow each.",
  examples: ["active"]
})
export type ProjectStatus = typeof ProjectStatus.Type

/** Longest summary of a project or milestone (docs/contract.md, Projects). */
const Summary = Text(200)

/** Longest Markdown document of a project. */
const ProjectDocument = Text(100_000)

/** A step of a project; numbers count up from 1 in the project and are never reused (docs/contract.md, Projects). */
export const Milestone = Schema.Struct({
  id: MilestoneId,
  number: Schema.Int.annotate({ description: "From 1 in the project, never reused." }),
  name: Schema.String,
  summary: Schema.NullOr(Schema.String)
}).annotate({
  identifier: "Milestone",
  description: "A step of a project.",
  examples: [
    {
      id: MilestoneId.make("0197a1b2-0000-7000-8000-000000000f11"),
      number: 1,
      name: "Private beta",
      summary: "Ten customers pay with it."
    }
  ]
})
export type Milestone = typeof Milestone.Type

/** A product as projects show it. */
export const ProjectProduct = Schema.Struct({
  id: ProductId,
  slug: Schema.String,
  name: Schema.String
}).annotate({
  identifier: "ProjectProduct",
  description: "A product as projects show it.",
  examples: [{ id: ProductId.make("0197a1b2-0000-7000-8000-0000000000d1"), slug: "shop", name: "Shop" }]
})
export type ProjectProduct = typeof ProjectProduct.Type

/** A project's tickets, counted by the category of their status. */
export const ProjectProgress = Schema.Struct({
  backlog: Schema.Int,
  unstarted: Schema.Int,
  started: Schema.Int,
  completed: Schema.Int,
  canceled: Schema.Int
}).annotate({
  identifier: "ProjectProgress",
  description: "The project's tickets in teams that you see, counted by the category of their status.",
  examples: [{ backlog: 4, unstarted: 3, started: 2, completed: 11, canceled: 1 }]
})
export type ProjectProgress = typeof ProjectProgress.Type

const summaryFields = {
  id: ProjectId,
  slug: Schema.String,
  name: Schema.String,
  summary: Schema.NullOr(Schema.String),
  status: ProjectStatus,
  lead: Schema.NullOr(Person).annotate({ description: "Who leads it; null for nobody." }),
  targetDate: Schema.NullOr(Schema.String.annotate({ format: "date" })).annotate({
    description: "When it is to be done, `YYYY-MM-DD`."
  }),
  teams: Schema.Array(TeamRef).annotate({ description: "Its teams that you see, by name." }),
  products: Schema.Array(ProjectProduct).annotate({ description: "By name." }),
  progress: ProjectProgress,
  archivedAt: Schema.NullOr(Timestamp).annotate({ description: "Null while not archived." }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}

const example: typeof ProjectSummary.Type = {
  id: ProjectId.make("0197a1b2-0000-7000-8000-000000000f01"),
  slug: "checkout",
  name: "New checkout",
  summary: "One page, three fields.",
  status: "active",
  lead: { id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"), name: "Ana Diaz", email: "ana@example.com" },
  targetDate: "2027-03-31",
  teams: [
    { id: TeamId.make("0197a1b2-0000-7000-8000-000000000e01"), key: "ENG", name: "Engineering", visibility: "open" }
  ],
  products: [{ id: ProductId.make("0197a1b2-0000-7000-8000-0000000000d1"), slug: "shop", name: "Shop" }],
  progress: { backlog: 4, unstarted: 3, started: 2, completed: 11, canceled: 1 },
  archivedAt: null,
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T09:30:00.000Z"
}

/** A project as lists show it (docs/contract.md, Projects): without its milestones and its document. */
export const ProjectSummary = Schema.Struct(summaryFields).annotate({
  identifier: "ProjectSummary",
  description: "A project as lists show it: without its milestones and its document.",
  examples: [example]
})
export type ProjectSummary = typeof ProjectSummary.Type

/** A body of work with a goal (docs/contract.md, Projects). */
export const Project = Schema.Struct({
  ...summaryFields,
  milestones: Schema.Array(Milestone).annotate({ description: "In the order of their numbers." }),
  document: Schema.NullOr(Schema.String).annotate({ description: "Markdown; null for none." })
}).annotate({
  identifier: "Project",
  description: "A body of work with a goal.",
  examples: [
    {
      ...example,
      milestones: [
        {
          id: MilestoneId.make("0197a1b2-0000-7000-8000-000000000f11"),
          number: 1,
          name: "Private beta",
          summary: "Ten customers pay with it."
        }
      ],
      document: "# Goal\n\nHalf as many people leave at the till."
    }
  ]
})
export type Project = typeof Project.Type

const Lead = Schema.NullOr(Ref).annotate({
  description: "The id or email address of an active member; null for nobody."
})
const Products = Schema.Array(Ref).annotate({ description: "Slugs or ids of products." })

/** At least one, since a project without a team would be nobody's to see. */
const Teams = Schema.Array(Ref).check(Schema.isMinLength(1, { message: "Expected at least one team" }))

export const CreateProject = Body({
  slug: Slug,
  name: Name(100),
  summary: Schema.optionalKey(Schema.NullOr(Summary)),
  status: Schema.optionalKey(ProjectStatus),
  lead: Schema.optionalKey(Lead),
  targetDate: Schema.optionalKey(Schema.NullOr(CalendarDate)),
  teams: Teams.annotate({ description: "Keys of teams that you see." }),
  products: Schema.optionalKey(Products),
  document: Schema.optionalKey(Schema.NullOr(ProjectDocument).annotate({ description: "Markdown." }))
}).annotate({
  identifier: "CreateProject",
  description: "A new project; `planned` unless it says otherwise.",
  examples: [
    {
      slug: "checkout",
      name: "New checkout",
      summary: "One page, three fields.",
      status: "active",
      lead: "ana@example.com",
      targetDate: "2027-03-31",
      teams: ["ENG"],
      products: ["shop"],
      document: "# Goal\n\nHalf as many people leave at the till."
    }
  ]
})
export type CreateProject = typeof CreateProject.Type

export const UpdateProject = Body({
  slug: Schema.optionalKey(Slug),
  name: Schema.optionalKey(Name(100)),
  summary: Schema.optionalKey(Schema.NullOr(Summary)),
  status: Schema.optionalKey(ProjectStatus),
  lead: Schema.optionalKey(Lead),
  targetDate: Schema.optionalKey(Schema.NullOr(CalendarDate)),
  teams: Schema.optionalKey(
    Teams.annotate({ description: "Keys of teams that you see, in place of those. Those that you do not see stay." })
  ),
  products: Schema.optionalKey(
    Products.annotate({ description: "Slugs or ids, in place of the present ones; an empty list unlinks all." })
  ),
  document: Schema.optionalKey(Schema.NullOr(ProjectDocument).annotate({ description: "Markdown." }))
}).annotate({
  identifier: "UpdateProject",
  description: "The fields of a project to change; null clears.",
  examples: [{ status: "completed", lead: null }]
})
export type UpdateProject = typeof UpdateProject.Type

export const ReorderProject = Place("slug", "ReorderProject", "search")
export type ReorderProject = typeof ReorderProject.Type

export const CreateMilestone = Body({
  name: Name(100),
  summary: Schema.optionalKey(Schema.NullOr(Summary))
}).annotate({
  identifier: "CreateMilestone",
  description: "A new milestone of a project.",
  examples: [{ name: "Private beta", summary: "Ten customers pay with it." }]
})
export type CreateMilestone = typeof CreateMilestone.Type

export const UpdateMilestone = Body({
  name: Schema.optionalKey(Name(100)),
  summary: Schema.optionalKey(Schema.NullOr(Summary))
}).annotate({
  identifier: "UpdateMilestone",
  description: "The fields of a milestone to change; null clears.",
  examples: [{ name: "Public beta", summary: null }]
})
export type UpdateMilestone = typeof UpdateMilestone.Type
