import { Console, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { Email, Name } from "@delivery/domain/Text"
import { Settings } from "../Config.ts"
import * as EventsRoom from "../events/EventsRoom.ts"
import { ApiKeys } from "../identity/ApiKeys.ts"
import { ApiKeyUsage } from "../identity/ApiKeyUsage.ts"
import * as Identity from "../identity/Identity.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import * as Ids from "../ids/Ids.ts"
import * as Planning from "../planning/Planning.ts"
import * as StorageRoom from "../storage/StorageRoom.ts"
import * as Host from "./Host.ts"

/** Persons and their keys, in the database of the settings. */
const layer = ApiKeys.layer.pipe(
  Layer.provide([ApiKeyUsage.layer, EventsRoom.layer]),
  Layer.provideMerge([Identity.layerSql, StorageRoom.layerSql, EventsRoom.layerSql, Planning.layerSql]),
  Layer.provide(Ids.layer),
  Layer.provideMerge(Host.layer)
)

/** Runs a command on a database that a server has made. It makes and migrates none itself. */
const onDatabase = <E>(command: Effect.Effect<void, E, Layer.Success<typeof layer>>) => {
  const checked = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [found] = yield* sql<{ readonly isMade: boolean }>`select to_regclass('persons') is not null as "isMade"`
    if (found?.isMade !== true) {
      return yield* new Host.HostError({
        message: "The database has no tables yet. Start the server once, and try again."
      })
    }
    yield* command
  })
  return Effect.gen(function* () {
    const { dataDir, databaseUrl } = yield* Settings
    if (Option.isNone(databaseUrl) && !existsSync(join(dataDir, "postgres"))) {
      return yield* new Host.HostError({ message: `There is no database in DATA_DIR ${resolve(dataDir)}.` })
    }
    yield* Effect.scoped(Effect.provide(checked, layer))
  }).pipe(Effect.provide(Layer.suspend(() => Settings.layer(process.env))))
}

/** `person list`: prints who there is. */
export const list = onDatabase(
  Effect.gen(function* () {
    const workspaces = yield* WorkspacesRepo
    const persons = yield* (yield* PersonsRepo).list
    for (const person of persons) {
      const found = yield* workspaces.ofPerson(person.id)
      const roles = found.map(({ role, slug }) => `${slug} (${role})`).join(", ")
      yield* Console.log(`${person.email}  ${person.name}  ${roles === "" ? "in no workspace" : roles}`)
    }
  })
)

/** `api-key create`: prints a new key. */
export const createApiKey = ({ email, name }: { readonly email: string; readonly name: string }) =>
  onDatabase(
    Effect.gen(function* () {
      const address = Schema.decodeUnknownOption(Email)(email)
      const found = Option.isSome(address) ? yield* (yield* PersonsRepo).findByEmail(address.value) : undefined
      if (found === undefined) {
        return yield* new Host.HostError({
          message: `There is no person with the email ${JSON.stringify(email)}. List all persons with \`person list\`.`
        })
      }
      const keyName = Schema.decodeUnknownOption(Name(100))(name)
      if (Option.isNone(keyName))
        return yield* new Host.HostError({ message: "--name must have 1 to 100 printable characters." })
      const owner = { personId: found.id, workspaceId: null, role: null }
      const { secret } = yield* (yield* ApiKeys).issue(owner, keyName.value)
      yield* Console.log(`API key of ${found.name} <${found.email}>, shown only this once:\n\n${secret}`)
    })
  )
