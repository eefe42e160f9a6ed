import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived } from "../Archived.ts"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { AddTeamMember, CreateTeam, Team, TeamMember, UpdateTeam } from "./Team.ts"

const path = `${workspacePath}/teams` as const
const params = {
  slug: WorkspaceRef,
  team: PathRef.annotate({ description: "The key of the team.", examples: ["ENG"] })
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
        "read",
        "List teams",
        "Lists the teams that you see, by name: open teams, and private teams that you are a member of. Admins and owners see all teams. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTeam,
      success: Team.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Create a team",
        "Creates a team with you as its first member, and with a copy of the status template of the workspace. (A team that an account API key creates has no member.) Returns 409 `key_in_use` if another team, archived or not, has the key. Requires the role `admin` or `owner`.",
        { conflicts: { key_in_use: 'The key "ENG" is already in use.' } }
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:team`, { params, success: Team, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get a team",
        "Returns the team, archived or not. Any role may call this. Returns 404 if the team is private and you cannot see it."
      )
    ),
    HttpApiEndpoint.patch("update", `${path}/:team`, {
      params,
      payload: UpdateTeam,
      success: Team,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Update a team",
        "Changes the fields that are sent. Archived teams can be changed too. The key never changes. Making a team private hides it, and all that belongs to it, from everybody who is not a member, past events included. Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.post("archive", `${path}/:team/archive`, {
      params,
      success: Team,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Archive a team",
        "Takes the team out of lists. Its tickets cannot be changed, and it takes no new ones. Its key stays taken. Archiving an archived team changes nothing. Where an open ticket of it needs evidence and blocks, account API keys cannot archive the team (403 `persons_only`). Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.post("restore", `${path}/:team/restore`, {
      params,
      success: Team,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Restore a team",
        "Brings the team back into lists. Its tickets can be changed again. Restoring a team that is not archived changes nothing. Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.get("listMembers", `${path}/:team/members`, {
      params,
      success: Schema.Struct({ members: Schema.Array(TeamMember) }).annotate({
        identifier: "TeamMembers",
        description: "The members of the team, by name."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List a team's members",
        "Lists the members of the team by name. Members who are inactive in the workspace are in the list, but do not count in `memberCount`. Any role may call this. Returns 404 if you cannot see the team."
      )
    ),
    HttpApiEndpoint.post("addMember", `${path}/:team/members`, {
      params,
      payload: AddTeamMember,
      success: TeamMember.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Add a member to a team",
        "Adds an active member of the workspace to the team. Returns 404 if the person is not an active member of the workspace, and 409 `already_member` if they are in the team. Requires the role `member` or higher. Admins, owners and members of the team can add anybody; others can add only themselves, and only to an open team (403 `not_team_member`).",
        { conflicts: { already_member: "This person is already a member of the team." } }
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
        "write",
        "Remove a member from a team",
        "Removes the member from the team. Their tickets keep their owner. Returns 404 if the person is not in the team. Requires the role `member` or higher. Only admins, owners and members of the team can do this (403 `not_team_member`); to leave a team, remove yourself."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Teams",
      description:
        "Teams share statuses, tags and tickets. For those who cannot see a private team it does not exist: not in lists, counts, filters, references or events."
    })
  ) {}
