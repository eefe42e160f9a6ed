import type { ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Case } from "@delivery/domain/runs/Case"
import type { RunMute } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { Access } from "../access/Access.ts"

/** A test that is muted, as a run keeps it. */
export interface StoredRunMute {
  readonly caseId: string
  readonly ticketId: TicketId
  readonly until: Timestamp
}

/** The tests that tickets mute, and the tickets about tests (docs/contract.md, Muting). The room `flow` supplies it. */
export class RunMutes extends Context.Service<
  RunMutes,
  {
    /** What is muted now of the product, each test once, in the order of the code units of its id. */
    readonly ofProduct: (workspaceId: WorkspaceId, productId: ProductId) => Effect.Effect<ReadonlyArray<StoredRunMute>>
    /** The same as the caller may see it. */
    readonly shown: (access: Access, mutes: ReadonlyArray<StoredRunMute>) => Effect.Effect<ReadonlyArray<RunMute>>
    /** The oldest open ticket about each of the tests that the caller sees. */
    readonly tickets: (
      access: Access,
      productId: ProductId,
      caseIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, NonNullable<Case["ticket"]>>>
  }
>()("@delivery/server/runs/RunMutes") {}
