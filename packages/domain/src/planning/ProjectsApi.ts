import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived } from "../Archived.ts"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NumberInPath, NumberInQuery } from "../Numbers.ts"
import { Ref } from "../Text.ts"
import {
  CreateMilestone,
  CreateProject,
  Milestone,
  Project,
  ProjectSummary,
  ReorderProject,
  UpdateMilestone,
  UpdateProject
} from "./Project.ts"
import { EarlierDocuments } from "./ProjectText.ts"
import { earlierTextsPage, maxEarlierBytes, maxEarlierTexts } from "./TicketText.ts"

const path = `${workspacePath}/projects` as const
const one = `${path}/:project` as const
/** `{project}` in a path. */
export const projectParam = {
  project: PathRef.annotate({ description: "The slug of the project.", examples: ["checkout"] })
}
const params = { slug: WorkspaceRef, ...projectParam }

/** The filters of the list of projects. */
export const projectQuery = {
  team: Schema.optionalKey(Ref.annotate({ description: "Only projects of this team, by key.", examples: ["ENG"] })),
  product: Schema.optionalKey(
    Ref.annotate({ description: "Only projects with this product, by slug or id.", examples: ["shop"] })
  ),
  archived: Schema.optionalKey(Archived)
}

/** A list of projects. */
export const Projects = Schema.Struct({ projects: Schema.Array(ProjectSummary) }).annotate({
  identifier: "Projects",
  description: "Projects, in priority order."
})
const milestoneParams = {
  ...params,
  number: NumberInPath.pipe(
    Schema.annotateEncoded({ description: "The number of the milestone in the project.", examples: ["1"] })
  )
}
const error = [Forbidden, NotFound, Conflict] as const
const archived = "The project is archived."
const taken = {
  slug_in_use: 'The slug "checkout" is already in use.',
  name_in_use: 'The name "New checkout" is already in use.'
}

/** Projects and their milestones (docs/contract.md, Projects). Changes require a member. */
export class ProjectsApi extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: projectQuery,
      success: Projects,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List projects",
        "Lists the projects that have a team you see, in priority order. Archived projects keep their place. Filters combine. Returns 404 if you cannot see the team or product of a filter. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateProject,
      success: Project.pipe(HttpApiSchema.status(201)),
      error
    }).annotateMerge(
      doc(
        "write",
        "Create a project",
        "Creates a project, last in the priority order, with the views All, Active, Backlog and Done. Returns 404 if the lead is not an active member, or if you cannot see a team or product. Returns 409 `archived` if a team or product is archived, and 409 `slug_in_use` or `name_in_use` if another project has the slug or name, even one that is archived or that you cannot see. Requires the role `member` or higher.",
        { conflicts: { ...taken, archived: "The team ENG is archived." } }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: Project, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get a project",
        "Returns the project, archived or not, with its milestones and its document. Any role may call this. Returns 404 if you see none of its teams."
      )
    ),
    HttpApiEndpoint.get("history", `${one}/history`, {
      params,
      query: {
        cursor: Schema.optionalKey(
          NumberInQuery.pipe(
            Schema.annotateEncoded({
              description: "The `nextCursor` of the previous page. The page has documents with lower numbers."
            })
          )
        )
      },
      success: EarlierDocuments,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List earlier documents of a project",
        `Lists the documents that the project had, archived or not, the last replaced first, ${earlierTextsPage} a page. Each has the whole text from before a change, who made the change, and when; what it was changed to is the next newer one, or the document that the project has.\n\nOf a project, the last ${maxEarlierTexts} are kept, and no more than the last ${maxEarlierBytes.toLocaleString("en-US")} bytes of them. To bring one back, update the project with it. Any role may call this. Returns 404 if you see none of its teams.`
      )
    ),
    HttpApiEndpoint.patch("update", one, { params, payload: UpdateProject, success: Project, error }).annotateMerge(
      doc(
        "write",
        "Update a project",
        "Changes the fields that are sent; `null` clears a field. `teams` and `products` replace what is there, except teams that you cannot see, which stay. A team cannot be removed while the project has tickets of it (409 `team_has_tickets`). Teams and products are checked as for a new project, but those that the project has already may be archived. An archived project cannot be changed (409 `archived`). With `expected`, nothing is changed if the document is another one by now (409 `project_changed`). Where an open ticket of it needs evidence and blocks, account API keys cannot remove a product (403 `persons_only`). Requires the role `member` or higher.",
        {
          conflicts: {
            ...taken,
            archived,
            team_has_tickets: "The project holds tickets of the team ENG.",
            project_changed: "The document of the project was changed meanwhile. Read it again, then decide."
          }
        }
      )
    ),
    HttpApiEndpoint.post("reorder", `${one}/reorder`, {
      params,
      payload: ReorderProject,
      success: Project,
      error
    }).annotateMerge(
      doc(
        "write",
        "Reorder a project",
        "Moves the project directly before or after another one in the priority order. `after: null` moves it to the first place. Nothing changes if it is there already. Returns 404 if you cannot see the other project, 400 if it is the same project, and 409 `archived` if one of the two is archived. Requires the role `member` or higher.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.post("archive", `${one}/archive`, {
      params,
      success: Project,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Archive a project",
        "Takes the project out of lists. It cannot be changed until it is restored. Its slug and name stay taken, and its tickets stay. Archiving an archived project changes nothing. Where an open ticket of it needs evidence and blocks, account API keys cannot archive the project (403 `persons_only`). Requires the role `member` or higher."
      )
    ),
    HttpApiEndpoint.post("restore", `${one}/restore`, {
      params,
      success: Project,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Restore a project",
        "Brings the project back, last in the priority order. Restoring a project that is not archived changes nothing. Requires the role `member` or higher."
      )
    ),
    HttpApiEndpoint.post("createMilestone", `${one}/milestones`, {
      params,
      payload: CreateMilestone,
      success: Milestone.pipe(HttpApiSchema.status(201)),
      error
    }).annotateMerge(
      doc(
        "write",
        "Create a milestone",
        "Adds a milestone with the next number of the project. Numbers are never used again. `updatedAt` of the project moves with every change of its milestones. Returns 409 `archived` if the project is archived. Requires the role `member` or higher.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.patch("updateMilestone", `${one}/milestones/:number`, {
      params: milestoneParams,
      payload: UpdateMilestone,
      success: Milestone,
      error
    }).annotateMerge(
      doc(
        "write",
        "Update a milestone",
        "Changes the fields that are sent; `null` clears a field. Returns 409 `archived` if the project is archived. Requires the role `member` or higher.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.delete("deleteMilestone", `${one}/milestones/:number`, {
      params: milestoneParams,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error
    }).annotateMerge(
      doc(
        "write",
        "Delete a milestone",
        "Deletes the milestone. Its tickets stay in the project, without a milestone. Returns 409 `archived` if the project is archived. Requires the role `member` or higher.",
        { conflicts: { archived } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Projects",
      description:
        "A project is a body of work with a goal. It belongs to teams and products, has milestones, and stands in the priority order of the workspace. You see a project if you see one of its teams."
    })
  ) {}
