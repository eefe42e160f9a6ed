import { type Archived, isListed } from "@delivery/domain/Archived"
import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { PersonId, TeamId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import type { AddTeamMember, CreateTeam, Team, TeamMember, UpdateTeam } from "@delivery/domain/planning/Team"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast, personOf } from "../access/Access.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type CountedTeamRow, type TeamRow, TeamsRepo } from "./TeamsRepo.ts"
import { TicketGuards } from "./TicketGuards.ts"
import { TicketStatusesRepo } from "./TicketStatusesRepo.ts"
import { viewerOf } from "./Viewer.ts"

/** Teams and their members (docs/contract.md, Teams). A private team does not exist for those who do not see it. */
export class Teams extends Context.Service<
  Teams,
  {
    readonly list: (archived?: Archived) => Effect.Effect<ReadonlyArray<Team>, NotFound, Caller>
    readonly create: (input: CreateTeam) => Effect.Effect<Team, NotFound | Forbidden | Conflict, Caller>
    readonly get: (team: string) => Effect.Effect<Team, NotFound, Caller>
    readonly update: (team: string, input: UpdateTeam) => Effect.Effect<Team, NotFound | Forbidden, Caller>
    readonly archive: (team: string) => Effect.Effect<Team, NotFound | Forbidden, Caller>
    readonly restore: (team: string) => Effect.Effect<Team, NotFound | Forbidden, Caller>
    readonly listMembers: (team: string) => Effect.Effect<ReadonlyArray<TeamMember>, NotFound, Caller>
    readonly addMember: (
      team: string,
      input: AddTeamMember
    ) => Effect.Effect<TeamMember, NotFound | Forbidden | Conflict, Caller>
    readonly removeMember: (team: string, member: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/planning/Teams") {
  static readonly layer = Layer.effect(Teams, Effect.gen(make))
}

interface Dependencies {
  readonly repo: TeamsRepo["Service"]
  readonly statuses: TicketStatusesRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly guards: TicketGuards["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* TeamsRepo,
    statuses: yield* TicketStatusesRepo,
    members: yield* MembersRepo,
    guards: yield* TicketGuards,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return Teams.of({
    list: list(dependencies),
    create: create(dependencies),
    get: get(dependencies),
    update: update(dependencies),
    archive: setArchived(dependencies, "archive"),
    restore: setArchived(dependencies, "restore"),
    listMembers: listMembers(dependencies),
    addMember: addMember(dependencies),
    removeMember: removeMember(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("Teams.list")(function* (archived: Archived = "exclude") {
    const by = yield* anyRole
    return (yield* repo.list(viewerOf(by))).filter(isListed(archived)).map(present).toSorted(byName)
  })

const create = ({ events, nextId, repo, statuses, storage }: Dependencies) =>
  Effect.fn("Teams.create")(function* (input: CreateTeam) {
    const by = yield* atLeast("admin")
    const now = timestamp(yield* Clock.currentTimeMillis)
    const team: TeamRow = {
      id: yield* nextId<TeamId>(),
      workspaceId: by.workspace.id,
      key: input.key,
      name: input.name,
      visibility: input.visibility ?? "open",
      archivedAt: null,
      createdAt: now,
      updatedAt: now
    }
    const creator = personOf(by.principal)
    const created = Effect.gen(function* () {
      yield* repo.insert(team)
      if (creator !== undefined) {
        const member = { workspaceId: team.workspaceId, teamId: team.id, personId: creator.id, addedAt: now }
        yield* repo.insertMember(member)
      }
      const template = yield* statuses.list(team.workspaceId, null)
      const copies = yield* Effect.forEach(template, (status) =>
        Effect.map(nextId<TicketStatusId>(), (id) => ({
          ...status,
          id,
          teamId: team.id,
          createdAt: now,
          updatedAt: now
        }))
      )
      yield* statuses.insert(copies)
      yield* events.record(by, { kind: "team_created", ...about(team) })
    })
    yield* storage.transaction(created).pipe(Effect.catchTag("UniqueViolation", keyInUse(team.key)))
    return present({ ...team, memberCount: creator === undefined ? 0 : 1 })
  })

const get = ({ repo }: Dependencies) =>
  Effect.fn("Teams.get")(function* (key: string) {
    const by = yield* anyRole
    const team = yield* repo.find(viewerOf(by), key)
    return team === undefined ? yield* NotFound.of("team", key) : present(team)
  })

const update = ({ events, repo, storage }: Dependencies) =>
  Effect.fn("Teams.update")(function* (key: string, input: UpdateTeam) {
    const by = yield* atLeast("admin")
    const updated = Effect.gen(function* () {
      const before = yield* repo.lock(viewerOf(by), key)
      if (before === undefined) return yield* NotFound.of("team", key)
      const changed = { ...before, ...input }
      const changes = changesBetween(before, changed, "name", "visibility")
      if (changes.length === 0) return present(before)
      const after = { ...changed, updatedAt: yield* nextUpdate(before) }
      yield* repo.update(after)
      yield* events.record(by, { kind: "team_updated", ...about(after), changes })
      return present(after)
    })
    return yield* storage.transaction(updated)
  })

const setArchived = ({ events, guards, repo, storage }: Dependencies, action: "archive" | "restore") =>
  Effect.fn(`Teams.${action}`)(function* (key: string) {
    const by = yield* atLeast("admin")
    const archived = action === "archive"
    const changed = Effect.gen(function* () {
      const before = yield* repo.lock(viewerOf(by), key)
      if (before === undefined) return yield* NotFound.of("team", key)
      if ((before.archivedAt !== null) === archived) return present(before)
      if (archived) {
        yield* guards.releasing(by, { teamId: before.id }, { field: "team", from: before.name, to: "archived" })
      }
      const now = yield* nextUpdate(before)
      const after = { ...before, archivedAt: archived ? now : null, updatedAt: now }
      yield* repo.update(after)
      yield* events.record(by, { kind: `team_${action}d`, ...about(after) })
      return present(after)
    })
    return yield* storage.transaction(changed)
  })

const listMembers = ({ repo }: Dependencies) =>
  Effect.fn("Teams.listMembers")(function* (key: string) {
    const by = yield* anyRole
    const members = yield* repo.members(viewerOf(by), key)
    return members === undefined ? yield* NotFound.of("team", key) : members.toSorted(byName)
  })

const addMember = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  return Effect.fn("Teams.addMember")(function* (key: string, { member: id }: AddTeamMember) {
    const by = yield* atLeast("member")
    const added = Effect.gen(function* () {
      const team = yield* lockForMembers(dependencies, by, key, id)
      const member = yield* findMember(dependencies, by.workspace.id, id)
      if (member?.active !== true) return yield* NotFound.reference("member", id)
      const addedAt = timestamp(yield* Clock.currentTimeMillis)
      yield* repo.insertMember({ workspaceId: team.workspaceId, teamId: team.id, personId: member.id, addedAt })
      yield* events.record(by, {
        kind: "team_member_added",
        ...about(team),
        changes: [{ field: "members", from: null, to: member.name }]
      })
      const { active, email, name, role } = member
      return { id: member.id, name, email, role, active, addedAt }
    })
    return yield* storage.transaction(added).pipe(Effect.catchTag("UniqueViolation", () => alreadyMember))
  })
}

const removeMember = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  return Effect.fn("Teams.removeMember")(function* (key: string, id: string) {
    const by = yield* atLeast("member")
    const removed = Effect.gen(function* () {
      const team = yield* lockForMembers(dependencies, by, key, id)
      const member = yield* findMember(dependencies, by.workspace.id, id)
      if (member === undefined || !(yield* repo.deleteMember(team.id, member.id))) {
        return yield* NotFound.of("member", id)
      }
      yield* events.record(by, {
        kind: "team_member_removed",
        ...about(team),
        changes: [{ field: "members", from: member.name, to: null }]
      })
    })
    yield* storage.transaction(removed)
  })
}

/** Locks the team. Refuses a caller who sees it but may not add or remove this person. */
const lockForMembers = Effect.fnUntraced(function* ({ repo }: Dependencies, by: Access, key: string, personId: string) {
  const team = yield* repo.lock(viewerOf(by), key)
  if (team === undefined) return yield* NotFound.of("team", key)
  const self = personOf(by.principal)?.id
  const mayChange =
    isAtLeast(by.workspace.role, "admin") ||
    (self !== undefined && ((team.visibility === "open" && self === personId) || (yield* repo.isMember(team.id, self))))
  return mayChange ? team : yield* notTeamMember
})

const findMember = ({ members }: Dependencies, workspaceId: WorkspaceId, id: string) =>
  isId(id) ? members.find(workspaceId, id as PersonId) : Effect.undefined

const notTeamMember = new Forbidden({
  message: "Only admins, owners and members of the team can add and remove its members.",
  reason: "not_team_member"
})

const keyInUse = (key: string) => () =>
  Effect.fail(new Conflict({ message: `The key "${key}" is already in use.`, reason: "key_in_use" }))

const alreadyMember = Effect.fail(
  new Conflict({ message: "This person is already a member of the team.", reason: "already_member" })
)

/** The subject of an event about a team, and the teams that decide who sees the event. */
const about = (team: TeamRow) => ({
  subject: { type: "team", id: team.id, label: team.name, path: `teams/${team.key}` },
  teams: [team.id]
})

const present = ({ workspaceId: _, ...team }: CountedTeamRow): Team => team
