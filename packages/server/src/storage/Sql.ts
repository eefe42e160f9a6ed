import { Data, Effect } from "effect"
import { SqlError } from "effect/sql"

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

/** A timestamp of the database as the contract writes it. */
export const iso = (date: Date): string => date.toISOString()

export const isoOrNull = (date: Date | null): string | null => (date === null ? null : date.toISOString())

/** A timestamp of the contract as the database takes it. */
export const date = (timestamp: string): Date => new Date(timestamp)

export const dateOrNull = (timestamp: string | null): Date | null => (timestamp === null ? null : new Date(timestamp))

/** Bytes of a message of the database: the finish of a run, at most 64 MiB, may come back as one row. */
export const maxMessageSize = 72 * 1024 * 1024
