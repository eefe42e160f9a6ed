import { Schema } from "effect"
import { columnName, type Table } from "./Table.ts"

/**
 * JSON of answers, as bytes that nothing looks at again: a statement writes it, or in memory the schema of the answer does.
 * What a statement writes is, byte for byte, what `JSON.stringify` makes of what the schema encodes: `test/storage/Json.test.ts`
 * and the tests of each list hold it to that (docs/decisions/json-from-postgresql.md).
 */

/** An expression of SQL whose value in JSON is that of a field. */
export type JsonExpression = string

/**
 * An object with the fields of a schema, in its order: `row_to_json` writes no spaces, and escapes what `JSON.stringify` does.
 *
 * @param optional The field that is absent where its value is null.
 */
export const jsonObject = <Fields extends Schema.Struct.Fields>(
  schema: { readonly fields: Fields },
  values: { readonly [Field in keyof Fields]: JsonExpression },
  optional?: keyof Fields & string
): JsonExpression => {
  const of = (fields: ReadonlyArray<string>) =>
    `(select row_to_json(o) from (select ${fields.map((field) => `${values[field]} as "${field}"`).join(", ")}) o)`
  const fields = Object.keys(schema.fields)
  if (optional === undefined) return of(fields)
  const others = fields.filter((field) => field !== optional)
  return `case when ${values[optional]} is null then ${of(others)} else ${of(fields)} end`
}

/** The columns of a table, by property: `column("startedAt")`. */
export const jsonColumns =
  <R extends object>({ columns }: Table<R>, alias: string) =>
  (property: keyof R & string): JsonExpression =>
    jsonValue(columns[property].type, `${alias}.${columnName(property)}`)

const jsonValue = (type: Table<{ any: unknown }>["columns"]["any"]["type"], value: string): JsonExpression => {
  switch (type) {
    case "timestamptz":
      return jsonInstant(value)
    case "float8":
      return jsonDouble(value)
    case "jsonb":
      // It has spaces, and an order of its own.
      throw new Error(`${value} is no JSON of an answer.`)
    default:
      return value
  }
}

/** An instant as the contract writes it: UTC with milliseconds. The client stores those of the next 250 years without a loss. */
export const jsonInstant = (value: string): JsonExpression =>
  `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A number as JavaScript writes it: from 1e-6 to below 1e21 without an exponent, and without a zero before one. */
const jsonDouble = (value: string): JsonExpression =>
  `case when ${value} = 0 then '0'
    when abs(${value}) >= 1e15 then ${largeDouble(value)}
    when abs(${value}) >= 1e-3 then ${value}::text
    when abs(${value}) >= 1e-6 then ${value}::text::numeric::text
    else replace(${value}::text, 'e-0', 'e-') end::json`

/**
 * The text of a large number. Halfway between two numbers is a decimal that JavaScript may write for one of them, where it is
 * shorter; PostgreSQL never does.
 */
const largeDouble = (value: string): string => `(
  select case when length(whole) < 22 then rounded::text else concat(case when rounded < 0 then '-' end,
      regexp_replace(rtrim(whole, '0'), '(.)(.+)', '\\1.\\2'), 'e+', length(whole) - 1) end
  from (select ${value} as original, ${value}::text::numeric as written) n, generate_series(1, 17) as digits,
    lateral (select round(written, digits - length(trunc(abs(written))::text)) as rounded) r,
    lateral (select trunc(abs(rounded))::text as whole) w
  where case when abs(rounded) <= ${Number.MAX_VALUE}::numeric then rounded::float8 end = original
  order by digits limit 1)`

/** The bytes of a value, to be sent as they are. */
export const jsonBytes = (value: JsonExpression): string => `convert_to(${value}::text, 'UTF8')`

/** The same over the memory storage. */
export const jsonEncoder = <A, Encoded>(schema: Schema.Codec<A, Encoded>): ((value: A) => Uint8Array) => {
  const encode = Schema.encodeSync(schema)
  const utf8 = new TextEncoder()
  return (value) => utf8.encode(JSON.stringify(encode(value)))
}
