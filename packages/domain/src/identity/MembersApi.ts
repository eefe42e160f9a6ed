import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { DeactivatedMember, DeactivateMember, Member, UpdateMember } from "./Member.ts"

const path = `${workspacePath}/members` as const
const params = {
  slug: WorkspaceRef,
  member: PathRef.annotate({
    description: "The id of the person.",
    examples: ["0197a1b2-0000-7000-8000-000000000001"]
  })
}
const error = [Forbidden, NotFound, Conflict] as const
const lastOwner = { conflicts: { last_owner: "A workspace keeps at least one owner." } }

/** Members of a workspace (docs/contract.md, Members). */
export class MembersApi extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ members: Schema.Array(Member) }).annotate({
        identifier: "Members",
        description: "Members, by name."
      }),
      error: NotFound
    }).annotateMerge(
      doc("read", "List members", "Lists all members, active and inactive, by name. Any role may call this.")
    ),
    HttpApiEndpoint.patch("update", `${path}/:member`, {
      params,
      payload: UpdateMember,
      success: Member,
      error
    }).annotateMerge(
      doc(
        "admin",
        "Change a member's role",
        'Gives the member another role. A lower one ends what they made that gives more than it: the pending invites and trusted publishers for a higher role, and the account API keys of a higher role with all that was made with these, unless the body says `{"accountApiKeys": "keep"}`: those that are kept end no more with the credentials of the member. Of a new viewer, the runs that they publish are interrupted. Returns 409 `last_owner` if it is the last active owner. Requires the role `admin` or `owner`. Only owners can give or take the role `owner` (403 `owner_only`). An API key that is limited to scopes (403 `scope_missing`), or that expires (403 `key_expires`), gives nobody a higher role; an account API key makes nobody an admin or owner (403 `account_key`). For a higher role, and to give or take the role `owner`, a session needs a fresh proof (403 `sudo_required`).',
        lastOwner
      )
    ),
    HttpApiEndpoint.post("deactivate", `${path}/:member/deactivate`, {
      params,
      payload: [DeactivateMember, Schema.Null],
      success: DeactivatedMember,
      error
    }).annotateMerge(
      doc(
        "admin",
        "Deactivate a member",
        'Takes the member\'s access away at once. Their API keys stop working in this workspace. The pending invites that they made are revoked, and the trusted publishers end. So are the account API keys that they made, with the keys and pending invites that were made with these, unless the body says `{"accountApiKeys": "keep"}`: those that are kept end no more with the credentials of the member. Tokens of deployments that they made stay. Their agents leave lists, their sign-ins end, and the messages that wait for them are declined. The runs and retries that they publish are interrupted, and their leases are free. What the member did stays. `ended` in the answer says what ended. Deactivating an inactive member changes nothing. Returns 409 `last_owner` for the last active owner. Requires the role `admin` or `owner`, but for who leaves: every member may deactivate themself. Only owners can deactivate owners (403 `owner_only`).',
        { ...lastOwner, isBodyOptional: true }
      )
    ),
    HttpApiEndpoint.post("reactivate", `${path}/:member/reactivate`, {
      params,
      success: Member,
      error
    }).annotateMerge(
      doc(
        "admin",
        "Reactivate a member",
        "Gives the member access again, with the role they had. Their own API keys work again here; their agents have to be registered again. Reactivating an active member changes nothing. Returns 409 `address_in_use` if an active member has the same email address. Requires the role `admin` or `owner`. Only owners can reactivate owners (403 `owner_only`). An API key that is limited to scopes (403 `scope_missing`), or that expires (403 `key_expires`), reactivates nobody; an account API key reactivates no admin or owner (403 `account_key`). A session needs a fresh proof (403 `sudo_required`).",
        { conflicts: { address_in_use: "An active member of the workspace has the same address." } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Members", description: "The people in a workspace, and their roles." })
  ) {}
