import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { NoStore } from "../NoStore.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { AcceptedInvite, AcceptInvite, CreateInvite, Invite, NewInvite } from "./Invite.ts"

const path = `${workspacePath}/invites` as const
const InviteRef = PathRef.annotate({
  description: "The invite's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000c1"]
})

/** Invitations to a workspace (docs/contract.md, Invites). Requires an admin or owner; accepting needs no key. */
export class InvitesApi extends HttpApiGroup.make("invites")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ invites: Schema.Array(Invite) }).annotate({
        identifier: "Invites",
        description: "Invites, newest first."
      }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List invites",
        "Lists all invites, whatever their status, newest first. Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateInvite,
      success: NewInvite.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Invite someone",
          "Creates an invite that is valid for 7 days. The token and the link are shown once, in this response. The service sends no mail: pass the link on yourself. Returns 409 `already_member` or `already_invited` if the email address has joined or is invited already. Requires the role `admin` or `owner`. Only owners can invite owners (403 `owner_only`).",
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
        "admin",
        "Revoke an invite",
        "Makes the token of the invite useless at once. Revoking a revoked invite changes nothing. Returns 409 `not_pending` if the invite was accepted or has expired. Requires the role `admin` or `owner`.",
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
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "write",
          "Accept an invite",
          "Joins the workspace. No API key is needed: the token is the credential. If the email address is new to the server, this creates the person and their first API key, whose secret is shown once, in this response. Otherwise the existing person joins and gets no new key. Returns 404 if the token is unknown, used, revoked or expired."
        )
      )
  )
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Invites", description: "Invitations to a workspace." })) {}
