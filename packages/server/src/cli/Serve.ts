import { Console, Effect, Layer, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { layerServer } from "../App.ts"
import { Settings } from "../Config.ts"
import * as Logs from "../http/Logs.ts"
import { Bootstrap } from "../identity/Bootstrap.ts"
import { supervise } from "../workers/Supervisor.ts"
import { endWithLauncher } from "./Launcher.ts"
import * as Worker from "../workers/Worker.ts"

/** Prints where the server is, and the owner's API key if this start created it. */
const printStart = Effect.gen(function* () {
  const settings = yield* Settings
  const { made } = yield* Bootstrap
  const { baseUrl } = settings
  const lines = ["", `Workspace Delivery Service: ${baseUrl}`, `API description and docs: ${baseUrl}/docs`]
  if (Option.isSome(made)) {
    const { apiKey, isGiven, ownerEmail, workspace } = made.value
    const key = isGiven ? "$BOOTSTRAP_API_KEY" : Redacted.value(apiKey)
    lines.push("", `Created the workspace "${workspace}" with the owner ${ownerEmail}.`)
    if (!isGiven) lines.push(`API key of ${ownerEmail}, shown only this once: ${key}`)
    lines.push("Send it as a Bearer token with each request:", "")
    lines.push(`  curl -H "Authorization: Bearer ${key}" ${baseUrl}/v1/me`)
  }
  yield* Console.log(lines.join("\n") + "\n")
})

const serveAlone = Effect.provide(Effect.andThen(printStart, Effect.never), layerServer)

const serveAsWorker = Effect.suspend(() => (Worker.printsStart() ? printStart : Effect.void)).pipe(
  Effect.andThen(Worker.reportReady),
  Effect.andThen(Effect.never),
  Effect.provide(Layer.provide(layerServer, Worker.layer))
)

/** `serve`: runs a server until it is stopped. */
export const serve = Command.make(
  "serve",
  {
    workers: Flag.String("workers").pipe(
      Flag.withDescription(
        "Number of worker processes behind the port; overrides WORKERS. More than one needs PostgreSQL"
      ),
      Flag.optional
    )
  },
  ({ workers }) =>
    Effect.gen(function* () {
      if (Worker.isWorker()) return yield* serveAsWorker
      yield* Effect.forkScoped(endWithLauncher(process.env))
      const settings = yield* Settings
      if (settings.workers > 1) return yield* supervise
      return yield* serveAlone
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          Logs.layer,
          Layer.suspend(() =>
            Settings.layer({ ...process.env, ...(Option.isSome(workers) ? { WORKERS: workers.value } : {}) })
          )
        )
      ),
      Effect.scoped
    )
).pipe(
  Command.withDescription(
    "Run the server until it is stopped. Settings are environment variables; docs/operations.md lists them"
  )
)
