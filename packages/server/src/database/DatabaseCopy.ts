import { Context, Effect, Layer, Schema } from "effect"

/** The database could not be copied. The message is one line. */
export class DatabaseCopyError extends Schema.TaggedError<DatabaseCopyError>()("DatabaseCopyError", {
  message: Schema.String
}) {}

/** Copies the files of the embedded database while it is in use. */
export class DatabaseCopy extends Context.Service<
  DatabaseCopy,
  {
    /**
     * Makes `directory`, whose parent exists, and copies the database into it, as it is at one moment between two transactions.
     * Statements wait twice for some milliseconds. The first opening of the copy recovers it, as after a crash.
     */
    readonly copyTo: (directory: string) => Effect.Effect<void, DatabaseCopyError>
  }
>()("@delivery/server/database/DatabaseCopy") {}

/** A PostgreSQL server has its own ways. */
export const layerNone = Layer.succeed(DatabaseCopy, {
  copyTo: () =>
    Effect.fail(
      new DatabaseCopyError({
        message:
          "DATABASE_URL names a PostgreSQL server: back it up by pg_dump (docs/operations.md, Back-up and restore)."
      })
    )
})
