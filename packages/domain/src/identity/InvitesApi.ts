import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound, TooManyRequests } from "../Errors.ts"
import { NoStore } from "../NoStore.ts"
import { Authorization, Edge, OptionalAuthorization } from "./Authorization.ts"
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
      error: [Forbidden, NotFound, Conflict, TooManyRequests]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Invite someone",
          "Creates an invite that is valid for 7 days. With `deliver: link`, the token and the link are shown once, in this response: pass the link on yourself. With `deliver: mail`, the service mails the link, and the response has neither. Returns 409 `already_member` or `already_invited` if the email address is an active member's or is invited already, and 409 `no_mail` if the server sends no mail. After 5 invites mailed to one address in an hour, or 100 that you had mailed, the next is 429. Requires the role `admin` or `owner`. Only owners can invite owners (403 `owner_only`). Account API keys can invite neither admins nor owners (403 `account_key`). Whoever joins can do more than a limited API key, and stays longer than one that expires, so an API key with `scopes` (403 `scope_missing`) or `expiresAt` (403 `key_expires`) cannot call this. With `deliver: link`, or for the role `admin` or `owner`, a session needs a fresh proof (403 `sudo_required`).",
          {
            conflicts: {
              already_member: "sam@example.com is already a member.",
              already_invited: "sam@example.com is already invited.",
              no_mail: "This server sends no mail. Use deliver: link."
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
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(OptionalAuthorization)
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "write",
          "Accept an invite",
          "Joins the workspace. Without a credential, this creates a person with the invited email address and their first API key, whose secret is shown once, in this response. Their address counts as proven only if the token was mailed to it. If somebody has proven the address, it takes their credential (409 `sign_in_required`). With a credential of your own, you join and get no new key; the invite must be for your address (409 `other_address`). Whoever was deactivated in the workspace has access again then, with the role of the invite. Nobody joins beside an active member who has the same address (409 `address_in_use`). Returns 404 if the token is unknown, used, revoked or expired. Account API keys cannot call this (403 `account_key`).",
          {
            isCredentialOptional: true,
            conflicts: {
              sign_in_required: "This address has an account. Sign in with it, or accept with one of its keys.",
              other_address: "The invite is for another address than yours.",
              already_member: "You are a member of the workspace already.",
              address_in_use: "An active member of the workspace has the same address."
            }
          }
        )
      )
  )
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Invites", description: "Invitations to a workspace." })) {}
