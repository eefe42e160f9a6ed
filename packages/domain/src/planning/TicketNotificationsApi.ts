import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { OneOf } from "../Text.ts"
import {
  ReadTicketNotifications,
  TicketNotification,
  ticketNotificationPlace,
  TicketNotifications,
  UnreadTicketNotifications
} from "./TicketNotification.ts"

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
      success: ReadTicketNotifications,
      error: NotFound
    }).annotateMerge(
      doc(
        "write",
        "Mark ticket notifications read",
        "Marks all your unread notifications about tickets as read. Those about tickets that you can no longer see stay unread. `readAt` is the time of these alone: `POST .../unread` with it takes the call back. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("unread", `${path}/unread`, {
      params: { slug: WorkspaceRef },
      payload: UnreadTicketNotifications,
      success: Schema.Struct({
        unread: Schema.Int.annotate({ description: "How many notifications were read then and are unread now." })
      }).annotate({
        identifier: "UnreadTicketNotificationsCount",
        description: "How many notifications about tickets were marked as unread.",
        examples: [{ unread: 3 }]
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "write",
        "Mark ticket notifications unread",
        "Marks those of your notifications about tickets as unread that were read at one time: with the `readAt` that marking all of them read has answered, all that it marked. Those that were read before or after it stay read, and so does a `ticket_assigned` of a ticket that is no longer yours, and what is about tickets that you can no longer see. Any role may call this."
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
