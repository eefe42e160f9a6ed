import { compare } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import type { Access } from "../access/Access.ts"
import { Events } from "../events/Events.ts"
import type { GuardedTicket } from "../planning/TicketGuards.ts"
import { TicketOwnerEnds } from "../planning/TicketOwnerEnds.ts"
import { type TicketDetails, TicketsRepo } from "../planning/TicketsRepo.ts"
import { viewerOf } from "../planning/Viewer.ts"
import { RunMutes, type StoredRunMute } from "../runs/RunMutes.ts"
import { endMutes, isClosed, noteLate, unmuted } from "./Mutes.ts"
import { type FoundMute, MutesRepo } from "./MutesRepo.ts"
import { OverdueMutes } from "./OverdueMutes.ts"

/** What muting supplies to lower rooms. */

/** The `RunMutes` of `runs`. */
export const layerRunMutes = Layer.effect(
  RunMutes,
  Effect.map(MutesRepo, (repo) =>
    RunMutes.of({
      ofProduct: (workspaceId, productId) =>
        Effect.flatMap(Clock.currentTimeMillis, (millis) =>
          Effect.map(repo.ofProduct(workspaceId, productId, timestamp(millis)), byCase)
        ),
      shown: (access, mutes) =>
        Effect.map(
          repo.identifiers(viewerOf(access), [...new Set(mutes.map(({ ticketId }) => ticketId))]),
          (identifiers) =>
            mutes.map(({ caseId, ticketId, until }) => ({ caseId, ticket: identifiers.get(ticketId) ?? null, until }))
        ),
      tickets: (access, productId, caseIds) => {
        const wanted = new Set(caseIds)
        return Effect.map(
          repo.about(viewerOf(access), productId, caseIds),
          (found) =>
            // The oldest comes last, and stays.
            new Map(
              found
                .toReversed()
                .flatMap(({ caseIds: ids, id, identifier, title }) =>
                  ids
                    .filter((caseId) => wanted.has(caseId))
                    .map((caseId) => [caseId, { id, identifier, title }] as const)
                )
            )
        )
      }
    })
  )
)

/** Each case once: of several tickets, the one that mutes it longest. */
const byCase = (found: ReadonlyArray<FoundMute>): ReadonlyArray<StoredRunMute> => {
  const inOrder = found.toSorted((a, b) => compare(a.mute.until, b.mute.until) || compare(b.ticketId, a.ticketId))
  const mutes = new Map(
    inOrder.flatMap(({ mute, ticketId }) =>
      mute.cases.map((caseId) => [caseId, { caseId, ticketId, until: mute.until }] as const)
    )
  )
  return [...mutes.values()].toSorted((a, b) => compare(a.caseId, b.caseId))
}

/** The ticket whose mute has ended with it, or with its owner; and the event of that. */
export const withoutEnded = Effect.fnUntraced(function* (
  overdue: OverdueMutes["Service"],
  { workspace }: Access,
  ticket: TicketDetails
): Effect.fn.Return<Pick<GuardedTicket, "ticket"> & { readonly events: ReadonlyArray<ReturnType<typeof unmuted>> }> {
  if (ticket.mute === null || (!isClosed(ticket) && ticket.owner !== null)) return { ticket, events: [] }
  yield* noteLate(overdue, workspace.id, ticket)
  return { ticket: { ...ticket, mute: null }, events: [unmuted(ticket, ticket.mute)] }
})

/** Planning's `TicketOwnerEnds`: mutes end when the owner of the ticket leaves. */
export const layerOwnerEnds = Layer.effect(
  TicketOwnerEnds,
  Effect.gen(function* () {
    const repo = yield* MutesRepo
    const endAll = endMutes({ tickets: yield* TicketsRepo, events: yield* Events })
    const overdue = yield* OverdueMutes
    return TicketOwnerEnds.of({
      left: Effect.fnUntraced(function* (by, owners) {
        const muting = yield* repo.ofOwners(by.workspace.id, owners)
        if (muting.length === 0) return
        const isStill = ({ owner }: { readonly owner: { readonly id: string } | null }) =>
          owners.some(({ id }) => id === owner?.id)
        yield* endAll(muting, (ticket) =>
          isStill(ticket) ? Effect.as(noteLate(overdue, by.workspace.id, ticket), by) : Effect.undefined
        )
      })
    })
  })
)
