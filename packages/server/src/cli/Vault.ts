import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { Settings } from "../Config.ts"
import { Keyring } from "../keys/Keyring.ts"
import * as Keys from "../keys/Keys.ts"
import { layerLogs } from "../http/Logs.ts"
import { layerDatabase } from "../database/Database.ts"
import { layerMigrations } from "../storage/Migrations.ts"
import { Storage } from "../storage/Storage.ts"
import { VaultKeys } from "../vault/VaultKeys.ts"
import * as VaultKeysSql from "../vault/VaultKeysSql.ts"

/** The vault keys of the database that the settings name, without a server. */
const layerVaultKeys = VaultKeys.layer.pipe(
  Layer.provide([Storage.layerSql, VaultKeysSql.layer, Keys.layerSql, Keyring.layer]),
  Layer.provide(layerMigrations),
  Layer.provide(layerDatabase),
  Layer.provide(NodeServices.layer),
  Layer.provide(layerLogs),
  Layer.provide(Layer.suspend(() => Settings.layer(process.env)))
)

const printStatus = Effect.gen(function* () {
  const { status } = yield* VaultKeys
  const lines = (yield* status).map(({ dataKeys, id, isActive, isGiven, signingKeys }) => {
    const isUsed = dataKeys + signingKeys > 0
    const note = isActive
      ? "active"
      : !isGiven
        ? "missing in VAULT_KEYS"
        : isUsed
          ? "in use; `delivery vault rotate` replaces it"
          : "not in use; may be removed"
    return `${id}: ${dataKeys} data keys, ${signingKeys} signing keys (${note})`
  })
  yield* Console.log(lines.join("\n"))
})

const status = Command.make("status", {}, () => Effect.provide(printStatus, layerVaultKeys)).pipe(
  Command.withDescription("Print which keys of VAULT_KEYS this database needs")
)

const rotate = Command.make("rotate", {}, () =>
  Effect.gen(function* () {
    const { dataKeys, signingKeys } = yield* Effect.flatMap(VaultKeys, (keys) => keys.rotate)
    yield* Console.log(`Encrypted ${dataKeys} data keys and ${signingKeys} signing keys under the active key.`)
    yield* printStatus
  }).pipe(Effect.provide(layerVaultKeys))
).pipe(
  Command.withDescription(
    "Encrypt data keys and signing keys under the first key of VAULT_KEYS; servers may run meanwhile"
  )
)

/** `delivery vault`: the keys of `VAULT_KEYS`. */
export const vault = Command.make("vault").pipe(
  Command.withDescription("The keys that secrets are encrypted under; settings come from environment variables"),
  Command.withSubcommands([rotate, status])
)
