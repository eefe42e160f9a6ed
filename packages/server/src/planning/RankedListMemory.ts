import { compare } from "@delivery/domain/Order"
import { Effect } from "effect"
import type { MemoryDatabase, MemoryStorage, MemoryTableName } from "../storage/MemoryStorage.ts"
import type { Ranked, RankedList } from "./RankedList.ts"

/** The rows of a table that `isListed` selects, as a list in the order of their ranks. */
export const rankedList = <Row extends Ranked<string>>(
  memory: MemoryStorage["Service"],
  table: MemoryTableName<Row>,
  isListed: (row: Row) => boolean
): RankedList<Row["id"]> => ({
  next: (side, rank, except) =>
    memory.read((database) => {
      const others = inOrder(database, table, isListed).filter(({ id }) => id !== except)
      return nearest(others, side, rank)?.rank ?? null
    }),
  ids: memory.read((database) => inOrder(database, table, isListed).map(({ id }) => id)),
  setRanks: (ranks) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(table)
        for (const [id, rank] of ranks) rows.set(id, { ...rows.get(id)!, rank })
      })
    )
})

/** The rows of a table that `isListed` selects, by rank. */
export const inOrder = <Row extends Ranked<string>>(
  database: MemoryDatabase,
  table: MemoryTableName<Row>,
  isListed: (row: Row) => boolean
): ReadonlyArray<Row> =>
  database
    .table(table)
    .filter(isListed)
    .toSorted((a, b) => compare(a.rank, b.rank))

/** The row nearest to a rank; with null, the first (above) or last (below) of all. */
export const nearest = <Row extends Ranked<string>>(
  ordered: ReadonlyArray<Row>,
  side: "above" | "below",
  rank: string | null
): Row | undefined =>
  side === "above"
    ? ordered.find((row) => rank === null || row.rank > rank)
    : ordered.findLast((row) => rank === null || row.rank < rank)
