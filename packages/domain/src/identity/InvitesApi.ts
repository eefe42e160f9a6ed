import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { AcceptedInvite, AcceptInvite, CreateInvite, Invite, NewInvite } from "./Invite.ts"

const path = `${workspacePath}/invites` as const

/** Invitations to a workspace (contract, section 3). Admins and owners; accepting needs no key. */
export class InvitesApi extends HttpApiGroup.make("invites")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ invites: Schema.Array(Invite) }).annotate({ identifier: "Invites" }),
      error: [Forbidden, NotFound]
    }).annotateMerge(doc("List invites", "Every invite, newest first. Admins and owners.")),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateInvite,
      success: NewInvite.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Invite someone",
        "Valid for 7 days. Only owners invite owners (403). Already a member: 409 `already_member`; already invited: 409 `already_invited`."
      )
    ),
    HttpApiEndpoint.post("revoke", `${path}/:invite/revoke`, {
      params: { slug: WorkspaceRef, invite: PathRef },
      success: Invite,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Revoke an invite",
        "A revoked invite stays revoked. Accepted or expired: 409 `not_pending`. Admins and owners."
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
        "Needs no API key. A new person gets their first API key; a known email joins with its existing person and gets none. A token that is unknown, used, revoked or expired: 404."
      )
    )
  )
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Invites", description: "Invitations to a workspace." }))
{}
