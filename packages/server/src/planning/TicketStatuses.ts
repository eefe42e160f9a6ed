import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { TicketStatusId } from "@delivery/domain/Ids"
import {
  canBeDefault,
  type CreateTicketStatus,
  inBoardOrder,
  type ReorderTicketStatus,
  type StatusCategory,
  templateStatuses,
  type TicketStatus,
  type UpdateTicketStatus
} from "@delivery/domain/planning/TicketStatus"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { NewWorkspaces } from "../identity/NewWorkspaces.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { StatusFilters } from "./StatusFilters.ts"
import { type TeamRow, TeamsRepo } from "./TeamsRepo.ts"
import { TicketStatusesRepo, type TicketStatusRow } from "./TicketStatusesRepo.ts"
import { viewerOf } from "./Visibility.ts"

/** Ticket statuses of teams and of workspaces' templates (service document, Ticket statuses; contract, section 8). */
export class TicketStatuses extends Context.Service<
  TicketStatuses,
  {
    /** In board order; without a team the template. */
    readonly list: (team?: string) => Effect.Effect<ReadonlyArray<TicketStatus>, NotFound, Caller>
    readonly create: (input: CreateTicketStatus) => Effect.Effect<TicketStatus, NotFound | Forbidden | Conflict, Caller>
    readonly update: (
      status: string,
      input: UpdateTicketStatus
    ) => Effect.Effect<TicketStatus, NotFound | Forbidden | Conflict, Caller>
    readonly delete: (
      status: string,
      moveTo?: string
    ) => Effect.Effect<void, NotFound | Forbidden | InvalidInput | Conflict, Caller>
    readonly reorder: (
      status: string,
      place: ReorderTicketStatus
    ) => Effect.Effect<ReadonlyArray<TicketStatus>, NotFound | Forbidden | InvalidInput | Conflict, Caller>
  }
>()("@delivery/server/planning/TicketStatuses") {
  static readonly layer = Layer.effect(
    TicketStatuses,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* TicketStatusesRepo
      const teams = yield* TeamsRepo
      const workspaces = yield* WorkspacesRepo
      const filters = yield* StatusFilters
      const events = yield* Events

      /** All statuses of a team or, of null, of the template, held; nothing where the caller sees no such team. */
      const lock = Effect.fnUntraced(function* (by: Access, teamKey: string | null) {
        const team = teamKey === null ? null : yield* teams.lock(viewerOf(by), teamKey)
        if (team === undefined) return undefined
        if (team === null) yield* workspaces.lock(by.workspace.id)
        return { team, statuses: yield* repo.list(by.workspace.id, team?.id ?? null) }
      })

      /** A status with all others of its team or template, held. */
      const lockStatus = Effect.fnUntraced(function* (by: Access, id: string) {
        const found = yield* repo.find(viewerOf(by), id)
        const board = found && (yield* lock(by, found.teamKey))
        const status = board?.statuses.find((status) => status.id === id)
        return board === undefined || status === undefined ? yield* NotFound.of("ticket status") : { ...board, status }
      })

      return TicketStatuses.of({
        list: Effect.fn("TicketStatuses.list")(function* (team?: string) {
          const by = yield* anyRole
          if (team === undefined) return shownAll(yield* repo.list(by.workspace.id, null))
          const statuses = yield* repo.listOfTeam(viewerOf(by), team)
          return statuses.length === 0 ? yield* NotFound.reference("team") : shownAll(statuses)
        }),

        create: Effect.fn("TicketStatuses.create")(
          function* (input: CreateTicketStatus) {
            const by = yield* atLeast("admin")
            return yield* storage
              .transaction(
                Effect.gen(function* () {
                  const board = yield* lock(by, input.team ?? null)
                  if (board === undefined) return yield* NotFound.reference("team")
                  const now = timestamp(yield* Clock.currentTimeMillis)
                  const beside = ofCategory(board.statuses, input.category)
                  const status: TicketStatusRow = {
                    id: yield* nextId<TicketStatusId>(),
                    workspaceId: by.workspace.id,
                    teamId: board.team?.id ?? null,
                    name: input.name,
                    category: input.category,
                    position: (beside.at(-1)?.position ?? -1) + 1,
                    isDefault: false,
                    createdAt: now,
                    updatedAt: now
                  }
                  yield* repo.insert([status])
                  yield* events.record(by, { kind: "status_created", ...about(board, status) })
                  return shown(status)
                })
              )
              .pipe(Effect.catchTag("UniqueViolation", nameInUse(input.name)))
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        update: Effect.fn("TicketStatuses.update")(function* (id: string, input: UpdateTicketStatus) {
          const by = yield* atLeast("admin")
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const board = yield* lockStatus(by, id)
                const before = board.status
                const changed = { ...before, ...input }
                const changes = changesBetween(before, changed, "name", "isDefault")
                if (changes.length === 0) return shown(before)
                if (changed.isDefault && !canBeDefault(before.category)) {
                  return yield* new Conflict({
                    message: "Only a backlog or unstarted status can be the default.",
                    reason: "category_cannot_be_default"
                  })
                }
                const updatedAt = yield* nextUpdate(before)
                const after = { ...changed, updatedAt }
                const noDefault = changed.isDefault
                  ? board.statuses
                      .filter((status) => status.isDefault && status.id !== before.id)
                      .map((status) => ({ ...status, isDefault: false, updatedAt }))
                  : []
                yield* repo.update([...noDefault, after])
                if (board.team !== null && after.name !== before.name) {
                  yield* filters.renamed({ ...before, teamId: board.team.id }, after.name)
                }
                yield* events.record(by, { kind: "status_updated", ...about(board, after), changes })
                return shown(after)
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", nameInUse(input.name ?? "")))
        }),

        delete: Effect.fn("TicketStatuses.delete")(function* (id: string, moveTo?: string) {
          const by = yield* atLeast("admin")
          yield* storage.transaction(
            Effect.gen(function* () {
              const board = yield* lockStatus(by, id)
              const { status } = board
              const target = moveTo === undefined ? undefined : board.statuses.find((other) => other.id === moveTo)
              if (moveTo !== undefined && target === undefined) return yield* NotFound.reference("moveTo")
              if (target?.id === status.id) {
                return yield* InvalidInput.at("moveTo", "Expected another status than the one that is deleted")
              }
              if (status.isDefault) {
                return yield* new Conflict({
                  message: "The default status cannot be deleted. Make another one the default first.",
                  reason: "is_default"
                })
              }
              if (ofCategory(board.statuses, status.category).length === 1) {
                return yield* new Conflict({
                  message: "Every category keeps at least one status.",
                  reason: "last_in_category"
                })
              }
              if (target !== undefined) {
                yield* repo.moveTickets(status, target, timestamp(yield* Clock.currentTimeMillis))
              } else if (yield* repo.hasTickets(status)) {
                return yield* new Conflict({
                  message: "Tickets have this status: say with moveTo where they go.",
                  reason: "has_tickets"
                })
              }
              yield* repo.delete(status.id)
              if (board.team !== null) yield* filters.deleted({ ...status, teamId: board.team.id })
              yield* events.record(by, {
                kind: "status_deleted",
                ...about(board, status),
                changes: target === undefined ? [] : [{ field: "tickets", from: status.name, to: target.name }]
              })
            })
          )
        }),

        reorder: Effect.fn("TicketStatuses.reorder")(function* (id: string, place: ReorderTicketStatus) {
          const by = yield* atLeast("admin")
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const board = yield* lockStatus(by, id)
                const { status } = board
                const [field, ref] =
                  place.before === undefined
                    ? (["after", place.after ?? null] as const)
                    : (["before", place.before] as const)
                const beside = ref === null ? undefined : board.statuses.find((other) => other.id === ref)
                if (ref !== null && beside === undefined) return yield* NotFound.reference(field)
                if (beside?.id === status.id) return yield* InvalidInput.at(field, "Expected another status")
                if (beside !== undefined && beside.category !== status.category) {
                  return yield* new Conflict({
                    message: "A status is ordered within its category.",
                    reason: "other_category"
                  })
                }
                const inOrder = ofCategory(board.statuses, status.category)
                const others = inOrder.filter((other) => other.id !== status.id)
                const at = beside === undefined ? 0 : others.indexOf(beside) + (field === "after" ? 1 : 0)
                const wanted = others.toSpliced(at, 0, status)
                if (wanted.every((other, i) => other === inOrder[i])) return shownAll(board.statuses)
                const updatedAt = yield* nextUpdate(status)
                const moved = wanted
                  .map((other, position) => ({ ...other, position, updatedAt }))
                  .filter((other, i) => other.position !== wanted[i]!.position)
                yield* repo.update(moved)
                const after = { ...status, position: at }
                yield* events.record(by, {
                  kind: "status_updated",
                  ...about(board, after),
                  changes: [{ field: "position", from: String(inOrder.indexOf(status)), to: String(at) }]
                })
                const byId = new Map(moved.map((other) => [other.id, other]))
                return shownAll(board.statuses.map((other) => byId.get(other.id) ?? other))
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", Effect.die))
        })
      })
    })
  )
}

