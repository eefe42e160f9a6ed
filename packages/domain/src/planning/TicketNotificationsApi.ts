import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { OneOf } from "../Text.ts"
import { TicketNotification, ticketNotificationPlace, TicketNotifications } from "./TicketNotification.ts"

const path = `${workspacePath}/ticket-notifications` as const
const one = `${path}/:notification` as const
const params = { slug: WorkspaceRef, notification: PathRef.annotate({ description: "The id of the notification." }) }

const isCursor = Schema.makeFilter<string>(
  (text) => ticketNotificationPlace(text) !== undefined || "Expected a cursor of this list",
  { toJsonSchema: () => ({}) }
)

/** What persons are told of tickets (docs/contract.md, Ticket notifications). */
export class TicketNotificationsApi extends HttpApiGroup.make("ticketNotifications")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        unread: Schema.optionalKey(
          OneOf(["true", "false"]).annotate({
            description: "`true`: only unread ones. Default: all.",
            examples: ["true"]
          })
        ),
        cursor: Schema.optionalKey(
          Schema.String.check(isCursor).annotate({
            description: "The `nextCursor` of the previous page. The page has notifications that are older.",
            examples: ["1795339800000-0197a1b2-0000-7000-8000-0000000000e7"]
          })
        )
      },
      success: TicketNotifications,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List ticket notifications",
        "Lists your notifications about tickets, read and unread, newest first, 100 a page, and counts those that are unread: somebody assigned a ticket to you, mentioned you, or commented on a ticket that you or your agent own, that you created, or that you have commented on. What you do yourself notifies you of nothing. Notifications about tickets that you can no longer see are left out, and those about a deleted ticket or comment are gone. Once a ticket is no longer yours, its unread `ticket_assigned` counts as read. For an account API key the list is empty. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("read", `${path}/read`, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({
        read: Schema.Int.annotate({ description: "How many notifications were unread and are read now." })
      }).annotate({
        identifier: "ReadTicketNotifications",
        description: "How many notifications about tickets were marked as read.",
        examples: [{ read: 3 }]
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "write",
        "Mark ticket notifications read",
        "Marks all your unread notifications about tickets as read. Those about tickets that you can no longer see stay unread. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("markRead", `${one}/read`, {
      params,
      success: TicketNotification,
      error: NotFound
    }).annotateMerge(
      doc(
        "write",
        "Mark a ticket notification read",
        "Marks one of your notifications about tickets as read. One that is read stays as it is. Returns 404 if it is not yours, or if it is about a ticket that you can no longer see. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("markUnread", `${one}/unread`, {
      params,
      success: TicketNotification,
      error: NotFound
    }).annotateMerge(
      doc(
        "write",
        "Mark a ticket notification unread",
        "Marks one of your notifications about tickets as unread. One that is unread stays as it is. Returns 404 as marking it read does. Any role may call this."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Ticket notifications",
      description: "Your notifications about tickets: assignments, mentions and comments."
    })
  ) {}
