import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor, Person } from "../identity/Actor.ts"
import { AgentId, PersonId, ProjectId, TagId, TeamId, TicketId, TicketStatusId } from "../Ids.ts"
import { compare } from "../Order.ts"
import { maxNumber } from "../runs/TestRun.ts"
import { Name, Ref, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Place } from "./Reorder.ts"
import { TeamRef } from "./Team.ts"
import { StatusCategory } from "./TicketStatus.ts"

/** What people call a ticket by: its team's key and its number in the team. */
export const ticketIdentifier = (teamKey: string, number: number): string => `${teamKey}-${number}`

/** The parts of an identifier in any case; undefined where the text is none. */
export const parseTicketIdentifier = (
  text: string
): { readonly teamKey: string; readonly number: number } | undefined => {
  const match = /^([A-Za-z][A-Za-z0-9]{0,9})-([1-9]\d{0,9})$/.exec(text)
  const number = Number(match?.[2])
  return match === null || number > maxNumber ? undefined : { teamKey: match[1]!.toUpperCase(), number }
}

/** The order of tickets in lists: status category, status position, rank, id (docs/contract.md, Tickets). */
export const compareTickets = (a: TicketPlace, b: TicketPlace): number =>
  categories.indexOf(a.status.category) - categories.indexOf(b.status.category) ||
  a.status.position - b.status.position ||
  compare(a.rank, b.rank) ||
  compare(a.id, b.id)

interface TicketPlace {
  readonly id: TicketId
  readonly rank: string
  readonly status: { readonly category: StatusCategory; readonly position: number }
}

const categories = StatusCategory.literals

/** A status as tickets show it. */
export const TicketStatusRef = Schema.Struct({
  id: TicketStatusId,
  name: Schema.String,
  category: StatusCategory
}).annotate({
  identifier: "TicketStatusRef",
  description: "A status as tickets show it.",
  examples: [
    { id: TicketStatusId.make("0197a1b2-0000-7000-8000-000000000e11"), name: "In progress", category: "started" }
  ]
})
export type TicketStatusRef = typeof TicketStatusRef.Type

/** Who is to do a ticket. */
export const TicketOwner = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("user"), id: PersonId, name: Schema.String, email: Schema.String }).annotate({
    title: "user"
  }),
  Schema.Struct({ kind: Schema.Literal("agent"), id: AgentId, name: Schema.String, person: Person }).annotate({
    title: "agent"
  })
]).annotate({
  identifier: "TicketOwner",
  description: "Who is to do a ticket: a person, or an agent with the person it works for.",
  examples: [
    {
      kind: "user",
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com"
    }
  ]
})
export type TicketOwner = typeof TicketOwner.Type

const TicketProject = Schema.Struct({ id: ProjectId, slug: Schema.String, name: Schema.String }).annotate({
  identifier: "TicketProject",
  description: "A project as tickets show it.",
  examples: [{ id: ProjectId.make("0197a1b2-0000-7000-8000-000000000f01"), slug: "checkout", name: "New checkout" }]
})

const TicketMilestone = Schema.Struct({ number: Schema.Int, name: Schema.String }).annotate({
  identifier: "TicketMilestone",
  description: "A milestone of the ticket's project.",
  examples: [{ number: 1, name: "Private beta" }]
})

const TicketTag = Schema.Struct({ id: TagId, name: Schema.String, color: Schema.String }).annotate({
  identifier: "TicketTag",
  description: "A tag as tickets show it.",
  examples: [{ id: TagId.make("0197a1b2-0000-7000-8000-000000000e21"), name: "Bug", color: "#d73a4a" }]
})

