import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** Characters of one part; few reports of 1 MiB have more, with what is counted for each row. */
const maxCharacters = 2 * 1024 * 1024

/** What a row counts for beside its texts: numbers, times and short words. */
const rowCharacters = 100

/** How many characters rows have in texts, which may be null. */
export const charactersOf = (texts: Iterable<string | null | undefined>): number => {
  let characters = 0
  for (const text of texts) characters += text?.length ?? 0
  return characters
}

const partsOf = function* <A>(rows: Iterable<A>, sizeOf: (row: A) => number): Generator<ReadonlyArray<A>, void> {
  let part: Array<A> = []
  let size = 0
  for (const row of rows) {
    const characters = rowCharacters + sizeOf(row)
    if (size + characters > maxCharacters && part.length > 0) {
      yield part
      part = []
      size = 0
    }
    part.push(row)
    size += characters
  }
  yield part
}

/**
 * Stores rows with the statement that decides whether they are stored. What it sends exists up to six times: as rows, as
 * columns, and in what the client of the database makes of these. So many rows are sent part by part in one transaction, each
 * made when the one before is stored; then the statement that decides is sent without rows.
 *
 * @param options.sizeOf How many characters a row has.
 * @param options.store Stores a part on the condition of the statement that decides, and keeps that condition as it is until the
 * transaction ends.
 * @param options.decide The statement, with the rows that it has to store: all of them, or none.
 */
export const storeInParts = <Row, A, E, R>(
  sql: Pick<SqlClient.SqlClient, "withTransaction">,
  rows: Iterable<Row>,
  options: {
    readonly sizeOf: (row: Row) => number
    readonly store: (part: ReadonlyArray<Row>) => Effect.Effect<unknown, E, R>
    readonly decide: (rows: ReadonlyArray<Row>) => Effect.Effect<A, E, R>
  }
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.suspend(() => {
    const parts = partsOf(rows, options.sizeOf)
    const [first, second] = [parts.next().value ?? [], parts.next().value]
    if (second === undefined) return options.decide(first)
    return sql.withTransaction(
      Effect.gen(function* () {
        for (const part of [first, second]) yield* options.store(part)
        for (const part of parts) yield* options.store(part)
        return yield* options.decide([])
      })
    )
  })
