import { Schema } from "effect"
import { Body, Exact } from "../Body.ts"
import { MissingEvidence } from "../Errors.ts"
import { Actor, Person } from "../identity/Actor.ts"
import { AgentId, PersonId, ProjectId, TagId, TeamId, TicketId, TicketStatusId } from "../Ids.ts"
import { compare } from "../Order.ts"
import { maxNumber } from "../Numbers.ts"
import { atLeast, isVisible, Name, OneOf, Ref, Refs, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Place } from "./Reorder.ts"
import { TeamRef } from "./Team.ts"
import { CaseIds, maxListedCases, TicketCases, TicketMute } from "./TicketCases.ts"
import { StatusCategory } from "./TicketStatus.ts"

/** The identifier of a ticket: the key of its team and its number in the team. */
export const ticketIdentifier = (teamKey: string, number: number): string => `${teamKey}-${number}`

/** The parts of an identifier, in any case; undefined if the text is not an identifier. */
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

/** A status, in the short form that tickets have. */
export const TicketStatusRef = Schema.Struct({
  id: TicketStatusId,
  name: Schema.String,
  category: StatusCategory
}).annotate({
  identifier: "TicketStatusRef",
  description: "A status, in the short form that tickets have.",
  examples: [
    { id: TicketStatusId.make("0197a1b2-0000-7000-8000-000000000e11"), name: "In progress", category: "started" }
  ]
})
export type TicketStatusRef = typeof TicketStatusRef.Type

/** Who is responsible for a ticket. */
export const TicketOwner = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("user"), id: PersonId, name: Schema.String, email: Schema.String }).annotate({
    title: "user"
  }),
  Schema.Struct({ kind: Schema.Literal("agent"), id: AgentId, name: Schema.String, person: Person }).annotate({
    title: "agent"
  })
]).annotate({
  identifier: "TicketOwner",
  description: "Who is responsible for the ticket: a person, or an agent with the person it works for.",
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
  description: "A project, in the short form that tickets have.",
  examples: [{ id: ProjectId.make("0197a1b2-0000-7000-8000-000000000f01"), slug: "checkout", name: "New checkout" }]
})

const TicketMilestone = Schema.Struct({ number: Schema.Int, name: Schema.String }).annotate({
  identifier: "TicketMilestone",
  description: "A milestone of the project of the ticket.",
  examples: [{ number: 1, name: "Private beta" }]
})

const TicketTag = Schema.Struct({ id: TagId, name: Schema.String, color: Schema.String }).annotate({
  identifier: "TicketTag",
  description: "A tag, in the short form that tickets have.",
  examples: [{ id: TagId.make("0197a1b2-0000-7000-8000-000000000e21"), name: "Bug", color: "#d73a4a" }]
})

