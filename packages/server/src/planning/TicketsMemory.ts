import type {
  AgentId,
  MilestoneId,
  PersonId,
  ProductId,
  ProjectId,
  TagId,
  TeamId,
  TicketId,
  WorkspaceId
} from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { maxListedDescription, ticketIdentifier } from "@delivery/domain/planning/Ticket"
import { maxFound, wordsOf } from "@delivery/domain/planning/TicketSearch"
import { firstCharacters } from "@delivery/domain/Text"
import type { TeamRef } from "@delivery/domain/planning/Team"
import { Clock, Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { storeEvent, type StoredEvent } from "../events/EventsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { deleteAttachmentsInMemory } from "./AttachmentsMemory.ts"
import { deleteCommentInMemory } from "./CommentsMemory.ts"
import { comments } from "./CommentsRepo.ts"
import { findMilestoneInMemory } from "./MilestonesMemory.ts"
import { milestones } from "./MilestonesRepo.ts"
import { projectLinkKey, projects, projectTeams } from "./ProjectsRepo.ts"
import { inOrder, nearest, rankedList } from "./RankedListMemory.ts"
import { tags } from "./TagsRepo.ts"
import { teams } from "./TeamsRepo.ts"
import { findCandidateInMemory, ownerOf, ownerRefOf, resolvedOwner } from "./TicketOwners.ts"
import { ticketNotifications } from "./TicketNotificationsRepo.ts"
import { findTicketInMemory } from "./TicketRefs.ts"
import {
  type LockedProject,
  type ListedTicket,
  type MilestonePart,
  type OwnerRef,
  type ProjectPart,
  type TagPart,
  type TicketDetails,
  ticketIdentifiers,
  type TicketPlace,
  type TicketRow,
  tickets,
  type TicketSelection,
  TicketsRepo,
  ticketTags,
  wholeSelection
} from "./TicketsRepo.ts"
import { ticketStatuses } from "./TicketStatusesRepo.ts"
import { ticketTexts } from "./TicketTextsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesProjectInMemory, seesTeamInMemory } from "./Visibility.ts"

export const layer = Layer.effect(
  TicketsRepo,
  Effect.map(MemoryStorage, (memory) =>
    TicketsRepo.of({
      list: list(memory),
      search: search(memory),
      wordTickets: Effect.succeed(false),
      wordComments: Effect.succeed(false),
      find: find(memory),
      locate: locate(memory),
      lockTeams: lockTeams(memory),
      findProject: findProject(memory),
      findMilestone: findMilestone(memory),
      lockProject: findProject(memory),
      lock: lock(memory),
      resolve: resolve(memory),
      findOwner: findOwner(memory),
      takeNumber: takeNumber(memory),
      insert: (ticket, tagIds, event) => put(memory, ticket, tagIds, [event]),
      update: (ticket, tagIds, events) => put(memory, ticket, tagIds, events),
      delete: remove(memory),
      orderOf: orderOf(memory),
      inStatus: inStatus(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]
type Repo = TicketsRepo["Service"]

const list = (memory: Memory) => (viewer: Viewer, selection: TicketSelection) =>
  memory.read((database) =>
    database
      .table(tickets)
      .filter((ticket) => ticket.workspaceId === viewer.workspaceId && seesTicket(database, viewer, ticket))
      .filter(isSelected(database, selection))
      .map(detailsIn(database))
      .map(listedPart)
  )

const listedPart = ({ description, plan: _, ...listed }: TicketDetails): ListedTicket => ({
  ...listed,
  description: description && firstCharacters(description, maxListedDescription + 1)
})

const search =
  (memory: Memory): Repo["search"] =>
  (viewer, { identifier, words }, selection) =>
    memory.read((database) => {
      const named = identifier === undefined ? undefined : findTicketInMemory(database, viewer, identifier)
      const hasAll = (held: ReadonlyArray<string>) =>
        words.every((word) => held.some((other) => other.startsWith(word)))
      const commented = new Set(
        database
          .table(comments)
          .filter(({ body, workspaceId }) => workspaceId === viewer.workspaceId && hasAll(wordsOf(body)))
          .map(({ ticketId }) => ticketId)
      )
      const placeOf = (ticket: TicketRow): number => {
        if (ticket.id === named?.id) return 0
        const { key } = database.table(teams).get(ticket.teamId)!
        const title = [...wordsOf(ticketIdentifier(key, ticket.number)), ...wordsOf(ticket.title)]
        if (hasAll(title)) return 1
        if (hasAll([...title, ...wordsOf(ticket.description ?? "")])) return 2
        return commented.has(ticket.id) ? 3 : 4
      }
      return database
        .table(tickets)
        .filter((ticket) => ticket.workspaceId === viewer.workspaceId && seesTicket(database, viewer, ticket))
        .filter(isSelected(database, selection))
        .map((ticket) => ({ ticket, place: placeOf(ticket) }))
        .filter(({ place }) => place < 4)
        .toSorted(
          (a, b) =>
            a.place - b.place || compare(b.ticket.updatedAt, a.ticket.updatedAt) || compare(b.ticket.id, a.ticket.id)
        )
        .slice(0, maxFound)
        .map(({ ticket }) => listedPart(detailsIn(database)(ticket)))
    })

const seesTicket = (database: MemoryDatabase, viewer: Viewer, { teamId }: TicketRow): boolean =>
  seesTeamInMemory(database, viewer, database.table(teams).get(teamId)!)

const isSelected = (database: MemoryDatabase, selection: TicketSelection) => {
  const { categories, milestoneIds, owners, projectIds, statusIds, tagIds, teamIds } = wholeSelection(selection)
  const isOneOf = <A>(selected: ReadonlyArray<A>, value: A) => selected.length === 0 || selected.includes(value)
  const tagged = database.table(ticketTags)
  const statuses = database.table(ticketStatuses)
  return (ticket: TicketRow): boolean =>
    isOneOf(teamIds, ticket.teamId) &&
    isOneOf<ProjectId | null>(projectIds, ticket.projectId) &&
    isOneOf<MilestoneId | null>(milestoneIds, ticket.milestoneId) &&
    isOneOf(statusIds, ticket.statusId) &&
    isOneOf(categories, statuses.get(ticket.statusId)!.category) &&
    isOneOf<PersonId | AgentId | null>(owners, ticket.ownerId) &&
    (tagIds.length === 0 || tagIds.some((tagId) => tagged.get(`${ticket.id}/${tagId}`) !== undefined))
}

const find =
  (memory: Memory): Repo["find"] =>
  (viewer, ref) =>
    memory.read((database) => {
      const ticket = findTicketInMemory(database, viewer, ref)
      return ticket && detailsIn(database)(ticket)
    })

const locate =
  (memory: Memory): Repo["locate"] =>
  (viewer, ref) =>
    memory.read((database) => {
      const ticket = findTicketInMemory(database, viewer, ref)
      return ticket && placeOf(ticket)
    })

const lock = (memory: Memory) => (id: TicketId) =>
  memory.read((database) => {
    const ticket = database.table(tickets).get(id)
    return ticket && placeOf(ticket)
  })

const placeOf = ({ id, projectId, teamId }: TicketRow): TicketPlace => ({ id, teamId, projectId })

const lockTeams =
  (memory: Memory): Repo["lockTeams"] =>
  (ids) =>
    memory.read((database) => {
      const rows = database.table(teams)
      return new Map(
        ids.map((id) => {
          const team = rows.get(id)!
          return [id, { ...teamPart(team), archived: team.archivedAt !== null }]
        })
      )
    })

const findProject = (memory: Memory) => (viewer: Viewer, ref: string) =>
  memory.read((database): LockedProject | undefined => {
    const found = database
      .table(projects)
      .find((project) => project.workspaceId === viewer.workspaceId && [project.id, project.slug].includes(ref))
    return found !== undefined && seesProjectInMemory(database, viewer, found.id)
      ? { ...projectPart(found), archived: found.archivedAt !== null }
      : undefined
  })

const findMilestone =
  (memory: Memory): Repo["findMilestone"] =>
  (viewer, ref) =>
    memory.read((database) => findMilestoneInMemory(database, viewer, ref)?.id)

const resolve =
  (memory: Memory): Repo["resolve"] =>
  ({ milestone, owner, projectId, tags: tagRefs = [], teamId, workspaceId }) =>
    memory.read((database) => {
      const candidate = owner === undefined ? undefined : findCandidateInMemory(database, workspaceId, owner, teamId)
      return {
        statuses: database
          .table(ticketStatuses)
          .filter((status) => status.workspaceId === workspaceId && status.teamId === teamId)
          .map(({ category, id, isDefault, name, position }) => ({ id, name, category, position, isDefault })),
        lastRank: inOrder(database, tickets, isIn(teamId)).at(-1)?.rank ?? null,
        owner: candidate && resolvedOwner(candidate),
        isLinked:
          projectId !== undefined && database.table(projectTeams).get(projectLinkKey(projectId, teamId)) !== undefined,
        milestone: database
          .table(milestones)
          .filter((row) => row.projectId === projectId && row.number === milestone)
          .map(milestonePart)[0],
        tags: database
          .table(tags)
          .filter(
            (tag) =>
              tag.workspaceId === workspaceId &&
              tagRefs.includes(tag.id) &&
              (tag.teamId === null || tag.teamId === teamId)
          )
          .map(tagPart)
      }
    })

const findOwner = (memory: Memory) => (workspaceId: WorkspaceId, ref: string) =>
  memory.read((database) => {
    const candidate = findCandidateInMemory(database, workspaceId, ref, null)
    return candidate && ownerRefOf(candidate)
  })

const takeNumber = (memory: Memory) => (teamId: TeamId) =>
  memory.write((database) =>
    Effect.sync(() => {
      const team = database.table(teams).get(teamId)!
      const number = team.lastTicketNumber + 1
      database.table(teams).set(teamId, { ...team, lastTicketNumber: number })
      return number
    })
  )

const put = (
  memory: Memory,
  ticket: TicketRow,
  tagIds: ReadonlyArray<TagId> | undefined,
  events: ReadonlyArray<StoredEvent>
) =>
  memory.write((database) =>
    Effect.sync(() => {
      const { id: ticketId, number, teamId, workspaceId } = ticket
      database.table(tickets).set(ticketId, ticket)
      database.table(ticketIdentifiers).set(`${teamId}/${number}`, { workspaceId, teamId, number, ticketId })
      for (const event of events) storeEvent(database, event)
      if (tagIds === undefined) return
      const rows = database.table(ticketTags)
      rows.deleteWhere((row) => row.ticketId === ticketId)
      for (const tagId of tagIds) rows.set(`${ticketId}/${tagId}`, { workspaceId, ticketId, tagId })
    })
  )

const remove = (memory: Memory) => (id: TicketId, event: StoredEvent) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    memory.write((database) => Effect.sync(() => removeIn(database, now, id, event)))
  )

const removeIn = (database: MemoryDatabase, now: number, id: TicketId, event: StoredEvent): void => {
  const identifiers = database.table(ticketIdentifiers)
  for (const { number, teamId } of identifiers.filter(({ ticketId }) => ticketId === id)) {
    identifiers.delete(`${teamId}/${number}`)
  }
  const tagged = database.table(ticketTags)
  for (const { tagId } of tagged.filter(({ ticketId }) => ticketId === id)) tagged.delete(`${id}/${tagId}`)
  for (const comment of database.table(comments).filter(({ ticketId }) => ticketId === id)) {
    deleteCommentInMemory(database, comment.id)
  }
  deleteAttachmentsInMemory(database, now, id)
  database.table(ticketNotifications).deleteWhere(({ ticketId }) => ticketId === id)
  database.table(ticketTexts).deleteWhere(({ ticketId }) => ticketId === id)
  database.table(tickets).delete(id)
  storeEvent(database, event)
}

const isIn =
  (teamId: TeamId) =>
  (ticket: TicketRow): boolean =>
    ticket.teamId === teamId

const orderOf =
  (memory: Memory): Repo["orderOf"] =>
  ({ id: teamId }) =>
    rankedList(memory, tickets, isIn(teamId))

const inStatus =
  (memory: Memory): Repo["inStatus"] =>
  ({ statusId, teamId }, side, rank, except) =>
    memory.read((database) => {
      const others = inOrder(
        database,
        tickets,
        (ticket) => isIn(teamId)(ticket) && ticket.statusId === statusId && ticket.id !== except
      )
      const found = nearest(others, side, rank)
      return found && { id: found.id, rank: found.rank }
    })

const teamPart = ({ id, key, name, visibility }: TeamRef): TeamRef => ({ id, key, name, visibility })
const projectPart = ({ id, name, slug }: ProjectPart): ProjectPart => ({ id, slug, name })
const milestonePart = ({ id, name, number }: MilestonePart): MilestonePart => ({ id, number, name })
const tagPart = ({ color, id, name, teamId }: TagPart): TagPart => ({ id, name, color, teamId })

/** Adds the details of answers to rows. Comments and tags are grouped once, for all rows of a list. */
const detailsIn = (database: MemoryDatabase) => {
  const commentsOf = Map.groupBy(database.table(comments).values(), ({ ticketId }) => ticketId)
  const tagsOf = Map.groupBy(database.table(ticketTags).values(), ({ ticketId }) => ticketId)
  const slugOf = ({ productId }: { readonly productId: ProductId }) => database.table(products).get(productId)!.slug
  return (ticket: TicketRow): TicketDetails => {
    const status = database.table(ticketStatuses).get(ticket.statusId)!
    const project = ticket.projectId && database.table(projects).get(ticket.projectId)
    const milestone = ticket.milestoneId && database.table(milestones).get(ticket.milestoneId)
    const owner = { kind: ticket.ownerKind, id: ticket.ownerId } as OwnerRef
    const creator = { kind: ticket.creatorKind, id: ticket.creatorId } as ActorRef
    return {
      id: ticket.id,
      number: ticket.number,
      title: ticket.title,
      description: ticket.description,
      plan: ticket.plan,
      team: teamPart(database.table(teams).get(ticket.teamId)!),
      status: { id: status.id, name: status.name, category: status.category, position: status.position },
      rank: ticket.rank,
      owner: ticket.ownerKind === null ? null : ownerOf(resolveActor(database, owner)),
      project: project ? projectPart(project) : null,
      milestone: milestone ? milestonePart(milestone) : null,
      tags: (tagsOf.get(ticket.id) ?? []).map(({ tagId }) => tagPart(database.table(tags).get(tagId)!)),
      cases: ticket.cases && { ...ticket.cases, product: slugOf(ticket.cases) },
      mute: ticket.mute && { ...ticket.mute, product: slugOf(ticket.mute) },
      completion: ticket.completion,
      passes: ticket.passes,
      pastOwners: ticket.pastOwners,
      blocks: ticket.blocks,
      commentCount: commentsOf.get(ticket.id)?.length ?? 0,
      creator,
      createdBy: resolveActor(database, creator),
      startedAt: ticket.startedAt,
      completedAt: ticket.completedAt,
      canceledAt: ticket.canceledAt,
      createdAt: ticket.createdAt,
      updatedAt: ticket.updatedAt
    }
  }
}
