import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { uuids as uuidsOf } from "./Columns.ts"
import { iso } from "./Sql.ts"

/**
 * A table, described once: its columns, and by them the type of its rows. SQL statements take their lists of columns
 * from it, rows of the database are read by it, and the memory storage keeps rows of the same type under the same name.
 * `test/storage/Tables.test.ts` compares every table with the columns that the migrations made.
 */
export interface Table<Row extends object = object> {
  readonly name: string
  /** By property of the row. */
  readonly columns: { readonly [Property in keyof Row]-?: Column<Row[Property]> }
  /** Never set: carries the type. */
  readonly Row?: Row
}

/** The rows of a table: `Row<typeof products>`. */
export type Row<T> = T extends Table<infer R> ? R : never

/** The type of a column in PostgreSQL, as `information_schema.columns.udt_name` has it. */
type UdtName =
  | "uuid"
  | "text"
  | "int4"
  | "int8"
  | "float8"
  | "bool"
  | "timestamptz"
  | "date"
  | "jsonb"
  | "bytea"
  | "varbit"
  | "_uuid"
  | "_float8"
  | "tsvector"

export interface Column<A> {
  readonly type: UdtName
  readonly isNullable: boolean
  readonly A?: A
}

const column = <A>(type: UdtName): Column<A> => ({ type, isNullable: false })

export const uuid = <Id extends string = string>(): Column<Id> => column("uuid")
export const text = <Text extends string = string>(): Column<Text> => column("text")
export const integer = (): Column<number> => column("int4")
/** Larger than an `integer`. */
export const long = (): Column<number> => column("int8")
export const double = (): Column<number> => column("float8")
export const boolean = (): Column<boolean> => column("bool")
/** An instant, in rows as the contract writes it: UTC with milliseconds (docs/contract.md, Conventions). */
export const instant = (): Column<Timestamp> => column("timestamptz")
/** A day, in rows as `YYYY-MM-DD`. */
export const day = (): Column<string> => column("date")
export const json = <A>(): Column<A> => column("jsonb")
export const bytes = (): Column<Uint8Array> => column("bytea")
/** Bits of any number, in rows as text of zeros and ones. */
export const bits = (): Column<string> => column("varbit")
export const uuids = <Id extends string = string>(): Column<ReadonlyArray<Id>> => column("_uuid")

/** Words without places, for a search. */
export const words = (): Column<ReadonlyArray<string>> => column("tsvector")
export const doubles = (): Column<ReadonlyArray<number>> => column("_float8")

export const nullable = <A>(column: Column<A>): Column<A | null> =>
  ({ ...column, isNullable: true }) as Column<A | null>

export const table = <Columns extends Readonly<Record<string, Column<unknown>>>>(
  name: string,
  columns: Columns
): Table<{ readonly [Property in keyof Columns]: Columns[Property] extends Column<infer A> ? A : never }> =>
  ({ name, columns }) as never

/** The name of a property's column. */
export const columnName = (property: string): string =>
  property.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)

const propertiesOf = <R extends object>(table: Table<R>): ReadonlyArray<keyof R & string> =>
  Object.keys(table.columns) as never

/**
 * The columns of a `select`, each as its property: `p.id, p.workspace_id as "workspaceId"`.
 *
 * @param options.of The table's alias in the statement.
 * @param options.as Put before each property, for rows of several tables: `p.id as "productId"` with `as: "product"`.
 * @param options.only These properties alone.
 */
export const columnsOf = <R extends object>(
  table: Table<R>,
  options: { readonly of?: string; readonly as?: string; readonly only?: ReadonlyArray<keyof R & string> } = {}
): string =>
  (options.only ?? propertiesOf(table))
    .map((property) => {
      const column = `${options.of === undefined ? "" : `${options.of}.`}${columnName(property)}`
      const key = prefixed(options.as, property)
      // The driver would give a day as an instant.
      if (table.columns[property].type === "date") return `${column}::text as "${key}"`
      return column === key ? column : `${column} as "${key}"`
    })
    .join(", ")

