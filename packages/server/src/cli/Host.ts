import * as NodeServices from "@effect/platform-node/NodeServices"
import { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { resolve } from "node:path"
import { Settings } from "../Config.ts"
import * as Database from "../database/Database.ts"
import * as DatabaseCopy from "../database/DatabaseCopy.ts"
import { EmbeddedDatabaseError } from "../database/EmbeddedDatabase.ts"
import { isLocked } from "../database/FileLock.ts"
import { maxMessageSize } from "../database/MessageSize.ts"
import * as Files from "../files/Files.ts"
import * as Logs from "../http/Logs.ts"

/** A command that cannot do what it was asked to. The message is one line. */
export class HostError extends Data.TaggedError("HostError")<{ readonly message: string }> {}

/** The database, once it has answered: whatever needs it would log that it does not. */
const layerDatabase = Layer.unwrap(
  Effect.map(Settings, ({ dataDir }) =>
    Database.layer.pipe(
      Layer.tap((context) => Context.get(context, SqlClient.SqlClient)`select 1`),
      // The embedded database has one user at a time, and that is usually the server that the command is about.
      Layer.catch((error) =>
        Layer.effectContext(
          Effect.fail(
            error instanceof EmbeddedDatabaseError && isLocked(error.cause)
              ? new HostError({
                  message:
                    `A running server (or another command) holds the embedded database in DATA_DIR ${resolve(dataDir)}. ` +
                    "Stop it, run this command again, and then start the server."
                })
              : error
          )
        )
      )
    )
  )
)

/** A connection that writes nothing, and whose statements may take as long as they need. */
const layerReading = Layer.unwrap(
  Effect.map(Settings, ({ databaseUrl }) =>
    Option.isNone(databaseUrl)
      ? layerDatabase
      : Layer.merge(
          PgClient.layer({
            url: databaseUrl.value,
            applicationName: "delivery",
            maxConnections: 1,
            maxMessageSize,
            startupParameters: { default_transaction_read_only: "on" }
          }),
          DatabaseCopy.layerNone
        )
  )
)

const withSettings = <A, E, R>(database: Layer.Layer<A, E, R>) =>
  Layer.mergeAll(database, NodeServices.layer).pipe(
    Layer.provideMerge(NodeServices.layer),
    Layer.provideMerge(Logs.layer),
    Layer.provideMerge(Layer.suspend(() => Settings.layer(process.env)))
  )

/** The database and settings of the environment, for commands that run on the host, with or without a running server. */
export const layer = withSettings(layerDatabase)

/** The same to look at all that there is, with the files. */
export const layerWhole = withSettings(Layer.merge(layerReading, Files.layer))

/** The settings and the files, without a database. */
export const layerFiles = withSettings(Files.layer)

/** The settings alone. */
export const layerSettings = withSettings(Layer.empty)
