import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { Member, UpdateMember } from "./Member.ts"

const path = `${workspacePath}/members` as const
const params = {
  slug: WorkspaceRef,
  member: PathRef.annotate({
    description: "The person's id.",
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
    }).annotateMerge(doc("List members", "Every member, active or not, by name. Every role.")),
    HttpApiEndpoint.patch("update", `${path}/:member`, {
      params,
      payload: UpdateMember,
      success: Member,
      error
    }).annotateMerge(
      doc(
        "Change a member's role",
        "Admins and owners; only an owner gives or takes the role owner (403). The last active owner keeps it: 409 `last_owner`.",
        lastOwner
      )
    ),
    HttpApiEndpoint.post("deactivate", `${path}/:member/deactivate`, { params, success: Member, error }).annotateMerge(
      doc(
        "Deactivate a member",
        "Their keys stop working in this workspace at once; their agents leave lists, lose access, and have the messages that wait for them declined; what they did stays. One already inactive stays as they are. Admins and owners; owners only by owners (403). The last active owner: 409 `last_owner`.",
        lastOwner
      )
    ),
    HttpApiEndpoint.post("reactivate", `${path}/:member/reactivate`, {
      params,
      success: Member,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Reactivate a member",
        "Their keys and agents work in this workspace again, with the role they had. One already active stays as they are. Admins and owners; owners only by owners (403)."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Members", description: "Persons in a workspace, and their roles." })) {}
