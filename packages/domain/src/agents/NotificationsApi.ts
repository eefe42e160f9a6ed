import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Notification } from "./Notification.ts"

const path = `${workspacePath}/notifications` as const

/** What members are told about messages (docs/contract.md, Notifications). */
export class NotificationsApi extends HttpApiGroup.make("notifications")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ notifications: Schema.Array(Notification) }).annotate({
        identifier: "Notifications",
        description: "The caller's notifications, newest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List notifications",
        "The caller's 100 newest, read and unread, newest first; those about tickets that the caller no longer sees are left out. Account API keys have none. Every role."
      )
    ),
    HttpApiEndpoint.post("read", `${path}/read`, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({
        read: Schema.Int.annotate({ description: "How many unread notifications are now read." })
      }).annotate({ identifier: "ReadNotifications", description: "What was marked read.", examples: [{ read: 3 }] }),
      error: NotFound
    }).annotateMerge(
      doc(
        "Mark notifications read",
        "All of the caller's unread ones; those about tickets that the caller no longer sees stay unread. Account API keys have none. Every role."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Notifications", description: "What a member is told about messages to agents." })
  ) {}
