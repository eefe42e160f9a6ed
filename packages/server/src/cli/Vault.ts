import { Console, Effect, Layer } from "effect"
import * as Keys from "../keys/Keys.ts"
import * as StorageRoom from "../storage/StorageRoom.ts"
import { VaultKeys } from "../vault/VaultKeys.ts"
import * as VaultRoom from "../vault/VaultRoom.ts"
import * as Host from "./Host.ts"

/** The vault keys of the database that the settings name, without a server. */
const layerVaultKeys = VaultRoom.layerHost.pipe(
  Layer.provide([StorageRoom.layerSql, Keys.layerSql, Keys.layerKeyring]),
  Layer.provide(StorageRoom.layerMigrations),
  Layer.provide(Host.layer)
)

/** How this command line is called: installed, by the script of a clone, or without a package manager. */
const program = import.meta.filename.endsWith(".js")
  ? "delivery-server"
  : process.env["npm_lifecycle_event"] === "delivery"
    ? "pnpm delivery"
    : "node packages/server/src/cli/main.ts"

const printStatus = Effect.gen(function* () {
  const { status } = yield* VaultKeys
  const lines = (yield* status).map(({ dataKeys, id, isActive, isGiven, signingKeys }) => {
    const isUsed = dataKeys + signingKeys > 0
    const note = isActive
      ? "active"
      : !isGiven
        ? "missing in VAULT_KEYS"
        : isUsed
          ? `in use; \`${program} vault rotate\` replaces it`
          : "not in use; may be removed"
    return `${id}: ${dataKeys} data keys, ${signingKeys} signing keys (${note})`
  })
  yield* Console.log(lines.join("\n"))
})

/** `vault status`: prints which keys the database needs. */
export const status = Effect.provide(printStatus, layerVaultKeys)

/** `vault rotate`: encrypts what is under other keys with the first one. */
export const rotate = Effect.gen(function* () {
  const { dataKeys, signingKeys } = yield* Effect.flatMap(VaultKeys, (keys) => keys.rotate)
  yield* Console.log(`Encrypted ${dataKeys} data keys and ${signingKeys} signing keys under the active key.`)
  yield* printStatus
}).pipe(Effect.provide(layerVaultKeys))
