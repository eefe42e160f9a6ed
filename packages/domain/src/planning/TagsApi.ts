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
  tag: PathRef.annotate({ description: "The id of the tag.", examples: ["0197a1b2-0000-7000-8000-000000000e21"] })
}
const conflicts = { name_in_use: 'The name "Bug" is already in use.' }
const rules =
  "Returns 409 `name_in_use` if the name is taken, in any case: a tag may not have the name of another tag of its team or of the workspace, and a tag of the workspace may not have the name of a tag of any team. Tags of a team require the role `member` and that you see the team; tags of the workspace require the role `admin` or `owner`."

/** Tags (docs/contract.md, Tags). */
export class TagsApi extends HttpApiGroup.make("tags")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        team: Schema.optionalKey(
          Ref.annotate({
            description:
              "Only the tags that tickets of this team can have, by key: those of the team and those of the workspace.",
            examples: ["ENG"]
          })
        )
      },
      success: Schema.Struct({ tags: Schema.Array(Tag) }).annotate({
        identifier: "Tags",
        description: "Tags, by name."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List tags",
        "Lists the tags of the workspace and of every team that you see, by name. With `team`, lists the tags that tickets of the team can have: those of the team and those of the workspace. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTag,
      success: Tag.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc("write", "Create a tag", `Creates a tag of a team or of the whole workspace. ${rules}`, { conflicts })
    ),
    HttpApiEndpoint.patch("update", `${path}/:tag`, {
      params,
      payload: UpdateTag,
      success: Tag,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(doc("write", "Update a tag", `Changes the fields that are sent. ${rules}`, { conflicts })),
    HttpApiEndpoint.delete("delete", `${path}/:tag`, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Delete a tag",
        "Deletes the tag, and takes it off tickets and out of the filters of views. Tags of a team require the role `member` and that you see the team; tags of the workspace require the role `admin` or `owner`."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tags",
      description: "Labels for tickets, of a team or of the whole workspace."
    })
  ) {}
