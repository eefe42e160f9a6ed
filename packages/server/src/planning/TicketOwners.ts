import type { Actor } from "@delivery/domain/identity/Actor"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import type { TeamId, WorkspaceId } from "@delivery/domain/Ids"
import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import { compare } from "@delivery/domain/Order"
import { addressKey, isId } from "@delivery/domain/Text"
import type { SqlClient, Statement } from "effect/sql"
import { resolveActor } from "../access/Actors.ts"
import { agents, persons } from "../access/ActorRows.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { teamMemberKey, teamMembers } from "./TeamsRepo.ts"
import type { OwnerRef, ResolvedOwner } from "./TicketsRepo.ts"

/**
 * Who can own a ticket: the members and agents of its workspace (docs/contract.md, Tickets). As a statement of SQL and over
 * the memory storage, side by side.
 */

/** A member or an agent, and what decides whether they may own a ticket of a team. */
export type OwnerCandidate = TicketOwner & {
  readonly active: boolean
  /** The role of the member, or of the member whom the agent works for. */
  readonly role: Role
  readonly isTeamMember: boolean
}

/**
 * The statement that finds the candidate whom `ref` names, the id or email address of a member or the id of an agent, as
 * one JSON column `owner`. `isTeamMember` is false without a team.
 */
export const selectCandidate = (
  sql: SqlClient.SqlClient,
  workspaceId: WorkspaceId,
  ref: string,
  teamId: TeamId | null
): Statement.Fragment => {
  const membership = sql`'role', m.role, 'isTeamMember', exists (select 1 from team_members tm
    where tm.team_id = ${teamId}::uuid and tm.person_id = p.id)`
  const ofMember = sql`select json_build_object('kind', 'user', 'id', p.id, 'name', p.name, 'email', p.email,
      'active', m.active, ${membership}) as owner
    from members m join persons p on p.id = m.person_id where m.workspace_id = ${workspaceId}`
  if (!isId(ref)) {
    // Several who were deactivated may share the address of the active one.
    return sql`${ofMember} and p.email = ${addressKey(ref)} order by m.active desc, m.joined_at desc, p.id desc limit 1`
  }
  return sql`${ofMember} and p.id = ${ref}
    union all
    select json_build_object('kind', 'agent', 'id', a.id, 'name', coalesce(a.client_name, initcap(a.client)), 'person',
        json_build_object('id', p.id, 'name', p.name, 'email', p.email),
        'active', m.active and a.revoked_at is null, ${membership}) as owner
      from agents a join persons p on p.id = a.person_id
        join members m on m.workspace_id = a.workspace_id and m.person_id = p.id
      where a.workspace_id = ${workspaceId} and a.id = ${ref}`
}

/** The same over the memory storage. */
export const findCandidateInMemory = (
  database: MemoryDatabase,
  workspaceId: WorkspaceId,
  ref: string,
  teamId: TeamId | null
): OwnerCandidate | undefined => {
  const agent = isId(ref) ? database.table(agents).get(ref) : undefined
  const person =
    agent === undefined
      ? isId(ref)
        ? database.table(persons).get(ref)
        : memberOfAddress(database, workspaceId, addressKey(ref))
      : database.table(persons).get(agent.personId)
  if (person === undefined || (agent !== undefined && agent.workspaceId !== workspaceId)) return undefined
  const member = database.table(members).get(memberKey(workspaceId, person.id))
  if (member === undefined) return undefined
  const isTeamMember =
    teamId !== null && database.table(teamMembers).get(teamMemberKey(teamId, person.id)) !== undefined
  const actor = resolveActor(
    database,
    agent === undefined ? { kind: "user", id: person.id } : { kind: "agent", id: agent.id }
  )
  const { active, role } = member
  return { ...(actor as TicketOwner), active: active && (agent?.revokedAt ?? null) === null, role, isTeamMember }
}

const memberOfAddress = (database: MemoryDatabase, workspaceId: WorkspaceId, email: string) => {
  const ofAddress = database
    .table(members)
    .filter(
      (member) => member.workspaceId === workspaceId && database.table(persons).get(member.personId)?.email === email
    )
    .toSorted(
      (a, b) =>
        Number(b.active) - Number(a.active) || compare(b.joinedAt, a.joinedAt) || compare(b.personId, a.personId)
    )
  return ofAddress[0] && database.table(persons).get(ofAddress[0].personId)
}

export const resolvedOwner = ({ active, isTeamMember, role, ...owner }: OwnerCandidate): ResolvedOwner => ({
  owner,
  active,
  seesPrivateTeam: isTeamMember || isAtLeast(role, "admin")
})

export const ownerRefOf = ({ id, kind }: TicketOwner): OwnerRef => ({ kind, id }) as OwnerRef

/** An actor as an owner. Persons and agents are never deleted, so an owner is never `removed`. */
export const ownerOf = (actor: Actor): TicketOwner | null =>
  actor.kind === "user" || actor.kind === "agent" ? actor : null
