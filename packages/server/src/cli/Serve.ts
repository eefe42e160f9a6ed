import { Console, Effect, Layer, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import { layerServer } from "../App.ts"
import { Settings } from "../Config.ts"
import { layerLogs } from "../http/Logs.ts"
import { Bootstrap } from "../identity/Bootstrap.ts"

/** What a person wants to know of a server that has just started; the key only where this start made it. */
const greeting = Effect.gen(function* () {
  const settings = yield* Settings
  const { made } = yield* Bootstrap
  const { baseUrl } = settings
  const lines = ["", `Workspace Delivery Service: ${baseUrl}`, `API description and docs: ${baseUrl}/docs`]
  if (Option.isSome(made)) {
    const { apiKey, isGiven, ownerEmail, workspace } = made.value
    const key = isGiven ? "$BOOTSTRAP_API_KEY" : Redacted.value(apiKey)
    lines.push("", `Made the workspace "${workspace}" and its owner ${ownerEmail}.`)
    if (!isGiven) lines.push(`The owner's API key, shown this once: ${key}`)
    lines.push("", `  curl -H "Authorization: Bearer ${key}" ${baseUrl}/v1/me`)
  }
  yield* Console.log(lines.join("\n") + "\n")
})

/** `delivery serve`: runs a server until it is told to stop. */
export const serve = Command.make("serve", {}, () =>
  Effect.andThen(greeting, Effect.never).pipe(
    Effect.provide(
      layerServer.pipe(
        Layer.provideMerge(layerLogs),
        Layer.provideMerge(Layer.suspend(() => Settings.layer(process.env)))
      )
    ),
    Effect.scoped
  )
).pipe(Command.withDescription("Run the server; settings come from environment variables (docs/operations.md)"))
