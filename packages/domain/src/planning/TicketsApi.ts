import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NumberInQuery } from "../Numbers.ts"
import { OneOf, Ref } from "../Text.ts"
import {
  CreateTicket,
  ReorderTicket,
  Ticket,
  TicketList,
  UpdatedTicket,
  UpdateTicket,
  UpdateTickets
} from "./Ticket.ts"
import { TicketQuery } from "./TicketSearch.ts"
import { earlierTextsPage, EarlierTexts, maxEarlierBytes, maxEarlierTexts, TextField } from "./TicketText.ts"
import { StatusCategory } from "./TicketStatus.ts"

const path = `${workspacePath}/tickets` as const
const one = `${path}/:ticket` as const

/** `{ticket}` in a path. */
export const TicketPathRef = PathRef.annotate({
  description: "The identifier of the ticket in any case, an identifier that it had in another team, or its id.",
  examples: ["ENG-12"]
})
const params = { slug: WorkspaceRef, ticket: TicketPathRef }

const archived = "The team is archived."

/** Why a ticket may not refer to something. */
export const ticketReferences = {
  archived,
  project_not_in_team: "The project is not linked to the team of the ticket.",
  inactive_owner: "The owner is not an active member, or is an agent that was revoked.",
  owner_cannot_see: "The owner cannot see the team of the ticket, which is private."
}

/** What else refuses a change of a ticket that needs evidence. */
export const evidenceMissing = {
  evidence_missing:
    "The ticket is completed only with evidence, and some of its cases have not passed in enough runs: `missing` has which."
}

/** What refuses a change that was made from other values. */
export const ticketChanged = {
  ticket_changed: "The ticket was changed meanwhile: description. Read it again, then decide."
}

/** The filters of the list of tickets. */
export const ticketQuery = {
  q: Schema.optionalKey(
    TicketQuery.annotate({
      description:
        "Only tickets that have all of these words, at most 10, in their identifier, title or description, or in one of their comments: each as the beginning of a word, in any case. The identifier of a ticket, also one that it had in another team, finds that ticket, too. With `q`, the list has at most 100 tickets: first the one that `q` is the identifier of, then those that have all words in identifier and title, then those that have them in the description, too, then those with such a comment; of each the last changed first.",
      examples: ["pay card"]
    })
  ),
  team: Schema.optionalKey(Ref.annotate({ description: "Only tickets of this team, by key.", examples: ["ENG"] })),
  project: Schema.optionalKey(
    Ref.annotate({ description: "Only tickets of this project, by slug.", examples: ["checkout"] })
  ),
  milestone: Schema.optionalKey(
    Ref.annotate({
      description:
        "Only tickets of this milestone: the slug of its project, a slash and its number, such as `checkout/1`; `none` for tickets without a milestone.",
      examples: ["checkout/1"]
    })
  ),
  owner: Schema.optionalKey(
    Ref.annotate({
      description:
        "Only tickets of this owner: the id or email address of a member, the id of an agent, `me`, or `none` for tickets without an owner. For an agent, `me` means the agent and the person it works for. An account API key owns no tickets.",
      examples: ["me"]
    })
  ),
  category: Schema.optionalKey(
    OneOf(StatusCategory.literals).annotate({
      description: "Only tickets whose status has this category.",
      examples: ["started"]
    })
  )
}