const prefixed = (prefix: string | undefined, property: string): string =>
  prefix === undefined ? property : `${prefix}${property[0]!.toUpperCase()}${property.slice(1)}`

/** A row as the driver gives it: the properties of the table, instants as `Date`. */
export type SelectedRow = Readonly<Record<string, unknown>>

/**
 * Reads what `columnsOf` with the same options selected. Made once per statement, used for each row. A row of a left
 * join that found nothing must not be given to it.
 */
export const readerOf = <R extends object>(
  table: Table<R>,
  options: { readonly as?: string } = {}
): ((row: SelectedRow) => R) => partReaderOf(table, propertiesOf(table), options) as (row: SelectedRow) => R

/** The same for some of the properties: `only` of `columnsOf`. */
export const partReaderOf = <R extends object, Property extends keyof R & string>(
  table: Table<R>,
  only: ReadonlyArray<Property>,
  options: { readonly as?: string } = {}
): ((row: SelectedRow) => Pick<R, Property>) => {
  const fields = only.map((property) => ({
    property,
    key: prefixed(options.as, property),
    isInstant: table.columns[property].type === "timestamptz"
  }))
  return (row) => {
    const read: Record<string, unknown> = {}
    for (const { isInstant, key, property } of fields) {
      const value = row[key]
      read[property] = isInstant && value !== null ? iso(value as Date) : value
    }
    return read as Pick<R, Property>
  }
}

/** A value of a row as a parameter of a statement. */
const parameterOf = (column: Column<unknown>, value: unknown): unknown => {
  if (value === null || value === undefined) return null
  if (column.type === "timestamptz") return new Date(value as string)
  if (column.type === "jsonb") return PgTypes.json(value)
  if (column.type === "_uuid") return uuidsOf(value as ReadonlyArray<string>)
  return value
}

/** `insert into table (...) values (...)`, its text made once. */
export const insertInto = <R extends object>(
  sql: SqlClient.SqlClient,
  table: Table<R>
): ((row: R) => Effect.Effect<void, SqlError.SqlError>) => {
  const properties = propertiesOf(table)
  const names = properties.map((property) => columnName(property)).join(", ")
  const places = properties.map((_, index) => `$${index + 1}`).join(", ")
  const statement = `insert into ${table.name} (${names}) values (${places})`
  return (row) =>
    Effect.asVoid(
      sql.unsafe(
        statement,
        properties.map((property) => parameterOf(table.columns[property], row[property]))
      )
    )
}

/**
 * `update table set ... where id = ...`, its text made once.
 *
 * @param properties What may change.
 */
export const updateById = <R extends { readonly id: string }, Property extends keyof R & string>(
  sql: SqlClient.SqlClient,
  table: Table<R>,
  properties: ReadonlyArray<Property>
): ((row: Pick<R, Property | "id">) => Effect.Effect<void, SqlError.SqlError>) => {
  const sets = properties.map((property, index) => `${columnName(property)} = $${index + 1}`).join(", ")
  const statement = `update ${table.name} set ${sets} where id = $${properties.length + 1}`
  return (row) =>
    Effect.asVoid(
      sql.unsafe(statement, [
        ...properties.map((property) => parameterOf(table.columns[property], row[property])),
        row.id
      ])
    )
}

/** `select` with the columns of one table, to be followed by `where`. */
export const selectFrom = <R extends object>(sql: SqlClient.SqlClient, table: Table<R>): Statement.Fragment =>
  sql.literal(`select ${columnsOf(table)} from ${table.name}`)

/** The columns of `json_to_recordset`, by which many rows of one statement are one parameter: `base_url text, ...`. */
export const recordOf = <R extends object>(table: Table<R>, properties: ReadonlyArray<keyof R & string>): string =>
  properties.map((property) => `${columnName(property)} ${table.columns[property].type}`).join(", ")

/** A row for `recordOf`: the properties by the names of their columns. */
export const recordFrom = <R extends object, Property extends keyof R & string>(
  table: Table<R>,
  properties: ReadonlyArray<Property>,
  row: Pick<R, Property>
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(properties.map((property) => [columnName(property), row[property]]))
