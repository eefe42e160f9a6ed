import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import { Settings } from "../Config.ts"
import { layerDatabase } from "../database/Database.ts"
import { layerLogs } from "../http/Logs.ts"

/** The database and settings of the environment, for commands that run on the host beside or without a server. */
export const layer = Layer.mergeAll(layerDatabase, NodeServices.layer).pipe(
  Layer.provideMerge(NodeServices.layer),
  Layer.provideMerge(layerLogs),
  Layer.provideMerge(Layer.suspend(() => Settings.layer(process.env)))
)