/** Tickets (docs/contract.md, Tickets). Changes require a member. */
export class TicketsApi extends HttpApiGroup.make("tickets")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: ticketQuery,
      success: TicketList,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List tickets",
        "Lists the tickets that you see, by category of status, position of status, then rank, without their plans. Tickets of archived teams and projects are in the list. Filters combine. With `q`, it is a search: the 100 best, in an order of its own. Returns 404 if the team, project, milestone or owner of a filter does not exist. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTicket,
      success: Ticket.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Create a ticket",
        "Creates a ticket, last in its team. Returns 404, naming the field, if the team, status, owner, project, milestone or a tag does not exist. Returns 400 for a milestone without a project, 409 `archived` if the team or project is archived, 409 `project_not_in_team` if the project is not linked to the team, and 409 `inactive_owner` or `owner_cannot_see` if the owner cannot have the ticket. Requires the role `member` or higher.",
        { conflicts: { ...ticketReferences, ...evidenceMissing } }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: Ticket, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get a ticket",
        "Returns the ticket with its plan. Identifiers that the ticket had in other teams keep working, for those who see those teams. Any role may call this."
      )
    ),
    HttpApiEndpoint.get("history", `${one}/history`, {
      params,
      query: {
        field: Schema.optionalKey(
          OneOf(TextField.literals).annotate({
            description: "Only earlier texts of this field.",
            examples: ["description"]
          })
        ),
        cursor: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({
              description: "The `nextCursor` of the previous page. The page has texts with lower numbers."
            })
          )
        )
      },
      success: EarlierTexts,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List earlier texts of a ticket",
        `Lists the descriptions and plans that the ticket had, the last replaced first, ${earlierTextsPage} a page. Each has the whole text from before a change, who made the change, and when; what it was changed to is the next newer text of the same field, or the one that the ticket has. Send the same \`field\` for each page.\n\nOf a ticket, the last ${maxEarlierTexts} texts are kept, of both fields together, and no more than the last ${maxEarlierBytes.toLocaleString("en-US")} bytes of them. They go with the ticket. To bring one back, update the ticket with it. Any role may call this.`
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateTicket,
      success: Ticket,
      error: [Forbidden, InvalidInput, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Update a ticket",
        'Changes the fields that are sent; `null` clears a field.\n\nMoving the ticket to another `team` gives it a new identifier and the last rank there. It gets the first status of the same category unless you send `status`, and loses the tags of the old team unless you send `tags`. Moving it to another `project` takes it out of its milestone unless you send `milestone`.\n\nReturns 400 for a milestone without a project, 409 `archived` if the team of the ticket is archived, and otherwise the same errors as creating a ticket. The owner and the project are checked when they are sent, and when the team changes.\n\nWith `expected`, nothing is changed if one of the fields named there has another value by now: 409 `ticket_changed`.\n\nA ticket with `completion: "evidence"` enters a completed status only when each of its `cases` passed in `passes` runs that ended after it failed last, in the environment where it did, at the address of the deployment, while that did not change, of another commit than that failure, without uncommitted changes, published by others than those who owned the ticket since; flaky, skipped and missing tests never count. Else it is 409 `evidence_missing`, with `missing`. So it is where a completed one gets more `cases` or `passes`, of those that it did not prove. People may send `override`, the reason, beside `status` or these; it is audited. `completion`, `passes` and `override` are for people (403 `persons_only`), and so are the `cases` of such a ticket. Requires the role `member` or higher.',
        {
          conflicts: { ...ticketReferences, ...evidenceMissing, ...ticketChanged }
        }
      )
    ),
    HttpApiEndpoint.post("updateMany", `${path}/batch`, {
      params: { slug: WorkspaceRef },
      payload: UpdateTickets,
      success: Schema.Struct({ results: Schema.Array(UpdatedTicket) }).annotate({
        identifier: "UpdatedTickets",
        description: "What became of each ticket, in the order in which they were sent."
      }),
      error: [Forbidden, InvalidInput, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Update tickets",
        "Makes the same changes to 1 to 100 tickets, one after the other. Each is changed or refused alone, by the rules and with the errors of updating it alone, and has its own result. `category` stands for the first status of the category in the team of the ticket. Tags are added and removed one by one; a ticket that would have more than 50 is refused.\n\nReturns 400, and changes nothing, if a ticket is named twice. Counts as so many requests for the rate limit. Requires the role `member` or higher."
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Delete a ticket",
        "Deletes the ticket with its comments and earlier texts. Its identifiers are never used again. Returns 409 `archived` if its team is archived. Only its creator, the person whose agent created it, an admin or an owner can delete a ticket (403 `not_creator`).",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.post("reorder", `${one}/reorder`, {
      params,
      payload: ReorderTicket,
      success: Ticket,
      error: [Forbidden, InvalidInput, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Reorder a ticket",
        "Moves the ticket directly before or after another ticket of its team and status. `after: null` moves it to the first place. Returns 409 `other_status` if the other ticket has another team or status, 400 if it is the same ticket, and 409 `archived` if the team is archived. Requires the role `member` or higher.",
        { conflicts: { other_status: "The two tickets are in different statuses or teams.", archived } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tickets",
      description:
        "The work of teams. For those who cannot see a private team, its tickets do not exist. `{ticket}` is an identifier (`ENG-12`) in any case, or an id."
    })
  ) {}
