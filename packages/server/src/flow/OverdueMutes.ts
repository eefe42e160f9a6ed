import type { ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { StoredMute } from "../planning/TicketsRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { instant, json, table, uuid } from "../storage/Table.ts"

/** Mutes that ended by their time, of which the ticket is still open. */
export const overdueMutes = table("overdue_mutes", {
  ticketId: uuid<TicketId>(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  caseIds: json<ReadonlyArray<string>>(),
  until: instant()
})

/** A test that was muted until a time that has passed, and whose ticket is still open. */
export interface OverdueMute {
  readonly caseId: string
  readonly until: Timestamp
  /** Why it was muted; null where the viewer does not see the ticket. */
  readonly ticket: { readonly id: TicketId; readonly identifier: string; readonly title: string } | null
}

/** The tests that a ticket muted, and until when. */
export type LateMute = Pick<StoredMute, "cases" | "productId" | "until">

/** Both, of one product: what was over first counts. Of two products, the later mute. */
export const lateTogether = (kept: LateMute | undefined, late: LateMute): LateMute =>
  kept?.productId !== late.productId
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
    /** What a ticket muted until its time, if it did. */
    readonly noted: (ticket: TicketId) => Effect.Effect<LateMute | undefined>
    /** Keeps what a ticket muted until its time, in place of what was kept of it. */
    readonly note: (ticket: TicketId, workspace: WorkspaceId, mute: LateMute) => Effect.Effect<void>
    /** The ticket mutes all of it anew. */
    readonly forget: (ticket: TicketId) => Effect.Effect<void>
  }
>()("@delivery/server/flow/OverdueMutes") {}
