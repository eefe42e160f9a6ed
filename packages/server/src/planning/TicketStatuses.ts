import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { TicketStatusId } from "@delivery/domain/Ids"
import {
  canBeDefault,
  type CreateTicketStatus,
  inBoardOrder,
  type ReorderTicketStatus,
  type StatusCategory,
  type TicketStatus,
  type UpdateTicketStatus
} from "@delivery/domain/planning/TicketStatus"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { TicketGuards } from "./TicketGuards.ts"
import { Storage } from "../storage/Storage.ts"
import { StatusFilters } from "./StatusFilters.ts"
import { type TeamRow, TeamsRepo } from "./TeamsRepo.ts"
import { TicketStatusesRepo, type TicketStatusRow } from "./TicketStatusesRepo.ts"
import { viewerOf } from "./Viewer.ts"

/** Ticket statuses of teams and of workspaces' templates (docs/contract.md, Ticket statuses). */
export class TicketStatuses extends Context.Service<
  TicketStatuses,
  {
    /** In board order. Without a team, those of the template. */
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
  static readonly layer = Layer.effect(TicketStatuses, Effect.gen(make))
}

interface Dependencies {
  readonly repo: TicketStatusesRepo["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly filters: StatusFilters["Service"]
  readonly guards: TicketGuards["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* TicketStatusesRepo,
    teams: yield* TeamsRepo,
    workspaces: yield* WorkspacesRepo,
    filters: yield* StatusFilters,
    guards: yield* TicketGuards,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return TicketStatuses.of({
    list: list(dependencies),
    create: create(dependencies),
    update: update(dependencies),
    delete: remove(dependencies),
    reorder: reorder(dependencies)
  })
}

/** All statuses of a team or, where the team is null, of the template. */
interface Board {
  readonly team: TeamRow | null
  readonly statuses: ReadonlyArray<TicketStatusRow>
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("TicketStatuses.list")(function* (team?: string) {
    const by = yield* anyRole
    if (team === undefined) return presentAll(yield* repo.list(by.workspace.id, null))
    const statuses = yield* repo.listOfTeam(viewerOf(by), team)
    return statuses.length === 0 ? yield* NotFound.reference("team", team) : presentAll(statuses)
  })

const create = (dependencies: Dependencies) => {
  const { events, nextId, repo, storage } = dependencies
  return Effect.fn("TicketStatuses.create")(function* (input: CreateTicketStatus) {
    const by = yield* atLeast("admin")
    const created = Effect.gen(function* () {
      const board = yield* lockBoard(dependencies, by, input.team ?? null)
      if (board === undefined) return yield* NotFound.reference("team", input.team ?? undefined)
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
      return present(status)
    })
    return yield* storage
      .transaction(created)
      .pipe(Effect.catchTag("UniqueViolation", () => Effect.fail(Conflict.nameInUse(input.name))))
  })
}

const update = (dependencies: Dependencies) => {
  const { events, filters, repo, storage } = dependencies
  return Effect.fn("TicketStatuses.update")(function* (id: string, input: UpdateTicketStatus) {
    const by = yield* atLeast("admin")
    const updated = Effect.gen(function* () {
      const board = yield* lockStatus(dependencies, by, id)
      const before = board.status
      const changed = { ...before, ...input }
      const changes = changesBetween(before, changed, "name", "isDefault")
      if (changes.length === 0) return present(before)
      if (changed.isDefault && !canBeDefault(before.category)) return yield* categoryCannotBeDefault
      const updatedAt = yield* nextUpdate(before)
      const after = { ...changed, updatedAt }
      const formerDefaults = changed.isDefault
        ? board.statuses
            .filter((status) => status.isDefault && status.id !== before.id)
            .map((status) => ({ ...status, isDefault: false, updatedAt }))
        : []
      yield* repo.update([...formerDefaults, after])
      if (board.team !== null && after.name !== before.name) {
        yield* filters.renamed({ ...before, teamId: board.team.id }, after.name)
      }
      yield* events.record(by, { kind: "status_updated", ...about(board, after), changes })
      return present(after)
    })
    return yield* storage
      .transaction(updated)
      .pipe(Effect.catchTag("UniqueViolation", () => Effect.fail(Conflict.nameInUse(input.name ?? ""))))
  })
}

const remove = (dependencies: Dependencies) => {
  const { events, filters, guards, repo, storage } = dependencies
  return Effect.fn("TicketStatuses.delete")(function* (id: string, moveTo?: string) {
    const by = yield* atLeast("admin")
    const deleted = Effect.gen(function* () {
      const board = yield* lockStatus(dependencies, by, id)
      const { status } = board
      const target = moveTo === undefined ? undefined : board.statuses.find((other) => other.id === moveTo)
      if (moveTo !== undefined && target === undefined) return yield* NotFound.reference("moveTo", moveTo)
      if (target?.id === status.id) {
        return yield* InvalidInput.at("moveTo", "Expected a status other than the one that is deleted")
      }
      if (status.isDefault) return yield* cannotDeleteDefault
      if (ofCategory(board.statuses, status.category).length === 1) return yield* lastInCategory
      if (target !== undefined) {
        if (target.category !== status.category) yield* guards.moving(by, status.id, target)
        yield* repo.moveTickets(status, target, timestamp(yield* Clock.currentTimeMillis))
      } else if (yield* repo.hasTickets(status)) {
        return yield* hasTickets
      }
      yield* repo.delete(status.id)
      if (board.team !== null) yield* filters.deleted({ ...status, teamId: board.team.id })
      yield* events.record(by, {
        kind: "status_deleted",
        ...about(board, status),
        changes: target === undefined ? [] : [{ field: "tickets", from: status.name, to: target.name }]
      })
    })
    yield* storage.transaction(deleted)
  })
}

const reorder = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  return Effect.fn("TicketStatuses.reorder")(function* (id: string, place: ReorderTicketStatus) {
    const by = yield* atLeast("admin")
    const reordered = Effect.gen(function* () {
      const board = yield* lockStatus(dependencies, by, id)
      const { status } = board
      const [field, ref] =
        place.before === undefined ? (["after", place.after ?? null] as const) : (["before", place.before] as const)
      const beside = ref === null ? undefined : board.statuses.find((other) => other.id === ref)
      if (ref !== null && beside === undefined) return yield* NotFound.reference(field, ref, "ticket status")
      if (beside?.id === status.id) return yield* InvalidInput.at(field, "A status cannot go beside itself.")
      if (beside !== undefined && beside.category !== status.category) return yield* otherCategory
      const inOrder = ofCategory(board.statuses, status.category)
      const others = inOrder.filter((other) => other.id !== status.id)
      const at = beside === undefined ? 0 : others.indexOf(beside) + (field === "after" ? 1 : 0)
      const wanted = others.toSpliced(at, 0, status)
      if (wanted.every((other, i) => other === inOrder[i])) return presentAll(board.statuses)
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
      return presentAll(board.statuses.map((other) => byId.get(other.id) ?? other))
    })
    return yield* storage.transaction(reordered).pipe(Effect.catchTag("UniqueViolation", Effect.die))
  })
}

/** Locks the statuses of a team or, without a key, of the template. Undefined where the caller sees no such team. */
const lockBoard = Effect.fnUntraced(function* (
  { repo, teams, workspaces }: Dependencies,
  by: Access,
  teamKey: string | null
) {
  const team = teamKey === null ? null : yield* teams.lock(viewerOf(by), teamKey)
  if (team === undefined) return undefined
  if (team === null) yield* workspaces.lock(by.workspace.id)
  const board: Board = { team, statuses: yield* repo.list(by.workspace.id, team?.id ?? null) }
  return board
})

/** Locks a status with its board. */
const lockStatus = Effect.fnUntraced(function* (dependencies: Dependencies, by: Access, id: string) {
  const found = yield* dependencies.repo.find(viewerOf(by), id)
  const board = found && (yield* lockBoard(dependencies, by, found.teamKey))
  const status = board?.statuses.find((status) => status.id === id)
  if (board === undefined || status === undefined) return yield* NotFound.of("ticket status", id)
  return { ...board, status }
})

const ofCategory = (statuses: ReadonlyArray<TicketStatusRow>, category: StatusCategory) =>
  statuses.filter((status) => status.category === category).toSorted(inBoardOrder)

const categoryCannotBeDefault = new Conflict({
  message: "Only a backlog or unstarted status can be the default.",
  reason: "category_cannot_be_default"
})

const cannotDeleteDefault = new Conflict({
  message: "The default status cannot be deleted. Make another one the default first.",
  reason: "is_default"
})

const lastInCategory = new Conflict({
  message: "Every category keeps at least one status.",
  reason: "last_in_category"
})

const hasTickets = new Conflict({
  message: "Tickets have this status. Use moveTo to name the status that they get.",
  reason: "has_tickets"
})

const otherCategory = new Conflict({
  message: "A status can be ordered only within its category.",
  reason: "other_category"
})

/** The subject of an event about a status, and the team that decides who sees the event. */
const about = ({ team }: Board, status: TicketStatusRow) => ({
  subject: {
    type: "status",
    id: status.id,
    label: status.name,
    path: team === null ? "settings/ticket-statuses" : `teams/${team.key}/ticket-statuses`
  },
  ...(team === null ? {} : { teams: [team.id] })
})

const present = ({ category, id, isDefault, name, position }: TicketStatusRow): TicketStatus => ({
  id,
  name,
  category,
  position,
  isDefault
})

const presentAll = (statuses: ReadonlyArray<TicketStatusRow>) => statuses.map(present).toSorted(inBoardOrder)
