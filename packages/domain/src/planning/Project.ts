import { Schema } from "effect"
import { Body, Exact } from "../Body.ts"
import { Person } from "../identity/Actor.ts"
import { MilestoneId, PersonId, ProductId, ProjectId, TeamId } from "../Ids.ts"
import { maxNumber } from "../Numbers.ts"
import { isSlug, Name, OneOf, Ref, Slug, Text } from "../Text.ts"
import { CalendarDate, Timestamp } from "../Timestamp.ts"
import { Place } from "./Reorder.ts"
import { TeamRef } from "./Team.ts"

export const ProjectStatus = OneOf(["planned", "active", "paused", "completed", "canceled"]).annotate({
  identifier: "ProjectStatus",
  description: "The status of the project. It is set by hand, and any status may follow any other.",
  examples: ["active"]
})
export type ProjectStatus = typeof ProjectStatus.Type

/** The summary of a project or milestone (docs/contract.md, Projects). */
const Summary = Text(200)

/** The document of a project, in Markdown. */
const ProjectDocument = Text(100_000)

/** A step of a project. Numbers count from 1 in the project and are never used again (docs/contract.md, Projects). */
export const Milestone = Schema.Struct({
  id: MilestoneId,
  number: Schema.Int.annotate({
    description: "The number of the milestone, from 1 in its project. A number is never used again."
  }),
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

/** How filters name a milestone: the slug of its project, and its number. */
export const milestoneRef = (project: string, number: number): string => `${project}/${number}`

/** The parts of such a name; undefined if the text is none. */
export const parseMilestoneRef = (text: string): { readonly project: string; readonly number: number } | undefined => {
  const [project = "", digits = "", ...more] = text.split("/")
  const number = /^[1-9]\d{0,9}$/.test(digits) ? Number(digits) : 0
  return more.length > 0 || !isSlug(project) || number === 0 || number > maxNumber ? undefined : { project, number }
}

/** A product, in the short form that projects have. */
export const ProjectProduct = Schema.Struct({
  id: ProductId,
  slug: Schema.String,
  name: Schema.String
}).annotate({
  identifier: "ProjectProduct",
  description: "A product, in the short form that projects have.",
  examples: [{ id: ProductId.make("0197a1b2-0000-7000-8000-0000000000d1"), slug: "shop", name: "Shop" }]
})
export type ProjectProduct = typeof ProjectProduct.Type

/** How many tickets of a project are in which category of status. */
export const ProjectProgress = Schema.Struct({
  backlog: Schema.Int,
  unstarted: Schema.Int,
  started: Schema.Int,
  completed: Schema.Int,
  canceled: Schema.Int
}).annotate({
  identifier: "ProjectProgress",
  description:
    "How many tickets of the project are in which category of status. Only tickets of teams that you see are counted.",
  examples: [{ backlog: 4, unstarted: 3, started: 2, completed: 11, canceled: 1 }]
})
export type ProjectProgress = typeof ProjectProgress.Type

const summaryFields = {
  id: ProjectId,
  slug: Schema.String,
  name: Schema.String,
  summary: Schema.NullOr(Schema.String),
  status: ProjectStatus,
  lead: Schema.NullOr(Person).annotate({ description: "The member who leads the project; null if nobody does." }),
  targetDate: Schema.NullOr(Schema.String.annotate({ format: "date" })).annotate({
    description: "When the project should be done, as `YYYY-MM-DD`; null if there is no date."
  }),
  teams: Schema.Array(TeamRef).annotate({ description: "The teams of the project that you see, by name." }),
  products: Schema.Array(ProjectProduct).annotate({ description: "The products of the project, by name." }),
  progress: ProjectProgress,
  archivedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was archived; null if it is not." }),
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

/** A project as lists show it, without its milestones and its document (docs/contract.md, Projects). */
export const ProjectSummary = Schema.Struct(summaryFields).annotate({
  identifier: "ProjectSummary",
  description: "A project as lists show it, without its milestones and its document.",
  examples: [example]
})
export type ProjectSummary = typeof ProjectSummary.Type

/** A body of work with a goal (docs/contract.md, Projects). */
export const Project = Schema.Struct({
  ...summaryFields,
  milestones: Schema.Array(Milestone).annotate({ description: "The milestones, by number." }),
  document: Schema.NullOr(Schema.String).annotate({
    description: "The document of the project, in Markdown; null if there is none."
  })
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
      document: "# Goal\n\nHalf as many people leave the checkout."
    }
  ]
})
export type Project = typeof Project.Type

const Lead = Schema.NullOr(Ref).annotate({
  description: "The id or email address of an active member, who leads the project; null for nobody."
})
const Products = Schema.Array(Ref).annotate({ description: "The products of the project, by slug or id." })

/** At least one: nobody could see a project without a team. */
const Teams = Schema.Array(Ref).check(Schema.isMinLength(1, { message: "Expected at least one team" }))

export const CreateProject = Body({
  slug: Slug,
  name: Name(100),
  summary: Schema.optionalKey(Schema.NullOr(Summary)),
  status: Schema.optionalKey(ProjectStatus),
  lead: Schema.optionalKey(Lead),
  targetDate: Schema.optionalKey(Schema.NullOr(CalendarDate)),
  teams: Teams.annotate({ description: "The teams of the project, by key. You must see each of them." }),
  products: Schema.optionalKey(Products),
  document: Schema.optionalKey(
    Schema.NullOr(ProjectDocument).annotate({ description: "The document of the project, in Markdown." })
  )
}).annotate({
  identifier: "CreateProject",
  description: "The fields of a new project. Its status is `planned` by default.",
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
      document: "# Goal\n\nHalf as many people leave the checkout."
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
    Teams.annotate({
      description:
        "The teams of the project, by key. They replace the teams that you see; teams that you do not see stay."
    })
  ),
  products: Schema.optionalKey(
    Products.annotate({
      description: "The products of the project, by slug or id. They replace all products; an empty list removes them."
    })
  ),
  document: Schema.optionalKey(
    Schema.NullOr(ProjectDocument).annotate({ description: "The document of the project, in Markdown." })
  ),
  expected: Schema.optionalKey(
    Exact({ document: Schema.optionalKey(Schema.NullOr(Schema.String)) }).annotate({
      identifier: "ExpectedProject",
      description:
        "The document as far as you know. If it is another one by now, nothing is changed and the answer is 409 `project_changed`.",
      examples: [{ document: "# Goal" }]
    })
  )
}).annotate({
  identifier: "UpdateProject",
  description: "The fields to change. `null` clears a field.",
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
  description: "The fields of a new milestone.",
  examples: [{ name: "Private beta", summary: "Ten customers pay with it." }]
})
export type CreateMilestone = typeof CreateMilestone.Type

export const UpdateMilestone = Body({
  name: Schema.optionalKey(Name(100)),
  summary: Schema.optionalKey(Schema.NullOr(Summary))
}).annotate({
  identifier: "UpdateMilestone",
  description: "The fields to change. `null` clears a field.",
  examples: [{ name: "Public beta", summary: null }]
})
export type UpdateMilestone = typeof UpdateMilestone.Type
