import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Notification } from "./Notification.ts"

const path = `${workspacePath}/notifications` as const
const one = `${path}/:notification` as const
const params = { slug: WorkspaceRef, notification: PathRef.annotate({ description: "The id of the notification." }) }

/** The notifications of a member (docs/contract.md, Notifications). */
export class NotificationsApi extends HttpApiGroup.make("notifications")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ notifications: Schema.Array(Notification) }).annotate({
        identifier: "Notifications",
        description: "Your notifications, newest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List notifications",
        "Lists your 100 newest notifications, read and unread, newest first. Those about tickets that you can no longer see are left out. For an account API key the list is empty. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("read", `${path}/read`, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({
        read: Schema.Int.annotate({ description: "How many notifications were unread and are read now." })
      }).annotate({
        identifier: "ReadNotifications",
        description: "How many notifications were marked as read.",
        examples: [{ read: 3 }]
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "write",
        "Mark notifications read",
        "Marks all your unread notifications as read. Those about tickets that you can no longer see stay unread. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("markRead", `${one}/read`, { params, success: Notification, error: NotFound }).annotateMerge(
      doc(
        "write",
        "Mark a notification read",
        "Marks one of your notifications as read. One that is read stays as it is. Returns 404 if it is not yours, or if it is about a ticket that you can no longer see; an account API key has none. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("markUnread", `${one}/unread`, {
      params,
      success: Notification,
      error: NotFound
    }).annotateMerge(
      doc(
        "write",
        "Mark a notification unread",
        "Marks one of your notifications as unread. One that is unread stays as it is. Returns 404 as marking it read does. Any role may call this."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Notifications", description: "Your notifications about messages to agents." })
  ) {}
