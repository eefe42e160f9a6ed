import { Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Settings } from "../Config.ts"
import * as Logs from "../http/Logs.ts"
import { supervise } from "../workers/Supervisor.ts"
import { endWithLauncher } from "./Launcher.ts"
import * as Worker from "../workers/Worker.ts"

// Loaded once the settings are read: a wrong one is refused at once, and a supervisor needs none of it.
const loadServer = Effect.promise(() => import("./Server.ts"))

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
      if (Worker.isWorker()) return yield* (yield* loadServer).serveAsWorker
      yield* Effect.forkScoped(endWithLauncher(process.env))
      const settings = yield* Settings
      if (settings.workers > 1) return yield* supervise
      return yield* (yield* loadServer).serveAlone
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
