import { Effect, Layer } from "effect"
import { type ProcessSnapshot, Siblings } from "../telemetry/Siblings.ts"
import { greetsVariable, type ToSupervisor, type ToWorker, workerVariable } from "./Messages.ts"

/** Whether this process is one of several that a supervisor started. */
export const isWorker = (): boolean => process.env[workerVariable] !== undefined && process.send !== undefined

/** Whether it is this process that shows people the start message. */
export const greets = (): boolean => !isWorker() || process.env[greetsVariable] === "1"

const say = (message: ToSupervisor): void => {
  // A supervisor that is gone takes its workers along.
  if (process.connected) process.send!(message, undefined, undefined, () => {})
}

/** Tells the supervisor that requests are answered. */
export const sayReady = Effect.sync(() => say({ kind: "ready" }))

/** The other workers, asked through the supervisor. */
export const layerSiblings = Layer.effect(
  Siblings,
  Effect.gen(function* () {
    const run = Effect.runForkWith(yield* Effect.context())
    const asked = new Map<number, (processes: ReadonlyArray<ProcessSnapshot>) => void>()
    let lastId = 0
    let own: Parameters<Siblings["answer"]>[0] | undefined

    const listener = (message: ToWorker) => {
      if (message.kind === "answer") {
        asked.get(message.id)?.(message.processes)
        asked.delete(message.id)
      } else if (message.kind === "tell" && own !== undefined) {
        run(
          Effect.map(own, (snapshot) => {
            say({ kind: "told", id: message.id, snapshot })
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
        asked.set(id, (processes) => resume(Effect.succeed(processes)))
        say({ kind: "ask", id })
        return Effect.sync(() => asked.delete(id))
      })
    }
  })
)
