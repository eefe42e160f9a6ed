import { Console, Effect, Layer, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { layerServer } from "../App.ts"
import { Settings } from "../Config.ts"
import { layerLogs } from "../http/Logs.ts"
import { Bootstrap } from "../identity/Bootstrap.ts"
import { supervise } from "../workers/Supervisor.ts"
import { endWithLauncher } from "./Launcher.ts"
import { greets, isWorker, layerSiblings, sayReady } from "../workers/Worker.ts"

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

const serveAlone = Effect.provide(Effect.andThen(greeting, Effect.never), layerServer)

const serveAsWorker = Effect.suspend(() => (greets() ? greeting : Effect.void)).pipe(
  Effect.andThen(sayReady),
  Effect.andThen(Effect.never),
  Effect.provide(Layer.provide(layerServer, layerSiblings))
)

/** `delivery serve`: runs a server until it is told to stop. */
export const serve = Command.make(
  "serve",
  {
    workers: Flag.String("workers").pipe(
      Flag.withDescription("How many processes serve behind the port, instead of WORKERS"),
      Flag.optional
    )
  },
  ({ workers }) =>
    Effect.gen(function* () {
      if (isWorker()) return yield* serveAsWorker
      yield* Effect.forkScoped(endWithLauncher(process.env))
      const settings = yield* Settings
      if (settings.workers > 1) return yield* supervise
      return yield* serveAlone
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          layerLogs,
          Layer.suspend(() =>
            Settings.layer({ ...process.env, ...(Option.isSome(workers) ? { WORKERS: workers.value } : {}) })
          )
        )
      ),
      Effect.scoped
    )
).pipe(Command.withDescription("Run the server; settings come from environment variables (docs/operations.md)"))
