import { Effect, Layer } from "effect"
import { type ProcessSnapshot, Siblings } from "../telemetry/Siblings.ts"
import { printsStartVariable, type ToSupervisor, type ToWorker, workerVariable } from "./Messages.ts"

/** Whether this process is one of several that a supervisor started. */
export const isWorker = (): boolean => process.env[workerVariable] !== undefined && process.send !== undefined

/** Whether this process prints the start message. */
export const printsStart = (): boolean => !isWorker() || process.env[printsStartVariable] === "1"

const send = (message: ToSupervisor): void => {
  // When the supervisor is gone, its workers end, too.
  if (process.connected) process.send!(message, undefined, undefined, () => {})
}

/** Tells the supervisor that this worker answers requests. */
export const reportReady = Effect.sync(() => send({ kind: "ready" }))

/** The other workers, reached through the supervisor. */
export const layer = Layer.effect(
  Siblings,
  Effect.gen(function* () {
    const run = Effect.runForkWith(yield* Effect.context())
    const pending = new Map<number, (processes: ReadonlyArray<ProcessSnapshot>) => void>()
    let lastId = 0
    let own: Parameters<Siblings["answer"]>[0] | undefined

    const listener = (message: ToWorker) => {
      if (message.kind === "processes") {
        pending.get(message.id)?.(message.processes)
        pending.delete(message.id)
      } else if (message.kind === "collect" && own !== undefined) {
        run(
          Effect.map(own, (snapshot) => {
            send({ kind: "snapshot", id: message.id, snapshot })
          })
        )
      }
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => void process.on("message", listener)),
      () => Effect.sync(() => void process.off("message", listener))
    )
    return {
      answer: (snapshot) =>
        Effect.sync(() => {
          own = snapshot
        }),
      ask: Effect.callback<ReadonlyArray<ProcessSnapshot>>((resume) => {
        const id = ++lastId
        pending.set(id, (processes) => resume(Effect.succeed(processes)))
        send({ kind: "scrape", id })
        return Effect.sync(() => pending.delete(id))
      })
    }
  })
)
