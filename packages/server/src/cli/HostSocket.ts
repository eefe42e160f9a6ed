import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { Effect, Layer, Option } from "effect"
import { RpcClient, RpcSerialization, RpcServer } from "effect/rpc"
import { chmod, mkdtemp, rename, rm } from "node:fs/promises"
import { connect } from "node:net"
import { join, relative, resolve } from "node:path"
import { Settings } from "../Config.ts"
import { makeHandlers } from "./HostHandlers.ts"
import { HostRpcs } from "./HostOperations.ts"

/**
 * The socket by which commands of the host ask the server that holds the embedded database, which has one user at a time.
 * It is a file in DATA_DIR that its owner alone may use.
 */
const socketIn = (dataDir: string): string => join(resolve(dataDir), "host.sock")

/** Systems take about a hundred bytes; from the working directory the path is often shorter. */
const shortest = (path: string): string => {
  const other = relative(process.cwd(), path)
  return other.length < path.length ? other : path
}

/**
 * Listens where nobody else can enter, and moves the socket to its place once it is the owner's alone. What a server that
 * was killed left there is replaced: this server holds DATA_DIR.
 */
const layerListening = (path: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(`${path}-`)),
        (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
      )
      const made = join(directory, "s")
      const inPlace = Effect.acquireRelease(
        Effect.promise(async () => {
          await chmod(made, 0o600)
          await rename(made, path)
          await rm(directory, { recursive: true })
        }),
        () => Effect.promise(() => rm(path, { force: true }))
      )
      return Layer.tap(NodeSocketServer.layer({ path: shortest(made) }), () => inPlace)
    })
  )

/** Answers commands of the host, where this server holds an embedded database. */
export const layerServer = Layer.unwrap(
  Effect.map(Settings, ({ dataDir, databaseUrl }) =>
    Option.isSome(databaseUrl)
      ? Layer.empty
      : RpcServer.layer(HostRpcs, { disableTracing: true }).pipe(
          Layer.provide(HostRpcs.toLayer(makeHandlers)),
          Layer.provide(RpcServer.layerProtocolSocketServer),
          Layer.provide([layerListening(socketIn(dataDir)), RpcSerialization.layerNdjson]),
          // Such as a path that is too long: then commands need the server to be stopped.
          Layer.catchCause((cause) =>
            Layer.effectDiscard(
              Effect.logWarning("Commands of the host cannot reach this server: it has no socket in DATA_DIR.", cause)
            )
          )
        )
  )
)

/** Whether a server listens there. */
const isAnswered = (path: string): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = connect(path)
    const answer = (isListening: boolean) => {
      socket.destroy()
      resume(Effect.succeed(isListening))
    }
    socket.once("connect", () => answer(true))
    socket.once("error", () => answer(false))
  })

/** The operations of the server that holds the embedded database of the settings; none where there is no such server. */
export const client = Effect.gen(function* () {
  const { dataDir, databaseUrl } = yield* Settings
  const path = shortest(socketIn(dataDir))
  if (Option.isSome(databaseUrl) || !(yield* isAnswered(path))) return undefined
  const context = yield* Layer.build(
    RpcClient.layerProtocolSocket().pipe(Layer.provide([NodeSocket.layerNet({ path }), RpcSerialization.layerNdjson]))
  )
  return yield* Effect.provideContext(RpcClient.make(HostRpcs, { disableTracing: true }), context)
})