/** All statuses of a team or, without one, of the template. */
interface Board {
  readonly team: TeamRow | null
  readonly statuses: ReadonlyArray<TicketStatusRow>
}

/** Makes the template of every new workspace. */
export const TicketStatusTemplates = Layer.effect(
  NewWorkspaces,
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    const repo = yield* TicketStatusesRepo
    return NewWorkspaces.of({
      furnish: Effect.fnUntraced(
        function* ({ createdAt, id }) {
          const statuses = yield* Effect.forEach(templateStatuses, (status) =>
            Effect.map(nextId<TicketStatusId>(), (statusId) => ({
              ...status,
              id: statusId,
              workspaceId: id,
              teamId: null,
              position: 0,
              createdAt,
              updatedAt: createdAt
            }))
          )
          yield* repo.insert(statuses)
        },
        Effect.provideService(SecureRandom.SecureRandom, random),
        // The workspace is new: nothing else is in its template.
        Effect.catchTag("UniqueViolation", Effect.die)
      )
    })
  })
)

const ofCategory = (statuses: ReadonlyArray<TicketStatusRow>, category: StatusCategory) =>
  statuses.filter((status) => status.category === category).toSorted(inBoardOrder)

const nameInUse = (name: string) => () =>
  Effect.fail(new Conflict({ message: `The name "${name}" is already in use.`, reason: "name_in_use" }))

/** The subject of an event about a status, and who sees it. */
const about = ({ team }: Board, status: TicketStatusRow) => ({
  subject: {
    type: "status",
    id: status.id,
    label: status.name,
    path: team === null ? "settings/ticket-statuses" : `teams/${team.key}/ticket-statuses`
  },
  ...(team === null ? {} : { teams: [team.id] })
})

const shown = ({ category, id, isDefault, name, position }: TicketStatusRow): TicketStatus => ({
  id,
  name,
  category,
  position,
  isDefault
})

const shownAll = (statuses: ReadonlyArray<TicketStatusRow>) => statuses.map(shown).toSorted(inBoardOrder)
