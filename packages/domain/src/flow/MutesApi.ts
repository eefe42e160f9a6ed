import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ticket } from "../planning/Ticket.ts"
import { TicketPathRef } from "../planning/TicketsApi.ts"
import { Ref } from "../Text.ts"
import { ListedMute, maxMuted, maxMuteDays, MuteCases } from "./Mute.ts"

const path = `${workspacePath}/tickets/:ticket/mute` as const
const params = { slug: WorkspaceRef, ticket: TicketPathRef }

const archived = "The team or the product is archived."

/** Tickets that mute tests (docs/contract.md, Muting). Changes require a member. */
export class MutesApi extends HttpApiGroup.make("mutes")
  .add(
    HttpApiEndpoint.get("list", `${workspacePath}/mutes`, {
      params: { slug: WorkspaceRef },
      query: {
        product: Schema.optionalKey(
          Ref.annotate({ description: "Only tests of this product, by slug or id.", examples: ["shop"] })
        )
      },
      success: Schema.Struct({ mutes: Schema.Array(ListedMute) }).annotate({
        identifier: "Mutes",
        description: "What is muted, what ended or ends first at the front."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List mutes",
        "Lists which tests are muted, by which tickets and until when: first those whose time has passed while their ticket is open, then those that end first. Of tickets of teams that you do not see, the tests are listed without the ticket, as cases and runs show them. Returns 404 if the product does not exist. Any role may call this."
      )
    ),
    HttpApiEndpoint.put("set", path, {
      params,
      payload: MuteCases,
      success: Ticket,
      error: [Forbidden, InvalidInput, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Mute tests by a ticket",
        `Mutes tests of a product, in place of what the ticket has muted before: runs that start from now on have them in \`muted\`, and do not count their failures in \`gateResult\`. The result and the counts of runs stay what they are. A ticket that is about no tests is about these from then on.\n\nThe mute ends with \`until\`, at most ${maxMuteDays} days from now; when the ticket is completed, canceled or deleted; when it loses its owner; and when its owner leaves: a person who is deactivated, an agent that is revoked or whose person is deactivated. Runs that have started before keep what was muted then.\n\nReturns 404 if the product does not exist, 400 if \`until\` is past or too late, 409 \`archived\` if the team or the product is archived, 409 \`ticket_closed\` if the ticket is completed or canceled, 409 \`no_owner\` if nobody is responsible for it, and 409 \`too_many_mutes\` if open tickets would mute more than ${maxMuted} tests of the product, with those that are overdue. With \`expected\`, nothing is changed if the ticket mutes something else by now: 409 \`mute_changed\`. Requires the role \`member\` or higher.`,
        {
          conflicts: {
            archived,
            ticket_closed: "The ticket is completed or canceled.",
            mute_changed: "Somebody has changed what the ticket mutes.",
            no_owner: "Nobody is responsible for the ticket, or who was has left.",
            too_many_mutes: `Tickets mute ${maxMuted} tests of the product, which is the limit.`
          }
        }
      )
    ),
    HttpApiEndpoint.delete("end", path, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "The ticket mutes nothing." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "End a mute",
        "Ends what the ticket has muted; where it mutes nothing, nothing changes. Tests that another ticket has muted, too, stay muted. Returns 409 `archived` if the team is archived. Requires the role `member` or higher.",
        { conflicts: { archived: "The team is archived." } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Muting",
      description:
        "A test that is known to fail is muted by a ticket, which has an owner and an end: nobody mutes anything for ever, or without anybody being responsible."
    })
  ) {}
