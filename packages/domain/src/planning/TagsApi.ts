import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ref } from "../Text.ts"
import { CreateTag, Tag, UpdateTag } from "./Tag.ts"

const path = `${workspacePath}/tags` as const
const params = {
  slug: WorkspaceRef,
  tag: PathRef.annotate({ description: "The tag's id.", examples: ["0197a1b2-0000-7000-8000-000000000e21"] })
}
const conflicts = { name_in_use: 'The name "Bug" is already in use.' }
const rules =
  "Tags of a team: members and up who see it; tags of the workspace: admins and owners. A name is used once, in any case, in a team together with the workspace: one of a workspace tag is taken in every team, and one that a team uses is no workspace tag's (409 `name_in_use`)."

/** Tags (docs/contract.md, Tags). */
export class TagsApi extends HttpApiGroup.make("tags")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        team: Schema.optionalKey(Ref.annotate({ description: "The key of a team that you see.", examples: ["ENG"] }))
      },
      success: Schema.Struct({ tags: Schema.Array(Tag) }).annotate({
        identifier: "Tags",
        description: "Tags, by name."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List tags",
        "Those of the workspace and of every team that you see; with `team`, those that its tickets can have: its own and the workspace's. By name. Every role."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTag,
      success: Tag.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(doc("Create a tag", rules, { conflicts })),
    HttpApiEndpoint.patch("update", `${path}/:tag`, {
      params,
      payload: UpdateTag,
      success: Tag,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(doc("Update a tag", `Changes the fields sent. ${rules}`, { conflicts })),
    HttpApiEndpoint.delete("delete", `${path}/:tag`, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Delete a tag",
        "Tickets and filters of saved views lose it. Tags of a team: members and up who see it; tags of the workspace: admins and owners."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tags",
      description: "Words to mark tickets with, of a team or of the whole workspace."
    })
  ) {}