const summaryFields = {
  id: TicketId,
  identifier: Schema.String.annotate({
    description: "The team's key and the number. Paths and bodies take it in any case; it changes with the team."
  }),
  number: Schema.Int.annotate({ description: "Counts up from 1 in the team, without gaps." }),
  url: Schema.String.annotate({ description: "The ticket's page on the website." }),
  title: Schema.String,
  description: Schema.NullOr(Schema.String).annotate({ description: "Markdown; null for none." }),
  team: TeamRef,
  status: TicketStatusRef,
  rank: Schema.String.annotate({
    description: "Orders the tickets of a status in their team: compare code units, lower first."
  }),
  owner: Schema.NullOr(TicketOwner).annotate({ description: "Who is to do it; null for nobody." }),
  project: Schema.NullOr(TicketProject),
  milestone: Schema.NullOr(TicketMilestone),
  tags: Schema.Array(TicketTag).annotate({ description: "By name." }),
  commentCount: Schema.Int,
  createdBy: Actor,
  startedAt: Schema.NullOr(Timestamp).annotate({ description: "When it first was in a `started` status." }),
  completedAt: Schema.NullOr(Timestamp).annotate({
    description: "Since when it is in the category `completed`; null in others."
  }),
  canceledAt: Schema.NullOr(Timestamp).annotate({
    description: "Since when it is in the category `canceled`; null in others."
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp.annotate({ description: "The last change of the ticket; comments are changes of their own." })
}

const example: typeof TicketSummary.Type = {
  id: TicketId.make("0197a1b2-0000-7000-8000-000000000e31"),
  identifier: "ENG-12",
  number: 12,
  url: "https://delivery.example.com/w/main/tickets/ENG-12",
  title: "Pay by card",
  description: "The till takes Visa and Mastercard.",
  team: {
    id: TeamId.make("0197a1b2-0000-7000-8000-000000000e01"),
    key: "ENG",
    name: "Engineering",
    visibility: "open"
  },
  status: { id: TicketStatusId.make("0197a1b2-0000-7000-8000-000000000e11"), name: "In progress", category: "started" },
  rank: "a1",
  owner: {
    kind: "user",
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  project: { id: ProjectId.make("0197a1b2-0000-7000-8000-000000000f01"), slug: "checkout", name: "New checkout" },
  milestone: { number: 1, name: "Private beta" },
  tags: [{ id: TagId.make("0197a1b2-0000-7000-8000-000000000e21"), name: "Bug", color: "#d73a4a" }],
  commentCount: 2,
  createdBy: {
    kind: "user",
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  startedAt: "2026-11-21T10:00:00.000Z",
  completedAt: null,
  canceledAt: null,
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T10:00:00.000Z"
}

/** A ticket as lists show it: without its plan. */
export const TicketSummary = Schema.Struct(summaryFields).annotate({
  identifier: "TicketSummary",
  description: "A ticket as lists show it: without its plan.",
  examples: [example]
})
export type TicketSummary = typeof TicketSummary.Type

/** Lists of tickets, of a view too. */
export const TicketList = Schema.Struct({ tickets: Schema.Array(TicketSummary) }).annotate({
  identifier: "Tickets",
  description: "The tickets that match and that you see, without their plans."
})

/** Something to be done by a team (docs/contract.md, Tickets). */
export const Ticket = Schema.Struct({
  ...summaryFields,
  plan: Schema.NullOr(Schema.String).annotate({ description: "How it is to be done, Markdown; null for none." })
}).annotate({
  identifier: "Ticket",
  description: "Something to be done by a team.",
  examples: [{ ...example, plan: "1. Add the form\n2. Call the bank" }]
})
export type Ticket = typeof Ticket.Type

/** Longest description, plan and comment, in UTF-16 code units. */
export const maxMarkdown = 100_000

/** Most tags of a ticket. */
export const maxTags = 50

const MilestoneNumber = Schema.Int.check(
  Schema.makeFilter<number>(
    (number) => (number >= 1 && number <= maxNumber) || `Expected a whole number from 1 to ${maxNumber}`,
    { toJsonSchema: () => ({ minimum: 1, maximum: maxNumber }) }
  )
)

const fields = {
  description: Schema.optionalKey(Schema.NullOr(Text(maxMarkdown)).annotate({ description: "Markdown." })),
  plan: Schema.optionalKey(
    Schema.NullOr(Text(maxMarkdown)).annotate({ description: "How it is to be done, Markdown." })
  ),
  status: Schema.optionalKey(Ref.annotate({ description: "The id of a status of the team." })),
  owner: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({
      description: "The id or email address of a member, or the id of an agent; null for nobody."
    })
  ),
  project: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({ description: "The slug of a project of the team; null for none." })
  ),
  milestone: Schema.optionalKey(
    Schema.NullOr(MilestoneNumber).annotate({ description: "The number of a milestone of the project." })
  ),
  tags: Schema.optionalKey(
    Schema.Array(Ref)
      .check(Schema.isMaxLength(maxTags, { message: `Expected at most ${maxTags} tags` }))
      .annotate({ description: "Ids of tags of the team or of the workspace." })
  )
}

const needsProject = { path: ["milestone"], issue: "A milestone needs a project" }

export const CreateTicket = Body({
  team: Ref.annotate({ description: "The key of a team that you see." }),
  title: Name(200),
  ...fields
})
  .check(
    Schema.makeFilter(
      ({ milestone, project }: { readonly milestone?: number | null; readonly project?: string | null }) =>
        (milestone ?? null) === null || (project ?? null) !== null || needsProject,
      { toJsonSchema: undocumented }
    )
  )
  .annotate({
    identifier: "CreateTicket",
    description: "A new ticket; in the team's default status and nobody's unless it says otherwise.",
    examples: [
      {
        team: "ENG",
        title: "Pay by card",
        description: "The till takes Visa and Mastercard.",
        owner: "ana@example.com",
        project: "checkout",
        milestone: 1,
        tags: ["0197a1b2-0000-7000-8000-000000000e21"]
      }
    ]
  })
export type CreateTicket = typeof CreateTicket.Type

export const UpdateTicket = Body({
  team: Schema.optionalKey(Ref.annotate({ description: "The key of the team to move to." })),
  title: Schema.optionalKey(Name(200)),
  ...fields
})
  .check(
    Schema.makeFilter(
      ({ milestone, project }: { readonly milestone?: number | null; readonly project?: string | null }) =>
        (milestone ?? null) === null || project !== null || needsProject,
      { toJsonSchema: undocumented }
    )
  )
  .annotate({
    identifier: "UpdateTicket",
    description: "The fields of a ticket to change; null clears, an empty list takes all tags off.",
    examples: [{ status: "0197a1b2-0000-7000-8000-000000000e11", plan: "1. Add the form\n2. Call the bank" }]
  })
export type UpdateTicket = typeof UpdateTicket.Type

/** Beside which ticket of the same team and status a ticket goes. */
export const ReorderTicket = Place("identifier or id", "ReorderTicket", "ENG-7")
export type ReorderTicket = typeof ReorderTicket.Type
