import { Conflict, Forbidden, type InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller, Principal } from "@delivery/domain/identity/Authorization"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { AgentId, PersonId, TicketId } from "@delivery/domain/Ids"
import type { Place } from "@delivery/domain/planning/Reorder"
import { datesInCategory } from "@delivery/domain/planning/StatusTimes"
import {
  compareTickets,
  type CreateTicket,
  parseTicketIdentifier,
  type Ticket,
  type TicketSummary,
  type UpdatedTicket,
  type UpdateTicket,
  type UpdateTickets
} from "@delivery/domain/planning/Ticket"
import { wordsOf } from "@delivery/domain/planning/TicketSearch"
import type { EarlierTexts } from "@delivery/domain/planning/TicketText"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import { Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { rankBetween } from "./Ranks.ts"
import { TeamsRepo } from "./TeamsRepo.ts"
import { TicketGuards } from "./TicketGuards.ts"
import { listed, present, projectPart, rowOf, teamPart } from "./TicketAnswers.ts"
import { about } from "./TicketEvents.ts"
import { reorder } from "./TicketMoves.ts"
import { concernedBy, TicketNotifications } from "./TicketNotifications.ts"
import {
  checkCompletion,
  checkDeleting,
  checkOwner,
  checkPersons,
  checkProject,
  isAnswerableFor,
  referencesOf
} from "./TicketRules.ts"
import { type TicketDetails, type TicketSelection, TicketsRepo } from "./TicketsRepo.ts"
import { type EarlierTextsQuery, history } from "./TicketTexts.ts"
import { TicketTextsRepo } from "./TicketTextsRepo.ts"
import { type Dependencies, findCases, findLocked, findTeam, locate, lock, untilLocked } from "./TicketTransactions.ts"
import { update, updateMany } from "./TicketUpdates.ts"
import { type Viewer, viewerOf } from "./Viewer.ts"

/** The filters of a list of tickets, as in its query. */
export interface TicketFilter {
  /** A team's key. */
  readonly team?: string | undefined
  /** A project's slug or id. */
  readonly project?: string | undefined
  /** A milestone, by the slug of its project and its number, or `none`. */
  readonly milestone?: string | undefined
  /** The id or email address of a member, the id of an agent, `me` or `none`. */
  readonly owner?: string | undefined
  readonly category?: StatusCategory | undefined
  /** Words, or the identifier of a ticket. */
  readonly q?: string | undefined
}

/** Tickets (docs/contract.md, Tickets). */
export class Tickets extends Context.Service<
  Tickets,
  {
    readonly list: (filter: TicketFilter) => Effect.Effect<ReadonlyArray<TicketSummary>, NotFound, Caller>
    /** Those that the caller sees, in the order of lists. */
    readonly matching: (access: Access, selection: TicketSelection) => Effect.Effect<ReadonlyArray<TicketSummary>>
    readonly create: (
      input: CreateTicket
    ) => Effect.Effect<Ticket, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly get: (ticket: string) => Effect.Effect<Ticket, NotFound, Caller>
    /** The texts that it had, a page of them. */
    readonly history: (ticket: string, query: EarlierTextsQuery) => Effect.Effect<EarlierTexts, NotFound, Caller>
    readonly update: (
      ticket: string,
      input: UpdateTicket
    ) => Effect.Effect<Ticket, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    /** What became of each, in their order. */
    readonly updateMany: (
      input: UpdateTickets
    ) => Effect.Effect<ReadonlyArray<UpdatedTicket>, InvalidInput | NotFound | Forbidden, Caller>
    readonly delete: (ticket: string) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    readonly reorder: (
      ticket: string,
      place: Place
    ) => Effect.Effect<Ticket, InvalidInput | NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/planning/Tickets") {
  static readonly layer = Layer.effect(Tickets, Effect.gen(make))
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* TicketsRepo,
    texts: yield* TicketTextsRepo,
    teams: yield* TeamsRepo,
    products: yield* ProductsRepo,
    guards: yield* TicketGuards,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId,
    notifications: yield* TicketNotifications,
    baseUrl: (yield* Settings).baseUrl
  }
  return Tickets.of({
    list: list(dependencies),
    matching: matching(dependencies),
    create: create(dependencies),
    get: get(dependencies),
    history: history(dependencies),
    update: update(dependencies),
    updateMany: updateMany(dependencies),
    delete: remove(dependencies),
    reorder: reorder(dependencies)
  })
}

