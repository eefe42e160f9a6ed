import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { layerSqlStorage } from "../App.ts"
import { Settings } from "../Config.ts"
import { Keyring } from "../keys/Keyring.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { layerLogs } from "../http/Logs.ts"
import { layerDatabase } from "../database/Database.ts"

const layerKeys = SigningKeys.layer.pipe(
  Layer.provide(layerSqlStorage),
  Layer.provide([layerDatabase, Keyring.layer]),
  Layer.provideMerge(layerLogs),
  Layer.provideMerge(Layer.suspend(() => Settings.layer(process.env)))
)

/** `delivery fixtures rotate`: replaces the key that signs fixture tokens; tokens already given stay valid. */
const rotate = Command.make("rotate", {}, () =>
  Effect.gen(function* () {
    const kid = yield* (yield* SigningKeys).rotate
    yield* Console.log(`The signing key ${kid} is published; it signs in 15 minutes. Tokens already given stay valid.`)
  }).pipe(Effect.provide(layerKeys), Effect.scoped)
).pipe(Command.withDescription("Replace the key that signs fixture tokens; tokens already given stay valid"))

export const fixtures = Command.make("fixtures").pipe(
  Command.withDescription("Access to Fixture APIs"),
  Command.withSubcommands([rotate])
)
