import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived, doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { AddTeamMember, CreateTeam, Team, TeamMember, UpdateTeam } from "./Team.ts"

const path = `${workspacePath}/teams` as const
const params = {
  slug: WorkspaceRef,
  team: PathRef.annotate({ description: "The team's key.", examples: ["ENG"] })
}

/** Teams and their members (docs/contract.md, Teams). */
export class TeamsApi extends HttpApiGroup.make("teams")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: { archived: Schema.optionalKey(Archived) },
      success: Schema.Struct({ teams: Schema.Array(Team) }).annotate({
        identifier: "Teams",
        description: "The teams that you see, by name."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List teams",
        "Open teams, and private ones that you are a member of; admins and owners see all. By name. Every role."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTeam,
      success: Team.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Create a team",
        "It begins with a copy of the workspace's template of ticket statuses, and with you as its member (with nobody where an account API key creates it). Admins and owners. A key in use, by an archived team too: 409 `key_in_use`.",
        { conflicts: { key_in_use: 'The key "ENG" is already in use.' } }
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:team`, { params, success: Team, error: NotFound }).annotateMerge(
      doc("Get a team", "Archived or not. Every role that sees it; for all others a private team does not exist (404).")
    ),
    HttpApiEndpoint.patch("update", `${path}/:team`, {
      params,
      payload: UpdateTeam,
      success: Team,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Update a team",
        "Changes the fields sent; archived teams too. The key never changes. A team made private, and all that is its, is gone at once for those who are not its members, past events too. Admins and owners."
      )
    ),
    HttpApiEndpoint.post("archive", `${path}/:team/archive`, {
      params,
      success: Team,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Archive a team",
        "It leaves lists and takes no new tickets; its key stays taken. An archived team stays as it is. Admins and owners."
      )
    ),
    HttpApiEndpoint.post("restore", `${path}/:team/restore`, {
      params,
      success: Team,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc("Restore a team", "It takes tickets again. A team that is not archived stays as it is. Admins and owners.")
    ),
    HttpApiEndpoint.get("listMembers", `${path}/:team/members`, {
      params,
      success: Schema.Struct({ members: Schema.Array(TeamMember) }).annotate({
        identifier: "TeamMembers",
        description: "The team's members, by name."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List a team's members",
        "By name. Members whom the workspace deactivated are among them, do not count in `memberCount`, and are back when they are reactivated. Every role that sees the team."
      )
    ),
    HttpApiEndpoint.post("addMember", `${path}/:team/members`, {
      params,
      payload: AddTeamMember,
      success: TeamMember.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Add a member to a team",
        "Members and up: an admin or owner, or a member of the team, adds any active member of the workspace (404 otherwise); everybody joins an open team themselves. Others: 403 `not_team_member`. A member already: 409 `already_member`.",
        { conflicts: { already_member: "This person is a member of the team already." } }
      )
    ),
    HttpApiEndpoint.delete("removeMember", `${path}/:team/members/:member`, {
      params: {
        ...params,
        member: PathRef.annotate({
          description: "The person's id.",
          examples: ["0197a1b2-0000-7000-8000-000000000001"]
        })
      },
      success: HttpApiSchema.NoContent.annotate({ description: "Removed." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Remove a member from a team",
        "Members and up: an admin or owner, or a member of the team, who may leave so. Others: 403 `not_team_member`. No member of the team: 404. Tickets keep their owners."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Teams",
      description:
        "People who share statuses, tags and tickets. For those who do not see a private team it does not exist: not in lists, counts, filters, references or events."
    })
  ) {}
