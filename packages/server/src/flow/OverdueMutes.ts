import type { ProductId, TicketId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import type { Viewer } from "../planning/Viewer.ts"

/** A test whose failures do not count, although they should again. */
export interface OverdueMute {
  readonly caseId: string
  readonly until: Timestamp
  /** Why it is muted; null where the viewer does not see the ticket. */
  readonly ticket: { readonly id: TicketId; readonly identifier: string; readonly title: string } | null
}

/** Which tests of a product are muted past their time, as readiness asks it (docs/contract.md, Readiness). */
export class OverdueMutes extends Context.Service<
  OverdueMutes,
  {
    readonly find: (viewer: Viewer, product: ProductId, now: Timestamp) => Effect.Effect<ReadonlyArray<OverdueMute>>
  }
>()("@delivery/server/flow/OverdueMutes") {
  /** No test can be muted yet. */
  static readonly layerNone = Layer.succeed(OverdueMutes, { find: () => Effect.succeed([]) })
}
