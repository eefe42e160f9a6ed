import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import { Effect } from "effect"
import { type ChildProcess, ChildProcessSpawner } from "effect/process"

/** Starts a process. */
export const spawn = (command: ChildProcess.Command) =>
  Effect.flatMap(ChildProcessSpawner.ChildProcessSpawner, (spawner) => spawner.spawn(command)).pipe(
    Effect.provide(NodeChildProcessSpawner.layer)
  )