const summaryFields = {
  id: TicketId,
  identifier: Schema.String.annotate({
    description:
      "The key of the team and the number of the ticket, such as `ENG-12`. Paths and bodies accept it in any case. It changes when the ticket moves to another team."
  }),
  number: Schema.Int.annotate({ description: "The number of the ticket, from 1 in its team, without gaps." }),
  url: Schema.String.annotate({ description: "The page of the ticket on the website." }),
  title: Schema.String,
  description: Schema.NullOr(Schema.String).annotate({
    description: "What the ticket is about, in Markdown; null if there is no description."
  }),
  team: TeamRef,
  status: TicketStatusRef,
  rank: Schema.String.annotate({
    description:
      "The place of the ticket among those of its team and status. Compare ranks by code units; the lowest comes first."
  }),
  owner: Schema.NullOr(TicketOwner).annotate({ description: "Who is responsible for the ticket; null if nobody is." }),
  project: Schema.NullOr(TicketProject),
  milestone: Schema.NullOr(TicketMilestone),
  tags: Schema.Array(TicketTag).annotate({ description: "The tags of the ticket, by name." }),
  cases: Schema.NullOr(TicketCases).annotate({ description: "The tests that the ticket is about; null for none." }),
  completion: Schema.Literals(["free", "evidence"]).annotate({
    description:
      "How the ticket is completed: by whoever moves it (`free`), or only with evidence that each of its cases passes again."
  }),
  passes: Schema.Int.annotate({
    description: "In how many runs each case must pass, where `completion` is `evidence`."
  }),
  mute: Schema.NullOr(TicketMute).annotate({
    description: "The tests that are muted by the ticket; null if it mutes none."
  }),
  blocks: Schema.Boolean.annotate({
    description: "Whether the ticket, while it is open, keeps versions of its project's products from going out."
  }),
  commentCount: Schema.Int,
  createdBy: Actor,
  startedAt: Schema.NullOr(Timestamp).annotate({
    description: "When the ticket was first in a status of the category `started`; null if it never was."
  }),
  completedAt: Schema.NullOr(Timestamp).annotate({
    description: "When the ticket entered the category `completed`; null while it is in another."
  }),
  canceledAt: Schema.NullOr(Timestamp).annotate({
    description: "When the ticket entered the category `canceled`; null while it is in another."
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp.annotate({ description: "When the ticket last changed. Comments do not count." })
}

const example: typeof TicketSummary.Type = {
  id: TicketId.make("0197a1b2-0000-7000-8000-000000000e31"),
  identifier: "ENG-12",
  number: 12,
  url: "https://delivery.example.com/w/main/tickets/ENG-12",
  title: "Pay by card",
  description: "The checkout takes Visa and Mastercard.",
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
  cases: null,
  completion: "free",
  passes: 1,
  mute: null,
  blocks: false,
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

/** How much of a description lists show, in characters. */
export const maxListedDescription = 2_000

/** A ticket as lists show it, without its plan. */
export const TicketSummary = Schema.Struct({
  ...summaryFields,
  description: Schema.NullOr(Schema.String).annotate({
    description: "What the ticket is about, in Markdown: the first 2,000 characters; null if there is no description."
  }),
  descriptionTruncated: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description: "Present where the description is longer than what the list shows. The ticket itself has all of it."
    })
  )
}).annotate({
  identifier: "TicketSummary",
  description:
    "A ticket as lists show it: without its plan, with the first 2,000 characters of its description and at most 10 of its tests.",
  examples: [example]
})
export type TicketSummary = typeof TicketSummary.Type

/** A list of tickets, also of a view. */
export const TicketList = Schema.Struct({ tickets: Schema.Array(TicketSummary) }).annotate({
  identifier: "Tickets",
  description: "The matching tickets that you see, without their plans."
})

/** A piece of work of a team (docs/contract.md, Tickets). */
export const Ticket = Schema.Struct({
  ...summaryFields,
  plan: Schema.NullOr(Schema.String).annotate({
    description: "How the ticket will be done, in Markdown; null if there is no plan."
  })
}).annotate({
  identifier: "Ticket",
  description: "A piece of work of a team.",
  examples: [{ ...example, plan: "1. Add the form\n2. Call the bank" }]
})
export type Ticket = typeof Ticket.Type

/** The longest description, plan and comment, in characters. */
export const maxMarkdown = 100_000

/** How many tags a ticket may have. */
export const maxTags = 50

const MilestoneNumber = Schema.Int.check(
  Schema.makeFilter<number>(
    (number) => (number >= 1 && number <= maxNumber) || `Expected a whole number from 1 to ${maxNumber}`,
    { toJsonSchema: () => ({ minimum: 1, maximum: maxNumber }) }
  )
)

const Passes = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 10 }, { message: "Expected a whole number from 1 to 10" })
)

const fields = {
  completion: Schema.optionalKey(
    OneOf(["free", "evidence"]).annotate({
      description:
        "`evidence`: the ticket is completed only when each of its cases passed again, in runs of others. It needs `cases`. Only people set it."
    })
  ),
  passes: Schema.optionalKey(
    Passes.annotate({ description: "In how many runs each case must pass, 1 unless it is sent. Only people set it." })
  ),
  cases: Schema.optionalKey(
    Schema.NullOr(
      Body({ product: Ref.annotate({ description: "The slug or id of the product." }), caseIds: CaseIds })
    ).annotate({ description: "The tests that the ticket is about; null for none." })
  ),
  description: Schema.optionalKey(
    Schema.NullOr(Text(maxMarkdown)).annotate({ description: "What the ticket is about, in Markdown." })
  ),
  plan: Schema.optionalKey(
    Schema.NullOr(Text(maxMarkdown)).annotate({ description: "How the ticket will be done, in Markdown." })
  ),
  status: Schema.optionalKey(Ref.annotate({ description: "A status of the team, by id." })),
  owner: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({
      description: "Who is responsible: the id or email address of a member, or the id of an agent; null for nobody."
    })
  ),
  project: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({ description: "A project of the team, by slug; null for none." })
  ),
  milestone: Schema.optionalKey(
    Schema.NullOr(MilestoneNumber).annotate({ description: "A milestone of the project, by number; null for none." })
  ),
  tags: Schema.optionalKey(
    Refs(maxTags, "tags").pipe(Schema.annotateEncoded({ description: "Tags of the team or of the workspace, by id." }))
  ),
  blocks: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "Whether the ticket, while it is open, keeps versions of its project's products from going out. By default it does not."
    })
  )
}

