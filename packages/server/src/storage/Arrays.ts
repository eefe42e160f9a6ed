import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** A parameter that holds one value of each row, as an array of the type, for `unnest`. */
export const column = <A>(rows: ReadonlyArray<A>, type: number, value: (row: A) => unknown): PgTypes.Parameter =>
  Result.getOrThrow(
    PgTypes.array(
      rows.map((row) => value(row) ?? null),
      type
    )
  )

export const texts = <A>(rows: ReadonlyArray<A>, value: (row: A) => string | null | undefined): PgTypes.Parameter =>
  column(rows, PgTypes.OID.text, value)
