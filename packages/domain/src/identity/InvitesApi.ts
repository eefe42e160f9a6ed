import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { AcceptedInvite, AcceptInvite, CreateInvite, Invite, NewInvite } from "./Invite.ts"

const path = `${workspacePath}/invites` as const
const InviteRef = PathRef.annotate({
  description: "The invite's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000c1"]
})

/** Invitations to a workspace (docs/contract.md, Invites). Admins and owners; accepting needs no key. */
export class InvitesApi extends HttpApiGroup.make("invites")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ invites: Schema.Array(Invite) }).annotate({
        identifier: "Invites",
        description: "Invites, newest first."
      }),
      error: [Forbidden, NotFound]
    }).annotateMerge(doc("List invites", "Every invite whatever its status, newest first. Admins and owners.")),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateInvite,
      success: NewInvite.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Invite someone",
        "Answers the token and the link to send, this once; the service sends no mail. Valid for 7 days. Admins and owners; only owners invite owners (403). Already a member: 409 `already_member`; already invited: 409 `already_invited`.",
        {
          conflicts: {
            already_member: "sam@example.com is already a member.",
            already_invited: "sam@example.com is already invited."
          }
        }
      )
    ),
    HttpApiEndpoint.post("revoke", `${path}/:invite/revoke`, {
      params: { slug: WorkspaceRef, invite: InviteRef },
      success: Invite,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Revoke an invite",
        "Its token stops working at once. A revoked invite stays revoked; one accepted or expired: 409 `not_pending`. Admins and owners.",
        { conflicts: { not_pending: "The invite is accepted." } }
      )
    )
  )
  .middleware(Authorization)
  .add(
    HttpApiEndpoint.post("accept", "/v1/invites/accept", {
      payload: AcceptInvite,
      success: AcceptedInvite.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(
      doc(
        "Accept an invite",
        "Needs no API key: the token is the credential. A new person gets their first API key, whose secret is shown this once; a known email joins with its existing person and gets none. A token that is unknown, used, revoked or expired: 404."
      )
    )
  )
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Invites", description: "Invitations to a workspace." })) {}
