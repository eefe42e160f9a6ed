import type { ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { StoredMute } from "../planning/TicketsRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { instant, json, type Row, table, uuid } from "../storage/Table.ts"

/** Mutes that ended by their time, of which the ticket is still open. */
export const overdueMutes = table("overdue_mutes", {
  ticketId: uuid<TicketId>(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  caseIds: json<ReadonlyArray<string>>(),
  until: instant()
})

type OverdueMuteRow = Row<typeof overdueMutes>

/** A test that was muted until a time that has passed, and whose ticket is still open. */
export interface OverdueMute {
  readonly caseId: string
  readonly until: Timestamp
  /** Why it was muted; null where the viewer does not see the ticket. */
  readonly ticket: { readonly id: TicketId; readonly identifier: string; readonly title: string } | null
}

/** Which tests of a product are muted past their time, as readiness asks it (docs/contract.md, Readiness). */
export class OverdueMutes extends Context.Service<
  OverdueMutes,
  {
    /** Those of open tickets, the one that ended first at the front. */
    readonly find: (viewer: Viewer, product: ProductId, now: Timestamp) => Effect.Effect<ReadonlyArray<OverdueMute>>
    /** Keeps what a ticket muted until its time. */
    readonly note: (ticket: TicketId, workspace: WorkspaceId, mute: StoredMute) => Effect.Effect<void>
    /** The ticket mutes anew. */
    readonly forget: (ticket: TicketId) => Effect.Effect<void>
  }
>()("@delivery/server/flow/OverdueMutes") {}
