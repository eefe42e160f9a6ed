import type { TicketId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { lastFirst, roomBeside } from "./EarlierTexts.ts"
import { findTicketInMemory } from "./TicketRefs.ts"
import { type TicketTextRow, ticketTexts, TicketTextsRepo } from "./TicketTextsRepo.ts"

export const layer = Layer.effect(
  TicketTextsRepo,
  Effect.map(MemoryStorage, (memory) => TicketTextsRepo.of({ keep: keep(memory), list: list(memory) }))
)

type Memory = MemoryStorage["Service"]
type Repo = TicketTextsRepo["Service"]

const keyOf = ({ number, ticketId }: Pick<TicketTextRow, "number" | "ticketId">) => `${ticketId}/${number}`

/** The last replaced first. */
const ofTicket = (database: MemoryDatabase, ticketId: TicketId): ReadonlyArray<TicketTextRow> =>
  database
    .table(ticketTexts)
    .filter((row) => row.ticketId === ticketId)
    .toSorted(lastFirst)

const keep =
  (memory: Memory): Repo["keep"] =>
  (text) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(ticketTexts)
        const { dropped, number } = roomBeside(ofTicket(database, text.ticketId), text.text)
        for (const row of dropped) rows.delete(keyOf(row))
        const row = { ...text, number }
        rows.set(keyOf(row), row)
      })
    )

const list =
  (memory: Memory): Repo["list"] =>
  (viewer, ticketRef, { below = Number.POSITIVE_INFINITY, field, limit }) =>
    memory.read((database) => {
      const ticket = findTicketInMemory(database, viewer, ticketRef)
      return (
        ticket &&
        ofTicket(database, ticket.id)
          .filter((row) => row.number < below && (field === undefined || row.field === field))
          .slice(0, limit)
          .map((row) => ({
            ...row,
            author: resolveActor(database, { kind: row.authorKind, id: row.authorId } as ActorRef)
          }))
      )
    })
