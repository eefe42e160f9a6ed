import type { WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { resolveActor } from "../access/Actors.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { findCandidateInMemory, ownerOf } from "../planning/TicketOwners.ts"
import { teams } from "../planning/TeamsRepo.ts"
import { type OwnerRef, type TicketRow, tickets } from "../planning/TicketsRepo.ts"
import { ticketStatuses } from "../planning/TicketStatusesRepo.ts"
import { seesTeamInMemory } from "../planning/Visibility.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { MutesRepo } from "./MutesRepo.ts"
import { overdueMutes } from "./OverdueMutes.ts"

export const layer = Layer.effect(
  MutesRepo,
  Effect.map(MemoryStorage, (memory) =>
    MutesRepo.of({
      ofProduct: ofProduct(memory),
      countOthers: countOthers(memory),
      list: list(memory),
      over: over(memory),
      isInForce: (id, now) =>
        memory.read((database) => {
          const ticket = database.table(tickets).get(id)
          return ticket !== undefined && inForce(database, ticket, now)
        }),
      ofOwners: ofOwners(memory),
      identifiers: identifiers(memory),
      about: about(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]
type Repo = MutesRepo["Service"]

const isOpen = (database: MemoryDatabase, { statusId }: TicketRow): boolean =>
  !["completed", "canceled"].includes(database.table(ticketStatuses).get(statusId)!.category)

const isOwned = (database: MemoryDatabase, { ownerId, workspaceId }: TicketRow): boolean =>
  ownerId !== null && findCandidateInMemory(database, workspaceId, ownerId, null)?.active === true

const inForce = (database: MemoryDatabase, ticket: TicketRow, now: Timestamp): boolean =>
  ticket.mute !== null && ticket.mute.until > now && isOpen(database, ticket) && isOwned(database, ticket)

const ofProduct =
  (memory: Memory): Repo["ofProduct"] =>
  (workspaceId, productId, now) =>
    memory.read((database) =>
      database
        .table(tickets)
        .filter(
          (ticket) =>
            ticket.workspaceId === workspaceId && ticket.mute?.productId === productId && inForce(database, ticket, now)
        )
        .map(({ id, mute }) => ({ ticketId: id, mute: mute! }))
    )

/** What tickets of a workspace mute, and what is over of it. */
const storedIn = (database: MemoryDatabase, workspaceId: WorkspaceId) => [
  ...database.table(overdueMutes).filter((one) => one.workspaceId === workspaceId),
  ...database
    .table(tickets)
    .filter((ticket) => ticket.workspaceId === workspaceId && ticket.mute !== null)
    .map(({ id, mute }) => ({ ticketId: id, productId: mute!.productId, caseIds: mute!.cases, until: mute!.until }))
]

const countOthers =
  (memory: Memory): Repo["countOthers"] =>
  (workspaceId, productId, except) =>
    memory.read((database) =>
      storedIn(database, workspaceId)
        .filter((stored) => stored.productId === productId && stored.ticketId !== except)
        .filter(({ ticketId }) => {
          const ticket = database.table(tickets).get(ticketId)
          return ticket !== undefined && isOpen(database, ticket)
        })
        .reduce((sum, { caseIds }) => sum + caseIds.length, 0)
    )

const list =
  (memory: Memory): Repo["list"] =>
  (viewer, product, now) =>
    memory.read((database) =>
      storedIn(database, viewer.workspaceId)
        .filter(({ productId }) => product === undefined || productId === product)
        .toSorted(
          (a, b) => compare(a.until, b.until) || compare(a.ticketId, b.ticketId) || compare(a.productId, b.productId)
        )
        .flatMap(({ caseIds, productId, ticketId, until }) => {
          const ticket = database.table(tickets).get(ticketId)
          if (ticket === undefined || !isOpen(database, ticket)) return []
          if (until > now && !isOwned(database, ticket)) return []
          const team = database.table(teams).get(ticket.teamId)!
          const { id, number, ownerId, ownerKind, title } = ticket
          const ref = { kind: ownerKind, id: ownerId } as OwnerRef
          const owner = ownerKind === null ? null : ownerOf(resolveActor(database, ref))
          const shown = { id, identifier: ticketIdentifier(team.key, number), title, owner }
          return [
            {
              productId,
              product: database.table(products).get(productId)!.slug,
              cases: caseIds,
              until,
              ticket: seesTeamInMemory(database, viewer, team) ? shown : null
            }
          ]
        })
    )

const over =
  (memory: Memory): Repo["over"] =>
  (now, limit) =>
    memory.read((database) =>
      database
        .table(tickets)
        .filter((ticket) => ticket.mute !== null && !inForce(database, ticket, now))
        .toSorted((a, b) => compare(a.id, b.id))
        .slice(0, limit)
        .map(({ id, workspaceId }) => ({ id, workspaceId }))
    )

const ofOwners =
  (memory: Memory): Repo["ofOwners"] =>
  (workspaceId, owners) =>
    memory.read((database) =>
      database
        .table(tickets)
        .filter(
          (ticket) =>
            ticket.workspaceId === workspaceId &&
            ticket.mute !== null &&
            owners.some(({ id, kind }) => ticket.ownerKind === kind && ticket.ownerId === id)
        )
        .toSorted((a, b) => compare(a.id, b.id))
        .map(({ id }) => ({ id, workspaceId }))
    )

const identifiers =
  (memory: Memory): Repo["identifiers"] =>
  (viewer, ids) =>
    memory.read(
      (database) =>
        new Map(
          database
            .table(tickets)
            .filter(({ id }) => ids.includes(id))
            .flatMap(({ id, number, teamId }) => {
              const team = database.table(teams).get(teamId)!
              return seesTeamInMemory(database, viewer, team) ? [[id, ticketIdentifier(team.key, number)] as const] : []
            })
        )
    )

const about =
  (memory: Memory): Repo["about"] =>
  (viewer, productId, caseIds) =>
    memory.read((database) =>
      database
        .table(tickets)
        .filter(
          (ticket) =>
            ticket.cases?.productId === productId &&
            ticket.cases.caseIds.some((caseId) => caseIds.includes(caseId)) &&
            isOpen(database, ticket)
        )
        .toSorted((a, b) => compare(a.id, b.id))
        .flatMap(({ cases, id, number, teamId, title }) => {
          const team = database.table(teams).get(teamId)!
          const identifier = ticketIdentifier(team.key, number)
          return seesTeamInMemory(database, viewer, team) ? [{ id, identifier, title, caseIds: cases!.caseIds }] : []
        })
    )
