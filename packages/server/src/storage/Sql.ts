import { Data, Effect } from "effect"
import { type SqlClient, SqlError, type Statement } from "effect/sql"

/** A row would be the second with the same key. Both storages fail with it; services make it the Conflict it means. */
export class UniqueViolation extends Data.TaggedError("UniqueViolation")<{ readonly constraint: string }> {}

/** SQL failures are defects outside the repositories: the edge answers `Internal` and logs the cause. */
export const dieOnSqlError = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> =>
  Effect.catch(effect, (error) =>
    SqlError.isSqlError(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError.SqlError>)
  )

/** Like `dieOnSqlError`, but a unique violation is a typed failure that names the constraint. */
export const failOnDuplicate = <A, R>(
  effect: Effect.Effect<A, SqlError.SqlError, R>
): Effect.Effect<A, UniqueViolation, R> =>
  Effect.catchTag(effect, "SqlError", (error) =>
    error.reason._tag === "UniqueViolation"
      ? Effect.fail(new UniqueViolation({ constraint: error.reason.constraint }))
      : Effect.die(error)
  )

/**
 * A statement that requests ask again and again: compiled once, here, and sent as the same text with new values. The
 * template may only put its values into the statement, each as a parameter. Worth it where a template has many parts,
 * which are else put together on each call, and looked up among the prepared statements by all of their text.
 */
export const prepared = <Values extends ReadonlyArray<unknown>, Row extends object>(
  sql: SqlClient.SqlClient,
  template: (...values: Values) => Statement.Statement<Row>
): ((...values: Values) => Statement.Statement<Row>) => {
  const places = Array.from({ length: template.length }, (_, index) => ({ index }))
  const [text, parameters] = template(...(places as unknown as Values)).compile()
  const order = parameters.map((parameter) => places.indexOf(parameter as (typeof places)[number]))
  return (...values) =>
    sql.unsafe<Row>(
      text,
      order.map((index, at) => (index === -1 ? parameters[at] : values[index]))
    )
}

/** A timestamp of the database as the contract writes it. */
export const iso = (date: Date): string => date.toISOString()

export const isoOrNull = (date: Date | null): string | null => (date === null ? null : date.toISOString())

/** An instant in JSON, which PostgreSQL writes in a form of its own, as the contract writes it. */
export const isoOfJson = (text: string): string => {
  // In UTC, the usual zone of a server, only its end differs.
  if (!text.endsWith("+00:00") || text[10] !== "T") return new Date(text).toISOString()
  return `${text.slice(0, 19)}.${text.slice(20, -6).slice(0, 3).padEnd(3, "0")}Z`
}

/** A timestamp of the contract as the database takes it. */
export const date = (timestamp: string): Date => new Date(timestamp)

export const dateOrNull = (timestamp: string | null): Date | null => (timestamp === null ? null : new Date(timestamp))
