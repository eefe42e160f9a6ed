import { NotFound } from "@delivery/domain/Errors"
import type { EarlierText, EarlierTexts, TextField } from "@delivery/domain/planning/TicketText"
import { Effect } from "effect"
import { type Access, anyRole } from "../access/Access.ts"
import { askedForPage, pageOf } from "./EarlierTexts.ts"
import type { TicketDetails } from "./TicketsRepo.ts"
import type { TicketTextDetails, TicketTextsRepo } from "./TicketTextsRepo.ts"
import { viewerOf } from "./Viewer.ts"

/** The descriptions and plans that tickets had (docs/contract.md, Earlier texts). */

interface Dependencies {
  readonly texts: TicketTextsRepo["Service"]
}

export interface EarlierTextsQuery {
  readonly field?: TextField | undefined
  /** The `nextCursor` of the page before. */
  readonly cursor?: number | undefined
}

const fields = ["description", "plan"] as const

/** Keeps the texts that a change replaces. The transaction has locked the ticket. */
export const keepEarlier = ({ texts }: Dependencies, by: Access, before: TicketDetails, after: TicketDetails) =>
  Effect.forEach(
    fields.filter((field) => before[field] !== after[field]),
    (field) =>
      texts.keep({
        workspaceId: by.workspace.id,
        ticketId: before.id,
        field,
        text: before[field],
        authorKind: by.actor.kind,
        authorId: by.actor.id,
        replacedAt: after.updatedAt
      }),
    { discard: true }
  )

export const history = ({ texts }: Dependencies) =>
  Effect.fn("Tickets.history")(function* (ref: string, { cursor, field }: EarlierTextsQuery) {
    const viewer = viewerOf(yield* anyRole)
    const found = yield* texts.list(viewer, ref, { field, below: cursor, limit: askedForPage })
    if (found === undefined) return yield* NotFound.of("ticket", ref)
    const answer: EarlierTexts = pageOf(found, present)
    return answer
  })

const present = ({ author, field, number, replacedAt, text }: TicketTextDetails): EarlierText => ({
  number,
  field,
  text,
  replacedBy: author,
  replacedAt
})
