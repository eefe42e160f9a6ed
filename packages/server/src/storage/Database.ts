import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { Settings } from "../Config.ts"
import { maxMessageSize } from "./Sql.ts"
import { EmbeddedDatabase, type EmbeddedDatabaseError } from "./EmbeddedDatabase.ts"

/** How many statements a connection keeps prepared; more than the service has. */
const preparedStatementCacheSize = 500

type Database = Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, EmbeddedDatabaseError | SqlError.SqlError>

/** PostgreSQL at `DATABASE_URL`, or the embedded database in `DATA_DIR`. */
export const layerDatabase = Layer.unwrap(
  Effect.map(Settings, ({ dataDir, databasePool, databaseUrl }): Database =>
    Option.match(databaseUrl, {
      onNone: (): Database => EmbeddedDatabase.layer({ dataDir }),
      onSome: (url) =>
        PgClient.layer({
          url,
          maxConnections: databasePool,
          applicationName: "delivery",
          preparedStatementCacheSize,
          maxMessageSize,
          // Pipelines statements of several requests over one connection, few enough that a slow one holds up few.
          multiplex: true,
          multiplexConcurrency: 4
        })
    })
  )
)