const list = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const team = findTeam(dependencies)
  const ownerIds = ownerIdsOf(dependencies)
  const milestonesOf = milestoneIdsOf(dependencies)
  const match = matching(dependencies)
  const find = searching(dependencies)
  return Effect.fn("Tickets.list")(function* (filter: TicketFilter) {
    const access = yield* anyRole
    const viewer = viewerOf(access)
    const teamIds = filter.team === undefined ? [] : [(yield* team(viewer, filter.team)).id]
    const project = filter.project === undefined ? undefined : yield* repo.findProject(viewer, filter.project)
    if (filter.project !== undefined && project === undefined) {
      return yield* NotFound.reference("project", filter.project)
    }
    const milestoneIds = filter.milestone === undefined ? [] : yield* milestonesOf(viewer, filter.milestone)
    const owners = filter.owner === undefined ? undefined : yield* ownerIds(access, filter.owner)
    if (owners?.length === 0) return []
    const selection: TicketSelection = {
      teamIds,
      projectIds: project === undefined ? [] : [project.id],
      milestoneIds,
      owners: owners ?? [],
      categories: filter.category === undefined ? [] : [filter.category]
    }
    return yield* filter.q === undefined ? match(access, selection) : find(access, filter.q, selection)
  })
}

/** The selected tickets that the caller sees and that a search finds. */
const searching = ({ baseUrl, repo }: Dependencies) =>
  Effect.fnUntraced(function* (access: Access, q: string, selection: TicketSelection) {
    const words = wordsOf(q)
    if (words.length === 0) return []
    const identifier = parseTicketIdentifier(q.trim()) === undefined ? undefined : q.trim()
    const found = yield* repo.search(viewerOf(access), { words, identifier }, selection)
    return found.map((ticket) => listed(baseUrl, access, ticket))
  })

/** What the `milestone` of a filter means. */
const milestoneIdsOf = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (viewer: Viewer, milestone: string) {
    if (milestone === "none") return [null]
    return [(yield* repo.findMilestone(viewer, milestone)) ?? (yield* NotFound.reference("milestone", milestone))]
  })

/** Whom the `owner` of a filter means: nobody where an account key asks for its own. */
const ownerIdsOf = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* ({ principal, workspace }: Access, owner: string) {
    if (owner === "none") return [null]
    if (owner === "me") return ownIds(principal)
    return [((yield* repo.findOwner(workspace.id, owner)) ?? (yield* NotFound.reference("owner", owner))).id]
  })

/** Which owners of tickets are `me`: none for an account key, which owns nothing. */
export const ownIds = (principal: Principal): ReadonlyArray<PersonId | AgentId> => {
  switch (principal.kind) {
    case "user":
      return [principal.id]
    case "agent":
      return [principal.id, principal.person.id]
    case "apiKey":
      return []
  }
}

const matching = ({ baseUrl, repo }: Dependencies): Tickets["Service"]["matching"] =>
  Effect.fnUntraced(function* (access, selection) {
    const found = yield* repo.list(viewerOf(access), selection)
    return found.toSorted(compareTickets).map((ticket) => listed(baseUrl, access, ticket))
  })

const create = (dependencies: Dependencies) => {
  const { baseUrl, events, guards, notifications, repo, storage } = dependencies
  const prepare = newTicket(dependencies)
  return Effect.fn("Tickets.create")(function* (input: CreateTicket) {
    const by = yield* atLeast("member")
    yield* checkPersons(by, input)
    const created = Effect.gen(function* () {
      const { ticket } = yield* guards.changing(by, {
        before: undefined,
        after: yield* prepare(by, input),
        override: undefined
      })
      const event = yield* events.make(by, { kind: "ticket_created", ...about(ticket) })
      const tagIds = ticket.tags.map(({ id }) => id)
      yield* repo.insert(rowOf(by.workspace.id, ticket), tagIds, event)
      yield* notifications.notify(by, ticket, concernedBy(undefined, ticket))
      return present(baseUrl, by, ticket)
    })
    return yield* storage.transaction(created)
  })
}

