import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { Settings } from "../Config.ts"
import * as DatabaseCopy from "./DatabaseCopy.ts"
import { maxMessageSize } from "./MessageSize.ts"
import * as EmbeddedDatabase from "./EmbeddedDatabase.ts"
import { makeSockets } from "./PostgresSockets.ts"

/** How many statements a connection keeps prepared; more than the service has. */
const preparedStatementCacheSize = 500

/** How long PostgreSQL may take before what waits for it fails (docs/operations.md). Tests shorten it. */
export const DatabaseLimits = Context.Reference<{
  /** Seconds of one statement, its wait for locks too. */
  readonly statementSeconds: number
  /** Seconds in which nothing comes on a connection. */
  readonly silentSeconds: number
}>("@delivery/server/database/DatabaseLimits", {
  defaultValue: () => ({ statementSeconds: 20, silentSeconds: 30 })
})

type Database = Layer.Layer<
  PgClient.PgClient | SqlClient.SqlClient | DatabaseCopy.DatabaseCopy,
  EmbeddedDatabase.EmbeddedDatabaseError | SqlError.SqlError
>

/** PostgreSQL at `DATABASE_URL`, or the embedded database in `DATA_DIR`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dataDir, databasePool, databaseUrl } = yield* Settings
    const { silentSeconds, statementSeconds } = yield* DatabaseLimits
    if (Option.isNone(databaseUrl)) return EmbeddedDatabase.layer({ dataDir }) as Database
    const url = databaseUrl.value
    const server = PgClient.layer({
      url,
      stream: yield* makeSockets(url, silentSeconds),
      startupParameters: {
        statement_timeout: `${statementSeconds}s`,
        // PostgreSQL frees the locks of a server that vanished after this time.
        idle_in_transaction_session_timeout: `${silentSeconds}s`,
        tcp_keepalives_idle: "30",
        tcp_keepalives_interval: "10",
        tcp_keepalives_count: "3"
      },
      maxConnections: databasePool,
      applicationName: "delivery",
      preparedStatementCacheSize,
      maxMessageSize,
      // Pipelines statements of two requests over one connection. With more, reads wait behind what waits for the disk.
      multiplex: true,
      multiplexConcurrency: 2
    })
    return Layer.merge(server, DatabaseCopy.layerNone)
  })
)
