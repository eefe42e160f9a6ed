import type { TicketId } from "@delivery/domain/Ids"
import { maxEarlierBytes, maxEarlierTexts } from "@delivery/domain/planning/TicketText"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
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
    .toSorted((a, b) => b.number - a.number)

const bytesOf = ({ text }: Pick<TicketTextRow, "text">): number => Buffer.byteLength(text ?? "")

const keep =
  (memory: Memory): Repo["keep"] =>
  (text) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(ticketTexts)
        const held = ofTicket(database, text.ticketId)
        let bytes = bytesOf(text)
        for (const [place, row] of held.entries()) {
          bytes += bytesOf(row)
          if (place + 1 >= maxEarlierTexts || bytes > maxEarlierBytes) rows.delete(keyOf(row))
        }
        const row = { ...text, number: (held[0]?.number ?? 0) + 1 }
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