/** The new ticket of a body, last in its team, which the transaction has locked. */
const newTicket = (dependencies: Dependencies) => {
  const { nextId, repo } = dependencies
  const findTeamByKey = findTeam(dependencies)
  const findCasesOf = findCases(dependencies)
  return Effect.fnUntraced(function* (by: Access, input: CreateTicket) {
    const viewer = viewerOf(by)
    const { id: teamId } = yield* findTeamByKey(viewer, input.team)
    const team = (yield* repo.lockTeams([teamId], "exclusive")).get(teamId)!
    const projectRef = input.project ?? null
    const project = projectRef === null ? null : yield* repo.lockProject(viewer, projectRef)
    if (project === undefined) return yield* NotFound.reference("project", input.project ?? undefined)
    const resolved = yield* repo.resolve({
      workspaceId: viewer.workspaceId,
      teamId,
      owner: input.owner ?? undefined,
      projectId: project?.id,
      milestone: input.milestone ?? undefined,
      tags: input.tags
    })
    const references = yield* referencesOf(input, resolved, project)
    const cases = yield* findCasesOf(viewer, input.cases)
    yield* checkCompletion({ cases: cases ?? null, completion: input.completion ?? "free" })
    if (team.archived) return yield* Conflict.archived("team")
    if (project !== null) yield* checkProject(project, resolved)
    if (references.owner) yield* checkOwner(team, resolved, true)
    const at = timestamp(yield* Clock.currentTimeMillis)
    const status = references.status ?? resolved.statuses.find(({ isDefault }) => isDefault)!
    const ticket: TicketDetails = {
      id: yield* nextId<TicketId>(),
      number: yield* repo.takeNumber(teamId),
      title: input.title,
      description: input.description ?? null,
      plan: input.plan ?? null,
      team: teamPart(team),
      status,
      rank: rankBetween(resolved.lastRank, null),
      owner: references.owner ?? null,
      project: project && projectPart(project),
      milestone: references.milestone ?? null,
      tags: references.tags ?? [],
      cases: cases ?? null,
      mute: null,
      completion: input.completion ?? "free",
      passes: input.passes ?? 1,
      pastOwners: null,
      blocks: input.blocks ?? false,
      commentCount: 0,
      creator: by.actor,
      createdBy: presentActor(by.principal),
      ...datesInCategory({ startedAt: null, completedAt: null, canceledAt: null }, null, status.category, at),
      createdAt: at,
      updatedAt: at
    }
    return ticket
  })
}

const presentActor = (principal: Principal): Actor => {
  switch (principal.kind) {
    case "user":
      return { kind: "user", id: principal.id, name: principal.name, email: principal.email }
    case "agent":
      return { kind: "agent", id: principal.id, name: principal.name, person: principal.person }
    case "apiKey":
      return { kind: "apiKey", id: principal.id, name: principal.name }
  }
}

const get = ({ baseUrl, repo }: Dependencies) =>
  Effect.fn("Tickets.get")(function* (ref: string) {
    const access = yield* anyRole
    const ticket = yield* repo.find(viewerOf(access), ref)
    return ticket === undefined ? yield* NotFound.of("ticket", ref) : present(baseUrl, access, ticket)
  })

const remove = (dependencies: Dependencies) => {
  const tryDelete = deleteOnce(dependencies)
  const retry = untilLocked(dependencies)
  return Effect.fn("Tickets.delete")(function* (ref: string) {
    const by = yield* atLeast("member")
    yield* retry(tryDelete(by, ref))
  })
}

/** Undefined where the ticket moved to another team before it was locked. */
const deleteOnce = (dependencies: Dependencies) => {
  const { events, guards, repo } = dependencies
  const find = locate(dependencies)
  const lockTicket = lock(dependencies)
  const findTicket = findLocked(dependencies)
  return Effect.fnUntraced(function* (by: Access, ref: string) {
    const viewer = viewerOf(by)
    const place = yield* find(viewer, ref)
    const team = (yield* repo.lockTeams([place.teamId], "exclusive")).get(place.teamId)!
    const now = yield* lockTicket(place.id, ref)
    if (now.teamId !== place.teamId) return undefined
    const ticket = yield* findTicket(viewer, place.id, ref)
    if (!isAnswerableFor(by, ticket.creator, ticket.createdBy)) {
      return yield* new Forbidden({
        message: "Only the creator of a ticket, or an admin or owner of the workspace, can delete it.",
        reason: "not_creator"
      })
    }
    if (team.archived) return yield* Conflict.archived("team")
    yield* checkDeleting(by, ticket)
    yield* Effect.forEach(yield* guards.deleting(by, ticket), (event) => events.record(by, event), { discard: true })
    yield* repo.delete(ticket.id, yield* events.make(by, { kind: "ticket_deleted", ...about(ticket) }))
    return ticket.id
  })
}
