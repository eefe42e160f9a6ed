import { Console, Effect, Layer, Option } from "effect"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { layerSqlRepositories } from "../App.ts"
import * as AgentsRoom from "../agents/AgentsRoom.ts"
import * as AuditRoom from "../audit/AuditRoom.ts"
import * as Auth from "../auth/Auth.ts"
import { Settings } from "../Config.ts"
import * as Deploy from "../deploy/Deploy.ts"
import * as EventsRoom from "../events/EventsRoom.ts"
import * as Identity from "../identity/Identity.ts"
import * as Ids from "../ids/Ids.ts"
import * as Runs from "../runs/Runs.ts"
import { isUpToDate } from "../storage/Migrations.ts"
import * as Host from "./Host.ts"
import { type HostOperations, type HostRefusal, makeOperations } from "./HostOperations.ts"
import * as HostSocket from "./HostSocket.ts"
import * as WebhooksRoom from "../webhooks/WebhooksRoom.ts"

/** What commands of the host need, in the database of the settings. */
const layer = Layer.mergeAll(Identity.layerHost, Auth.layerHost, Runs.layerHost).pipe(
  Layer.provide([AgentsRoom.layerMadeSignIns, Deploy.layerMadeTokens, WebhooksRoom.layerPorts]),
  Layer.provide(AuditRoom.layer),
  Layer.provide(EventsRoom.layer),
  Layer.provideMerge(layerSqlRepositories),
  Layer.provide(Ids.layer),
  Layer.provideMerge(Host.layer)
)

type Operation = <E>(operations: HostOperations<E>) => Effect.Effect<string, HostRefusal | E>

/** On a database that a server has made. It makes and migrates none itself. */
const onDatabase = (operation: Operation) => {
  const checked = Effect.gen(function* () {
    if (!(yield* isUpToDate)) {
      return yield* new Host.HostError({
        message: "The database has no tables yet, or not all of them. Start the server once, and try again."
      })
    }
    return yield* Effect.flatMap(makeOperations, operation)
  })
  return Effect.gen(function* () {
    const { dataDir, databaseUrl } = yield* Settings
    if (Option.isNone(databaseUrl) && !existsSync(join(dataDir, "postgres"))) {
      return yield* new Host.HostError({ message: `There is no database in DATA_DIR ${resolve(dataDir)}.` })
    }
    return yield* Effect.provide(checked, layer)
  })
}

/** Has the server do it that holds the embedded database, if there is one, else does it here, and prints what comes of it. */
export const run = (operation: Operation) =>
  Effect.gen(function* () {
    const server = yield* HostSocket.client
    const text = yield* server === undefined
      ? onDatabase(operation)
      : Effect.catchTag(operation(server), "RpcClientError", () =>
          Effect.fail(
            new Host.HostError({ message: "The server that holds the database stopped answering. Try again." })
          )
        )
    if (text !== "") yield* Console.log(text)
  }).pipe(
    Effect.catchTag("HostRefusal", ({ message }) => Effect.fail(new Host.HostError({ message }))),
    Effect.scoped,
    Effect.provide(Layer.suspend(() => Settings.layer(process.env)))
  )
