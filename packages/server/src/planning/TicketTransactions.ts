import { NotFound } from "@delivery/domain/Errors"
import type { TicketId } from "@delivery/domain/Ids"
import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import { Effect } from "effect"
import type { Access } from "../access/Access.ts"
import type { ProductsRepo } from "../catalog/ProductsRepo.ts"
import type { Events } from "../events/Events.ts"
import type { NextId } from "../ids/NextId.ts"
import type { Storage } from "../storage/Storage.ts"
import type { TeamsRepo } from "./TeamsRepo.ts"
import type { TicketGuards } from "./TicketGuards.ts"
import type { TicketNotifications } from "./TicketNotifications.ts"
import type { TicketDetails, TicketPlace, TicketsRepo } from "./TicketsRepo.ts"
import type { TicketTextsRepo } from "./TicketTextsRepo.ts"
import { type Viewer, viewerOf } from "./Viewer.ts"

/**
 * How operations on tickets find what they name and take their locks. Locks are taken by where a ticket is, teams before
 * the ticket (see `TicketsRepo`), so a change first finds where the ticket is, then locks, then checks again.
 */

export interface Dependencies {
  readonly repo: TicketsRepo["Service"]
  readonly texts: TicketTextsRepo["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly guards: TicketGuards["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
  readonly notifications: TicketNotifications["Service"]
  /** The public address of the server, for the links to tickets. */
  readonly baseUrl: string
}

/** The team that a body or query names by key. */
export const findTeam = ({ teams }: Dependencies) =>
  Effect.fnUntraced(function* (viewer: Viewer, key: string) {
    return (yield* teams.find(viewer, key)) ?? (yield* NotFound.reference("team", key))
  })

/** The tests that a body names, with their product. What the body does not have is undefined. */
export const findCases = ({ products }: Dependencies) =>
  Effect.fnUntraced(function* ({ workspaceId }: Viewer, cases: CreateTicket["cases"]) {
    if (cases === undefined || cases === null) return cases
    const product = yield* products.find(workspaceId, cases.product)
    if (product === undefined) return yield* NotFound.reference("cases.product", cases.product, "product")
    const found: TicketDetails["cases"] = { productId: product.id, product: product.slug, caseIds: cases.caseIds }
    return found
  })

/** Where the ticket of a path is now. */
export const locate = ({ repo }: Pick<Dependencies, "repo">) =>
  Effect.fnUntraced(function* (viewer: Viewer, ref: string) {
    return (yield* repo.locate(viewer, ref)) ?? (yield* NotFound.of("ticket", ref))
  })

/** Locks the ticket of a path, and returns where it is now. */
export const lock = ({ repo }: Pick<Dependencies, "repo">) =>
  Effect.fnUntraced(function* (id: TicketId, ref: string) {
    return (yield* repo.lock(id)) ?? (yield* NotFound.of("ticket", ref))
  })

/** The ticket of a path, which the transaction has locked. */
export const findLocked = ({ repo }: Pick<Dependencies, "repo">) =>
  Effect.fnUntraced(function* (viewer: Viewer, id: TicketId, ref: string) {
    return (yield* repo.find(viewer, id)) ?? (yield* NotFound.of("ticket", ref))
  })

export const isSamePlace = (a: TicketPlace, b: TicketPlace): boolean =>
  a.teamId === b.teamId && a.projectId === b.projectId

/** Runs an attempt in a transaction, again while it answers undefined: the ticket moved before it was locked. */
export const untilLocked =
  ({ storage }: { readonly storage: Storage["Service"] }) =>
  <A, E, R>(attempt: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      for (;;) {
        const outcome = yield* storage.transaction(attempt)
        if (outcome !== undefined) return outcome
      }
    })

/**
 * Runs a change of what belongs to a ticket in a transaction with a shared lock of the ticket's team: the ticket can neither
 * move nor be deleted meanwhile.
 */
export const onTicket = ({
  storage,
  tickets
}: {
  readonly storage: Storage["Service"]
  readonly tickets: TicketsRepo["Service"]
}) => {
  const retry = untilLocked({ storage })
  return <A, E>(
    by: Access,
    ref: string,
    change: (ticket: TicketDetails, isArchived: boolean) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | NotFound> => {
    const attempt = Effect.gen(function* () {
      const viewer = viewerOf(by)
      const place = yield* tickets.locate(viewer, ref)
      if (place === undefined) return yield* NotFound.of("ticket", ref)
      const team = (yield* tickets.lockTeams([place.teamId], "shared")).get(place.teamId)!
      const ticket = yield* tickets.find(viewer, place.id)
      if (ticket === undefined) return yield* NotFound.of("ticket", ref)
      return ticket.team.id === team.id ? { changed: yield* change(ticket, team.archived) } : undefined
    })
    return Effect.map(retry(attempt), ({ changed }) => changed)
  }
}