/** How many tickets one call changes. */
export const maxBatch = 100

const needsProject = { path: ["milestone"], issue: "A milestone needs a project" }

export const CreateTicket = Body({
  team: Ref.annotate({ description: "The team of the ticket, by key." }),
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
    description:
      "The fields of a new ticket. By default it has the default status of its team, and nobody is responsible.",
    examples: [
      {
        team: "ENG",
        title: "Pay by card",
        description: "The checkout takes Visa and Mastercard.",
        owner: "ana@example.com",
        project: "checkout",
        milestone: 1,
        tags: ["0197a1b2-0000-7000-8000-000000000e21"]
      }
    ]
  })
export type CreateTicket = typeof CreateTicket.Type

/** What a change was made from (docs/contract.md, Tickets): where the ticket has another value by now, it is refused. */
const ExpectedTicket = Exact({
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.NullOr(Schema.String)),
  plan: Schema.optionalKey(Schema.NullOr(Schema.String)),
  status: Schema.optionalKey(Schema.String.annotate({ description: "The id of the status." })),
  owner: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({ description: "The id of the person or agent; null for nobody." })
  ),
  project: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({ description: "The id of the project; null for none." })
  ),
  milestone: Schema.optionalKey(
    Schema.NullOr(Schema.Int).annotate({ description: "The number of the milestone; null for none." })
  ),
  tags: Schema.optionalKey(
    Refs(maxTags, "tags").pipe(Schema.annotateEncoded({ description: "The ids of all tags, in any order." }))
  )
}).annotate({
  identifier: "ExpectedTicket",
  description:
    "The values that fields have as far as you know. If one of them has another value by now, nothing is changed and the answer is 409 `ticket_changed`. So a change never overwrites what somebody else wrote meanwhile. A field that has the value of the change already is no conflict, so a change can be sent again: it claims nothing, and two callers who send the same change both succeed. Unknown properties are refused.",
  examples: [{ description: "The checkout takes Visa." }]
})

const maxOverride = 2_000

/** What may ask for evidence. */
const proving = ["status", "cases", "completion", "passes"] as const

const provingText = "Expected `status`, `cases`, `completion` or `passes` beside it"

export const UpdateTicket = Body({
  override: Schema.optionalKey(
    Text(maxOverride).check(atLeast(1), isVisible).annotate({
      description:
        "Why the ticket is completed without evidence, beside `status`; or, where it is completed, beside `cases`, `completion` or `passes`. Only people may; it is audited."
    })
  ),
  team: Schema.optionalKey(Ref.annotate({ description: "The team to move the ticket to, by key." })),
  title: Schema.optionalKey(Name(200)),
  ...fields,
  expected: Schema.optionalKey(ExpectedTicket)
})
  .check(
    Schema.makeFilter(
      ({ milestone, project }: { readonly milestone?: number | null; readonly project?: string | null }) =>
        (milestone ?? null) === null || project !== null || needsProject,
      { toJsonSchema: undocumented }
    ),
    Schema.makeFilter(
      ({ override, ...changes }: { readonly override?: string } & Readonly<Record<string, unknown>>) =>
        override === undefined ||
        proving.some((field) => changes[field] !== undefined) || { path: ["override"], issue: provingText },
      { toJsonSchema: undocumented }
    )
  )
  .annotate({
    identifier: "UpdateTicket",
    description: "The fields to change. `null` clears a field, and an empty list removes all tags.",
    examples: [{ status: "0197a1b2-0000-7000-8000-000000000e11", plan: "1. Add the form\n2. Call the bank" }]
  })
