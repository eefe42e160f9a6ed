import type { ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { StoredMute } from "../planning/TicketsRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { instant, json, table, uuid } from "../storage/Table.ts"

/** Mutes that ended by their time, of which the ticket is still open: a row for each product that the ticket muted. */
export const overdueMutes = table("overdue_product_mutes", {
  ticketId: uuid<TicketId>(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  caseIds: json<ReadonlyArray<string>>(),
  until: instant()
})

/** What servers of before migration 0165 read and write: of each ticket, one of its rows. Triggers keep it. */
export const olderOverdueMutes = table("overdue_mutes", overdueMutes.columns)

/** A test that was muted until a time that has passed, and whose ticket is still open. */
export interface OverdueMute {
  readonly caseId: string
  readonly until: Timestamp
  /** Why it was muted; null where the viewer does not see the ticket. */
  readonly ticket: { readonly id: TicketId; readonly identifier: string; readonly title: string } | null
}

/** The tests that a ticket muted, and until when. */
export type LateMute = Pick<StoredMute, "cases" | "productId" | "until">

/** Both, of one product: what was over first counts. */
export const lateTogether = (kept: LateMute | undefined, late: LateMute): LateMute =>
  kept === undefined
    ? late
    : {
        ...late,
        cases: [...new Set([...kept.cases, ...late.cases])],
        until: kept.until < late.until ? kept.until : late.until
      }

/** Which tests of a product are muted past their time, as readiness asks it (docs/contract.md, Readiness). */
export class OverdueMutes extends Context.Service<
  OverdueMutes,
  {
    /** Those of open tickets, the one that ended first at the front. */
    readonly find: (viewer: Viewer, product: ProductId, now: Timestamp) => Effect.Effect<ReadonlyArray<OverdueMute>>
    /** When the next mute of the product is over; null where there is none to come. */
    readonly nextEnd: (viewer: Viewer, product: ProductId, now: Timestamp) => Effect.Effect<Timestamp | null>
    /** What a ticket muted of the product until its time, if it did. */
    readonly noted: (ticket: TicketId, product: ProductId) => Effect.Effect<LateMute | undefined>
    /** Keeps what a ticket muted until its time, in place of what was kept of it and the product. */
    readonly note: (ticket: TicketId, workspace: WorkspaceId, mute: LateMute) => Effect.Effect<void>
    /** The ticket mutes all of it anew. */
    readonly forget: (ticket: TicketId, product: ProductId) => Effect.Effect<void>
  }
>()("@delivery/server/flow/OverdueMutes") {}
