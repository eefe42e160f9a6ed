import type { Archived } from "@delivery/domain/Doc"
import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { PersonId, TeamId, TicketStatusId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import type { AddTeamMember, CreateTeam, Team, TeamMember, UpdateTeam } from "@delivery/domain/planning/Team"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { isListed } from "../catalog/Archivables.ts"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { type Access, anyRole, atLeast, personOf } from "../access/Access.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type CountedTeamRow, type TeamRow, TeamsRepo } from "./TeamsRepo.ts"
import { TicketStatusesRepo } from "./TicketStatusesRepo.ts"
import { viewerOf } from "./Visibility.ts"

/** Teams and their members (contract, section 8). A private team does not exist for those who do not see it. */
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
  static readonly layer = Layer.effect(
    Teams,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* TeamsRepo
      const statuses = yield* TicketStatusesRepo
      const members = yield* MembersRepo
      const events = yield* Events

      const setArchived = Effect.fnUntraced(function* (key: string, archived: boolean) {
        const by = yield* atLeast("admin")
        return yield* storage.transaction(
          Effect.gen(function* () {
            const before = yield* repo.lock(viewerOf(by), key)
            if (before === undefined) return yield* NotFound.of("team")
            if ((before.archivedAt !== null) === archived) return shown(before)
            const now = yield* nextUpdate(before)
            const after = { ...before, archivedAt: archived ? now : null, updatedAt: now }
            yield* repo.update(after)
            yield* events.record(by, { kind: archived ? "team_archived" : "team_restored", ...about(after) })
            return shown(after)
          })
        )
      })

      /** The team, held; where it may change its members, which only some see and fewer may. */
      const lockForMembers = Effect.fnUntraced(function* (by: Access, key: string, personId: string) {
        const team = yield* repo.lock(viewerOf(by), key)
        if (team === undefined) return yield* NotFound.of("team")
        const self = personOf(by.principal)?.id
        const mayChange =
          isAtLeast(by.workspace.role, "admin") ||
          (self !== undefined &&
            ((team.visibility === "open" && self === personId) || (yield* repo.isMember(team.id, self))))
        if (!mayChange) {
          return yield* new Forbidden({
            message: "Only admins, owners and members of the team change who is in it.",
            reason: "not_team_member"
          })
        }
        return team
      })

      return Teams.of({
        list: Effect.fn("Teams.list")(function* (archived: Archived = "exclude") {
          const by = yield* anyRole
          return (yield* repo.list(viewerOf(by))).filter(isListed(archived)).map(shown).toSorted(byName)
        }),

        create: Effect.fn("Teams.create")(
          function* (input: CreateTeam) {
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
            yield* storage
              .transaction(
                Effect.gen(function* () {
                  yield* repo.insert(team)
                  if (creator !== undefined) {
                    yield* repo.insertMember({
                      workspaceId: team.workspaceId,
                      teamId: team.id,
                      personId: creator.id,
                      addedAt: now
                    })
                  }
                  const template = yield* statuses.list(team.workspaceId, null)
                  yield* statuses.insert(
                    yield* Effect.forEach(template, (status) =>
                      Effect.map(nextId<TicketStatusId>(), (id) => ({
                        ...status,
                        id,
                        teamId: team.id,
                        createdAt: now,
                        updatedAt: now
                      }))
                    )
                  )
                  yield* events.record(by, { kind: "team_created", ...about(team) })
                })
              )
              .pipe(
                Effect.catchTag("UniqueViolation", () =>
                  Effect.fail(
                    new Conflict({ message: `The key "${team.key}" is already in use.`, reason: "key_in_use" })
                  )
                )
              )
            return shown({ ...team, memberCount: creator === undefined ? 0 : 1 })
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        get: Effect.fn("Teams.get")(function* (key: string) {
          const by = yield* anyRole
          const team = yield* repo.find(viewerOf(by), key)
          return team === undefined ? yield* NotFound.of("team") : shown(team)
        }),

        update: Effect.fn("Teams.update")(function* (key: string, input: UpdateTeam) {
          const by = yield* atLeast("admin")
          return yield* storage.transaction(
            Effect.gen(function* () {
              const before = yield* repo.lock(viewerOf(by), key)
              if (before === undefined) return yield* NotFound.of("team")
              const changed = { ...before, ...input }
              const changes = changesBetween(before, changed, "name", "visibility")
              if (changes.length === 0) return shown(before)
              const after = { ...changed, updatedAt: yield* nextUpdate(before) }
              yield* repo.update(after)
              yield* events.record(by, { kind: "team_updated", ...about(after), changes })
              return shown(after)
            })
          )
        }),

        archive: Effect.fn("Teams.archive")((key: string) => setArchived(key, true)),
        restore: Effect.fn("Teams.restore")((key: string) => setArchived(key, false)),

        listMembers: Effect.fn("Teams.listMembers")(function* (key: string) {
          const by = yield* anyRole
          const members = yield* repo.members(viewerOf(by), key)
          return members === undefined ? yield* NotFound.of("team") : members.toSorted(byName)
        }),

        addMember: Effect.fn("Teams.addMember")(function* (key: string, { member: id }: AddTeamMember) {
          const by = yield* atLeast("member")
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const team = yield* lockForMembers(by, key, id)
                const member = isId(id) ? yield* members.find(by.workspace.id, id as PersonId) : undefined
                if (member?.active !== true) return yield* NotFound.reference("member")
                const addedAt = timestamp(yield* Clock.currentTimeMillis)
                yield* repo.insertMember({
                  workspaceId: team.workspaceId,
                  teamId: team.id,
                  personId: member.id,
                  addedAt
                })
                yield* events.record(by, {
                  kind: "team_member_added",
                  ...about(team),
                  changes: [{ field: "members", from: null, to: member.name }]
                })
                const { active, email, name, role } = member
                return { id: member.id, name, email, role, active, addedAt }
              })
            )
            .pipe(
              Effect.catchTag("UniqueViolation", () =>
                Effect.fail(
                  new Conflict({
                    message: "This person is a member of the team already.",
                    reason: "already_member"
                  })
                )
              )
            )
        }),

        removeMember: Effect.fn("Teams.removeMember")(function* (key: string, id: string) {
          const by = yield* atLeast("member")
          yield* storage.transaction(
            Effect.gen(function* () {
              const team = yield* lockForMembers(by, key, id)
              const member = isId(id) ? yield* members.find(by.workspace.id, id as PersonId) : undefined
              if (member === undefined || !(yield* repo.deleteMember(team.id, member.id))) {
                return yield* NotFound.of("member")
              }
              yield* events.record(by, {
                kind: "team_member_removed",
                ...about(team),
                changes: [{ field: "members", from: member.name, to: null }]
              })
            })
          )
        })
      })
    })
  )
}

/** The subject of an event about a team, and who sees it. */
const about = (team: TeamRow) => ({
  subject: { type: "team", id: team.id, label: team.name, path: `teams/${team.key}` },
  teams: [team.id]
})

const shown = ({ workspaceId: _, ...team }: CountedTeamRow): Team => team
