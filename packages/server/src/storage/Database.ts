import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { Settings, SettingsError } from "../Config.ts"
import { EmbeddedDatabase } from "./EmbeddedDatabase.ts"

/** How many statements a connection keeps prepared; more than the service has. */
const preparedStatementCacheSize = 500

/** PostgreSQL at `DATABASE_URL`, or the embedded database in `DATA_DIR`. */
export const layerDatabase = Layer.unwrap(
  Effect.map(Settings, ({ dataDir, databasePool, databaseUrl }) =>
    Option.match(databaseUrl, {
      onNone: () => EmbeddedDatabase.layer({ dataDir }),
      onSome: (url) =>
        PgClient.layer({
          url,
          maxConnections: databasePool,
          applicationName: "delivery",
          preparedStatementCacheSize,
          // Pipelines statements of several requests over one connection, few enough that a slow one holds up few.
          multiplex: true,
          multiplexConcurrency: 4
        }).pipe(
          Layer.catchTag("SqlError", (error) =>
            Layer.effectDiscard(
              Effect.fail(
                new SettingsError({
                  message: `DATABASE_URL: the database cannot be reached: ${
                    String(error.reason.cause ?? error.message).replaceAll(/\s+/g, " ")
                  }`
                })
              )
            ) as never)
        )
    }))
)
