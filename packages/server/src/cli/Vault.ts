import { Console, Effect, Layer, Option } from "effect"
import { Settings } from "../Config.ts"
import * as Ids from "../ids/Ids.ts"
import * as Keys from "../keys/Keys.ts"
import * as StorageRoom from "../storage/StorageRoom.ts"
import { DataKeyRotation, type RotationStep } from "../vault/DataKeyRotation.ts"
import { VaultKeys } from "../vault/VaultKeys.ts"
import * as VaultRoom from "../vault/VaultRoom.ts"
import * as WebhooksRoom from "../webhooks/WebhooksRoom.ts"
import * as Host from "./Host.ts"
import { isInstalled } from "./Installed.ts"

/** The vault keys of the database that the settings name, without a server. */
const layerVaultKeys = VaultRoom.layerHost.pipe(
  Layer.provide(WebhooksRoom.layerHost),
  Layer.provide([StorageRoom.layerSql, Keys.layerSql, Keys.layerKeyring, Ids.layer]),
  Layer.provide(StorageRoom.layerMigrations),
  Layer.provide(Host.layer)
)

/** How this command line is called: installed, by the script of a clone, or without a package manager. */
const program = isInstalled
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
  const remaining = yield* Effect.flatMap(DataKeyRotation, (rotation) => rotation.remaining)
  if (remaining > 0) {
    lines.push(
      `Values under replaced data keys: ${remaining}. \`${program} vault rotate --data-keys\` encrypts them anew.`
    )
  }
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

const lineOf = (step: RotationStep): string => {
  switch (step.step) {
    case "replaced":
      return `Replaced ${step.dataKeys} data keys.`
    case "sealed":
      return `Encrypted ${step.values} values under the new keys.`
    case "waiting":
      return `Waiting ${step.seconds} seconds, until every running server uses the new keys.`
  }
}

/** `vault rotate --data-keys`: gives every workspace a new data key, and encrypts what is under the old ones anew. */
export const rotateDataKeys = Effect.gen(function* () {
  const { databaseUrl } = yield* Settings
  const { rotate } = yield* DataKeyRotation
  yield* rotate({ isShared: Option.isSome(databaseUrl), tell: (step) => Console.log(lineOf(step)) })
  yield* printStatus
}).pipe(Effect.provide([layerVaultKeys, Host.layerSettings]))
