import { isId, isSlug } from "@delivery/domain/Text"
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** The values of one column of many rows, as an array parameter for `unnest`. */
export const column = <A>(rows: ReadonlyArray<A>, type: number, value: (row: A) => unknown): PgTypes.Parameter =>
  Result.getOrThrow(
    PgTypes.array(
      rows.map((row) => value(row) ?? null),
      type
    )
  )

export const texts = <A>(rows: ReadonlyArray<A>, value: (row: A) => string | null | undefined): PgTypes.Parameter =>
  column(rows, PgTypes.OID.text, value)

export const uuids = (ids: ReadonlyArray<string>): PgTypes.Parameter => column(ids, PgTypes.OID.uuid, (id) => id)

export const integers = (values: ReadonlyArray<number>): PgTypes.Parameter =>
  column(values, PgTypes.OID.int4, (value) => value)

/** What refs name: a column of ids and one of slugs. A ref that is neither is null in both, and finds nothing. */
export const idsAndSlugs = <A>(rows: ReadonlyArray<A>, ref: (row: A) => string) =>
  [
    column(rows, PgTypes.OID.uuid, (row) => (isId(ref(row)) ? ref(row) : null)),
    texts(rows, (row) => (isSlug(ref(row)) ? ref(row) : null))
  ] as const
