import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived, doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NumberInPath } from "../runs/TestRun.ts"
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

const path = `${workspacePath}/projects` as const
const one = `${path}/:project` as const
/** `{project}` of a path. */
export const projectParam = {
  project: PathRef.annotate({ description: "The project's slug.", examples: ["checkout"] })
}
const params = { slug: WorkspaceRef, ...projectParam }

/** The filters of the list of projects. */
export const projectQuery = {
  team: Schema.optionalKey(Ref.annotate({ description: "A team's key.", examples: ["ENG"] })),
  product: Schema.optionalKey(Ref.annotate({ description: "A product's slug or id.", examples: ["shop"] })),
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
    Schema.annotateEncoded({ description: "The milestone's number in the project.", examples: ["1"] })
  )
}
const error = [Forbidden, NotFound, Conflict] as const
const archived = "The project is archived."
const taken = {
  slug_in_use: 'The slug "checkout" is already in use.',
  name_in_use: 'The name "New checkout" is already in use.'
}

/** Projects and their milestones (docs/contract.md, Projects). Changes need a member. */
export class ProjectsApi extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: projectQuery,
      success: Projects,
      error: NotFound
    }).annotateMerge(
      doc(
        "List projects",
        "Those with a team that you see, in priority order; archived ones stand where they stood. Filters combine; a team or product that does not exist for you: 404. Every role."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateProject,
      success: Project.pipe(HttpApiSchema.status(201)),
      error
    }).annotateMerge(
      doc(
        "Create a project",
        "It goes last in the priority order and begins with the views All, Active, Backlog and Done. Members and up. A lead who is no active member, a team or product that does not exist for you: 404; an archived team or product: 409 `archived`. A slug or name in use, by an archived project or one that you do not see too: 409 `slug_in_use`, `name_in_use`.",
        { conflicts: { ...taken, archived: "The team ENG is archived." } }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: Project, error: NotFound }).annotateMerge(
      doc(
        "Get a project",
        "Archived or not. Every role that sees one of its teams; for all others it does not exist (404)."
      )
    ),
    HttpApiEndpoint.patch("update", one, { params, payload: UpdateProject, success: Project, error }).annotateMerge(
      doc(
        "Update a project",
        "Changes the fields sent; null clears. `teams` and `products` replace the present ones, except teams that you do not see, which stay. A team stays while the project holds its tickets: 409 `team_has_tickets`. Members and up. References are checked as for a new project; a team or product that is linked already may be archived. An archived project takes no changes: 409 `archived`.",
        {
          conflicts: { ...taken, archived, team_has_tickets: "The project holds tickets of the team ENG." }
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
        "Reorder a project",
        "Moves it directly before or after another in the priority order, or, after null, to the first place. Where it stands there already, nothing changes. Members and up. Another that does not exist for you: 404; itself: 400. Either of the two archived: 409 `archived`.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.post("archive", `${one}/archive`, {
      params,
      success: Project,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Archive a project",
        "It leaves lists and takes no changes until it is restored; its slug and name stay taken, its tickets stay. An archived project stays as it is. Members and up."
      )
    ),
    HttpApiEndpoint.post("restore", `${one}/restore`, {
      params,
      success: Project,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Restore a project",
        "It goes last in the priority order. A project that is not archived stays as it is and where it is. Members and up."
      )
    ),
    HttpApiEndpoint.post("createMilestone", `${one}/milestones`, {
      params,
      payload: CreateMilestone,
      success: Milestone.pipe(HttpApiSchema.status(201)),
      error
    }).annotateMerge(
      doc(
        "Create a milestone",
        "It has the next number of the project, which is never reused. `updatedAt` of the project moves with its milestones. Members and up. An archived project: 409 `archived`.",
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
        "Update a milestone",
        "Changes the fields sent; null clears. Members and up. An archived project: 409 `archived`.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.delete("deleteMilestone", `${one}/milestones/:number`, {
      params: milestoneParams,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error
    }).annotateMerge(
      doc(
        "Delete a milestone",
        "Its tickets stay in the project without a milestone. Members and up. An archived project: 409 `archived`.",
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
        "Bodies of work with a goal, linked to teams and products, in one priority order per workspace, with milestones. Those without a team that you see do not exist for you."
    })
  ) {}