export type UpdateTicket = typeof UpdateTicket.Type

const TagRefs = (description: string) => Refs(maxTags, "tags").pipe(Schema.annotateEncoded({ description }))

/** The changes of `UpdateTicket` that mean the same for many tickets; statuses also by category, tags one by one. */
export const TicketChanges = Schema.Struct({
  team: UpdateTicket.fields.team,
  status: fields.status,
  category: Schema.optionalKey(
    OneOf(StatusCategory.literals).annotate({
      description: "The first status of this category in the team of each ticket, in place of `status`."
    })
  ),
  owner: fields.owner,
  project: fields.project,
  milestone: fields.milestone,
  addTags: Schema.optionalKey(TagRefs("Tags to add, by id.")),
  removeTags: Schema.optionalKey(TagRefs("Tags to remove, by id. A ticket that does not have one stays as it is.")),
  expected: UpdateTicket.fields.expected
})
  .check(
    Schema.makeFilter(
      ({ addTags, category, milestone, project, removeTags, status }) => {
        if ((milestone ?? null) !== null && project === null) return needsProject
        if (status !== undefined && category !== undefined) {
          return { path: ["category"], issue: "Expected `status` or `category`, not both" }
        }
        return addTags?.some((tag) => removeTags?.includes(tag)) === true
          ? { path: ["removeTags"], issue: "Expected tags that are not in `addTags`" }
          : true
      },
      { toJsonSchema: undocumented }
    )
  )
  .annotate({
    identifier: "TicketChanges",
    description: "The changes of each ticket, which mean what they mean for one ticket. `null` clears a field."
  })
export type TicketChanges = typeof TicketChanges.Type

export const UpdateTickets = Body({
  tickets: Refs(maxBatch, "tickets")
    .check(
      Schema.isMinLength(1, { message: "Expected at least 1 ticket" }),
      Schema.makeFilter<ReadonlyArray<string>>(
        (refs) => new Set(refs.map((ref) => ref.toUpperCase())).size === refs.length || "Expected each ticket once",
        { toJsonSchema: undocumented }
      )
    )
    .pipe(Schema.annotateEncoded({ description: "The tickets, by identifier or id, each once." })),
  changes: TicketChanges
}).annotate({
  identifier: "UpdateTickets",
  description: "The tickets to change, and the changes of each.",
  examples: [{ tickets: ["ENG-12", "OPS-3"], changes: { category: "started", owner: "ana@example.com" } }]
})
export type UpdateTickets = typeof UpdateTickets.Type

const ticketOfResult = Schema.String.annotate({ description: "The ticket as it was sent." })

/** What became of one of many tickets. */
export const UpdatedTicket = Schema.Union([
  Schema.Struct({ ticket: ticketOfResult, ok: Schema.Literal(true), value: TicketSummary }).annotate({
    title: "changed"
  }),
  Schema.Struct({
    ticket: ticketOfResult,
    ok: Schema.Literal(false),
    error: Schema.Struct({
      _tag: Schema.Literals(["InvalidInput", "NotFound", "Forbidden", "Conflict"]),
      message: Schema.String,
      reason: Schema.optionalKey(Schema.String),
      missing: Schema.optionalKey(
        Schema.Array(MissingEvidence).annotate({
          description: `Only with \`evidence_missing\`: the first ${maxListedCases} tests of which runs are missing.`
        })
      )
    }).annotate({ description: "Why this ticket was not changed: the error that changing it alone answers." })
  }).annotate({ title: "refused" })
]).annotate({
  identifier: "UpdatedTicket",
  description: "What became of one of the tickets: the ticket as lists show it, or why it was not changed.",
  examples: [
    { ticket: "OPS-3", ok: false, error: { _tag: "Conflict", message: "The team is archived.", reason: "archived" } }
  ]
})
export type UpdatedTicket = typeof UpdatedTicket.Type

/** The new place of a ticket among those of its team and status. */
export const ReorderTicket = Place("identifier or id", "ReorderTicket", "ENG-7")
export type ReorderTicket = typeof ReorderTicket.Type
