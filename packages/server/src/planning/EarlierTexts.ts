import { earlierTextsPage, maxEarlierBytes, maxEarlierTexts } from "@delivery/domain/planning/TicketText"
import type { SqlClient, Statement } from "effect/sql"

/**
 * What earlier texts of tickets and of projects share (docs/contract.md, Earlier texts). How many are kept stands here
 * twice, side by side: for statements and over the memory storage.
 */

/** How many are asked for to make a page: the last one tells whether there are more. */
export const askedForPage = earlierTextsPage + 1

export const pageOf = <Found extends { readonly number: number }, Text>(
  found: ReadonlyArray<Found>,
  present: (found: Found) => Text
): { readonly texts: ReadonlyArray<Text>; readonly nextCursor: number | null } => {
  const page = found.slice(0, earlierTextsPage)
  return { texts: page.map(present), nextCursor: found.length > earlierTextsPage ? page.at(-1)!.number : null }
}

/**
 * The beginning of a statement that keeps another text: `held` are the numbers of those that there are, and those for
 * which there is no room beside the new one are deleted.
 *
 * @param at The table, its column of what the texts are of, and which one that is.
 */
export const makingRoom = (
  sql: SqlClient.SqlClient,
  at: { readonly table: string; readonly of: string; readonly id: string },
  text: string | null
): Statement.Fragment => {
  const [table, of] = [sql.literal(at.table), sql.literal(at.of)]
  return sql`with held as (
      select number, row_number() over newest as place, sum(coalesce(octet_length(text), 0)) over newest as bytes
      from ${table} where ${of} = ${at.id} window newest as (order by number desc)
    ), dropped as (
      delete from ${table} e using held
      where e.${of} = ${at.id} and e.number = held.number and (held.place >= ${maxEarlierTexts}
        or held.bytes + coalesce(octet_length(${text}::text), 0) > ${maxEarlierBytes})
    )`
}

interface Held {
  readonly number: number
  readonly text: string | null
}

/** The last replaced first. */
export const lastFirst = (a: Held, b: Held): number => b.number - a.number

/** The same as `makingRoom` for rows of the memory storage, the last replaced first: the next number, and what goes. */
export const roomBeside = <Row extends Held>(
  held: ReadonlyArray<Row>,
  text: string | null
): { readonly number: number; readonly dropped: ReadonlyArray<Row> } => {
  let bytes = bytesOf(text)
  const dropped = held.filter((row, place) => {
    bytes += bytesOf(row.text)
    return place + 1 >= maxEarlierTexts || bytes > maxEarlierBytes
  })
  return { number: (held[0]?.number ?? 0) + 1, dropped }
}

const bytesOf = (text: string | null): number => Buffer.byteLength(text ?? "")
