import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Effect, type FileSystem, Layer, type Path } from "effect"
import { ChildProcessSpawner } from "effect/process"

/** Starts processes. What that needs is loaded with the first of them: most commands start none. */
const spawner = Layer.effect(
  ChildProcessSpawner.ChildProcessSpawner,
  Effect.map(Effect.context<FileSystem.FileSystem | Path.Path>(), (services) =>
    ChildProcessSpawner.make((command) =>
      Effect.promise(() => import("./Spawner.ts")).pipe(
        Effect.flatMap(({ spawn }) => spawn(command)),
        Effect.provideContext(services)
      )
    )
  )
)

/** What all commands run on. */
export const layer = Layer.provideMerge(
  spawner,
  Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer)
)
