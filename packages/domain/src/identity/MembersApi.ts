import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { Member, UpdateMember } from "./Member.ts"

const path = `${workspacePath}/members` as const
const params = { slug: WorkspaceRef, member: PathRef.annotate({ description: "The person's id." }) }
const error = [Forbidden, NotFound, Conflict] as const

/** Members of a workspace (contract, section 3). */
export class MembersApi extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ members: Schema.Array(Member) }).annotate({ identifier: "Members" }),
      error: NotFound
    }).annotateMerge(doc("List members", "Every member, active or not, by name.")),
    HttpApiEndpoint.patch("update", `${path}/:member`, { params, payload: UpdateMember, success: Member, error })
      .annotateMerge(
        doc(
          "Change a member's role",
          "Admins and owners; only an owner gives or takes the role owner (403). The last active owner keeps it: 409 `last_owner`."
        )
      ),
    HttpApiEndpoint.post("deactivate", `${path}/:member/deactivate`, { params, success: Member, error }).annotateMerge(
      doc(
        "Deactivate a member",
        "Their keys stop working in this workspace at once. Admins and owners; owners only by owners (403). The last active owner: 409 `last_owner`."
      )
    ),
    HttpApiEndpoint.post("reactivate", `${path}/:member/reactivate`, { params, success: Member, error }).annotateMerge(
      doc("Reactivate a member", "Admins and owners; owners only by owners (403).")
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Members", description: "Persons in a workspace." }))
{}
