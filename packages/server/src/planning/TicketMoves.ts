import { Conflict, NotFound } from "@delivery/domain/Errors"
import type { Place } from "@delivery/domain/planning/Reorder"
import { Effect } from "effect"
import { type Access, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { beside, findAnchor, type Ranked, rankAt } from "./RankedList.ts"
import { present, rowOf } from "./TicketAnswers.ts"
import { about } from "./TicketEvents.ts"
import type { TicketDetails } from "./TicketsRepo.ts"
import { type Dependencies, findLocked, locate, lock, untilLocked } from "./TicketTransactions.ts"
import { type Viewer, viewerOf } from "./Viewer.ts"

export const reorder = (dependencies: Dependencies) => {
  const tryReorder = reorderOnce(dependencies)
  const retry = untilLocked(dependencies)
  return Effect.fn("Tickets.reorder")(function* (ref: string, place: Place) {
    const by = yield* atLeast("member")
    return yield* retry(tryReorder(by, ref, place))
  })
}

/** A ticket to be moved, locked with its team, and the ticket beside which it goes. */
interface Move {
  readonly before: TicketDetails
  readonly isTeamArchived: boolean
  /** Null: the ticket goes before the first of its status. */
  readonly anchor: TicketDetails | null
  readonly side: "before" | "after"
}

/** Undefined where the ticket moved to another team before it was locked. */
const reorderOnce = (dependencies: Dependencies) => {
  const { baseUrl, events, repo } = dependencies
  const hold = lockMove(dependencies)
  return Effect.fnUntraced(function* (by: Access, ref: string, place: Place) {
    const move = yield* hold(viewerOf(by), ref, place)
    if (move === undefined) return undefined
    const { anchor, before, isTeamArchived, side } = move
    const status = { workspaceId: by.workspace.id, teamId: before.team.id, statusId: before.status.id }
    const other = anchor ?? (yield* repo.inStatus(status, "above", null, before.id))
    if (other === undefined) return present(baseUrl, by, before)
    const goesBefore = anchor === null || side === "before"
    const next = yield* repo.inStatus(status, goesBefore ? "below" : "above", other.rank, before.id)
    if (isBetween(before.rank, goesBefore ? [next, other] : [other, next])) return present(baseUrl, by, before)
    if (isTeamArchived) return yield* Conflict.archived("team")

    const order = repo.orderOf({ id: before.team.id, workspaceId: by.workspace.id })
    const rank = yield* rankAt(order, before, beside(other, goesBefore ? "before" : "after"))
    const after = { ...before, rank, updatedAt: yield* nextUpdate(before) }
    const event = yield* events.make(by, { kind: "ticket_reordered", ...about(after) })
    yield* repo.update(rowOf(by.workspace.id, after), undefined, [event], false)
    return present(baseUrl, by, after)
  })
}

/** Undefined where the ticket moved to another team before it was locked. */
const lockMove = (dependencies: Dependencies) => {
  const { repo } = dependencies
  const find = locate(dependencies)
  const lockTicket = lock(dependencies)
  const findTicket = findLocked(dependencies)
  return Effect.fnUntraced(function* (viewer: Viewer, ref: string, place: Place) {
    const { id, teamId } = yield* find(viewer, ref)
    const { anchor: located, side } = yield* findAnchor(place, "ticket", id, (ref) => repo.locate(viewer, ref))
    const team = (yield* repo.lockTeams([teamId], "exclusive")).get(teamId)!
    const now = yield* lockTicket(id, ref)
    if (now.teamId !== teamId) return undefined
    const before = yield* findTicket(viewer, id, ref)
    const anchor = located === null ? null : yield* repo.find(viewer, located.id)
    if (anchor === undefined) return yield* NotFound.reference(side, place[side] ?? undefined, "ticket")
    if (anchor !== null && (anchor.team.id !== teamId || anchor.status.id !== before.status.id)) {
      return yield* new Conflict({
        message: "The two tickets are in different statuses or teams.",
        reason: "other_status"
      })
    }
    const move: Move = { before, isTeamArchived: team.archived, anchor, side }
    return move
  })
}

type Bound = Pick<Ranked<string>, "rank"> | undefined

const isBetween = (rank: string, [below, above]: readonly [below: Bound, above: Bound]): boolean =>
  (below === undefined || below.rank < rank) && (above === undefined || rank < above.rank)
