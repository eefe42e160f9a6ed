import type { Actor } from "@delivery/domain/identity/Actor"
import type { TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { TextField } from "@delivery/domain/planning/TicketText"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The texts that tickets had. In memory by `${ticketId}/${number}`. */
export const ticketTexts = table("ticket_texts", {
  workspaceId: uuid<WorkspaceId>(),
  ticketId: uuid<TicketId>(),
  number: integer(),
  field: text<TextField>(),
  /** Null where there was none. */
  text: nullable(text()),
  /** Who replaced it. */
  authorKind: text<ActorRef["kind"]>(),
  authorId: uuid<ActorRef["id"]>(),
  replacedAt: instant()
})

export type TicketTextRow = Row<typeof ticketTexts>

/** An earlier text with the name of who replaced it. */
export interface TicketTextDetails extends TicketTextRow {
  readonly author: Actor
}

export interface TextSelection {
  readonly field: TextField | undefined
  /** Exclusive. */
  readonly below: number | undefined
  readonly limit: number
}

/** Stores the texts that tickets had. They go with their ticket. */
export class TicketTextsRepo extends Context.Service<
  TicketTextsRepo,
  {
    /**
     * Keeps a text under the next number of the ticket, which the transaction has locked, and the newest others up to
     * `maxEarlierTexts` and `maxEarlierBytes`.
     */
    readonly keep: (text: Omit<TicketTextRow, "number">) => Effect.Effect<void>
    /** The last replaced first; undefined where the viewer sees no such ticket. */
    readonly list: (
      viewer: Viewer,
      ticketRef: string,
      selection: TextSelection
    ) => Effect.Effect<ReadonlyArray<TicketTextDetails> | undefined>
  }
>()("@delivery/server/planning/TicketTextsRepo") {}
