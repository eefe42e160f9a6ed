import type { Change } from "@delivery/domain/events/Event"
import { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { Caller, Principal } from "@delivery/domain/identity/Authorization"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { AgentId, PersonId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import type { Place } from "@delivery/domain/planning/Reorder"
import { datesInCategory } from "@delivery/domain/planning/StatusTimes"
import {
  compareTickets,
  type CreateTicket,
  type Ticket,
  type TicketSummary,
  type UpdateTicket
} from "@delivery/domain/planning/Ticket"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Settings } from "../Config.ts"
import { nextId } from "../ids/NextId.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { type Access, type ActorRef, anyRole, atLeast, isSameActor } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { rankAt } from "./RankedList.ts"
import { rankBetween } from "./Ranks.ts"
import { TeamsRepo } from "./TeamsRepo.ts"
import { identifierOf } from "./TicketRefs.ts"
import {
  type ResolvedReferences,
  type HeldProject,
  type HeldTeam,
  type ListedTicket,
  type TicketDetails,
  type TagPart,
  type TeamStatus,
  type TicketPlace,
  type TicketRow,
  type TicketSelection,
  TicketsRepo
} from "./TicketsRepo.ts"
import { type Viewer, viewerOf } from "./Visibility.ts"

/** Which tickets a list holds, as its query says it. */
export interface TicketFilter {
  readonly team?: string | undefined
  readonly project?: string | undefined
  /** The id or email address of a member, the id of an agent, `me` or `none`. */
  readonly owner?: string | undefined
  readonly category?: StatusCategory | undefined
}

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

/** Tickets (service document, Pagination rules; contract, section 8). */
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
    readonly update: (
      ticket: string,
      input: UpdateTicket
    ) => Effect.Effect<Ticket, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly delete: (ticket: string) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    readonly reorder: (
      ticket: string,
      place: Place
    ) => Effect.Effect<Ticket, InvalidInput | NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/planning/Tickets") {
  static readonly layer = Layer.effect(
    Tickets,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { baseUrl } = yield* Settings
      const storage = yield* Storage
      const repo = yield* TicketsRepo
      const teams = yield* TeamsRepo
      const events = yield* Events

      const summary = ({ workspace }: Access, ticket: ListedTicket): TicketSummary => {
        const identifier = identifierOf(ticket)
        const { category, id, name } = ticket.status
        return {
          id: ticket.id,
          identifier,
          number: ticket.number,
          url: `${baseUrl}/w/${workspace.slug}/${ticketPath(ticket)}`,
          title: ticket.title,
          description: ticket.description,
          team: ticket.team,
          status: { id, name, category },
          rank: ticket.rank,
          owner: ticket.owner,
          project: ticket.project,
          milestone: ticket.milestone && { number: ticket.milestone.number, name: ticket.milestone.name },
          tags: ticket.tags.toSorted(byName).map(({ color, id, name }) => ({ id, name, color })),
          commentCount: ticket.commentCount,
          createdBy: ticket.createdBy,
          startedAt: ticket.startedAt,
          completedAt: ticket.completedAt,
          canceledAt: ticket.canceledAt,
          createdAt: ticket.createdAt,
          updatedAt: ticket.updatedAt
        }
      }
      const shown = (access: Access, ticket: TicketDetails): Ticket => ({
        ...summary(access, ticket),
        plan: ticket.plan
      })

      const seenTeam = Effect.fnUntraced(function* (viewer: Viewer, key: string) {
        return (yield* teams.find(viewer, key)) ?? (yield* NotFound.reference("team"))
      })

      /** The ticket of a path, where it is now. */
      const locate = Effect.fnUntraced(function* (viewer: Viewer, ref: string) {
        return (yield* repo.locate(viewer, ref)) ?? (yield* NotFound.of("ticket"))
      })

      /** The ticket that the transaction holds. */
      const held = Effect.fnUntraced(function* (viewer: Viewer, id: TicketId) {
        return (yield* repo.find(viewer, id)) ?? (yield* NotFound.of("ticket"))
      })

      /** Who the `owner` of a filter means: nobody where an account key asks for its own. */
      const ownersOf = Effect.fnUntraced(function* ({ principal, workspace }: Access, owner: string) {
        if (owner === "none") return [null]
        if (owner === "me") return ownIds(principal)
        return [((yield* repo.findOwner(workspace.id, owner)) ?? (yield* NotFound.reference("owner"))).id]
      })

      const matching: Tickets["Service"]["matching"] = Effect.fnUntraced(function* (access, selection) {
        const found = yield* repo.list(viewerOf(access), selection)
        return found.toSorted(compareTickets).map((ticket) => summary(access, ticket))
      })

      /** Locks are taken by where a ticket is; where it went elsewhere meanwhile, the attempt is undefined. */
      const settled = <A, E, R>(attempt: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
        Effect.flatMap(storage.transaction(attempt), (outcome) =>
          outcome === undefined ? settled(attempt) : Effect.succeed(outcome)
        )

      const update = Effect.fnUntraced(function* (by: Access, viewer: Viewer, ref: string, input: UpdateTicket) {
        const place = yield* locate(viewer, ref)
        const target = input.team === undefined ? place.teamId : (yield* seenTeam(viewer, input.team)).id
        const isMoved = target !== place.teamId
        const heldTeams = yield* repo.holdTeams([...new Set([place.teamId, target])], isMoved ? "alone" : "shared")
        const team = heldTeams.get(target)!
        const isOfProject = isMoved || (input.milestone ?? null) !== null
        const projectRef = input.project === undefined ? (isOfProject ? place.projectId : null) : input.project
        const project = projectRef === null ? null : yield* repo.holdProject(viewer, projectRef)
        if (project === undefined) return input.project === undefined ? undefined : yield* NotFound.reference("project")
        const now = yield* repo.lock(place.id)
        if (now === undefined) return yield* NotFound.of("ticket")
        if (!isSamePlace(place, now)) return undefined
        const before = yield* held(viewer, place.id)

        const found = yield* repo.resolve({
          workspaceId: viewer.workspaceId,
          teamId: team.id,
          owner: input.owner ?? (isMoved && input.owner === undefined ? before.owner?.id : undefined),
          projectId: project?.id,
          milestone: input.milestone ?? undefined,
          tags: input.tags
        })
        const named = yield* namedBy(input, found, project)
        const isOtherProject = input.project !== undefined && (project?.id ?? null) !== (before.project?.id ?? null)
        const after: TicketDetails = {
          ...before,
          ...fieldsOf(input, before),
          team: teamPart(team),
          status: named.status ?? (isMoved ? firstOf(found.statuses, before.status.category) : before.status),
          owner: named.owner === undefined ? before.owner : named.owner,
          project: input.project === undefined ? before.project : project && projectPart(project),
          milestone: named.milestone === undefined ? (isOtherProject ? null : before.milestone) : named.milestone,
          tags: named.tags ?? (isMoved ? before.tags.filter(({ teamId }) => teamId === null) : before.tags)
        }
        const changes = changesOf(before, after)
        if (changes.length === 0) return shown(by, before)

        if ([...heldTeams.values()].some(({ archived }) => archived)) return yield* archived("team")
        const changed = new Set(changes.map(({ field }) => field))
        if (project !== null && (isMoved || changed.has("project") || changed.has("milestone"))) {
          yield* checkProject(project, found)
        }
        if (after.owner !== null && (isMoved || changed.has("owner"))) {
          yield* checkOwner(team, found, changed.has("owner"))
        }
        const at = yield* nextUpdate(before)
        const stored: TicketDetails = {
          ...after,
          ...datesInCategory(before, before.status.category, after.status.category, at),
          ...(isMoved ? { number: yield* repo.takeNumber(team.id), rank: rankBetween(found.lastRank, null) } : {}),
          updatedAt: at
        }
        const told = yield* Effect.all(updates(before, stored, changes).map((event) => events.make(by, event)))
        const tagIds = changed.has("tags") ? stored.tags.map(({ id }) => id) : undefined
        yield* repo.update(rowOf(viewer.workspaceId, stored), tagIds, told)
        return shown(by, stored)
      })

      const remove = Effect.fnUntraced(function* (by: Access, viewer: Viewer, ref: string) {
        const place = yield* locate(viewer, ref)
        const team = (yield* repo.holdTeams([place.teamId], "alone")).get(place.teamId)!
        const now = yield* repo.lock(place.id)
        if (now === undefined) return yield* NotFound.of("ticket")
        if (now.teamId !== place.teamId) return undefined
        const ticket = yield* held(viewer, place.id)
        if (!isAnswerableFor(by, ticket.creator, ticket.createdBy)) {
          return yield* new Forbidden({
            message: "Only who created a ticket, an admin or an owner deletes it.",
            reason: "not_creator"
          })
        }
        if (team.archived) return yield* archived("team")
        yield* repo.delete(ticket.id, yield* events.make(by, { kind: "ticket_deleted", ...about(ticket) }))
        return ticket.id
      })

      const reorder = Effect.fnUntraced(function* (by: Access, viewer: Viewer, ref: string, place: Place) {
        const { id, teamId } = yield* locate(viewer, ref)
        const side = place.before === undefined ? "after" : "before"
        const anchorRef = place.before ?? place.after ?? null
        const anchor = anchorRef === null ? null : yield* repo.locate(viewer, anchorRef)
        if (anchor === undefined) return yield* NotFound.reference(side)
        if (anchor?.id === id) return yield* InvalidInput.at(side, "A ticket cannot go beside itself.")
        const team = (yield* repo.holdTeams([teamId], "alone")).get(teamId)!
        const now = yield* repo.lock(id)
        if (now === undefined) return yield* NotFound.of("ticket")
        if (now.teamId !== teamId) return undefined
        const before = yield* held(viewer, id)

        const status = { workspaceId: viewer.workspaceId, teamId, statusId: before.status.id }
        const beside = anchor === null ? null : yield* repo.find(viewer, anchor.id)
        if (beside === undefined) return yield* NotFound.reference(side)
        if (beside !== null && (beside.team.id !== teamId || beside.status.id !== before.status.id)) {
          return yield* new Conflict({
            message: "The two tickets are in different statuses or teams.",
            reason: "other_status"
          })
        }
        // After null: before the first of its status.
        const other = beside ?? (yield* repo.inStatus(status, "above", null, id))
        if (other === undefined) return shown(by, before)
        const goesBefore = beside === null || side === "before"
        const next = yield* repo.inStatus(status, goesBefore ? "below" : "above", other.rank, id)
        if (isBetween(before.rank, goesBefore ? [next, other] : [other, next])) return shown(by, before)
        if (team.archived) return yield* archived("team")

        const order = repo.orderOf({ id: teamId, workspaceId: viewer.workspaceId })
        const rank = yield* rankAt(order, before, goesBefore ? { before: other } : { after: other })
        const after = { ...before, rank, updatedAt: yield* nextUpdate(before) }
        const event = yield* events.make(by, { kind: "ticket_reordered", ...about(after) })
        yield* repo.update(rowOf(viewer.workspaceId, after), undefined, [event])
        return shown(by, after)
      })

      return Tickets.of({
        matching,

        list: Effect.fn("Tickets.list")(function* ({ category, owner, project, team }: TicketFilter) {
          const access = yield* anyRole
          const viewer = viewerOf(access)
          const teamIds = team === undefined ? [] : [(yield* seenTeam(viewer, team)).id]
          const found = project === undefined ? undefined : yield* repo.findProject(viewer, project)
          if (project !== undefined && found === undefined) return yield* NotFound.reference("project")
          const owners = owner === undefined ? undefined : yield* ownersOf(access, owner)
          if (owners?.length === 0) return []
          return yield* matching(access, {
            teamIds,
            projectIds: found === undefined ? [] : [found.id],
            owners: owners ?? [],
            categories: category === undefined ? [] : [category]
          })
        }),

        create: Effect.fn("Tickets.create")(
          function* (input: CreateTicket) {
            const by = yield* atLeast("member")
            const viewer = viewerOf(by)
            return yield* storage.transaction(
              Effect.gen(function* () {
                const { id: teamId } = yield* seenTeam(viewer, input.team)
                const team = (yield* repo.holdTeams([teamId], "alone")).get(teamId)!
                const slug = input.project ?? null
                const project = slug === null ? null : yield* repo.holdProject(viewer, slug)
                if (project === undefined) return yield* NotFound.reference("project")
                const found = yield* repo.resolve({
                  workspaceId: viewer.workspaceId,
                  teamId,
                  owner: input.owner ?? undefined,
                  projectId: project?.id,
                  milestone: input.milestone ?? undefined,
                  tags: input.tags
                })
                const named = yield* namedBy(input, found, project)
                if (team.archived) return yield* archived("team")
                if (project !== null) yield* checkProject(project, found)
                if (named.owner) yield* checkOwner(team, found, true)
                const at = timestamp(yield* Clock.currentTimeMillis)
                const status = named.status ?? found.statuses.find(({ isDefault }) => isDefault)!
                const ticket: TicketDetails = {
                  id: yield* nextId<TicketId>(),
                  number: yield* repo.takeNumber(teamId),
                  title: input.title,
                  description: input.description ?? null,
                  plan: input.plan ?? null,
                  team: teamPart(team),
                  status,
                  rank: rankBetween(found.lastRank, null),
                  owner: named.owner ?? null,
                  project: project && projectPart(project),
                  milestone: named.milestone ?? null,
                  tags: named.tags ?? [],
                  commentCount: 0,
                  creator: by.actor,
                  createdBy: shownActor(by.principal),
                  ...datesInCategory(
                    { startedAt: null, completedAt: null, canceledAt: null },
                    null,
                    status.category,
                    at
                  ),
                  createdAt: at,
                  updatedAt: at
                }
                const event = yield* events.make(by, { kind: "ticket_created", ...about(ticket) })
                const tagIds = ticket.tags.map(({ id }) => id)
                yield* repo.insert(rowOf(viewer.workspaceId, ticket), tagIds, event)
                return shown(by, ticket)
              })
            )
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        get: Effect.fn("Tickets.get")(function* (ref: string) {
          const access = yield* anyRole
          const ticket = yield* repo.find(viewerOf(access), ref)
          return ticket === undefined ? yield* NotFound.of("ticket") : shown(access, ticket)
        }),

        update: Effect.fn("Tickets.update")(function* (ref: string, input: UpdateTicket) {
          const by = yield* atLeast("member")
          return yield* settled(update(by, viewerOf(by), ref, input))
        }),

        delete: Effect.fn("Tickets.delete")(function* (ref: string) {
          const by = yield* atLeast("member")
          yield* settled(remove(by, viewerOf(by), ref))
        }),

        reorder: Effect.fn("Tickets.reorder")(function* (ref: string, place: Place) {
          const by = yield* atLeast("member")
          return yield* settled(reorder(by, viewerOf(by), ref, place))
        })
      })
    })
  )
}

const ticketPath = (ticket: Pick<ListedTicket, "number" | "team">): string => `tickets/${identifierOf(ticket)}`

/** The subject of an event about a ticket, and who sees it. */
export const about = (ticket: Pick<ListedTicket, "id" | "number" | "team" | "title">): Omit<NewEvent, "kind"> => ({
  subject: {
    type: "ticket",
    id: ticket.id,
    label: `${identifierOf(ticket)} ${ticket.title}`,
    path: ticketPath(ticket)
  },
  teams: [ticket.team.id]
})

/** Whether the caller may take back what an actor made: it is their own, their agent's, or they are admin or owner. */
export const isAnswerableFor = (by: Access, actor: ActorRef, shown: Actor): boolean =>
  isSameActor(by.actor, actor) ||
  (by.principal.kind === "user" && shown.kind === "agent" && shown.person.id === by.principal.id) ||
  isAtLeast(by.workspace.role, "admin")

export const archived = (what: string) => new Conflict({ message: `The ${what} is archived.`, reason: "archived" })

const shownActor = (principal: Principal): Actor => {
  switch (principal.kind) {
    case "user":
      return { kind: "user", id: principal.id, name: principal.name, email: principal.email }
    case "agent":
      return { kind: "agent", id: principal.id, name: principal.name, person: principal.person }
    case "apiKey":
      return { kind: "apiKey", id: principal.id, name: principal.name }
  }
}

const isSamePlace = (a: TicketPlace, b: TicketPlace): boolean => a.teamId === b.teamId && a.projectId === b.projectId

const projectPart = ({ id, name, slug }: HeldProject) => ({ id, slug, name })

const teamPart = ({ id, key, name, visibility }: HeldTeam) => ({ id, key, name, visibility })

const rowOf = (workspaceId: WorkspaceId, ticket: TicketDetails): TicketRow => ({
  id: ticket.id,
  workspaceId,
  teamId: ticket.team.id,
  number: ticket.number,
  title: ticket.title,
  description: ticket.description,
  plan: ticket.plan,
  statusId: ticket.status.id,
  rank: ticket.rank,
  ownerKind: ticket.owner?.kind ?? null,
  ownerId: ticket.owner?.id ?? null,
  projectId: ticket.project?.id ?? null,
  milestoneId: ticket.milestone?.id ?? null,
  creatorKind: ticket.creator.kind,
  creatorId: ticket.creator.id,
  startedAt: ticket.startedAt,
  completedAt: ticket.completedAt,
  canceledAt: ticket.canceledAt,
  createdAt: ticket.createdAt,
  updatedAt: ticket.updatedAt
})

const fieldsOf = (input: UpdateTicket, { description, plan, title }: TicketDetails) => ({
  title: input.title ?? title,
  description: input.description === undefined ? description : input.description,
  plan: input.plan === undefined ? plan : input.plan
})

/** Every category keeps at least one status. */
const firstOf = (statuses: ReadonlyArray<TeamStatus>, category: StatusCategory): TeamStatus =>
  statuses.filter((status) => status.category === category).toSorted((a, b) => a.position - b.position)[0]!

/** What a body names beside the team and the project, of what was found; undefined where it names nothing. */
const namedBy = Effect.fnUntraced(function* (
  input: Pick<UpdateTicket, "status" | "owner" | "milestone" | "tags">,
  found: ResolvedReferences,
  project: HeldProject | null
) {
  const status = found.statuses.find(({ id }) => id === input.status)
  if (input.status !== undefined && status === undefined) return yield* NotFound.reference("status")
  if ((input.owner ?? null) !== null && found.owner === undefined) return yield* NotFound.reference("owner")
  if ((input.milestone ?? null) !== null && project !== null && found.milestone === undefined) {
    return yield* NotFound.reference("milestone")
  }
  const tags: Array<TagPart> = []
  for (const id of new Set(input.tags)) {
    tags.push(found.tags.find((tag) => tag.id === id) ?? (yield* NotFound.reference("tags")))
  }
  if ((input.milestone ?? null) !== null && project === null) {
    return yield* InvalidInput.at("milestone", "A milestone needs a project")
  }
  return {
    status,
    owner: input.owner === undefined || input.owner === null ? input.owner : found.owner!.owner,
    milestone: input.milestone === undefined || input.milestone === null ? input.milestone : found.milestone,
    tags: input.tags === undefined ? undefined : tags
  }
})

const checkProject = (project: HeldProject, { isLinked }: ResolvedReferences): Effect.Effect<void, Conflict> => {
  if (project.archived) return Effect.fail(archived("project"))
  return isLinked
    ? Effect.void
    : Effect.fail(
        new Conflict({
          message: "The project is not linked to the ticket's team.",
          reason: "project_not_in_team"
        })
      )
}

const checkOwner = (team: HeldTeam, { owner }: ResolvedReferences, isNew: boolean): Effect.Effect<void, Conflict> => {
  if (isNew && owner?.active === false) {
    return Effect.fail(
      new Conflict({
        message: "The owner is no active member, or an agent that was revoked.",
        reason: "inactive_owner"
      })
    )
  }
  return team.visibility === "open" || owner?.seesPrivateTeam === true
    ? Effect.void
    : Effect.fail(
        new Conflict({
          message: "The owner does not see the ticket's team, which is private.",
          reason: "owner_cannot_see"
        })
      )
}

interface Ranked {
  readonly rank: string
}

const isBetween = (rank: string, [below, above]: readonly [Ranked | undefined, Ranked | undefined]): boolean =>
  (below === undefined || below.rank < rank) && (above === undefined || rank < above.rank)

/** What differs, in words: names of what tickets refer to; texts that may be long are said to have changed. */
const changesOf = (before: TicketDetails, after: TicketDetails): ReadonlyArray<Change> => {
  const names = (tags: ReadonlyArray<TagPart>) =>
    tags.length === 0
      ? null
      : tags
          .toSorted(byName)
          .map(({ name }) => name)
          .join(", ")
  const ids = (tags: ReadonlyArray<TagPart>) =>
    tags
      .map(({ id }) => id)
      .toSorted()
      .join()
  const changes: Array<Change> = []
  const compare = (field: string, a: string | null, b: string | null, from = a, to = b) => {
    if (a !== b) changes.push({ field, from, to })
  }
  compare("title", before.title, after.title)
  compare("description", before.description, after.description, null, "changed")
  compare("plan", before.plan, after.plan, null, "changed")
  compare("team", before.team.id, after.team.id, before.team.name, after.team.name)
  compare("status", before.status.id, after.status.id, before.status.name, after.status.name)
  compare("owner", before.owner?.id ?? null, after.owner?.id ?? null, before.owner?.name, after.owner?.name)
  compare("project", before.project?.id ?? null, after.project?.id ?? null, before.project?.name, after.project?.name)
  compare(
    "milestone",
    before.milestone?.id ?? null,
    after.milestone?.id ?? null,
    before.milestone?.name,
    after.milestone?.name
  )
  compare("tags", ids(before.tags), ids(after.tags), names(before.tags), names(after.tags))
  return changes
}

/**
 * The events of a change. Who sees one of the teams that a ticket moved between learns nothing of the other, where that
 * is private.
 */
const updates = (
  before: TicketDetails,
  after: TicketDetails,
  changes: ReadonlyArray<Change>
): ReadonlyArray<NewEvent> => {
  const kind = "ticket_updated"
  const teams = [...new Set([before.team.id, after.team.id])]
  const isHidden = teams.length > 1 && [before.team, after.team].some(({ visibility }) => visibility === "private")
  if (!isHidden) return [{ kind, ...about(after), changes, teams }]
  const left = { field: "team", from: before.team.name, to: null }
  const entered = { field: "team", from: null, to: after.team.name }
  return [
    after.team.visibility === "open"
      ? { kind, ...about(after), changes, teams: [before.team.id] }
      : { kind, ...about(before), changes: [left] },
    before.team.visibility === "open"
      ? { kind, ...about(after), changes }
      : { kind, ...about(after), changes: [entered] }
  ]
}
